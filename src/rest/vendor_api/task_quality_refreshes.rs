//! Refreshing the quality data of all of a team's task assets.

use crate::{
    domain::tasks::RefreshStatus,
    operations::task_quality_refreshes::{self, RefreshState},
    rest::prelude::*,
    store::task_quality_refreshes::Refresh,
};

/// A background job that refreshes the quality data of all of a team's task assets.
#[derive(Debug, Object, Serialize)]
pub struct QcRefresh {
    /// ID of the refresh.
    pub id: Uuid,
    /// State of the refresh.
    pub status: EnumValue<RefreshStatus>,
    /// Time of the request.
    pub requested_at: UtcTime,
    /// Time at which the refresh started; null while it is queued.
    pub started_at: Option<UtcTime>,
    /// Time at which the refresh completed or failed; null until then.
    pub finished_at: Option<UtcTime>,
    /// Number of task assets to refresh.
    pub total: u64,
    /// Number of task assets refreshed so far.
    pub refreshed: u64,
    /// Reason of the failure; null if the refresh has not failed.
    pub error: Option<String>,
}

impl From<Refresh> for QcRefresh {
    fn from(refresh: Refresh) -> QcRefresh {
        QcRefresh {
            id: refresh.id,
            status: EnumValue(refresh.status),
            requested_at: refresh.requested_at.into(),
            started_at: refresh.started_at.map(UtcTime),
            finished_at: refresh.finished_at.map(UtcTime),
            total: refresh.total,
            refreshed: refresh.refreshed,
            error: refresh.error,
        }
    }
}

/// State of a team's latest refresh of task quality.
#[derive(Debug, Object, Serialize)]
pub struct QcRefreshState {
    /// The refresh in progress, or else the latest one; null if the team never requested one.
    pub refresh: Option<QcRefresh>,
    /// Time at which any task asset of the team was last refreshed; null if none was.
    pub qc_refreshed_at: Option<UtcTime>,
}

impl From<RefreshState> for QcRefreshState {
    fn from((refresh, read_at): RefreshState) -> QcRefreshState {
        QcRefreshState { refresh: refresh.map(QcRefresh::from), qc_refreshed_at: read_at.map(UtcTime) }
    }
}

#[routes(prefix = "/v2", tag = Tasks)]
impl TaskQualityRefreshesApi {
    /// Refresh task quality
    ///
    /// Starts a background job that re-reads the quality data of all of the team's task assets. A team has at
    /// most one refresh in progress; a request during it returns that refresh.
    #[post(
        "/tasks/refresh-qc",
        RouteAttributes::change(Contract::new(Target::None)).with_budget(Budget::QualityChecks)
    )]
    async fn refresh_task_qc(call: Call<Vendor>, idempotent: Idempotent) -> JsonResult<QcRefreshState, 202> {
        idempotent
            .write_without_body(&call.served, call.access, |writer, vendor| {
                task_quality_refreshes::request(writer, vendor).map(QcRefreshState::from)
            })
            .await
    }

    /// Get the state of the refresh
    ///
    /// Returns the refresh of task quality that is in progress, or else the latest one.
    #[get(
        "/tasks/refresh-qc",
        RouteAttributes::read(
            Tool::Excluded(
                "the state of a refresh that no tool can start; each task has the time of \
                            its last refresh"
            ),
            Contract::new(Target::None),
        )
    )]
    async fn get_task_qc_refresh(call: Call<Vendor>) -> JsonResult<QcRefreshState> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            task_quality_refreshes::latest(reader.rows, &call.access).map(QcRefreshState::from)
        })
        .await
    }
}
