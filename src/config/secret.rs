//! Secret values of settings.

use serde::{Deserialize, Serialize, Serializer};

/// A secret text. Its `Debug` output does not reveal it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Returns the text, or `None` if it is empty.
    pub fn reveal(&self) -> Option<&str> {
        Some(self.0.as_str()).filter(|text| !text.is_empty())
    }
}

/// The text that replaces a secret in JSON.
pub const MASK: &str = "********";

/// Writes [`MASK`] instead of the text, so that listing the settings reveals no secret.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if self.0.is_empty() { "" } else { MASK })
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() { "unset" } else { "set" })
    }
}
