//! Creation, editing, and state transitions of listings. The API has no routes for most of these; fixtures
//! and tests use them.

use uuid::Uuid;

use super::{access::Vendor, certifications, quality_runs};
use crate::{
    domain::{
        listings::{self as rules, Event, ListingRowId},
        quality::RunTrigger,
        teams::TeamRowId,
    },
    error::{Error, Problem, Result},
    market::Writer,
    store::{
        self,
        listings::{ListingFields, ListingRow},
        quality::Subject,
    },
    string_enum::StringEnum,
};

/// Creates a draft. Returns its row ID and its ID.
pub fn create(writer: &mut Writer, team: TeamRowId, texts: &ListingFields) -> Result<(ListingRowId, Uuid)> {
    let id = writer.clock.new_id();
    let row_id = store::listings::insert(writer.rows, id, team, texts, writer.now)?;
    Ok((row_id, id))
}

/// Replaces the texts and prices of a listing. The listing must be in a stage in which its assets may change,
/// too.
pub fn update(writer: &mut Writer, id: Uuid, texts: &ListingFields) -> Result<()> {
    let listing = find(writer, id)?;
    if !listing.status.is_editable() {
        return Err(Error::Conflict(format!(
            "The listing is {} and cannot be edited. Withdraw or unpublish it first.",
            listing.status.stage().as_str()
        )));
    }
    store::listings::update(writer.rows, listing.row_id, texts, writer.now)?;
    let stage = listing.status.stage();
    store::listings::record_event(writer.rows, listing.row_id, Event::Updated, writer.now, Some(stage), stage)
}

/// Applies an event to a listing, if its status allows it.
pub fn transition(writer: &mut Writer, id: Uuid, event: Event) -> Result<()> {
    let listing = find(writer, id)?;
    let Some(to) = listing.status.after(event) else {
        return Err(Error::InvalidTransition {
            from: listing.status.stage().as_str(),
            allowed: listing.status.allowed_transitions().into_iter().map(StringEnum::as_str).collect(),
        });
    };
    if event == Event::Submitted {
        check_ready_for_review(writer, &listing)?;
    }
    store::listings::advance(writer.rows, listing.row_id, event, listing.status, to, writer.now)?;
    match event {
        // The result of an earlier run is obsolete.
        Event::Submitted => {
            quality_runs::cancel(writer, Subject::Listing(listing.row_id))?;
            quality_runs::start_listing_run(writer, &listing, RunTrigger::Submission).map(|_| ())
        }
        Event::Withdrawn => quality_runs::cancel(writer, Subject::Listing(listing.row_id)),
        _ => Ok(()),
    }
}

fn check_ready_for_review(writer: &Writer, listing: &ListingRow) -> Result<()> {
    let assets = store::listings::asset_count(writer.rows, listing.row_id)?;
    let missing =
        rules::missing_for_review(&listing.title, &listing.description, listing.price.is_some(), assets);
    if missing.is_empty() {
        return Ok(());
    }
    let problem = |name: &&str| {
        Problem::body(&[name], "missing", format!("`{name}` is required to submit the listing."))
    };
    Err(Error::Invalid(missing.iter().map(problem).collect()))
}

/// Returns the listing with this ID, whichever team it belongs to.
pub fn find(writer: &Writer, id: Uuid) -> Result<ListingRow> {
    store::listings::find(writer.rows, id)?.ok_or_else(|| Error::not_found("listing"))
}

/// Returns the listing with this ID if it belongs to the team.
pub fn find_own(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<ListingRow> {
    let found = store::listings::find(rows, id)?.filter(|listing| listing.team == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("listing"))
}

/// Records that the assets of a listing have changed, and revokes its certification.
pub fn record_asset_change(writer: &Writer, listing: &ListingRow, event: Event) -> Result<()> {
    let stage = listing.status.stage();
    store::listings::record_event(writer.rows, listing.row_id, event, writer.now, Some(stage), stage)?;
    certifications::revoke(writer.rows, listing, writer.now)
}
