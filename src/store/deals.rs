//! Bids and purchases.

use uuid::Uuid;

use super::{Reader, Writer, index_queue, row};
use crate::{
    domain::{
        deals::{OfferStatus, PurchaseKind, PurchaseStatus, Sale, ScopeMode},
        listings::ListingNumber,
        money::Cents,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// A bid to be.
#[derive(Debug)]
pub struct NewOffer {
    /// Its id.
    pub id: Uuid,
    /// The listing.
    pub listing: ListingNumber,
    /// The buyer.
    pub buyer: TeamNumber,
    /// What is bid.
    pub amount: Cents,
    /// Where it stands.
    pub status: OfferStatus,
    /// When it is made.
    pub created_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
}

/// Adds a bid; the listing's count of active bids follows.
pub fn insert_offer(writer: &Writer, offer: &NewOffer) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO offers (uuid, listing, buyer, amount_cents, status, created_at, updated_at, decided_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let updated_at = offer.decided_at.unwrap_or(offer.created_at);
    let number = writer.insert(
        SQL,
        (
            offer.id,
            offer.listing.0,
            offer.buyer.0,
            offer.amount.0,
            offer.status.word(),
            offer.created_at.0,
            updated_at.0,
            offer.decided_at.map(|at| at.0),
        ),
    )?;
    index_queue::enqueue(writer, offer.listing)?;
    Ok(number)
}

/// A purchase to be.
#[derive(Debug)]
pub struct NewPurchase<'a> {
    /// Its id.
    pub id: Uuid,
    /// The listing.
    pub listing: ListingNumber,
    /// The buyer.
    pub buyer: TeamNumber,
    /// What is bought.
    pub kind: PurchaseKind,
    /// Where it stands.
    pub status: PurchaseStatus,
    /// The accepted bid's row number.
    pub offer: Option<i64>,
    /// Which assets it covers.
    pub scope: ScopeMode,
    /// The assets of a selection.
    pub scope_assets: &'a [Uuid],
    /// The price before fees.
    pub price: Cents,
    /// What the buyer pays on top.
    pub buyer_fee: Cents,
    /// What the platform keeps of the vendor's part.
    pub platform_fee: Cents,
    /// When the checkout began.
    pub created_at: Timestamp,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When it was paid back.
    pub refunded_at: Option<Timestamp>,
    /// The agreement.
    pub agreement_document: Option<Uuid>,
    /// When the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
}

/// Adds a purchase.
pub fn insert_purchase(writer: &Writer, purchase: &NewPurchase) -> Result<i64> {
    const SQL: &str = "INSERT INTO purchases (uuid, listing, buyer, kind, status, offer, scope, price_cents,
             buyer_fee_cents, platform_fee_cents, created_at, paid_at, refunded_at, agreement_document,
             agreement_signed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let scope = serde_json::json!({"mode": purchase.scope.word(), "asset_ids": purchase.scope_assets});
    writer.insert(
        SQL,
        (
            purchase.id,
            purchase.listing.0,
            purchase.buyer.0,
            purchase.kind.word(),
            purchase.status.word(),
            purchase.offer,
            row::to_json(&scope)?,
            purchase.price.0,
            purchase.buyer_fee.0,
            purchase.platform_fee.0,
            purchase.created_at.0,
            purchase.paid_at.map(|at| at.0),
            purchase.refunded_at.map(|at| at.0),
            purchase.agreement_document,
            purchase.agreement_signed_at.map(|at| at.0),
        ),
    )
}

/// What a team has paid for of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bought {
    /// Nothing.
    Nothing,
    /// A sample: it may look at the listing wherever that stands.
    Sample,
    /// Everything: it may download the bundle, too.
    Everything,
}

/// What a team has paid for of a listing; only completed purchases count.
pub fn bought(reader: &Reader, buyer: TeamNumber, listing: ListingNumber) -> Result<Bought> {
    const SQL: &str = "SELECT max(CASE kind WHEN 'sample' THEN 1 ELSE 2 END) FROM purchases
         WHERE buyer = ?1 AND listing = ?2 AND status = 'completed'";
    let most: Option<i64> = reader.one(SQL, (buyer.0, listing.0), |row| row.get(0))?;
    Ok(match most {
        None => Bought::Nothing,
        Some(1) => Bought::Sample,
        Some(_) => Bought::Everything,
    })
}

/// The settled sales of a vendor's listings, newest first. The buyer is not even read.
pub fn sales(reader: &Reader, vendor: TeamNumber) -> Result<Vec<Sale>> {
    const SQL: &str =
        "SELECT p.uuid, l.uuid, l.title, p.kind, p.price_cents - p.platform_fee_cents, p.paid_at
         FROM listings l JOIN purchases p ON p.listing = l.id AND p.status = 'completed'
         WHERE l.team = ?1 ORDER BY p.paid_at DESC, p.id DESC";
    reader.all(SQL, [vendor.0], |row| {
        Ok(Sale {
            id: row.get(0)?,
            listing_id: row.get(1)?,
            listing_title: row.get(2)?,
            kind: row::word(row, 3)?,
            amount: Cents(row.get(4)?),
            paid_at: row::time(row, 5)?,
        })
    })
}

/// A listing beside a deal: its rendered summary, and what decides who may see it.
#[derive(Clone, Debug)]
pub struct DealtListing {
    /// Its id.
    pub id: Uuid,
    /// The summary's JSON.
    pub item: Vec<u8>,
    /// Whether it is in the catalog, the buyer's own, or one that the buyer has a completed purchase of.
    pub is_visible: bool,
}

/// What is joined for a [`DealtListing`], to deals `d` of buyers.
const DEALT: &str = "JOIN listings l ON l.id = d.listing JOIN listing_renderings r ON r.listing = l.id";

/// Its columns.
const DEALT_COLUMNS: &str = "l.uuid, r.item, l.catalog_status = 'published' OR l.team = d.buyer OR EXISTS (
    SELECT 1 FROM purchases b WHERE b.buyer = d.buyer AND b.listing = l.id AND b.status = 'completed')";

fn read_dealt(row: &rusqlite::Row) -> rusqlite::Result<DealtListing> {
    Ok(DealtListing { id: row.get(0)?, item: row.get(1)?, is_visible: row.get(2)? })
}

/// A completed purchase, as its buyer sees it.
#[derive(Clone, Debug)]
pub struct Purchase {
    /// The listing.
    pub listing: DealtListing,
    /// Its id.
    pub id: Uuid,
    /// Where it stands.
    pub status: PurchaseStatus,
    /// What was bought.
    pub kind: PurchaseKind,
    /// Which assets it covers.
    pub scope: serde_json::Value,
    /// The price before fees.
    pub price: Cents,
    /// What the buyer paid on top.
    pub buyer_fee: Cents,
    /// When the checkout began.
    pub created_at: Timestamp,
    /// The agreement.
    pub agreement_document: Option<Uuid>,
    /// When the agreement was signed.
    pub agreement_signed_at: Option<Timestamp>,
}

/// A buyer's completed purchases, newest first.
pub fn purchases(reader: &Reader, buyer: TeamNumber) -> Result<Vec<Purchase>> {
    let sql = format!(
        "SELECT {DEALT_COLUMNS}, d.uuid, d.status, d.kind, d.scope, d.price_cents, d.buyer_fee_cents, d.created_at,
             d.agreement_document, d.agreement_signed_at
         FROM purchases d {DEALT} WHERE d.buyer = ?1 AND d.status = 'completed'
         ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.all(&sql, [buyer.0], |row| {
        Ok(Purchase {
            listing: read_dealt(row)?,
            id: row.get(3)?,
            status: row::word(row, 4)?,
            kind: row::word(row, 5)?,
            scope: row::json(row, 6)?,
            price: Cents(row.get(7)?),
            buyer_fee: Cents(row.get(8)?),
            created_at: row::time(row, 9)?,
            agreement_document: row.get(10)?,
            agreement_signed_at: row::optional_time(row, 11)?,
        })
    })
}

/// A bid, as its buyer sees it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The listing.
    pub listing: DealtListing,
    /// Its id.
    pub id: Uuid,
    /// Where it stands.
    pub status: OfferStatus,
    /// What is bid.
    pub amount: Cents,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
}

/// A buyer's bids on all listings, newest first.
pub fn offers(reader: &Reader, buyer: TeamNumber) -> Result<Vec<Offer>> {
    let sql = format!(
        "SELECT {DEALT_COLUMNS}, d.uuid, d.status, d.amount_cents, d.created_at, d.updated_at, d.decided_at
         FROM offers d {DEALT} WHERE d.buyer = ?1 ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.all(&sql, [buyer.0], |row| {
        Ok(Offer {
            listing: read_dealt(row)?,
            id: row.get(3)?,
            status: row::word(row, 4)?,
            amount: Cents(row.get(5)?),
            created_at: row::time(row, 6)?,
            updated_at: row::time(row, 7)?,
            decided_at: row::optional_time(row, 8)?,
        })
    })
}
