//! Certification of listings: when it is granted, and when it is revoked.

use crate::{
    domain::{
        listings::{LifecycleStage, ListingRowId},
        row_ids::AssetRowId,
        time::Timestamp,
    },
    error::Result,
    market::Writer,
    store,
};

/// Applies the result of a completed quality run to the certification of a listing: a run that passed
/// certifies the listing, a run that failed revokes the certification of an earlier run.
pub fn apply_run_result(
    rows: &store::Writer,
    listing: ListingRowId,
    was_certified: bool,
    has_passed: bool,
    stage: LifecycleStage,
    at: Timestamp,
) -> Result<()> {
    if !has_passed && !was_certified {
        return Ok(());
    }
    store::listings::set_certification(rows, listing, has_passed.then_some(at), stage, at)
}

/// Revokes the certification of all listings with this asset, because its linked data has changed.
pub fn revoke_for_changed_data(writer: &Writer, asset: AssetRowId) -> Result<()> {
    let listings = store::listings::listings_with_asset(writer.rows, asset)?;
    listings.iter().try_for_each(|listing| revoke(writer.rows, listing, writer.now))
}

/// Revokes the certification of a listing, because its assets have changed.
pub fn revoke(rows: &store::Writer, listing: &store::listings::ListingRow, at: Timestamp) -> Result<()> {
    apply_run_result(rows, listing.row_id, listing.certified_at.is_some(), false, listing.status.stage(), at)
}
