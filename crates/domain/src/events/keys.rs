//! The data of events about API keys.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{keys::KeyTimes, time::Timestamp};

/// An API key after a change. The key of an operator belongs to no team, so only operators see its events.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyData {
    /// ID of the key. It is not secret.
    pub key_id: Uuid,
    /// Name of the key.
    pub name: String,
    /// Time at which the key expires or expired; `null` if never.
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<Timestamp>,
}

impl From<&KeyTimes> for KeyData {
    fn from(key: &KeyTimes) -> KeyData {
        KeyData { key_id: key.id, name: key.name.clone(), expires_at: key.expires_at }
    }
}

/// An API key that another one replaced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyRotatedData {
    /// ID of the replaced key.
    pub key_id: Uuid,
    /// Name of both keys.
    pub name: String,
    /// Time at which the replaced key expires.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
    /// ID of the new key.
    pub successor_id: Uuid,
    /// Time at which the new key expires; `null` if never.
    #[schemars(with = "Option<String>")]
    pub successor_expires_at: Option<Timestamp>,
}
