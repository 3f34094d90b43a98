//! The meaning of a state for the reader.

/// How a state is shown: never by its color alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Done, or as it should be.
    Good,
    /// It waits for something.
    Waiting,
    /// Somebody should look at it.
    Warning,
    /// It failed, or was refused.
    Bad,
    /// It has ended, or does not matter now.
    Neutral,
}

impl Tone {
    /// Returns the name of the icon, and the class of its color.
    pub const fn icon_and_class(self) -> (&'static str, &'static str) {
        match self {
            Tone::Good => ("ok", "ok"),
            Tone::Waiting => ("wait", ""),
            Tone::Warning => ("warn", "warn"),
            Tone::Bad => ("bad", "bad"),
            Tone::Neutral => ("none", ""),
        }
    }
}
