//! What the Croissant description of a listing says: about the listing, its assets, and the tables in their data.

use uuid::Uuid;

use super::{Reader, bundles::CONTENT, row};
use crate::{
    domain::{bundles::EntryContent, listings::ListingRowId, time::Timestamp},
    error::Result,
};

/// A listing as its description names it.
#[derive(Clone, Debug)]
pub struct DescribedListing {
    /// Title.
    pub title: String,
    /// The vendor's description.
    pub description: String,
    /// Name of the vendor.
    pub vendor: String,
    /// Slugs of domains.
    pub domain_tags: Vec<String>,
    /// Slugs of inventory tags.
    pub tag_slugs: Vec<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the latest change.
    pub updated_at: Timestamp,
    /// Time of publication; `None` if it was never published.
    pub published_at: Option<Timestamp>,
    /// Number of attached assets.
    pub assets: u64,
}

/// Returns a listing.
pub fn find(reader: &Reader, listing: ListingRowId) -> Result<DescribedListing> {
    const SQL: &str =
        "SELECT l.title, l.description, t.name, l.domain_tags, l.tag_slugs, l.created_at, l.updated_at,
             l.published_at, (SELECT count(*) FROM listing_assets WHERE listing = l.id)
         FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = ?1";
    reader.query_one(SQL, [listing], |row| {
        Ok(DescribedListing {
            title: row.get(0)?,
            description: row.get(1)?,
            vendor: row.get(2)?,
            domain_tags: row::json(row, 3)?,
            tag_slugs: row::json(row, 4)?,
            created_at: row::time(row, 5)?,
            updated_at: row::time(row, 6)?,
            published_at: row::optional_time(row, 7)?,
            assets: row.get(8)?,
        })
    })
}

/// Returns the assets of a listing in the order of the entries of its bundle, at most `limit`, each with what its entry would be
/// made of now.
pub fn list_assets(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<Vec<(Uuid, EntryContent)>> {
    let sql = format!(
        "SELECT a.uuid, {CONTENT} FROM listing_assets la JOIN assets a ON a.id = la.asset
         LEFT JOIN data_objects d ON d.asset = a.id WHERE la.listing = ?1 ORDER BY a.id LIMIT ?2"
    );
    reader.query_all(&sql, (listing, limit), |row| Ok((row.get(0)?, row::string_enum(row, 1)?)))
}

/// Calls `visit` for each of these assets, in their order, with its place in the list, its title, and a function that reads the
/// JSON of the description of its linked data as a dataset, unless that is longer than `max_bytes`. With a digest, only that of an
/// upload with this digest.
pub fn for_each_asset(
    reader: &Reader,
    assets: &[(Uuid, Option<&str>)],
    max_bytes: u64,
    mut visit: impl FnMut(usize, String, &dyn Fn() -> Result<Option<String>>) -> Result<()>,
) -> Result<()> {
    const SQL: &str =
        "SELECT j.key, a.title, iif(
             (j.value ->> 1 IS NULL OR u.sha256 = j.value ->> 1) AND octet_length(s.dataset) <= ?2, s.dataset, NULL)
         FROM json_each(?1) j CROSS JOIN assets a ON a.uuid = unhex(j.value ->> 0)
         LEFT JOIN data_objects d ON d.asset = a.id LEFT JOIN uploads u ON u.id = d.upload
         LEFT JOIN data_structures s ON s.asset = a.id";
    let wanted: Vec<_> = assets.iter().map(|(id, sha256)| (id.simple().to_string(), *sha256)).collect();
    reader.for_each_row(SQL, (row::to_json(&wanted)?, max_bytes as i64), |row| {
        let place: i64 = row.get(0)?;
        visit(place as usize, row.get(1)?, &|| Ok(row.get(2)?))
    })
}

/// Returns the messages of the checks with this key that passed, in a listing's latest completed run.
pub fn list_messages(reader: &Reader, listing: ListingRowId, key: &str) -> Result<Vec<String>> {
    const SQL: &str = "SELECT message FROM quality_checks WHERE run = (
             SELECT id FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         AND key = ?2 AND status = 'passed' AND message IS NOT NULL ORDER BY id";
    reader.query_all(SQL, (listing, key), |row| row.get(0))
}
