//! Listings. Their histories are in `listing_history`, and what the catalog shows of them in `catalog_entries`.

use rusqlite::ToSql;
use uuid::Uuid;

use super::{
    Reader, Writer, index_queue,
    row::{self, FromRow},
    sort_changes,
};
use crate::{
    domain::{
        listing_lifecycle::ListingState,
        listings::{DeliveryMethod, ListingRowId, ListingStatus, ReviewStatus},
        money::Cents,
        row_ids::{AssetRowId, TasksetRowId},
        samples::SampledAsset,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// The fields of a listing that determine what the caller can do with it.
#[derive(Clone, Debug, FromRow)]
pub struct ListingRow {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// ID of the listing.
    pub id: Uuid,
    /// Row ID of the vendor.
    pub team: TeamRowId,
    /// Review status and catalog status.
    #[row(with = read_status)]
    pub status: ListingStatus,
    /// Time of certification; `None` if the listing is not certified in its current form.
    pub certified_at: Option<Timestamp>,
    /// Position among the featured listings, from 1; `None` if the listing is not featured.
    pub featured: Option<u32>,
    /// Title for people.
    pub title: String,
    /// Description for people.
    pub description: String,
    /// Buy-now price; `None` if the listing has no fixed price.
    pub price: Option<Cents>,
    /// Price of the sample; `None` if no sample is offered.
    pub sample_price: Option<Cents>,
    /// Whether buyers can bid.
    pub accepts_bids: bool,
    /// Whether the listing is sold once, exclusively.
    pub is_exclusive: bool,
}

impl ListingRow {
    /// Returns the state, which decides what can be done with the listing.
    pub const fn state(&self) -> ListingState {
        ListingState {
            status: self.status,
            is_certified: self.certified_at.is_some(),
            is_featured: self.featured.is_some(),
        }
    }
}

/// Returns the listings of a team that are not archived, oldest first.
pub fn list_unarchived(reader: &Reader, team: TeamRowId) -> Result<Vec<ListingRow>> {
    let sql = format!("{SELECT_ROW} WHERE l.team = ?1 AND l.catalog_status <> 'archived' ORDER BY l.id");
    reader.query_all(&sql, [team], ListingRow::from_row)
}

const SELECT_ROW: &str =
    "SELECT l.id AS row_id, l.uuid AS id, l.team, l.review_status, l.catalog_status, l.certified_at, l.featured, l.title,
         l.description, l.price_cents AS price, l.sample_price_cents AS sample_price, l.accepts_bids,
         l.exclusive AS is_exclusive
     FROM listings l";

/// Returns the listing with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<ListingRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE l.uuid = ?1"), [id], ListingRow::from_row)
}

pub(super) fn read_status(row: &rusqlite::Row) -> rusqlite::Result<ListingStatus> {
    Ok(ListingStatus { review: row.get("review_status")?, catalog: row.get("catalog_status")? })
}

/// The fields of a listing that its vendor edits.
#[derive(Clone, Debug, Default, PartialEq, FromRow)]
pub struct ListingFields {
    /// Title for people.
    pub title: String,
    /// Description for people.
    pub description: String,
    /// Slugs of the domains.
    #[row(json)]
    pub domain_tags: Vec<String>,
    /// Slugs of the inventory tags.
    #[row(json)]
    pub tag_slugs: Vec<String>,
    /// Buy-now price; `None` if the listing has no fixed price.
    pub price: Option<Cents>,
    /// Price of the sample; `None` if no sample is offered.
    pub sample_price: Option<Cents>,
    /// The content of the sample; empty for the default parts of all assets.
    #[row(json, default)]
    pub sample: Vec<SampledAsset>,
    /// Whether buyers can bid.
    pub accepts_bids: bool,
    /// License and conditions, as text.
    pub terms: String,
    /// How the data is delivered to the buyer, and within how many days.
    #[row(pair("delivery_method", "delivery_days"))]
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// Time from which the data can be delivered; `None` if that is immediately.
    pub available_from: Option<Timestamp>,
    /// Whether the listing is sold once, exclusively. All its assets must then be available for that.
    pub is_exclusive: bool,
}

/// Returns the fields of a listing that its vendor edits.
pub fn find_fields(reader: &Reader, row_id: ListingRowId) -> Result<ListingFields> {
    const SQL: &str = "SELECT title, description, domain_tags, tag_slugs, price_cents AS price, sample_price_cents AS sample_price,
             accepts_bids, terms, delivery_method, delivery_days, available_from, exclusive AS is_exclusive, sample
         FROM listings WHERE id = ?1";
    reader.query_one(SQL, [row_id], ListingFields::from_row)
}

/// Returns the values of the editable columns, in the order of the parameters `?1` to `?13` of the statements
/// below.
fn field_values<'w>(fields: &'w ListingFields) -> Result<[Box<dyn ToSql + 'w>; 13]> {
    Ok([
        Box::new(&fields.title),
        Box::new(&fields.description),
        Box::new(row::to_json(&fields.domain_tags)?),
        Box::new(row::to_json(&fields.tag_slugs)?),
        Box::new(fields.price),
        Box::new(fields.sample_price),
        Box::new(fields.accepts_bids),
        Box::new(&fields.terms),
        Box::new(fields.delivery.map(|(method, _)| method)),
        Box::new(fields.delivery.map(|(_, days)| days)),
        Box::new(fields.available_from),
        Box::new(fields.is_exclusive),
        Box::new((!fields.sample.is_empty()).then(|| row::to_json(&fields.sample)).transpose()?),
    ])
}

/// Inserts a listing as a draft and returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    fields: &ListingFields,
    at: Timestamp,
) -> Result<ListingRowId> {
    const SQL: &str =
        "INSERT INTO listings (title, description, domain_tags, tag_slugs, price_cents, sample_price_cents,
             accepts_bids, terms, delivery_method, delivery_days, available_from, exclusive, sample,
             uuid, team, review_status, catalog_status, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 'draft', 'unpublished', ?16, ?16)";
    let columns = field_values(fields)?;
    let rest: [&dyn ToSql; 3] = [&id, &team, &at];
    let parameters = columns.iter().map(|column| &**column).chain(rest);
    let row_id = ListingRowId(writer.insert(SQL, rusqlite::params_from_iter(parameters))?);
    index_queue::enqueue(writer, row_id)?;
    Ok(row_id)
}

/// Updates the editable fields of a listing. If none of them changes, the time of the last update stays.
pub fn update(writer: &Writer, row_id: ListingRowId, fields: &ListingFields, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE listings SET title = ?1, description = ?2, domain_tags = ?3, tag_slugs = ?4, price_cents = ?5,
             sample_price_cents = ?6, accepts_bids = ?7, terms = ?8, delivery_method = ?9, delivery_days = ?10,
             available_from = ?11, exclusive = ?12, sample = ?13, updated_at = ?14
         WHERE id = ?15 AND (title, description, domain_tags, tag_slugs, price_cents, sample_price_cents, accepts_bids,
                 terms, delivery_method, delivery_days, available_from, exclusive, sample)
             IS NOT (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let columns = field_values(fields)?;
    let rest: [&dyn ToSql; 2] = [&at, &row_id];
    let parameters = columns.iter().map(|column| &**column).chain(rest);
    sort_changes::recording(writer, row_id, at, || writer.run(SQL, rusqlite::params_from_iter(parameters)))
}

/// Updates both statuses of a listing, and the dates that depend on them.
pub fn set_status(
    writer: &Writer,
    row_id: ListingRowId,
    from: ListingStatus,
    to: ListingStatus,
    at: Timestamp,
) -> Result<()> {
    const REVIEWED: &str = "UPDATE listings SET review_status = ?2, updated_at = ?3 WHERE id = ?1";
    const MOVED: &str = "UPDATE listings SET review_status = ?2, catalog_status = ?3, updated_at = ?4,
             published_at = CASE WHEN ?3 = 'published' THEN ?4 ELSE published_at END,
             archived_at = CASE WHEN ?3 = 'archived' THEN ?4 END
         WHERE id = ?1";
    if from.catalog == to.catalog {
        // Most transitions change only the review status. Leaving the catalog status alone saves an index
        // update.
        writer.execute(REVIEWED, (row_id, to.review, at))?;
    } else {
        writer.execute(MOVED, (row_id, to.review, to.catalog, at))?;
    }
    index_queue::enqueue(writer, row_id)
}

/// Returns when each of these listings was certified; `None` for those that are not.
pub fn certification_times(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<Vec<(ListingRowId, Option<Timestamp>)>> {
    const SQL: &str = "SELECT id, certified_at FROM listings WHERE id IN (SELECT value FROM json_each(?1))";
    reader.query_all(SQL, [row::to_json(listings)?], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Sets or clears the certification time of a listing. `at` is the time of the change.
pub fn set_certified_at(
    writer: &Writer,
    row_id: ListingRowId,
    certified_at: Option<Timestamp>,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "UPDATE listings SET certified_at = ?2 WHERE id = ?1";
    sort_changes::recording(writer, row_id, at, || writer.run(SQL, (row_id, certified_at)))
}

/// Sets the position of a listing among the featured listings, from 1, or clears it. `at` is the time of the
/// change.
pub fn set_featured(writer: &Writer, row_id: ListingRowId, place: Option<u32>, at: Timestamp) -> Result<()> {
    sort_changes::recording(writer, row_id, at, || {
        writer.run("UPDATE listings SET featured = ?2 WHERE id = ?1", (row_id, place))
    })
}

/// Stores the platform's note to the vendor on a decision, or deletes it.
pub fn set_review_feedback(writer: &Writer, row_id: ListingRowId, feedback: Option<&str>) -> Result<()> {
    const SQL: &str = "UPDATE listings SET review_feedback = ?2 WHERE id = ?1 AND review_feedback IS NOT ?2";
    writer.run(SQL, (row_id, feedback))
}

/// Returns the platform's note to the vendor from the last request for changes or rejection of a listing.
pub fn find_review_feedback(reader: &Reader, row_id: ListingRowId) -> Result<Option<String>> {
    reader.query_one("SELECT review_feedback FROM listings WHERE id = ?1", [row_id], |row| row.get(0))
}

/// Returns the ID of the listing with a featured place.
pub fn find_featured(reader: &Reader, place: u32) -> Result<Option<Uuid>> {
    reader.query_first("SELECT uuid FROM listings WHERE featured = ?1", [place], |row| row.get(0))
}

/// Whether a listing has these texts: the title, the description, and the tags.
pub fn has_texts(reader: &Reader, row_id: ListingRowId, fields: &ListingFields) -> Result<bool> {
    const SQL: &str = "SELECT (title, description, domain_tags, tag_slugs) IS (?2, ?3, ?4, ?5)
         FROM listings WHERE id = ?1";
    let (domains, tags) = (row::to_json(&fields.domain_tags)?, row::to_json(&fields.tag_slugs)?);
    reader.query_one(SQL, (row_id, &fields.title, &fields.description, domains, tags), |row| row.get(0))
}

/// Appends an asset to a listing.
pub fn attach_asset(writer: &Writer, row_id: ListingRowId, asset: AssetRowId) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_assets (listing, position, asset)
         VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM listing_assets WHERE listing = ?1), ?2)";
    writer.execute(SQL, (row_id, asset))?;
    index_queue::enqueue(writer, row_id)
}

/// Returns the ID of each asset in these samples that is not on the listing.
pub fn sampled_but_absent(
    reader: &Reader,
    row_id: ListingRowId,
    sample: &[SampledAsset],
) -> Result<Vec<Uuid>> {
    const SQL: &str = "SELECT unhex(j.value) FROM json_each(?2) j
         WHERE NOT EXISTS (SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = ?1 AND a.uuid = unhex(j.value)) ORDER BY j.key";
    let ids = row::ids_to_json(sample.iter().map(|asset| &asset.asset_id))?;
    reader.query_all(SQL, (row_id, ids), |row| row.get(0))
}

/// Returns the number of assets on a listing.
pub fn asset_count(reader: &Reader, row_id: ListingRowId) -> Result<usize> {
    reader.query_one("SELECT count(*) FROM listing_assets WHERE listing = ?1", [row_id], |row| row.get(0))
}

/// Returns the sum of the prices of a team's published listings.
pub fn published_total_price(reader: &Reader, team: TeamRowId) -> Result<Cents> {
    const SQL: &str = "SELECT coalesce(sum(price_cents), 0) FROM listings
         WHERE team = ?1 AND catalog_status = 'published'";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Returns the sum of the prices of the listings with these row IDs.
pub fn total_price(reader: &Reader, listings: &[ListingRowId]) -> Result<Cents> {
    const SQL: &str =
        "SELECT coalesce(sum(price_cents), 0) FROM listings WHERE id IN (SELECT value FROM json_each(?1))";
    reader.query_one(SQL, [row::to_json(listings)?], |row| row.get(0))
}

/// Returns the number of a team's published listings.
pub fn count_published(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM listings WHERE team = ?1 AND catalog_status = 'published'";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Returns the listing with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: ListingRowId) -> Result<Option<ListingRow>> {
    reader.query_first(&format!("{SELECT_ROW} WHERE l.id = ?1"), [row_id], ListingRow::from_row)
}

/// Returns the listings that include an asset.
pub fn listings_with_asset(reader: &Reader, asset: AssetRowId) -> Result<Vec<ListingRow>> {
    let sql =
        format!("{SELECT_ROW} JOIN listing_assets la ON la.listing = l.id WHERE la.asset = ?1 ORDER BY l.id");
    reader.query_all(&sql, [asset], ListingRow::from_row)
}

/// Returns the newest listings with an asset.
pub fn newest_listings_with_asset(reader: &Reader, asset: AssetRowId, limit: u32) -> Result<Vec<ListingRow>> {
    let sql = format!(
        "{SELECT_ROW} JOIN listing_assets la ON la.listing = l.id WHERE la.asset = ?1 ORDER BY l.id DESC LIMIT ?2"
    );
    reader.query_all(&sql, (asset, limit), ListingRow::from_row)
}

/// Whether a listing includes a taskset, as an asset or as part of a bundle.
pub fn has_taskset(reader: &Reader, row_id: ListingRowId, taskset: TasksetRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = ?1
               AND (a.taskset = ?2 OR EXISTS (
                   SELECT 1 FROM bundle_tasksets b WHERE b.asset = a.id AND b.taskset = ?2)))";
    reader.query_one(SQL, (row_id, taskset), |row| row.get(0))
}

/// Returns the row IDs of a team's listings with one of these states of review.
pub fn list_with_reviews(
    reader: &Reader,
    team: TeamRowId,
    statuses: &[ReviewStatus],
) -> Result<Vec<ListingRowId>> {
    const SQL: &str = "SELECT id FROM listings
         WHERE team = ?1 AND review_status IN (SELECT value FROM json_each(?2))";
    reader.query_all(SQL, (team, row::to_json(statuses)?), |row| row.get(0))
}
