//! The data of events about upload grants.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{grants::Grant, time::Timestamp};

/// An upload grant after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UploadGrantData {
    /// ID of the grant. It is not its token.
    pub grant_id: Uuid,
    /// Title of the codebase to create.
    pub title: String,
    /// Time at which the grant expires or expired.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

impl From<&Grant> for UploadGrantData {
    fn from(grant: &Grant) -> UploadGrantData {
        UploadGrantData { grant_id: grant.id, title: grant.title.clone(), expires_at: grant.expires_at }
    }
}

/// An upload grant that was used.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UploadGrantConsumedData {
    /// ID of the grant.
    pub grant_id: Uuid,
    /// ID of the codebase that was created.
    pub asset_id: Uuid,
}
