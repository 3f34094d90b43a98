//! Quality runs of assets and listings: start, charge, and completion. The checks themselves are in
//! `quality_checks`.

use std::collections::HashMap;

use uuid::Uuid;

use super::{access::Platform, certifications, data_files, ledger, notifications, wallet};
use crate::{
    config::Settings,
    domain::{
        collections::Collection,
        events::{EventData, QualityRunData},
        inventory::Asset,
        jobs::JobKind,
        ledger::Transfer,
        listings::Actor,
        money::Cents,
        notifications::NotificationType,
        quality_checks::CheckOutcome,
        quality_runs::{RunOperation, RunStatus, RunTrigger, is_charge_kept, is_run_passed},
        row_ids::{AssetRowId, QualityRunRowId},
        state_machine::StateMachine,
        teams::TeamRowId,
    },
    error::{Error, Result, StateCode},
    market::{Reader, Writer},
    store::{
        self,
        listings::ListingRow,
        quality_checks::CheckRow,
        quality_runs::{NewRun, RunRow, Subject, UnfinishedRun},
    },
};

/// A quality run that was started.
#[derive(Clone, Debug)]
pub struct RunStart {
    /// ID of the asset or listing that the run checks.
    pub subject_id: Uuid,
    /// ID of the run.
    pub run_id: Uuid,
    /// Sequence number of the run among the runs of the same asset or listing, starting at 1.
    pub run_number: u32,
    /// Status of the run.
    pub status: RunStatus,
}

/// A run with its verdict and its checks.
#[derive(Debug)]
pub struct CheckedRun {
    /// The run.
    pub run: RunRow,
    /// Whether the run completed and every mandatory check of it passed.
    pub has_passed: bool,
    /// The checks to show.
    pub checks: Vec<CheckRow>,
}

impl CheckedRun {
    /// Reads the checks of a run.
    pub fn read(rows: &store::Reader, run: RunRow) -> Result<CheckedRun> {
        let checks = store::quality_checks::list(rows, run.row_id)?;
        Ok(CheckedRun { has_passed: has_passed(run.status, &checks), run, checks })
    }

    /// Replaces the checks of assets by those of newer runs of the assets themselves. The verdict stays.
    pub fn replace_checks(&mut self, newer: Vec<(Uuid, Vec<CheckRow>)>) {
        let position: HashMap<Uuid, usize> =
            newer.iter().enumerate().map(|(index, (asset, _))| (*asset, index)).collect();
        let mut newer: Vec<Vec<CheckRow>> = newer.into_iter().map(|(_, checks)| checks).collect();
        let mut shown = Vec::with_capacity(self.checks.len());
        for check in self.checks.drain(..) {
            match check.asset.as_ref().and_then(|asset| position.get(&asset.id)) {
                // The new checks take the place of the asset's first check.
                Some(index) => shown.append(&mut newer[*index]),
                None => shown.push(check),
            }
        }
        // Assets that the run did not check.
        shown.extend(newer.into_iter().flatten());
        self.checks = shown;
    }
}

fn has_passed(status: RunStatus, checks: &[CheckRow]) -> bool {
    let outcome = |check: &CheckRow| CheckOutcome { is_mandatory: check.is_mandatory, status: check.status };
    is_run_passed(status, checks.iter().map(outcome))
}

/// Starts a run for the linked data of an asset. The run waits until the data has been analyzed. Fails,
/// without a charge, if the server has no files to check.
pub fn start_asset_run(writer: &mut Writer, asset: &Asset, triggered_by: RunTrigger) -> Result<RunStart> {
    let Some(data) = &asset.data else {
        let message = "The asset has no linked data to check. Attach data first.";
        return Err(Error::InvalidState(StateCode::DataNotAttached, message.to_owned()));
    };
    if let Some(reason) = data_files::unreadable_reason(writer.rows, writer.blobs, asset, data)? {
        return Err(Error::InvalidState(StateCode::DataNotReadable, reason));
    }
    let subject = Subject::Asset(asset.row_id);
    let started = insert_run(writer, subject, asset.team, asset.id, &asset.title, triggered_by)?;
    if !data_files::is_in_progress(writer.rows, asset.row_id, data)? {
        writer.enqueue(JobKind::RunChecks, started.0)?;
    }
    Ok(started.1)
}

/// Returns the latest run of an asset, with its checks.
pub fn latest_asset_run(reader: &Reader, asset: &Asset) -> Result<Option<CheckedRun>> {
    let run = store::quality_runs::find_latest_of_asset(reader.rows, asset.row_id)?;
    run.map(|run| CheckedRun::read(reader.rows, run)).transpose()
}

/// Starts a run for a listing and all its assets. Called when a listing is submitted.
pub fn start_listing_run(
    writer: &mut Writer,
    listing: &ListingRow,
    triggered_by: RunTrigger,
) -> Result<RunStart> {
    let subject = Subject::Listing(listing.row_id);
    let (run, started) = insert_run(writer, subject, listing.team, listing.id, &listing.title, triggered_by)?;
    let assets = store::quality_runs::list_listing_assets(writer.rows, listing.row_id)?;
    store::quality_runs::set_assets(writer.rows, run, &assets)?;
    writer.enqueue(JobKind::RunChecks, run)?;
    Ok(started)
}

/// Inserts a run and charges for it. Fails if the subject has an unfinished run.
fn insert_run(
    writer: &mut Writer,
    subject: Subject,
    team: TeamRowId,
    id: Uuid,
    title: &str,
    triggered_by: RunTrigger,
) -> Result<(QualityRunRowId, RunStart)> {
    if let Some(unfinished) = store::quality_runs::list_unfinished(writer.rows, subject)?.first() {
        let message = format!(
            "The quality run {} is still in progress. Wait until it ends, then start another one.",
            unfinished.run.id
        );
        return Err(Error::InvalidState(StateCode::RunInProgress, message));
    }
    let price = price(writer.settings);
    charge(writer, writer.new_id(Collection::LedgerEntries), team, title, price)?;
    let run = NewRun {
        id: writer.new_id(Collection::QualityRuns),
        subject,
        team,
        status: RunStatus::Queued,
        triggered_by,
        review_feedback: None,
        error: None,
        charge: price,
        started_at: writer.now,
        completed_at: None,
    };
    let row_id = store::quality_runs::insert(writer.rows, &run)?;
    let row = store::quality_runs::find_unfinished(writer.rows, row_id)?
        .ok_or_else(|| Error::internal("the quality run was not stored"))?
        .run;
    let data = QualityRunData {
        run_id: row.id,
        listing_id: matches!(subject, Subject::Listing(_)).then_some(id),
        asset_id: matches!(subject, Subject::Asset(_)).then_some(id),
        status: row.status,
        passed: None,
        charge: price.to_string(),
    };
    writer.emit(Some(team), row.id, &EventData::QualityRunStarted(data))?;
    Ok((row_id, RunStart { subject_id: id, run_id: row.id, run_number: row.run_number, status: row.status }))
}

/// Returns the price of a run that the settings state.
pub fn price(settings: &Settings) -> Cents {
    Cents::from_dollars(settings.quality.credits_per_run).unwrap_or_default()
}

/// Deducts the charge of a run from a team's credits, or refunds it if it is negative, with the ID of the ledger
/// entry. Fails with [`StateCode::InsufficientCredits`] if the credits do not suffice; then nothing was written.
pub fn charge(writer: &Writer, id: Uuid, team: TeamRowId, title: &str, charge: Cents) -> Result<()> {
    if charge == Cents(0) {
        return Ok(());
    }
    let description = format!("Quality checks of \u{201c}{title}\u{201d}");
    let transfer = Transfer::quality_charge(team, charge);
    let posted = ledger::post_transfer_with_id(writer, id, &transfer, &description)?;
    wallet::record(writer, team, Actor::System, &posted, &transfer, &description, None)?;
    Ok(())
}

/// Resumes the runs that waited for the data of an asset.
pub fn resume_waiting_runs(writer: &Writer, asset: AssetRowId) -> Result<()> {
    let mut waiting = store::quality_runs::list_unfinished(writer.rows, Subject::Asset(asset))?;
    waiting.extend(store::quality_runs::list_unfinished_with_asset(writer.rows, asset)?);
    waiting.iter().try_for_each(|run| writer.enqueue(JobKind::RunChecks, run.run.row_id))
}

/// Cancels a run that has not finished. What it has computed is lost.
pub fn cancel_run(writer: &mut Writer, _platform: Platform, id: Uuid) -> Result<()> {
    let found = store::quality_runs::find_status(writer.rows, id)?;
    let (row_id, status) = found.ok_or_else(|| Error::not_found("quality run"))?;
    status.check(RunOperation::Cancel)?;
    let run = store::quality_runs::find_unfinished(writer.rows, row_id)?
        .ok_or_else(|| Error::internal("an unfinished quality run was not found"))?;
    cancel_unfinished(writer, &run)
}

/// Cancels the unfinished runs of a listing that is withdrawn, or of an asset whose data is detached.
pub fn cancel(writer: &mut Writer, subject: Subject) -> Result<()> {
    for run in store::quality_runs::list_unfinished(writer.rows, subject)? {
        cancel_unfinished(writer, &run)?;
    }
    Ok(())
}

fn cancel_unfinished(writer: &mut Writer, run: &UnfinishedRun) -> Result<()> {
    store::jobs::cancel(writer.rows, JobKind::RunChecks, run.run.row_id.into())?;
    end_without_result(writer, run, RunStatus::Cancelled, None)
}

/// Ends a run without a result, and refunds its charge unless the run was canceled after it had begun.
pub fn end_without_result(
    writer: &mut Writer,
    run: &UnfinishedRun,
    status: RunStatus,
    error: Option<&str>,
) -> Result<()> {
    let has_begun = run.run.status == RunStatus::Running;
    let keeps_charge = is_charge_kept(status, has_begun);
    store::quality_runs::finish(writer.rows, run.run.row_id, status, error, keeps_charge, writer.now)?;
    let Some(owner) = owner_of(writer.rows, run.subject)? else { return Ok(()) };
    let (team, title) = (owner.team, &owner.title);
    emit_end(writer, run, &owner, (status, None), keeps_charge)?;
    if !keeps_charge {
        charge(writer, writer.new_id(Collection::LedgerEntries), team, title, Cents(-run.run.charge.0))?;
    }
    let outcome = match (status, keeps_charge) {
        (RunStatus::Cancelled, true) => "were canceled after they had begun",
        (RunStatus::Cancelled, false) => "were canceled, and cost nothing",
        _ => "failed because of an internal error, and cost nothing",
    };
    notify_team(writer, team, run.run.id, title, outcome)
}

/// Completes a run whose checks are written. If it is the run of a listing, updates the listing's
/// certification.
pub fn complete(writer: &mut Writer, run: &UnfinishedRun) -> Result<()> {
    let row_id = run.run.row_id;
    store::quality_runs::finish(writer.rows, row_id, RunStatus::Completed, None, true, writer.now)?;
    let checks = store::quality_checks::list(writer.rows, row_id)?;
    let has_passed = has_passed(RunStatus::Completed, &checks);
    if let Subject::Listing(listing) = run.subject {
        // The result applies only to the assets and the data that the run inspected.
        let is_same = store::quality_runs::list_listing_assets(writer.rows, listing)? == run.assets;
        let platform = Platform::of_process();
        certifications::apply_run_result(writer, platform, listing, has_passed && is_same)?;
    }
    let Some(owner) = owner_of(writer.rows, run.subject)? else { return Ok(()) };
    emit_end(writer, run, &owner, (RunStatus::Completed, Some(has_passed)), true)?;
    let outcome =
        if has_passed { "passed every required check" } else { "did not pass every required check" };
    notify_team(writer, owner.team, run.run.id, &owner.title, outcome)
}

/// Appends the event of the end of a run. `end` is its status, and whether it passed.
fn emit_end(
    writer: &Writer,
    run: &UnfinishedRun,
    owner: &Owner,
    (status, passed): (RunStatus, Option<bool>),
    keeps_charge: bool,
) -> Result<()> {
    let charge = if keeps_charge { run.run.charge } else { Cents(0) };
    let data = QualityRunData {
        run_id: run.run.id,
        listing_id: matches!(run.subject, Subject::Listing(_)).then_some(owner.subject_id),
        asset_id: matches!(run.subject, Subject::Asset(_)).then_some(owner.subject_id),
        status,
        passed,
        charge: charge.to_string(),
    };
    let event = match status {
        RunStatus::Completed => EventData::QualityRunCompleted(data),
        RunStatus::Cancelled => EventData::QualityRunCancelled(data),
        _ => EventData::QualityRunFailed(data),
    };
    writer.emit(Some(owner.team), run.run.id, &event)
}

/// The subject of a run, for notifications of its end.
struct Owner {
    team: TeamRowId,
    subject_id: Uuid,
    title: String,
}

fn owner_of(rows: &store::Reader, subject: Subject) -> Result<Option<Owner>> {
    Ok(match subject {
        Subject::Listing(listing) => store::listings::find_by_row_id(rows, listing)?.map(|listing| Owner {
            team: listing.team,
            subject_id: listing.id,
            title: listing.title,
        }),
        Subject::Asset(asset) => store::assets::find_by_row_id(rows, asset)?.map(|asset| Owner {
            team: asset.team,
            subject_id: asset.id,
            title: asset.title,
        }),
    })
}

/// Notifies the team how a run ended. `outcome` follows "The quality checks of the title".
fn notify_team(writer: &Writer, team: TeamRowId, run: Uuid, title: &str, outcome: &str) -> Result<()> {
    let message = format!("The quality checks of \u{201c}{title}\u{201d} {outcome}.");
    let kind = NotificationType::QualityCheckCompleted;
    let link = format!("/quality/runs/{run}");
    notifications::send(writer, team, kind, ("Quality checks ended", &message), &link)
}
