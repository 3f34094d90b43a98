//! Bids and purchases.

use uuid::Uuid;

use super::{Reader, Writer, index_queue, row};
use crate::{
    domain::{
        deals::{OfferStatus, PurchaseKind, PurchaseStatus, ScopeMode},
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
