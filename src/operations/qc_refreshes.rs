//! Reading the quality of all of a team's task assets again, in the background and one team's once at a time.

use super::access::Vendor;
use crate::{
    domain::{tasks::RefreshStatus, time::Timestamp},
    error::Result,
    market::{Market, Reader, Writer},
    store::{self, qc_refreshes::Refresh},
};

/// Task assets that are read in one transaction.
const BATCH: usize = 100;

/// What a vendor is told of a refresh that broke; the cause goes to the log.
const BROKEN: &str = "The quality of some tasks could not be read. Ask for another refresh.";

/// A refresh, and when any task asset of the team was last read.
pub type Told = (Option<Refresh>, Option<Timestamp>);

/// Asks for a refresh, or answers the one that is not finished. The second part tells whether there is something to do.
pub fn request(writer: &mut Writer, vendor: &Vendor) -> Result<Told> {
    let team = vendor.number();
    if store::qc_refreshes::latest(writer.rows, team)?.is_none_or(|latest| latest.finished_at.is_some()) {
        let total = store::task_readings::count(writer.rows, team)?;
        store::qc_refreshes::insert(writer.rows, writer.clock.id(), team, total, writer.now)?;
        writer.wake();
    }
    told(writer.rows, vendor)
}

/// The refresh that is not finished, or the last one.
pub fn latest(reader: &Reader, vendor: &Vendor) -> Result<Told> {
    told(reader.rows, vendor)
}

fn told(rows: &store::Reader, vendor: &Vendor) -> Result<Told> {
    let team = vendor.number();
    Ok((store::qc_refreshes::latest(rows, team)?, store::task_readings::last_read_at(rows, team)?))
}

/// Carries out every refresh that is not finished, those that a killed server left half done among them: from their
/// beginning, since reading twice does no harm. Goes on while `go_on` says so.
pub fn run_open(market: &Market, go_on: &dyn Fn() -> bool) -> Result<()> {
    while go_on() {
        let Some(refresh) = market.read_blocking(|reader| store::qc_refreshes::next_open(reader.rows))?
        else {
            break;
        };
        if let Err(cause) = run(market, refresh.clone(), go_on) {
            tracing::error!(refresh = %refresh.id, %cause, "a refresh of task quality broke");
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
            // Tasks that were imported since count, too.
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
