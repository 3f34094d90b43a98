//! Background refreshes of the quality data of a team's task assets. Each team has at most one refresh at a
//! time.

use super::access::Vendor;
use crate::{
    domain::{row_ids::AssetRowId, tasks::RefreshStatus, time::Timestamp},
    error::{ErrorChain, Result},
    market::{Market, Reader, Writer},
    store::{self, qc_refreshes::Refresh},
};

/// Number of task assets that are refreshed in one transaction.
const BATCH_SIZE: usize = 100;

/// Error message for the vendor if a refresh fails. The cause is logged.
const REFRESH_FAILED: &str = "The quality of some tasks could not be refreshed. Request another refresh.";

/// A refresh, if there is one, and when a task asset of the team was last refreshed.
pub type RefreshState = (Option<Refresh>, Option<Timestamp>);

/// Requests a refresh. Returns the unfinished refresh if there is one.
pub fn request(writer: &mut Writer, vendor: &Vendor) -> Result<RefreshState> {
    let team = vendor.team_row_id();
    if store::qc_refreshes::find_latest(writer.rows, team)?.is_none_or(|latest| latest.finished_at.is_some())
    {
        let total = store::task_quality::count_task_assets(writer.rows, team)?;
        store::qc_refreshes::insert(writer.rows, writer.clock.new_id(), team, total, writer.now)?;
        writer.wake_background();
    }
    refresh_state(writer.rows, vendor)
}

/// Returns the unfinished refresh, or the last one.
pub fn latest(reader: &Reader, vendor: &Vendor) -> Result<RefreshState> {
    refresh_state(reader.rows, vendor)
}

fn refresh_state(rows: &store::Reader, vendor: &Vendor) -> Result<RefreshState> {
    let team = vendor.team_row_id();
    Ok((store::qc_refreshes::find_latest(rows, team)?, store::task_quality::last_refreshed_at(rows, team)?))
}

/// Executes all unfinished refreshes while `keep_running` returns true. A refresh that was interrupted by a
/// crash starts from the beginning, since it is harmless to refresh an asset twice.
pub fn run_pending(market: &Market, keep_running: &dyn Fn() -> bool) -> Result<()> {
    while keep_running() {
        let Some(refresh) =
            market.read_blocking(|reader| store::qc_refreshes::find_oldest_unfinished(reader.rows))?
        else {
            break;
        };
        if let Err(cause) = run(market, refresh.clone(), keep_running) {
            tracing::error!(refresh = %refresh.id, cause = %ErrorChain(&cause), "refresh of task quality failed");
            market.write_blocking(|writer| {
                let failed = Refresh {
                    status: RefreshStatus::Failed,
                    finished_at: Some(writer.now),
                    error: Some(REFRESH_FAILED.to_owned()),
                    ..refresh
                };
                store::qc_refreshes::update(writer.rows, &failed)
            })?;
        }
    }
    Ok(())
}

fn run(market: &Market, mut refresh: Refresh, keep_running: &dyn Fn() -> bool) -> Result<()> {
    let (mut after, mut is_first) = (AssetRowId(0), true);
    while keep_running() {
        let is_complete = market.write_blocking(|writer| {
            if is_first {
                refresh.status = RefreshStatus::Running;
                refresh.started_at = Some(writer.now);
                refresh.total = store::task_quality::count_task_assets(writer.rows, refresh.team)?;
                refresh.refreshed = 0;
            }
            let assets =
                store::task_quality::list_task_assets_after(writer.rows, refresh.team, after, BATCH_SIZE)?;
            for asset in &assets {
                store::task_quality::refresh(writer.rows, *asset, writer.now)?;
            }
            after = assets.last().copied().unwrap_or(after);
            refresh.refreshed += assets.len() as u64;
            // Tasks may have been imported since they were counted.
            refresh.total = refresh.total.max(refresh.refreshed);
            if assets.len() < BATCH_SIZE {
                refresh.total = refresh.refreshed;
                refresh.status = RefreshStatus::Completed;
                refresh.finished_at = Some(writer.now);
            }
            store::qc_refreshes::update(writer.rows, &refresh)?;
            Ok(refresh.finished_at.is_some())
        })?;
        is_first = false;
        if is_complete {
            break;
        }
    }
    Ok(())
}
