//! The error of a setting.

/// An invalid setting.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{origin}: {message}")]
pub struct SettingsError {
    /// Origin of the value: file and line, environment variable, or flag.
    pub origin: String,
    /// The key, what is wrong with it, and what is expected.
    pub message: String,
}
