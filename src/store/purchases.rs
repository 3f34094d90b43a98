//! Purchases, as their buyers see them.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        listings::ListingRowId,
        money::Cents,
        purchases::{AssetScope, PurchaseKind, PurchaseStatus},
        row_ids::{OfferRowId, PurchaseRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The fields of a purchase to insert.
#[derive(Debug)]
pub struct NewPurchase<'a> {
    /// ID of the purchase.
    pub id: Uuid,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// State of the purchase.
    pub status: PurchaseStatus,
    /// Row ID of the accepted offer; `Some` only for purchases by accepted bid.
    pub offer: Option<OfferRowId>,
    /// The assets that it covers.
    pub scope: &'a AssetScope,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// Fee that the platform deducts from the vendor's proceeds.
    pub platform_fee: Cents,
    /// Time at which the checkout started.
    pub created_at: Timestamp,
    /// Time of payment; `None` until then.
    pub paid_at: Option<Timestamp>,
    /// Time of the refund; `None` unless refunded.
    pub refunded_at: Option<Timestamp>,
    /// ID of the agreement document.
    pub agreement_document: Option<Uuid>,
    /// Time at which the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
}

/// Inserts a purchase and returns its row ID.
pub fn insert(writer: &Writer, purchase: &NewPurchase) -> Result<PurchaseRowId> {
    const SQL: &str = "INSERT INTO purchases (uuid, listing, buyer, kind, status, offer, scope, price_cents,
             buyer_fee_cents, platform_fee_cents, created_at, paid_at, refunded_at, agreement_document,
             agreement_signed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let row_id = writer.insert(
        SQL,
        (
            purchase.id,
            purchase.listing.0,
            purchase.buyer.0,
            purchase.kind.as_str(),
            purchase.status.as_str(),
            purchase.offer,
            row::to_json(purchase.scope)?,
            purchase.price.0,
            purchase.buyer_fee.0,
            purchase.platform_fee.0,
            purchase.created_at.0,
            purchase.paid_at.map(|at| at.0),
            purchase.refunded_at.map(|at| at.0),
            purchase.agreement_document,
            purchase.agreement_signed_at.map(|at| at.0),
        ),
    )?;
    Ok(PurchaseRowId(row_id))
}

/// How much of a listing a team has bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurchaseLevel {
    /// No completed purchase.
    Nothing,
    /// A sample. The team can see the listing whatever its status.
    Sample,
    /// The full data. The team can also download the bundle.
    Full,
}

/// Returns how much of a listing a team has bought. Only completed purchases count.
pub fn purchase_level(reader: &Reader, buyer: TeamRowId, listing: ListingRowId) -> Result<PurchaseLevel> {
    const SQL: &str = "SELECT max(CASE kind WHEN 'sample' THEN 1 ELSE 2 END) FROM purchases
         WHERE buyer = ?1 AND listing = ?2 AND status = 'completed'";
    let highest: Option<i64> = reader.query_one(SQL, (buyer.0, listing.0), |row| row.get(0))?;
    Ok(match highest {
        None => PurchaseLevel::Nothing,
        Some(1) => PurchaseLevel::Sample,
        Some(_) => PurchaseLevel::Full,
    })
}

/// The listing of a purchase or an offer, for its buyer.
#[derive(Clone, Debug)]
pub struct BuyerListing {
    /// ID of the listing.
    pub id: Uuid,
    /// The rendered summary, as a JSON object.
    pub summary: Vec<u8>,
    /// Whether the buyer can see it: it is published, it is the buyer's own, or the buyer has a completed
    /// purchase of it.
    pub is_visible: bool,
}

/// The joins that [`LISTING_COLUMNS`] needs, with the purchases or offers `d` of a buyer.
pub const LISTING_JOINS: &str =
    "JOIN listings l ON l.id = d.listing JOIN listing_renderings r ON r.listing = l.id";

/// The columns of a [`BuyerListing`].
pub const LISTING_COLUMNS: &str =
    "l.uuid, r.item, l.catalog_status = 'published' OR l.team = d.buyer OR EXISTS (
    SELECT 1 FROM purchases b WHERE b.buyer = d.buyer AND b.listing = l.id AND b.status = 'completed')";

/// Reads the listing from a row that starts with [`LISTING_COLUMNS`].
pub fn read_buyer_listing(row: &rusqlite::Row) -> rusqlite::Result<BuyerListing> {
    Ok(BuyerListing { id: row.get(0)?, summary: row.get(1)?, is_visible: row.get(2)? })
}

/// A completed purchase, as its buyer sees it.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// The purchased listing.
    pub listing: BuyerListing,
    /// ID of the purchase.
    pub id: Uuid,
    /// State of the purchase.
    pub status: PurchaseStatus,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// The assets that it covers.
    pub scope: AssetScope,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer paid in addition to the price.
    pub buyer_fee: Cents,
    /// Time at which the checkout started.
    pub created_at: Timestamp,
    /// ID of the agreement document.
    pub agreement_document: Option<Uuid>,
    /// Time at which the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
}

/// Returns a buyer's completed purchases, newest first.
pub fn list(reader: &Reader, buyer: TeamRowId) -> Result<Vec<Purchase>> {
    let sql = format!(
        "SELECT {LISTING_COLUMNS}, d.uuid, d.status, d.kind, d.scope, d.price_cents, d.buyer_fee_cents, d.created_at,
             d.agreement_document, d.agreement_signed_at
         FROM purchases d {LISTING_JOINS} WHERE d.buyer = ?1 AND d.status = 'completed'
         ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.query_all(&sql, [buyer.0], |row| {
        Ok(Purchase {
            listing: read_buyer_listing(row)?,
            id: row.get(3)?,
            status: row::string_enum(row, 4)?,
            kind: row::string_enum(row, 5)?,
            scope: row::json(row, 6)?,
            price: Cents(row.get(7)?),
            buyer_fee: Cents(row.get(8)?),
            created_at: row::time(row, 9)?,
            agreement_document: row.get(10)?,
            agreement_signed_at: row::optional_time(row, 11)?,
        })
    })
}
