//! Certification of listings: when it is granted, and when it is revoked.

use uuid::Uuid;

use super::{access::Platform, listing_changes::perform, listings::find};
use crate::{
    domain::{
        listing_lifecycle::{ListingState, Operation},
        listings::{Actor, ListingRowId},
    },
    error::{Error, Result},
    market::Writer,
    store::{self, listings::ListingRow},
};

/// Certifies a listing in its current form, whatever its quality runs found. A listing that is certified gets
/// the time of the new certification.
pub fn certify(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    write_certification(writer, &listing, true, actor)
}

/// Revokes the certification of a listing.
pub fn revoke(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<ListingState> {
    let listing = find(writer.rows, platform, id)?;
    write_certification(writer, &listing, false, actor)
}

/// Applies the result of a completed quality run to the certification of a listing: a run that passed
/// certifies the listing, a run that failed revokes the certification of an earlier run.
pub fn apply_run_result(
    writer: &mut Writer,
    _platform: Platform,
    listing: ListingRowId,
    has_passed: bool,
) -> Result<()> {
    let listing = store::listings::find_by_row_id(writer.rows, listing)?
        .ok_or_else(|| Error::internal("the listing of a quality run no longer exists"))?;
    if has_passed {
        return write_certification(writer, &listing, true, Actor::System).map(|_| ());
    }
    revoke_if_certified(writer, &listing)
}

/// Revokes the certification of a listing, if it has one, because the data of one of its assets has changed.
pub fn revoke_if_certified(writer: &mut Writer, listing: &ListingRow) -> Result<()> {
    if listing.certified_at.is_none() {
        return Ok(());
    }
    write_certification(writer, listing, false, Actor::System).map(|_| ())
}

fn write_certification(
    writer: &mut Writer,
    listing: &ListingRow,
    is_certified: bool,
    actor: Actor,
) -> Result<ListingState> {
    let operation = if is_certified { Operation::Certify } else { Operation::Revoke };
    perform(writer, listing, operation, actor, |writer| {
        store::listings::set_certified_at(
            writer.rows,
            listing.row_id,
            is_certified.then_some(writer.now),
            writer.now,
        )
    })
}
