//! The data of events about quality runs, and refreshes of task quality.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{quality_runs::RunStatus, tasks::RefreshStatus};

/// A quality run after a change. Only the team that pays for it and operators see the event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QualityRunData {
    /// ID of the run.
    pub run_id: Uuid,
    /// ID of the listing; `null` if the run checks an asset.
    pub listing_id: Option<Uuid>,
    /// ID of the asset; `null` if the run checks a listing.
    pub asset_id: Option<Uuid>,
    /// Status after the change.
    pub status: RunStatus,
    /// Whether every mandatory check passed; `null` until the run is completed.
    pub passed: Option<bool>,
    /// Charge in US dollars, as a decimal string. It is 0 if the charge was returned.
    pub charge: String,
}

/// A refresh of the quality of a team's task assets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskQualityRefreshData {
    /// ID of the refresh.
    pub refresh_id: Uuid,
    /// Status after the change.
    pub status: RefreshStatus,
    /// Number of task assets.
    pub total: u64,
    /// Number of task assets that were refreshed.
    pub refreshed: u64,
}
