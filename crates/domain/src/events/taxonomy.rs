//! The data of events about the taxonomy.

use schemars::JsonSchema;
use serde::Serialize;

use super::opportunities::AffectedTeams;
pub use crate::taxonomy::{InventoryTag as InventoryTagData, Label as LabelData};
use crate::{assets::Kind, time::Timestamp};

/// An asset kind after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetTypeData {
    /// The asset kind.
    pub asset_type: Kind,
}

/// An asset kind whose retirement was announced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetTypeDeprecatedData {
    /// The asset kind.
    pub asset_type: Kind,
    /// Time at which the retirement was first announced.
    #[schemars(with = "String")]
    pub deprecated_at: Timestamp,
    /// Time at which the kind retires.
    #[schemars(with = "String")]
    pub retires_at: Timestamp,
    /// Whether assets of this kind can still be added to listings.
    pub accepts_new_listings: bool,
    /// Explanation for vendors.
    pub message: String,
    /// The vendors who have such assets or listings.
    pub vendors: AffectedTeams,
}
