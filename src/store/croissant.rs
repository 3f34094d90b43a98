//! Data for the Croissant description of a listing: the listing, its assets, and the tables in their data.

use uuid::Uuid;

use super::{
    Reader,
    bundle_entries::CONTENT,
    changed_data::{CHANGED_ASSETS, IS_OF_PRESENT_DATA},
    row::{self, FromRow},
};
use crate::{
    domain::{
        bundles::EntryContent,
        listings::ListingRowId,
        row_ids::{AssetRowId, BundleRowId},
    },
    error::Result,
};

/// A listing as its description and its attestations name it, stored as JSON with bundles. Times are in microseconds since 1970.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ListingFacts {
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
    pub created_at: i64,
    /// Time of the latest change.
    pub updated_at: i64,
    /// Time of publication; `None` if it was never published.
    pub published_at: Option<i64>,
    /// Time of certification; `None` if it was not certified.
    pub certified_at: Option<i64>,
}

/// [`ListingFacts`] of a listing `l` of a team `t`.
pub(super) const FACTS: &str = "json_object('title', l.title, 'description', l.description, 'vendor', t.name,
         'domain_tags', json(l.domain_tags), 'tag_slugs', json(l.tag_slugs), 'created_at', l.created_at,
         'updated_at', l.updated_at, 'published_at', l.published_at, 'certified_at', l.certified_at)";

/// Returns a listing as it is now, and the number of its assets.
pub fn find(reader: &Reader, listing: ListingRowId) -> Result<(ListingFacts, u64)> {
    let sql = format!(
        "SELECT {FACTS}, (SELECT count(*) FROM listing_assets WHERE listing = l.id)
         FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = ?1"
    );
    reader.query_one(&sql, [listing], |row| Ok((row::json(row, 0)?, row.get(1)?)))
}

/// Returns the listing of a bundle that is not prepared, as it was when the bundle was fixed; `None` if the bundle is prepared or
/// deleted.
pub fn find_fixed(reader: &Reader, bundle: BundleRowId) -> Result<Option<ListingFacts>> {
    const SQL: &str = "SELECT listing_facts FROM bundles WHERE id = ?1";
    Ok(reader.query_first(SQL, [bundle], |row| row::json(row, 0))?.flatten())
}

/// Returns the titles of the assets of a prepared bundle, in the order of its entries: those that they had when the bundle was
/// fixed, if they are known.
pub fn list_fixed_titles(reader: &Reader, bundle: BundleRowId) -> Result<Vec<String>> {
    const SQL: &str =
        "SELECT coalesce(e.title, a.title) FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.source IS NOT NULL ORDER BY e.asset";
    reader.query_all(SQL, [bundle], |row| row.get(0))
}

/// Returns the assets of a listing in the order of the entries of its bundle, at most `limit`, each with the source that its
/// entry would have now.
pub fn list_assets(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<Vec<(Uuid, EntryContent)>> {
    let sql = format!(
        "SELECT a.uuid, {CONTENT} FROM listing_assets la JOIN assets a ON a.id = la.asset
         LEFT JOIN data_objects d ON d.asset = a.id WHERE la.listing = ?1 ORDER BY a.id LIMIT ?2"
    );
    reader.query_all(&sql, (listing, limit), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An asset of which a description has the title and the tables.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct DescribedAsset {
    /// Its place among the requested ones.
    pub place: usize,
    /// Row ID of the asset.
    pub row_id: AssetRowId,
    /// Title.
    pub title: String,
    /// Size in bytes of the JSON that describes its linked data as a dataset; `None` unless there is one.
    pub dataset_bytes: Option<u64>,
}

/// Returns those of these assets that exist. With a digest, an asset only has a dataset if its upload has this digest.
pub fn list_described(reader: &Reader, assets: &[(Uuid, Option<&str>)]) -> Result<Vec<DescribedAsset>> {
    const SQL: &str =
        "SELECT j.key, a.id, a.title, iif(j.value ->> 1 IS NULL OR u.sha256 = j.value ->> 1, octet_length(s.dataset), NULL)
         FROM json_each(?1) j CROSS JOIN assets a ON a.uuid = unhex(j.value ->> 0)
         LEFT JOIN data_objects d ON d.asset = a.id LEFT JOIN uploads u ON u.id = d.upload
         LEFT JOIN data_structures s ON s.asset = a.id";
    let wanted: Vec<_> = assets.iter().map(|(id, sha256)| (row::hex_digits(id), *sha256)).collect();
    reader.query_all(SQL, [row::to_json(&wanted)?], DescribedAsset::from_row)
}

/// Calls `visit` for each of these assets that has a dataset, in their order, with its place in the list and the JSON of the dataset.
pub fn for_each_dataset(
    reader: &Reader,
    assets: &[AssetRowId],
    mut visit: impl FnMut(usize, String) -> Result<()>,
) -> Result<()> {
    const SQL: &str =
        "SELECT j.key, s.dataset FROM json_each(?1) j CROSS JOIN data_structures s ON s.asset = j.value
         WHERE s.dataset IS NOT NULL";
    reader.for_each_row(SQL, [row::to_json(assets)?], |row| {
        let place: i64 = row.get(0)?;
        visit(place as usize, row.get(1)?)
    })
}

/// Returns the messages of the checks with this key that passed, in a listing's latest completed run, without those of data that
/// has changed since.
pub fn list_messages(reader: &Reader, listing: ListingRowId, key: &str) -> Result<Vec<String>> {
    let sql = format!(
        "WITH run (id, assets) AS MATERIALIZED (
             SELECT id, assets FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1),
             {CHANGED_ASSETS}
         SELECT c.message FROM run JOIN quality_checks c ON c.run = run.id
         WHERE c.key = ?2 AND c.status = 'passed' AND c.message IS NOT NULL AND {IS_OF_PRESENT_DATA} ORDER BY c.id"
    );
    reader.query_all(&sql, (listing, key), |row| row.get(0))
}
