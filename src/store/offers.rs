//! Offers: bids of buyers on listings.

use uuid::Uuid;

use super::{
    Reader, Writer, index_queue,
    purchases::{BuyerListing, LISTING_COLUMNS, LISTING_IS_VISIBLE, LISTING_JOINS},
    record_filters::FilterColumns,
    row::FromRow,
};
use crate::{
    domain::{
        listings::{CatalogStatus, ListingRowId},
        money::Cents,
        offers::OfferStatus,
        purchases::PayWith,
        record_filters::RecordFilter,
        row_ids::OfferRowId,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// The fields of an offer to insert.
#[derive(Debug)]
pub struct NewOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Amount offered.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
    /// State of the offer.
    pub status: OfferStatus,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the offer was decided; `None` while it is submitted.
    pub decided_at: Option<Timestamp>,
}

/// Inserts an offer, queues the listing so that its number of active bids is updated, and returns the row ID.
pub fn insert(writer: &Writer, offer: &NewOffer) -> Result<OfferRowId> {
    const SQL: &str =
        "INSERT INTO offers (uuid, listing, buyer, amount_cents, status, created_at, updated_at, decided_at, pay_with)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let updated_at = offer.decided_at.unwrap_or(offer.created_at);
    let row_id = writer.insert(
        SQL,
        (
            offer.id,
            offer.listing,
            offer.buyer,
            offer.amount,
            offer.status,
            offer.created_at,
            updated_at,
            offer.decided_at,
            offer.pay_with,
        ),
    )?;
    index_queue::enqueue(writer, offer.listing)?;
    Ok(OfferRowId(row_id))
}

/// An offer, as its buyer sees it.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Offer {
    /// The listing that the buyer bids on.
    #[row(flatten)]
    pub listing: BuyerListing,
    /// ID of the offer.
    pub id: Uuid,
    /// State of the offer.
    pub status: OfferStatus,
    /// Amount offered.
    pub amount: Cents,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which the offer was decided; `None` while it is submitted.
    pub decided_at: Option<Timestamp>,
}

/// What the list of a buyer's offers can be filtered by.
const FILTERS: FilterColumns = FilterColumns {
    status: Some(("d.status", None)),
    vendor: Some("(SELECT v.name_key FROM teams v WHERE v.id = l.team)"),
    listing: Some("d.listing"),
    ..FilterColumns::by_time("d.created_at")
};

/// Returns the offers of a buyer that a filter allows, newest first.
pub fn list(reader: &Reader, buyer: TeamRowId, filter: &RecordFilter) -> Result<Vec<Offer>> {
    let (conditions, values) = FILTERS.conditions(buyer, filter);
    let sql = format!(
        "SELECT {LISTING_COLUMNS}, {LISTING_IS_VISIBLE}, d.uuid, d.status, d.amount_cents, d.created_at,
             d.updated_at, d.decided_at
         FROM offers d {LISTING_JOINS} WHERE d.buyer = ?{conditions} ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.query_all(&sql, rusqlite::params_from_iter(values), Offer::from_row)
}

/// An offer with what decides what can be done with it.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct OfferRow {
    /// Row ID of the offer.
    pub row_id: OfferRowId,
    /// ID of the offer.
    pub id: Uuid,
    /// Status of the offer.
    pub status: OfferStatus,
    /// Amount offered.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
    /// Digest of what the buyer signed; `None` if it signed nothing.
    pub signed: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Whether the buyer may still buy: it has the buyer role and has accepted the NDA.
    pub buyer_may_buy: bool,
    /// Row ID of the vendor.
    pub vendor: TeamRowId,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Title of the listing.
    pub listing_title: String,
    /// Status of the listing in the catalog.
    pub listing_status: CatalogStatus,
}

const SELECT_ROW: &str = "SELECT o.id, o.uuid, o.status, o.amount_cents, o.pay_with, o.signed_sha256, o.created_at,
         o.buyer, t.is_buyer AND t.nda_accepted_at IS NOT NULL, l.team, l.id, l.uuid, l.title, l.catalog_status
     FROM offers o JOIN listings l ON l.id = o.listing JOIN teams t ON t.id = o.buyer";

/// Returns the offer with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<OfferRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE o.uuid = ?1"), [id], OfferRow::from_row)
}

/// Returns the offer with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: OfferRowId) -> Result<Option<OfferRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE o.id = ?1"), [row_id], OfferRow::from_row)
}

/// Returns the submitted offers on a listing, oldest first.
pub fn list_submitted(reader: &Reader, listing: ListingRowId) -> Result<Vec<OfferRow>> {
    let sql = format!("{SELECT_ROW} WHERE o.listing = ?1 AND o.status = 'submitted' ORDER BY o.id");
    reader.query_all(&sql, [listing], OfferRow::from_row)
}

/// Returns the number of submitted offers on a listing.
pub fn count_submitted(reader: &Reader, listing: ListingRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM offers WHERE listing = ?1 AND status = 'submitted'";
    reader.query_one(SQL, [listing], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))
}

/// Returns the submitted offers of a buyer, oldest first.
pub fn list_submitted_by(reader: &Reader, buyer: TeamRowId) -> Result<Vec<OfferRow>> {
    let sql = format!("{SELECT_ROW} WHERE o.buyer = ?1 AND o.status = 'submitted' ORDER BY o.id");
    reader.query_all(&sql, [buyer], OfferRow::from_row)
}

/// Returns the ID of a buyer's submitted offer on a listing.
pub fn find_submitted(reader: &Reader, buyer: TeamRowId, listing: ListingRowId) -> Result<Option<Uuid>> {
    const SQL: &str =
        "SELECT uuid FROM offers WHERE listing = ?1 AND buyer = ?2 AND status = 'submitted' LIMIT 1";
    reader.query_first(SQL, (listing, buyer), |row| row.get(0))
}

/// A submitted offer, as its buyer sees it at the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct SubmittedOffer {
    /// ID of the offer.
    pub id: Uuid,
    /// Amount offered, before fees.
    pub amount: Cents,
    /// How the buyer pays if the offer is accepted.
    pub pay_with: PayWith,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which it expires unless it is decided before.
    pub expires_at: Option<Timestamp>,
}

/// Returns a buyer's submitted offer on a listing.
pub fn find_submitted_offer(
    reader: &Reader,
    buyer: TeamRowId,
    listing: ListingRowId,
) -> Result<Option<SubmittedOffer>> {
    const SQL: &str = "SELECT o.uuid, o.amount_cents, o.pay_with, o.created_at, d.due_at
         FROM offers o LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id
         WHERE o.listing = ?1 AND o.buyer = ?2 AND o.status = 'submitted' LIMIT 1";
    reader.query_first(SQL, (listing, buyer), SubmittedOffer::from_row)
}

/// Updates what a buyer offers, and what it signed.
pub fn update_terms(writer: &Writer, offer: &OfferRow, at: Timestamp) -> Result<()> {
    const SQL: &str =
        "UPDATE offers SET amount_cents = ?2, pay_with = ?3, signed_sha256 = ?4, updated_at = ?5
         WHERE id = ?1";
    writer.run(SQL, (offer.row_id, offer.amount, offer.pay_with, &offer.signed, at))
}

/// Records what the buyer of a new offer signed.
pub fn set_signed(writer: &Writer, offer: Uuid, sha256: &str) -> Result<()> {
    writer.run("UPDATE offers SET signed_sha256 = ?2 WHERE uuid = ?1", (offer, sha256))
}

/// Records the decision on an offer, and queues its listing so that its number of active bids is updated.
pub fn set_decided(writer: &Writer, offer: &OfferRow, status: OfferStatus, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE offers SET status = ?2, updated_at = ?3, decided_at = ?3 WHERE id = ?1";
    writer.execute(SQL, (offer.row_id, status, at))?;
    index_queue::enqueue(writer, offer.listing)
}
