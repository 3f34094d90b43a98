//! The certification of listings: what gives it, and what ends it.

use crate::{
    domain::{
        listings::{LifecycleStage, ListingNumber},
        time::Timestamp,
    },
    error::Result,
    market::Writer,
    store,
};

/// Notes what a completed run of a listing means, whether it passed: it certifies the listing, or ends what an earlier one
/// gave.
pub fn conclude(
    rows: &store::Writer,
    listing: ListingNumber,
    was_certified: bool,
    has_passed: bool,
    stage: LifecycleStage,
    at: Timestamp,
) -> Result<()> {
    if !has_passed && !was_certified {
        return Ok(());
    }
    store::listings::certify(rows, listing, has_passed.then_some(at), stage, at)
}

/// Ends the certification of every listing that carries an asset, since the data linked to it is other data.
pub fn data_changed(writer: &Writer, asset: i64) -> Result<()> {
    let carriers = store::listings::carriers(writer.rows, asset)?;
    carriers.iter().try_for_each(|listing| revoke(writer.rows, listing, writer.now))
}

/// Ends a listing's certification, since its assets changed.
pub fn revoke(rows: &store::Writer, listing: &store::listings::ListingRow, at: Timestamp) -> Result<()> {
    conclude(rows, listing.number, listing.certified_at.is_some(), false, listing.status.stage(), at)
}
