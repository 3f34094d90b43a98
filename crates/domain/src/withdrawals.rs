//! Withdrawals of earnings as a pure state machine.

use super::state_machine::state_machine;
use crate::string_enum::string_enum;

string_enum! {
    /// The status of a withdrawal.
    WithdrawalStatus {
        /// Requested by the team. The amount has left its earnings.
        Requested = "requested",
        /// Paid to the team by the platform.
        Paid = "paid",
        /// Could not be paid. The amount was posted back.
        Failed = "failed",
    }
}

string_enum! {
    /// A decision of the platform about a withdrawal that was requested.
    WithdrawalOperation {
        /// It was paid.
        Pay = "paid",
        /// It could not be paid.
        Fail = "failed",
    }
}

state_machine! {
    WithdrawalStatus by WithdrawalOperation;
    Requested: Pay => Paid, Fail => Failed;
}
