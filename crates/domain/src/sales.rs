//! Sales: purchases, as the vendor of the listing sees them.

use uuid::Uuid;

use super::{money::Cents, purchases::PurchaseKind, time::Timestamp};

/// A sale, as its vendor sees it. It has no buyer field, so that nothing built from it can reveal the buyer.
#[derive(Clone, Debug)]
pub struct Sale {
    /// ID of the sale.
    pub id: Uuid,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// What the buyer bought.
    pub kind: PurchaseKind,
    /// Proceeds of the vendor: the price minus the platform fee.
    pub amount: Cents,
    /// Time of payment.
    pub paid_at: Timestamp,
}
