//! The certification of listings: what begins it, and what ends it.

use crate::{
    domain::{
        quality::{self, Outcome, RunStatus},
        time::Timestamp,
    },
    error::Result,
    store,
};

/// Notes what a listing's completed run means for its certification: a passing one certifies, another ends it. Runs that
/// are not completed change nothing.
pub fn conclude(
    rows: &store::Writer,
    listing: &store::listings::ListingRow,
    status: RunStatus,
    checks: impl IntoIterator<Item = Outcome>,
    at: Timestamp,
) -> Result<()> {
    if status != RunStatus::Completed {
        return Ok(());
    }
    let certified_at = quality::passed(status, checks).then_some(at);
    if certified_at.is_none() && listing.certified_at.is_none() {
        return Ok(());
    }
    store::listings::certify(rows, listing.number, certified_at, listing.status.stage(), at)
}

/// Ends a listing's certification, since its assets changed.
pub fn revoke(rows: &store::Writer, listing: &store::listings::ListingRow, at: Timestamp) -> Result<()> {
    if listing.certified_at.is_none() {
        return Ok(());
    }
    store::listings::certify(rows, listing.number, None, listing.status.stage(), at)
}
