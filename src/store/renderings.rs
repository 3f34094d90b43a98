//! Rendered JSON of listings for the catalog, updated whenever a listing changes.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        browse::SortOrder,
        listings::{CatalogStatus, ListingRowId},
        teams::TeamRowId,
    },
    error::Result,
};

/// Inserts or replaces the rendering of a listing.
pub fn upsert(writer: &Writer, listing: ListingRowId, item: &[u8], rest: &[u8]) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_renderings (listing, item, rest) VALUES (?1, ?2, ?3)
         ON CONFLICT (listing) DO UPDATE SET item = excluded.item, rest = excluded.rest";
    writer.run(SQL, (listing, item, rest))
}

/// Whether a listing has a rendering.
pub fn exists(reader: &Reader, listing: ListingRowId) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM listing_renderings WHERE listing = ?1";
    Ok(reader.query_first(SQL, [listing], |_| Ok(()))?.is_some())
}

/// Appends the summaries of these listings (by row ID) to `out`, separated by commas, in the given order.
/// Listings without a rendering are left out.
pub fn append_summaries(
    reader: &Reader,
    listings: impl IntoIterator<Item = ListingRowId>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut statement = reader.prepare("SELECT item FROM listing_renderings WHERE listing = ?1")?;
    for listing in listings {
        append_column(statement.query([listing])?, out)?;
    }
    Ok(())
}

/// Returns the summaries of these listings (by row ID), in the given order. Listings without a rendering are
/// left out.
pub fn list_summaries(reader: &Reader, listings: &[ListingRowId]) -> Result<Vec<Vec<u8>>> {
    const SQL: &str =
        "SELECT r.item FROM json_each(?1) j CROSS JOIN listing_renderings r ON r.listing = j.value
         ORDER BY j.key";
    reader.query_all(SQL, [row::to_json(listings)?], |row| row.get(0))
}

/// Returns the complete renderings of these listings (by row ID), in the given order. Listings without a rendering are
/// left out.
pub fn list(reader: &Reader, listings: &[ListingRowId]) -> Result<Vec<Rendering>> {
    const SQL: &str = "SELECT l.id AS listing, l.team, l.catalog_status, r.item AS summary, r.rest AS detail_fields
         FROM json_each(?1) j CROSS JOIN listings l ON l.id = j.value JOIN listing_renderings r ON r.listing = l.id
         ORDER BY j.key";
    reader.query_all(SQL, [row::to_json(listings)?], Rendering::from_row)
}

/// Appends the summaries of the published listings among `ids` to `out`, separated by commas, in the given
/// sort order.
pub fn append_published_summaries(
    reader: &Reader,
    ids: &[Uuid],
    order: SortOrder,
    out: &mut Vec<u8>,
) -> Result<()> {
    let keys = match order {
        SortOrder::Recommended => "l.certified_at IS NULL, l.published_at DESC",
        SortOrder::Recent => "l.published_at DESC",
        SortOrder::PriceLow => "l.price_cents IS NULL, l.price_cents, l.published_at DESC",
        SortOrder::PriceHigh => "l.price_cents IS NULL, l.price_cents DESC, l.published_at DESC",
    };
    let sql = format!(
        "SELECT r.item FROM listings l JOIN listing_renderings r ON r.listing = l.id
         WHERE l.uuid IN (SELECT unhex(value) FROM json_each(?1)) AND l.catalog_status = 'published'
         ORDER BY {keys}, l.id DESC"
    );
    let mut statement = reader.prepare(&sql)?;
    append_column(statement.query([row::ids_to_json(ids)?])?, out)
}

/// Appends the first column of each row to `out`, separated by commas.
fn append_column(mut rows: rusqlite::Rows, out: &mut Vec<u8>) -> Result<()> {
    while let Some(row) = rows.next()? {
        if !out.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
    }
    Ok(())
}

/// The complete rendering of a listing, with the fields that determine who can see it.
#[derive(Debug, FromRow)]
pub struct Rendering {
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Row ID of the vendor.
    pub team: TeamRowId,
    /// Catalog status of the listing.
    pub catalog_status: CatalogStatus,
    /// The summary, as a JSON object.
    pub summary: Vec<u8>,
    /// The fields that the detail has in addition to the summary, as a JSON object.
    pub detail_fields: Vec<u8>,
}

/// Returns the rendering of the listing with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Rendering>> {
    const SQL: &str =
        "SELECT l.id AS listing, l.team, l.catalog_status, r.item AS summary, r.rest AS detail_fields
         FROM listings l JOIN listing_renderings r ON r.listing = l.id WHERE l.uuid = ?1";
    reader.query_first(SQL, [id], Rendering::from_row)
}
