//! Listings as their vendors see them in lists and on their pages.

use uuid::Uuid;

use super::{
    Reader,
    listings::{self, ListingFields},
    row::{self, FromRow},
};
use crate::{
    domain::{
        listings::{ListingRowId, ListingStatus},
        money::Cents,
        time::Timestamp,
    },
    error::Result,
};

/// A listing in a list of a vendor's own.
#[derive(Clone, Debug, FromRow)]
pub struct OwnListing {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// ID of the listing.
    pub id: Uuid,
    /// Title, which can be empty in a draft.
    pub title: String,
    /// Review status and catalog status.
    #[row(with = listings::read_status)]
    pub status: ListingStatus,
    /// Price; `None` without one.
    pub price: Option<Cents>,
    /// Time of certification; `None` if it is not certified.
    pub certified_at: Option<Timestamp>,
    /// Number of assets.
    pub asset_count: u64,
    /// Number of offers that wait for the vendor.
    pub waiting_offers: u64,
    /// Time of the latest change of its fields or its state.
    pub updated_at: Timestamp,
}

/// Returns these listings, in their order.
pub fn list(reader: &Reader, listings: &[ListingRowId]) -> Result<Vec<OwnListing>> {
    const SQL: &str = "SELECT l.id AS row_id, l.uuid AS id, l.title, l.review_status, l.catalog_status, l.price_cents AS price, l.certified_at, l.updated_at,
             (SELECT count(*) FROM listing_assets la WHERE la.listing = l.id) AS asset_count,
             (SELECT count(*) FROM offers o WHERE o.listing = l.id AND o.status = 'submitted') AS waiting_offers
         FROM json_each(?1) j JOIN listings l ON l.id = j.value ORDER BY j.key";
    reader.query_all(SQL, [row::to_json(listings)?], OwnListing::from_row)
}

/// Data for the page of a listing besides its fields.
#[derive(Clone, Debug)]
pub struct OwnListingFacts {
    /// The fields.
    pub fields: ListingFields,
    /// The platform's note to the vendor from the last request for changes or rejection; `None` once it is approved.
    pub review_feedback: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the latest publication.
    pub published_at: Option<Timestamp>,
    /// Number of completed sales, of the listing, its sample, or parts of it.
    pub sale_count: u64,
    /// What they earned, after the fee of the platform.
    pub earned: Cents,
}

/// Returns what the page of a listing says.
pub fn find_facts(reader: &Reader, listing: ListingRowId) -> Result<OwnListingFacts> {
    const SQL: &str = "SELECT review_feedback, created_at, published_at,
             (SELECT count(*) FROM purchases p WHERE p.listing = l.id AND p.status = 'completed') AS sale_count,
             (SELECT coalesce(sum(p.price_cents - p.platform_fee_cents), 0) FROM purchases p
              WHERE p.listing = l.id AND p.status = 'completed') AS earned
         FROM listings l WHERE l.id = ?1";
    let fields = super::listings::find_fields(reader, listing)?;
    reader.query_one(SQL, [listing], |row| {
        Ok(OwnListingFacts {
            fields,
            review_feedback: row.get("review_feedback")?,
            created_at: row.get("created_at")?,
            published_at: row.get("published_at")?,
            sale_count: row.get::<_, i64>("sale_count")?.cast_unsigned(),
            earned: row.get("earned")?,
        })
    })
}
