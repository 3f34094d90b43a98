//! The certification of listings: what ends it.

use crate::{domain::time::Timestamp, error::Result, store};

/// Ends a listing's certification, since its assets changed.
pub fn revoke(rows: &store::Writer, listing: &store::listings::ListingRow, at: Timestamp) -> Result<()> {
    if listing.certified_at.is_none() {
        return Ok(());
    }
    store::listings::certify(rows, listing.number, None, listing.status.stage(), at)
}
