//! Creation, editing, and state transitions of listings. The API has no routes for most of these; fixtures
//! and tests use them.

use uuid::Uuid;

use super::{access::Vendor, certifications, quality_runs};
use crate::{
    domain::{
        listings::{self as rules, Event, ListingNumber},
        teams::TeamNumber,
        vocabulary::Vocabulary,
    },
    error::{Error, Problem, Result},
    market::Writer,
    store::{
        self,
        listings::{ListingRow, ListingWords},
        quality::Subject,
    },
};

/// Creates a draft. Returns its row ID and its ID.
pub fn create(writer: &mut Writer, team: TeamNumber, words: &ListingWords) -> Result<(ListingNumber, Uuid)> {
    let id = writer.clock.id();
    let number = store::listings::insert(writer.rows, id, team, words, writer.now)?;
    Ok((number, id))
}

/// Replaces the texts and prices of a listing. The listing must be in a stage in which its assets may change,
/// too.
pub fn update(writer: &mut Writer, id: Uuid, words: &ListingWords) -> Result<()> {
    let listing = find(writer, id)?;
    if !listing.status.takes_assets() {
        return Err(Error::Conflict(format!(
            "The listing is {} and cannot be edited. Withdraw or unpublish it first.",
            listing.status.stage().word()
        )));
    }
    store::listings::update(writer.rows, listing.number, words, writer.now)?;
    let stage = listing.status.stage();
    store::listings::record(writer.rows, listing.number, Event::Updated, writer.now, Some(stage), stage)
}

/// Applies an event to a listing, if its status allows it.
pub fn transition(writer: &mut Writer, id: Uuid, event: Event) -> Result<()> {
    let listing = find(writer, id)?;
    let Some(to) = listing.status.after(event) else {
        return Err(Error::InvalidTransition {
            from: listing.status.stage().word(),
            allowed: listing.status.allowed().into_iter().map(Vocabulary::word).collect(),
        });
    };
    if event == Event::Submitted {
        check_complete(writer, &listing)?;
    }
    store::listings::move_on(writer.rows, listing.number, event, listing.status, to, writer.now)?;
    match event {
        // The result of an earlier run is obsolete.
        Event::Submitted => {
            quality_runs::call_off(writer, Subject::Listing(listing.number))?;
            quality_runs::start_listing(writer, id, "submission").map(|_| ())
        }
        Event::Withdrawn => quality_runs::call_off(writer, Subject::Listing(listing.number)),
        _ => Ok(()),
    }
}

fn check_complete(writer: &Writer, listing: &ListingRow) -> Result<()> {
    let assets = store::listings::asset_count(writer.rows, listing.number)?;
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
pub fn own(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<ListingRow> {
    let found = store::listings::find(rows, id)?.filter(|listing| listing.team == vendor.number());
    found.ok_or_else(|| Error::not_found("listing"))
}

/// Records that the assets of a listing have changed, and revokes its certification.
pub fn assets_changed(writer: &Writer, listing: &ListingRow, event: Event) -> Result<()> {
    let stage = listing.status.stage();
    store::listings::record(writer.rows, listing.number, event, writer.now, Some(stage), stage)?;
    certifications::revoke(writer.rows, listing, writer.now)
}
