//! Quality runs of assets and listings: start, charge, and completion. The checks themselves are in
//! `checking`.

use uuid::Uuid;

use super::{access::Vendor, assets, certifications, listings};
use crate::{
    domain::{
        assets::{ArtifactStatus, Kind},
        jobs::JobKind,
        ledger::{self, EntryType},
        money::Cents,
        notifications::NotificationType,
        quality::{self, Outcome, RunStatus},
        teams::TeamNumber,
        time::Timestamp,
    },
    error::{Code, Error, Result},
    market::{Reader, Writer},
    store::{
        self,
        listings::ListingRow,
        notifications::NewNotification,
        quality::{CheckRow, NewRun, RunRow, Subject},
        quality_runs::OpenRun,
        wallet::NewEntry,
    },
};

/// A quality run that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// ID of the asset or listing that the run checks.
    pub subject: Uuid,
    /// ID of the run.
    pub run: Uuid,
    /// Sequence number of the run among the runs of the same asset or listing, starting at 1.
    pub run_number: u32,
    /// Status of the run.
    pub status: RunStatus,
}

/// Starts a run for the linked data of one of the team's assets. The run waits until the data has been
/// analyzed.
pub fn start(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<Started> {
    let asset = assets::find(writer.rows, vendor, id, Some(kind))?;
    let Some(data) = &asset.data else {
        let what = "The asset has no linked data to check. Attach data first.";
        return Err(Error::State(Code::DataNotAttached, what.to_owned()));
    };
    let subject = Subject::Asset(asset.number);
    let started = begin(writer, subject, asset.team, id, &asset.title, "vendor")?;
    if is_settled(data.archive_status, data.analysis_status) {
        writer.enqueue(JobKind::RunChecks, started.0)?;
    }
    Ok(started.1)
}

/// Returns the latest run of one of the team's assets, with its checks.
pub fn latest(
    reader: &Reader,
    vendor: &Vendor,
    id: Uuid,
    kind: Kind,
) -> Result<Option<(RunRow, Vec<CheckRow>)>> {
    let asset = assets::find(reader.rows, vendor, id, Some(kind))?;
    let Some(run) = store::quality_runs::latest_of_asset(reader.rows, asset.number)? else { return Ok(None) };
    let checks = store::quality::checks(reader.rows, run.number)?;
    Ok(Some((run, checks)))
}

/// Starts a run for a listing and all its assets. Called when a listing is submitted.
pub fn start_listing(writer: &mut Writer, id: Uuid, triggered_by: &str) -> Result<Started> {
    let listing = listings::find(writer, id)?;
    let subject = Subject::Listing(listing.number);
    let (run, started) = begin(writer, subject, listing.team, id, &listing.title, triggered_by)?;
    let assets = store::quality_runs::assets_of(writer.rows, listing.number)?;
    store::quality_runs::note_assets(writer.rows, run, &assets)?;
    writer.enqueue(JobKind::RunChecks, run)?;
    Ok(started)
}

/// Inserts a run and charges for it. Fails if the subject has an unfinished run.
fn begin(
    writer: &mut Writer,
    subject: Subject,
    team: TeamNumber,
    id: Uuid,
    title: &str,
    triggered_by: &str,
) -> Result<(i64, Started)> {
    if !store::quality_runs::open_of(writer.rows, subject)?.is_empty() {
        let what = "A quality run is still in progress. Wait until it ends, then start another one.";
        return Err(Error::State(Code::RunInProgress, what.to_owned()));
    }
    let price = price(writer);
    if !charge(writer.rows, writer.clock.id(), team, title, price, writer.now)? {
        let what = format!(
            "A quality run costs {price} US dollars in credits, but your wallet has less. Convert earnings \
             to credits, or ask the platform for credits."
        );
        return Err(Error::State(Code::InsufficientCredits, what));
    }
    let run = NewRun {
        id: writer.clock.id(),
        subject,
        status: RunStatus::Queued,
        triggered_by,
        review_feedback: None,
        error: None,
        charge: price,
        started_at: writer.now,
        completed_at: None,
    };
    let number = store::quality::insert_run(writer.rows, &run)?;
    let row = store::quality_runs::open(writer.rows, number)?
        .ok_or_else(|| Error::internal("the quality run was not stored"))?
        .row;
    Ok((number, Started { subject: id, run: row.id, run_number: row.run_number, status: row.status }))
}

/// Returns the price of a run.
pub fn price(writer: &Writer) -> Cents {
    Cents::from_dollars(writer.settings.quality.credits_per_run).unwrap_or_default()
}

/// Deducts the charge of a run from a team's credits, or refunds it if it is negative. Returns whether the
/// credits were sufficient; if not, the caller must roll back the transaction.
pub fn charge(
    rows: &store::Writer,
    id: Uuid,
    team: TeamNumber,
    title: &str,
    charge: Cents,
    at: Timestamp,
) -> Result<bool> {
    if charge == Cents(0) {
        return Ok(true);
    }
    let taken = Cents(-charge.0);
    let postings = ledger::movement(EntryType::Adjustment, taken)
        .ok_or_else(|| Error::internal("an adjustment must move credits"))?;
    let entry = NewEntry {
        id,
        entry_type: EntryType::Adjustment,
        description: &format!("Quality checks of \u{201c}{title}\u{201d}"),
        purchase: None,
        team,
        created_at: at,
        available_at: at,
    };
    store::wallet::insert(rows, &entry, &postings)?;
    Ok(store::wallet::balances(rows, team, at)?.credits.0 >= 0)
}

/// Whether data has been analyzed, or never will be because its archive or its analysis failed.
pub const fn is_settled(archive: ArtifactStatus, analysis: ArtifactStatus) -> bool {
    matches!(archive, ArtifactStatus::Failed)
        || !matches!(analysis, ArtifactStatus::Pending | ArtifactStatus::Running)
}

/// Resumes the runs that waited for the data of an asset.
pub fn data_settled(writer: &Writer, asset: i64) -> Result<()> {
    let mut waiting = store::quality_runs::open_of(writer.rows, Subject::Asset(asset))?;
    waiting.extend(store::quality_runs::open_with(writer.rows, asset)?);
    waiting.iter().try_for_each(|run| writer.enqueue(JobKind::RunChecks, run.row.number))
}

/// Cancels the unfinished runs of a listing that is withdrawn, or of an asset whose data is detached.
pub fn call_off(writer: &mut Writer, subject: Subject) -> Result<()> {
    for run in store::quality_runs::open_of(writer.rows, subject)? {
        store::jobs::cancel(writer.rows, JobKind::RunChecks, run.row.number)?;
        end(writer, &run, RunStatus::Cancelled, None)?;
    }
    Ok(())
}

/// Ends a run without a result, and refunds its charge.
pub fn end(writer: &mut Writer, run: &OpenRun, status: RunStatus, error: Option<&str>) -> Result<()> {
    let keeps = quality::keeps_charge(status);
    store::quality_runs::end(writer.rows, run.row.number, status, error, keeps, writer.now)?;
    let Some((team, title)) = whose(writer.rows, run.subject)? else { return Ok(()) };
    if !keeps {
        charge(writer.rows, writer.clock.id(), team, &title, Cents(-run.row.charge.0), writer.now)?;
    }
    tell(writer, team, &title, status, false)
}

/// Completes a run whose checks are written. If it is the run of a listing, updates the listing's
/// certification.
pub fn complete(writer: &mut Writer, run: &OpenRun) -> Result<()> {
    let number = run.row.number;
    store::quality_runs::end(writer.rows, number, RunStatus::Completed, None, true, writer.now)?;
    let checks = store::quality::checks(writer.rows, number)?;
    let outcomes =
        checks.iter().map(|check| Outcome { is_mandatory: check.is_mandatory, status: check.status });
    let has_passed = quality::passed(RunStatus::Completed, outcomes);
    if let Subject::Listing(listing) = run.subject {
        let row = store::listings::numbered(writer.rows, listing)?
            .ok_or_else(|| Error::internal("the listing of a quality run no longer exists"))?;
        // The result applies only to the assets and the data that the run inspected.
        let is_same = store::quality_runs::assets_of(writer.rows, listing)? == run.assets;
        verdict(writer, &row, has_passed && is_same)?;
    }
    let Some((team, title)) = whose(writer.rows, run.subject)? else { return Ok(()) };
    tell(writer, team, &title, RunStatus::Completed, has_passed)
}

fn verdict(writer: &Writer, listing: &ListingRow, has_passed: bool) -> Result<()> {
    let was_certified = listing.certified_at.is_some();
    certifications::conclude(
        writer.rows,
        listing.number,
        was_certified,
        has_passed,
        listing.status.stage(),
        writer.now,
    )
}

fn whose(rows: &store::Reader, subject: Subject) -> Result<Option<(TeamNumber, String)>> {
    Ok(match subject {
        Subject::Listing(listing) => {
            store::listings::numbered(rows, listing)?.map(|listing| (listing.team, listing.title))
        }
        Subject::Asset(asset) => {
            store::quality_runs::subject_of(rows, asset)?.map(|(team, title, ..)| (team, title))
        }
    })
}

/// Notifies the team how a run ended.
fn tell(writer: &Writer, team: TeamNumber, title: &str, status: RunStatus, has_passed: bool) -> Result<()> {
    let how = match (status, has_passed) {
        (RunStatus::Completed, true) => "passed every mandatory check",
        (RunStatus::Completed, false) => "did not pass every mandatory check",
        (RunStatus::Cancelled, _) => "were canceled, and cost nothing",
        _ => "failed because of an internal error, and cost nothing",
    };
    let notification = NewNotification {
        id: writer.clock.id(),
        team,
        kind: NotificationType::QualityCheckCompleted,
        title: "Quality checks ended",
        message: &format!("The quality checks of \u{201c}{title}\u{201d} {how}."),
        is_read: false,
        link: None,
        opportunity: None,
        project_opportunity: None,
        project_bid: None,
        task: None,
        created_at: writer.now,
    };
    store::notifications::insert(writer.rows, &notification)?;
    Ok(())
}
