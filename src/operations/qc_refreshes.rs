//! Background refreshes of the quality data of a team's task assets. Each team has at most one refresh at a
//! time.

use super::access::Vendor;
use crate::{
    domain::{tasks::RefreshStatus, time::Timestamp},
    error::Result,
    market::{Market, Reader, Writer},
    store::{self, qc_refreshes::Refresh},
};

/// Number of task assets that are refreshed in one transaction.
const BATCH: usize = 100;

/// Error message for the vendor if a refresh fails. The cause is logged.
const BROKEN: &str = "The quality of some tasks could not be refreshed. Request another refresh.";

/// A refresh, if there is one, and when a task asset of the team was last refreshed.
pub type Told = (Option<Refresh>, Option<Timestamp>);

/// Requests a refresh. Returns the unfinished refresh if there is one.
pub fn request(writer: &mut Writer, vendor: &Vendor) -> Result<Told> {
    let team = vendor.number();
    if store::qc_refreshes::latest(writer.rows, team)?.is_none_or(|latest| latest.finished_at.is_some()) {
        let total = store::task_readings::count(writer.rows, team)?;
        store::qc_refreshes::insert(writer.rows, writer.clock.id(), team, total, writer.now)?;
        writer.wake();
    }
    told(writer.rows, vendor)
}

/// Returns the unfinished refresh, or the last one.
pub fn latest(reader: &Reader, vendor: &Vendor) -> Result<Told> {
    told(reader.rows, vendor)
}

fn told(rows: &store::Reader, vendor: &Vendor) -> Result<Told> {
    let team = vendor.number();
    Ok((store::qc_refreshes::latest(rows, team)?, store::task_readings::last_read_at(rows, team)?))
}

/// Executes all unfinished refreshes while `go_on` returns true. A refresh that was interrupted by a crash
/// starts from the beginning, since it is harmless to refresh an asset twice.
pub fn run_open(market: &Market, go_on: &dyn Fn() -> bool) -> Result<()> {
    while go_on() {
        let Some(refresh) = market.read_blocking(|reader| store::qc_refreshes::next_open(reader.rows))?
        else {
            break;
        };
        if let Err(cause) = run(market, refresh.clone(), go_on) {
            tracing::error!(refresh = %refresh.id, %cause, "refresh of task quality failed");
            market.write_blocking(|writer| {
                let failed = Refresh {
                    status: RefreshStatus::Failed,
                    finished_at: Some(writer.now),
                    error: Some(BROKEN.to_owned()),
                    ..refresh
                };
                store::qc_refreshes::update(writer.rows, &failed)
            })?;
        }
    }
    Ok(())
}

fn run(market: &Market, mut refresh: Refresh, go_on: &dyn Fn() -> bool) -> Result<()> {
    let (mut after, mut is_first) = (0, true);
    while go_on() {
        let is_done = market.write_blocking(|writer| {
            if is_first {
                refresh.status = RefreshStatus::Running;
                refresh.started_at = Some(writer.now);
                refresh.total = store::task_readings::count(writer.rows, refresh.team)?;
                refresh.refreshed = 0;
            }
            let assets = store::task_readings::assets_after(writer.rows, refresh.team, after, BATCH)?;
            for asset in &assets {
                store::task_readings::refresh(writer.rows, *asset, writer.now)?;
            }
            after = assets.last().copied().unwrap_or(after);
            refresh.refreshed += assets.len() as u64;
            // Tasks may have been imported since they were counted.
            refresh.total = refresh.total.max(refresh.refreshed);
            if assets.len() < BATCH {
                refresh.total = refresh.refreshed;
                refresh.status = RefreshStatus::Completed;
                refresh.finished_at = Some(writer.now);
            }
            store::qc_refreshes::update(writer.rows, &refresh)?;
            Ok(refresh.finished_at.is_some())
        })?;
        is_first = false;
        if is_done {
            break;
        }
    }
    Ok(())
}
