//! The data of events about the inventory: assets, their data, groups, and uploads.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::bulk::MAX_LISTED_IDS;
use crate::{
    assets::{ArtifactStatus, Exclusivity, Kind},
    bulk_changes::BulkActionKind,
    stages::Stage,
};

/// Assets that were created together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetsData {
    /// Kind of the assets.
    pub asset_type: Kind,
    /// Number of assets.
    pub count: usize,
    /// IDs of the first assets, at most 100.
    pub asset_ids: Vec<Uuid>,
}

impl AssetsData {
    /// Creates the data of an event about these assets.
    pub fn new(asset_type: Kind, ids: &[Uuid]) -> AssetsData {
        let asset_ids = ids.iter().take(MAX_LISTED_IDS).copied().collect();
        AssetsData { asset_type, count: ids.len(), asset_ids }
    }
}

/// Assets that a bulk change moved, edited, or deleted together. The stages of edited ones may have changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetBulkChangeData {
    /// ID of the bulk change.
    pub bulk_change_id: Uuid,
    /// What was done.
    pub action: BulkActionKind,
    /// Number of assets.
    pub count: usize,
    /// IDs of the first assets, at most 100.
    pub asset_ids: Vec<Uuid>,
}

impl AssetBulkChangeData {
    /// Creates the data of an event about these assets.
    pub fn new(bulk_change_id: Uuid, action: BulkActionKind, ids: &[Uuid]) -> AssetBulkChangeData {
        let asset_ids = ids.iter().take(MAX_LISTED_IDS).copied().collect();
        AssetBulkChangeData { bulk_change_id, action, count: ids.len(), asset_ids }
    }
}

/// Codebases that an exclusive sale made unavailable, or its refund available again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetExclusivityData {
    /// Exclusivity after the change.
    pub exclusivity: Exclusivity,
    /// Number of codebases.
    pub count: usize,
    /// IDs of the first codebases, at most 100.
    pub asset_ids: Vec<Uuid>,
}

impl AssetExclusivityData {
    /// Creates the data of an event about these codebases.
    pub fn new(exclusivity: Exclusivity, ids: &[Uuid]) -> AssetExclusivityData {
        let asset_ids = ids.iter().take(MAX_LISTED_IDS).copied().collect();
        AssetExclusivityData { exclusivity, count: ids.len(), asset_ids }
    }
}

/// An asset after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetData {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// Kind of the asset.
    pub asset_type: Kind,
    /// Stage after the change.
    pub stage: Stage,
}

/// An asset whose stage changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetStageData {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// Kind of the asset.
    pub asset_type: Kind,
    /// Stage before the change.
    pub from_stage: Stage,
    /// Stage after the change.
    pub to_stage: Stage,
}

/// The end of the analysis of an asset's data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AssetAnalysisData {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// State of the copy of the data.
    pub archive_status: ArtifactStatus,
    /// State of the analysis.
    pub analysis_status: ArtifactStatus,
    /// Stage after the analysis.
    pub stage: Stage,
}

/// A group after a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GroupData {
    /// ID of the group.
    pub group_id: Uuid,
    /// Name of the group.
    pub name: String,
}

/// A completed upload.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UploadData {
    /// ID of the upload.
    pub upload_id: Uuid,
    /// Size in bytes.
    pub size_bytes: u64,
}
