//! The data of events about the taxonomy.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::assets::Kind;

/// An asset kind after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetTypeData {
    /// The asset kind.
    pub asset_type: Kind,
}
