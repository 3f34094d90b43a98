//! Quality runs of assets and listings: starting them, what they cost, and how they end. What they look at is `checking`.

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

/// A run that was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// The id of what it is about.
    pub subject: Uuid,
    /// Its id.
    pub run: Uuid,
    /// Its place among the runs of its subject.
    pub run_number: u32,
    /// How far it is.
    pub status: RunStatus,
}

/// Starts a run of the data that is linked to one of the team's assets. It waits until the data is read.
pub fn start(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<Started> {
    let asset = assets::find(writer.rows, vendor, id, Some(kind))?;
    let Some(data) = &asset.data else {
        let what = "No data is linked to the asset, so that there is nothing to check. Attach it first.";
        return Err(Error::State(Code::DataNotAttached, what.to_owned()));
    };
    let subject = Subject::Asset(asset.number);
    let started = begin(writer, subject, asset.team, id, &asset.title, "vendor")?;
    if is_settled(data.archive_status, data.analysis_status) {
        writer.enqueue(JobKind::RunChecks, started.0)?;
    }
    Ok(started.1)
}

/// The latest run of one of the team's assets, with its checks.
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

/// Starts a run of a listing with all its assets, as submitting it does.
pub fn start_listing(writer: &mut Writer, id: Uuid, triggered_by: &str) -> Result<Started> {
    let listing = listings::find(writer, id)?;
    let subject = Subject::Listing(listing.number);
    let (run, started) = begin(writer, subject, listing.team, id, &listing.title, triggered_by)?;
    let assets = store::quality_runs::assets_of(writer.rows, listing.number)?;
    store::quality_runs::note_assets(writer.rows, run, &assets)?;
    writer.enqueue(JobKind::RunChecks, run)?;
    Ok(started)
}

/// Adds a run and takes its charge. One goes on at a time.
fn begin(
    writer: &mut Writer,
    subject: Subject,
    team: TeamNumber,
    id: Uuid,
    title: &str,
    triggered_by: &str,
) -> Result<(i64, Started)> {
    if !store::quality_runs::open_of(writer.rows, subject)?.is_empty() {
        let what = "A quality run of it has not ended yet. Wait for its end, then start another.";
        return Err(Error::State(Code::RunInProgress, what.to_owned()));
    }
    let price = price(writer);
    if !charge(writer.rows, writer.clock.id(), team, title, price, writer.now)? {
        let what = format!(
            "A quality run costs {price} US dollars of credits, which your wallet does not have. Turn earnings into \
             credits, or ask the platform for some."
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
        .ok_or_else(|| Error::internal("the run is gone"))?
        .row;
    Ok((number, Started { subject: id, run: row.id, run_number: row.run_number, status: row.status }))
}

/// What a run costs.
pub fn price(writer: &Writer) -> Cents {
    Cents::from_dollars(writer.settings.quality.credits_per_run).unwrap_or_default()
}

/// Takes the charge of a run from a team's credits, or gives it back where it is less than nothing. Answers whether the
/// credits sufficed; where they did not, whoever asked takes everything back.
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
        .ok_or_else(|| Error::internal("an adjustment moves credits"))?;
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

/// Whether data has been read, or never will be.
pub const fn is_settled(archive: ArtifactStatus, analysis: ArtifactStatus) -> bool {
    matches!(archive, ArtifactStatus::Failed)
        || !matches!(analysis, ArtifactStatus::Pending | ArtifactStatus::Running)
}

/// Lets runs go on that waited for the data of an asset.
pub fn data_settled(writer: &Writer, asset: i64) -> Result<()> {
    let mut waiting = store::quality_runs::open_of(writer.rows, Subject::Asset(asset))?;
    waiting.extend(store::quality_runs::open_with(writer.rows, asset)?);
    waiting.iter().try_for_each(|run| writer.enqueue(JobKind::RunChecks, run.row.number))
}

/// Calls off what has not ended of the runs of a listing that is withdrawn, or of an asset whose data is detached.
pub fn call_off(writer: &mut Writer, subject: Subject) -> Result<()> {
    for run in store::quality_runs::open_of(writer.rows, subject)? {
        store::jobs::cancel(writer.rows, JobKind::RunChecks, run.row.number)?;
        end(writer, &run, RunStatus::Cancelled, None)?;
    }
    Ok(())
}

/// Ends a run without a verdict, and gives its charge back.
pub fn end(writer: &mut Writer, run: &OpenRun, status: RunStatus, error: Option<&str>) -> Result<()> {
    let keeps = quality::keeps_charge(status);
    store::quality_runs::end(writer.rows, run.row.number, status, error, keeps, writer.now)?;
    let Some((team, title)) = whose(writer.rows, run.subject)? else { return Ok(()) };
    if !keeps {
        charge(writer.rows, writer.clock.id(), team, &title, Cents(-run.row.charge.0), writer.now)?;
    }
    tell(writer, team, &title, status, false)
}

/// Completes a run whose checks are written, and draws the verdict on a listing.
pub fn complete(writer: &mut Writer, run: &OpenRun) -> Result<()> {
    let number = run.row.number;
    store::quality_runs::end(writer.rows, number, RunStatus::Completed, None, true, writer.now)?;
    let checks = store::quality::checks(writer.rows, number)?;
    let outcomes =
        checks.iter().map(|check| Outcome { is_mandatory: check.is_mandatory, status: check.status });
    let has_passed = quality::passed(RunStatus::Completed, outcomes);
    if let Subject::Listing(listing) = run.subject {
        let row = store::listings::numbered(writer.rows, listing)?
            .ok_or_else(|| Error::internal("the listing of a run is gone"))?;
        // What the run says, it says of the assets and the data that it looked at.
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

/// Tells the team how a run ended.
fn tell(writer: &Writer, team: TeamNumber, title: &str, status: RunStatus, has_passed: bool) -> Result<()> {
    let how = match (status, has_passed) {
        (RunStatus::Completed, true) => "passed every mandatory check",
        (RunStatus::Completed, false) => "did not pass every mandatory check",
        (RunStatus::Cancelled, _) => "were called off, and cost nothing",
        _ => "broke, and cost nothing",
    };
    let notification = NewNotification {
        id: writer.clock.id(),
        team,
        kind: NotificationType::QualityCheckCompleted,
        title: "Quality checks have ended",
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
