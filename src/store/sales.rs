//! Sales: purchases, as the vendor of the listing sees them.

use super::Reader;
use crate::{
    domain::{sales::Sale, teams::TeamRowId},
    error::Result,
};

/// Returns the completed sales of a vendor's listings, newest first. They do not contain the buyer.
pub fn list(reader: &Reader, vendor: TeamRowId) -> Result<Vec<Sale>> {
    const SQL: &str =
        "SELECT p.uuid, l.uuid, l.title, p.kind, p.price_cents - p.platform_fee_cents, p.paid_at
         FROM listings l JOIN purchases p ON p.listing = l.id AND p.status = 'completed'
         WHERE l.team = ?1 ORDER BY p.paid_at DESC, p.id DESC";
    reader.query_all(SQL, [vendor.0], |row| {
        Ok(Sale {
            id: row.get(0)?,
            listing_id: row.get(1)?,
            listing_title: row.get(2)?,
            kind: row.get(3)?,
            amount: row.get(4)?,
            paid_at: row.get(5)?,
        })
    })
}
