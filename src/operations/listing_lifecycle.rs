//! The lifecycle of listings: one operation for each change of a listing.
//!
//! An operation of a vendor takes a [`Vendor`], a decision of the platform takes a [`Platform`], and each takes
//! the actor for the history. Assets are attached in `listing_assets`, certifications are in `certifications`.
//! The operator API, commands, and fixture sets use them.

use uuid::Uuid;

use super::{
    access::{Platform, Vendor},
    exclusivity,
    listing_changes::{check, perform, record},
    listing_fields,
    listings::{find, find_own},
    offer_changes, quality_runs, reviews, samples,
};
use crate::{
    domain::{
        events::{EventData, ListingData},
        listing_lifecycle::{ListingState, Operation, missing_for_review},
        listings::{Actor, Event, LifecycleStage, ListingRowId},
        quality_runs::RunTrigger,
        texts,
    },
    error::{Error, Problem, Result, StateCode, refusal},
    market::Writer,
    request_problems::check_text,
    store::{
        self,
        listing_history::{self, HistoryEvent},
        listings::{ListingFields, ListingRow},
        quality_runs::Subject,
    },
};

/// Creates a draft with this ID. Returns its row ID.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    fields: &ListingFields,
) -> Result<ListingRowId> {
    listing_fields::check(fields, false)?;
    let row_id = store::listings::insert(writer.rows, id, vendor.team_row_id(), fields, writer.now)?;
    let to = ListingState::NEW.status.stage();
    let created = HistoryEvent { event: Event::Created, actor, occurred_at: writer.now, from: None, to };
    listing_history::insert(writer.rows, row_id, &created)?;
    let new = ListingState::NEW.status;
    let data = ListingData {
        listing_id: id,
        actor,
        from_stage: None,
        to_stage: to,
        review_status: new.review,
        catalog_status: new.catalog,
        is_certified: false,
    };
    writer.emit(Some(vendor.team_row_id()), id, &EventData::ListingCreated(data))?;
    Ok(row_id)
}

/// Replaces the texts, the prices, and the terms of a listing. Other texts end its approval, and are refused
/// while the listing is in review or in the catalog.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    fields: &ListingFields,
) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    let stage = listing.status.stage();
    listing_fields::check(fields, stage == LifecycleStage::Active)?;
    // Listings from earlier versions may offer a sample without chosen content.
    let is_sample_stated =
        !fields.sample.is_empty() || listing.sample_price.is_none() && fields.sample_price.is_some();
    if is_sample_stated && matches!(stage, LifecycleStage::Ready | LifecycleStage::Active) {
        listing_fields::check_sample(writer.rows, listing.row_id, fields.sample_price, &fields.sample)?;
    }
    if !writer.is_replay && store::listings::find_fields(writer.rows, listing.row_id)?.sample != fields.sample
    {
        samples::check(writer.rows, listing.team, &fields.sample)?;
    }
    let has_same_texts = store::listings::has_texts(writer.rows, listing.row_id, fields)?;
    let operation = if has_same_texts { Operation::UpdateTerms } else { Operation::UpdateTexts };
    perform(writer, &listing, operation, actor, |writer| {
        // A listing that is exclusive already may keep a codebase that was sold elsewhere. It cannot be offered.
        if fields.is_exclusive && !listing.is_exclusive {
            exclusivity::check_listing(writer.rows, &listing, true)?;
        }
        store::listings::update(writer.rows, listing.row_id, fields, writer.now)
    })
}

/// A listing that was submitted for review.
#[derive(Debug)]
pub struct Submission {
    /// The state of the listing.
    pub state: ListingState,
    /// The quality run that was started; `None` if the vendor has too few credits for one.
    pub run: Option<quality_runs::RunStart>,
}

/// Submits a complete listing for review, and starts a quality run of it. Without enough credits, the listing
/// is reviewed without a run.
pub fn submit(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<Submission> {
    let listing = find_own(writer.rows, vendor, id)?;
    check(&listing, Operation::Submit)?;
    check_complete(writer, &listing)?;
    exclusivity::check_listing(writer.rows, &listing, listing.is_exclusive)?;
    let state = transition(writer, &listing, Operation::Submit, actor)?;
    reviews::open(writer, listing.row_id)?;
    if writer.is_replay {
        return Ok(Submission { state, run: None });
    }
    // The result of an earlier run is obsolete.
    quality_runs::cancel(writer, Subject::Listing(listing.row_id))?;
    let run = match quality_runs::start_listing_run(writer, &listing, RunTrigger::Submission) {
        Ok(run) => Some(run),
        Err(Error::InvalidState(StateCode::InsufficientCredits, _)) => None,
        Err(error) => return Err(error),
    };
    Ok(Submission { state, run })
}

/// Withdraws a listing from review, and cancels its quality run.
pub fn withdraw(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    withdraw_found(writer, &listing, actor)
}

fn withdraw_found(writer: &mut Writer, listing: &ListingRow, actor: Actor) -> Result<ListingState> {
    let state = transition(writer, listing, Operation::Withdraw, actor)?;
    reviews::end(writer, listing.row_id, Operation::Withdraw, None)?;
    if !writer.is_replay {
        quality_runs::cancel(writer, Subject::Listing(listing.row_id))?;
    }
    Ok(state)
}

/// Approves a listing in review.
pub fn approve(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    perform(writer, &listing, Operation::Approve, actor, |writer| {
        reviews::end(writer, listing.row_id, Operation::Approve, None)?;
        store::listings::set_review_feedback(writer.rows, listing.row_id, None)
    })
}

/// Returns a listing in review to its vendor, with a note that says what to change.
pub fn request_changes(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    note: Option<&str>,
) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    decide_with_note(writer, &listing, Operation::RequestChanges, actor, note)
}

/// Rejects a listing in review, with a note that says why.
pub fn reject(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    note: Option<&str>,
) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    decide_with_note(writer, &listing, Operation::Reject, actor, note)
}

/// Publishes an approved listing in the catalog.
pub fn publish(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    check(&listing, Operation::Publish)?;
    exclusivity::check_listing(writer.rows, &listing, listing.is_exclusive)?;
    transition(writer, &listing, Operation::Publish, actor)
}

/// Removes a listing from the catalog.
pub fn unpublish(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    transition(writer, &listing, Operation::Unpublish, actor)
}

/// Archives a listing that is not in review, and declines the offers on it.
pub fn archive(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    archive_found(writer, &listing, actor)
}

fn archive_found(writer: &mut Writer, listing: &ListingRow, actor: Actor) -> Result<ListingState> {
    let state = transition(writer, listing, Operation::Archive, actor)?;
    offer_changes::decline_all(writer, listing, actor)?;
    Ok(state)
}

/// Archives a listing that is not archived, whatever its stage, because its vendor can no longer sell it.
/// Withdraws it from review first.
pub fn archive_in_any_stage(
    writer: &mut Writer,
    mut listing: ListingRow,
    actor: Actor,
) -> Result<ListingState> {
    if listing.status.stage() == LifecycleStage::Review {
        listing.status = withdraw_found(writer, &listing, actor)?.status;
    }
    archive_found(writer, &listing, actor)
}

/// Restores a listing from the archive. It keeps its review status, and is not published. Fails while one of its
/// assets is sold exclusively.
pub fn restore(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find_own(writer.rows, vendor, id)?;
    check(&listing, Operation::Restore)?;
    exclusivity::check_not_sold(writer.rows, &listing)?;
    transition(writer, &listing, Operation::Restore, actor)
}

/// Gives a listing a place among the featured listings, from 1. No two listings have the same place.
pub fn feature(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    place: u32,
) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    if place == 0 {
        let message = "Featured places begin at 1.".to_owned();
        return Err(Error::invalid(Problem::body(&["featured"], "greater_than_equal", message)));
    }
    if let Some(other) = store::listings::find_featured(writer.rows, place)?.filter(|other| *other != id) {
        let message = format!(
            "The listing {other} has featured place {place}. Choose another place, or unfeature it first."
        );
        return Err(Error::Conflict(message));
    }
    perform(writer, &listing, Operation::Feature, actor, |writer| {
        store::listings::set_featured(writer.rows, listing.row_id, Some(place), writer.now)
    })
}

/// Takes a listing from the featured listings.
pub fn unfeature(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    perform(writer, &listing, Operation::Unfeature, actor, |writer| {
        store::listings::set_featured(writer.rows, listing.row_id, None, writer.now)
    })
}

/// Starts a quality run of a listing and all its assets for the platform, as on submission.
pub fn start_run(writer: &mut Writer, platform: Platform, id: Uuid) -> Result<quality_runs::RunStart> {
    let listing = find(writer.rows, platform, id)?;
    quality_runs::start_listing_run(writer, &listing, RunTrigger::Platform)
}

fn transition(
    writer: &mut Writer,
    listing: &ListingRow,
    operation: Operation,
    actor: Actor,
) -> Result<ListingState> {
    perform(writer, listing, operation, actor, |_| Ok(()))
}

/// Performs a transition that the platform explains to the vendor: in the notification, with the listing, and in the
/// quality run that was reviewed, if there was one.
fn decide_with_note(
    writer: &mut Writer,
    listing: &ListingRow,
    operation: Operation,
    actor: Actor,
    note: Option<&str>,
) -> Result<ListingState> {
    let change = check(listing, operation)?;
    if let Some(note) = note {
        check_text(&["note"], note, texts::NOTE)?;
        reviews::end(writer, listing.row_id, operation, Some(note))?;
        store::quality_runs::set_review_feedback(writer.rows, listing.row_id, note)?;
        store::listings::set_review_feedback(writer.rows, listing.row_id, Some(note))?;
    } else {
        // The history of a fixture has no notes, but the run that was reviewed can have one.
        let run = store::quality_runs::find_latest_of_listing(writer.rows, listing.row_id)?;
        let feedback = run.and_then(|run| run.review_feedback);
        reviews::end(writer, listing.row_id, operation, feedback.as_deref())?;
        store::listings::set_review_feedback(writer.rows, listing.row_id, feedback.as_deref())?;
    }
    record(writer, listing, change, actor, note)
}

fn check_sample(rows: &store::Reader, listing: &ListingRow) -> Result<()> {
    if listing.sample_price.is_none() {
        return Ok(());
    }
    let fields = store::listings::find_fields(rows, listing.row_id)?;
    listing_fields::check_sample(rows, listing.row_id, fields.sample_price, &fields.sample)?;
    samples::check(rows, listing.team, &fields.sample)
}

fn check_fields(rows: &store::Reader, listing: &ListingRow) -> Result<()> {
    let assets = store::listings::asset_count(rows, listing.row_id)?;
    let missing = missing_for_review(&listing.title, &listing.description, listing.price.is_some(), assets);
    let problem = |name: &&str| {
        Problem::body(&[name], "missing", format!("`{name}` is required to submit the listing."))
    };
    if missing.is_empty() { Ok(()) } else { Err(Error::Invalid(missing.iter().map(problem).collect())) }
}

fn check_complete(writer: &Writer, listing: &ListingRow) -> Result<()> {
    check_fields(writer.rows, listing)?;
    // Recorded listings may be of a time when samples were not stated.
    if writer.is_replay { Ok(()) } else { check_sample(writer.rows, listing) }
}

/// What a listing lacks before it can be offered.
#[derive(Clone, Debug, Default)]
pub struct Obstacles {
    /// Problems with its fields, its assets, and its sample, for which it cannot be submitted. The first name of each is that of
    /// the field.
    pub fields: Vec<Problem>,
    /// Why its assets cannot be offered, whether it is submitted, or published.
    pub assets: Option<String>,
    /// Why it cannot be restored from the archive.
    pub restoring: Option<String>,
    /// Number of offers that wait for the vendor. Archiving declines them.
    pub waiting_offers: u64,
}

/// Returns all that one of the team's own listings lacks before it can be offered: all for which [`submit`], [`publish`], and
/// [`restore`] refuse it, besides its state.
pub fn find_obstacles(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Obstacles> {
    let listing = find_own(rows, vendor, id)?;
    let mut fields = problems(check_fields(rows, &listing))?;
    fields.extend(problems(check_sample(rows, &listing))?);
    Ok(Obstacles {
        fields,
        assets: refusal(exclusivity::check_listing(rows, &listing, listing.is_exclusive))?,
        restoring: refusal(exclusivity::check_not_sold(rows, &listing))?,
        waiting_offers: store::offers::count_submitted(rows, listing.row_id)?,
    })
}

fn problems(checked: Result<()>) -> Result<Vec<Problem>> {
    match checked {
        Ok(()) => Ok(Vec::new()),
        Err(Error::Invalid(problems)) => Ok(problems),
        Err(error) => Err(error),
    }
}
