//! Offers: bids of buyers on listings.

use uuid::Uuid;

use super::{
    Reader, Writer, index_queue,
    purchases::{BuyerListing, LISTING_COLUMNS, LISTING_JOINS, read_buyer_listing},
    row,
};
use crate::{
    domain::{
        listings::ListingRowId, money::Cents, purchases::OfferStatus, row_ids::OfferRowId, teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
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
        "INSERT INTO offers (uuid, listing, buyer, amount_cents, status, created_at, updated_at, decided_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let updated_at = offer.decided_at.unwrap_or(offer.created_at);
    let row_id = writer.insert(
        SQL,
        (
            offer.id,
            offer.listing.0,
            offer.buyer.0,
            offer.amount.0,
            offer.status.as_str(),
            offer.created_at.0,
            updated_at.0,
            offer.decided_at.map(|at| at.0),
        ),
    )?;
    index_queue::enqueue(writer, offer.listing)?;
    Ok(OfferRowId(row_id))
}

/// An offer, as its buyer sees it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The listing that the buyer bids on.
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

/// Returns a buyer's offers on all listings, newest first.
pub fn list(reader: &Reader, buyer: TeamRowId) -> Result<Vec<Offer>> {
    let sql = format!(
        "SELECT {LISTING_COLUMNS}, d.uuid, d.status, d.amount_cents, d.created_at, d.updated_at, d.decided_at
         FROM offers d {LISTING_JOINS} WHERE d.buyer = ?1 ORDER BY d.created_at DESC, d.id DESC"
    );
    reader.query_all(&sql, [buyer.0], |row| {
        Ok(Offer {
            listing: read_buyer_listing(row)?,
            id: row.get(3)?,
            status: row::string_enum(row, 4)?,
            amount: Cents(row.get(5)?),
            created_at: row::time(row, 6)?,
            updated_at: row::time(row, 7)?,
            decided_at: row::optional_time(row, 8)?,
        })
    })
}
