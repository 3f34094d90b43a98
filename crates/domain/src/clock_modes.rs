//! How the clock of a world moves.

use crate::string_enum::string_enum;

string_enum! {
    /// How the clock of a world moves.
    ClockMode {
        /// Only when it is set or advanced, and by a millisecond with each write.
        Frozen = "frozen",
        /// As fast as the time of the machine.
        Running = "running",
    }
}
