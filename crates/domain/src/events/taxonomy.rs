//! The data of events about the taxonomy.

use schemars::JsonSchema;
use serde::Serialize;

use super::opportunities::AffectedTeams;
use crate::{assets::Kind, taxonomy, time::Timestamp};

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

/// A domain or a content tag after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LabelData {
    /// Identifier.
    pub slug: String,
    /// Display name.
    pub label: String,
}

impl From<&taxonomy::Label> for LabelData {
    fn from(label: &taxonomy::Label) -> LabelData {
        LabelData { slug: label.slug.clone(), label: label.label.clone() }
    }
}

/// An inventory tag after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InventoryTagData {
    /// Identifier.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// What the tag says about a listing.
    pub description: String,
    /// Category of the tag.
    pub category: String,
}

impl From<&taxonomy::InventoryTag> for InventoryTagData {
    fn from(tag: &taxonomy::InventoryTag) -> InventoryTagData {
        InventoryTagData {
            slug: tag.slug.clone(),
            label: tag.label.clone(),
            description: tag.description.clone(),
            category: tag.category.clone(),
        }
    }
}
