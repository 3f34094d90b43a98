//! Rounds of the reviews of listings: the submitted content, and the decision of the platform.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Reader, Writer,
    bundle_tasks::TASKSETS_OF_ASSET,
    listings::ListingFields,
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::Kind,
        listings::{DeliveryMethod, ListingRowId},
        money::Cents,
        reviews::ReviewDecision,
        row_ids::ReviewRowId,
        samples::SampledAsset,
        time::Timestamp,
    },
    error::Result,
};

/// A round of a listing's review.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Review {
    /// Row ID of the round.
    pub row_id: ReviewRowId,
    /// Number of the round, from 1 for each listing.
    pub number: u32,
    /// Time of the submission.
    pub submitted_at: Timestamp,
    /// Number of assets that the listing had.
    pub asset_count: u64,
    /// SHA-256 digest of what was submitted, in hexadecimal.
    pub sha256: String,
    /// How the round ended, and when; `None` while it is open.
    #[row(pair("decision", "decided_at"))]
    pub decision: Option<(ReviewDecision, Timestamp)>,
    /// The platform's note to the vendor.
    pub note: Option<String>,
}

/// The fields of a listing as they are stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    title: String,
    description: String,
    domain_tags: Vec<String>,
    tag_slugs: Vec<String>,
    price_cents: Option<i64>,
    sample_price_cents: Option<i64>,
    sample: Vec<SampledAsset>,
    accepts_bids: bool,
    terms: String,
    delivery_method: Option<DeliveryMethod>,
    delivery_days: Option<u32>,
    available_from: Option<Timestamp>,
    exclusive: bool,
}

impl Snapshot {
    fn of(fields: &ListingFields) -> Snapshot {
        let fields = fields.clone();
        Snapshot {
            title: fields.title,
            description: fields.description,
            domain_tags: fields.domain_tags,
            tag_slugs: fields.tag_slugs,
            price_cents: fields.price.map(|price| price.0),
            sample_price_cents: fields.sample_price.map(|price| price.0),
            sample: fields.sample,
            accepts_bids: fields.accepts_bids,
            terms: fields.terms,
            delivery_method: fields.delivery.map(|(method, _)| method),
            delivery_days: fields.delivery.map(|(_, days)| days),
            available_from: fields.available_from,
            exclusive: fields.is_exclusive,
        }
    }

    fn into_fields(self) -> ListingFields {
        ListingFields {
            title: self.title,
            description: self.description,
            domain_tags: self.domain_tags,
            tag_slugs: self.tag_slugs,
            price: self.price_cents.map(Cents),
            sample_price: self.sample_price_cents.map(Cents),
            sample: self.sample,
            accepts_bids: self.accepts_bids,
            terms: self.terms,
            delivery: self.delivery_method.zip(self.delivery_days),
            available_from: self.available_from,
            is_exclusive: self.exclusive,
        }
    }
}

/// Returns fields of a listing in the form in which rounds store them.
pub fn snapshot_text(fields: &ListingFields) -> Result<String> {
    row::to_json(&Snapshot::of(fields))
}

/// Opens the next round of a listing's review. The functions below add its assets and the digest of everything.
pub fn insert(
    writer: &Writer,
    listing: ListingRowId,
    (number, snapshot, sha256): (u32, &str, &str),
    at: Timestamp,
) -> Result<ReviewRowId> {
    const SQL: &str = "INSERT INTO reviews (listing, number, submitted_at, snapshot, asset_count, sha256)
         VALUES (?1, ?2, ?3, ?4, 0, ?5)";
    Ok(ReviewRowId(writer.insert(SQL, (listing, number, at, snapshot, sha256))?))
}

/// Returns the number of the latest round of a listing; 0 without one.
pub fn last_number(reader: &Reader, listing: ListingRowId) -> Result<u32> {
    const SQL: &str = "SELECT coalesce(max(number), 0) FROM reviews WHERE listing = ?1";
    reader.query_one(SQL, [listing], |row| row.get(0))
}

/// Identifies the data of an asset `a` with the data object `d`; null without its own data. The data of task assets never changes.
const CONTENT: &str = "CASE
         WHEN d.upload IS NOT NULL THEN (SELECT u.sha256 FROM uploads u WHERE u.id = d.upload)
         WHEN d.commit_sha IS NOT NULL THEN d.commit_sha
         WHEN a.kind = 'taskset' THEN (
             SELECT 'tasks: ' || s.tasks || coalesce(', newest: ' || (
                 SELECT lower(hex(substr(t.uuid, 1, 4))) FROM tasks t
                 WHERE t.taskset = s.id AND t.deleted_at IS NULL ORDER BY t.id DESC LIMIT 1), '')
             FROM tasksets s WHERE s.id = a.taskset)
         WHEN a.kind = 'bundle' THEN (
             SELECT 'tasks: ' || coalesce(sum(s.tasks), 0) || ', tasksets: ' || count(*)
             FROM bundle_tasksets b JOIN tasksets s ON s.id = b.taskset WHERE b.asset = a.id)
         WHEN a.kind = 'environment' THEN 'build: ' || (a.environment ->> '$.build_version')
     END";

/// How many versions the tasks of an asset `a` have got since a round `w` was submitted. It follows [`CONTENT`], and is empty if
/// there are none.
fn new_versions() -> String {
    format!(
        "coalesce((
             SELECT ', new versions of tasks: ' || nullif(count(*), 0)
             FROM tasks t JOIN task_versions v ON v.task = t.id
             WHERE t.taskset IN ({TASKSETS_OF_ASSET}) AND t.deleted_at IS NULL AND v.created_at > w.submitted_at), '')"
    )
}

/// Adds the present assets of a listing to a round. Returns their number.
pub fn insert_assets(writer: &Writer, review: ReviewRowId, listing: ListingRowId) -> Result<u64> {
    let sql = format!(
        "INSERT INTO review_assets (review, asset, title, content)
         SELECT ?1, a.id, a.title, {CONTENT}
         FROM listing_assets la JOIN assets a ON a.id = la.asset LEFT JOIN data_objects d ON d.asset = a.id
         WHERE la.listing = ?2"
    );
    Ok(writer.execute(&sql, (review, listing))? as u64)
}

/// Visits the assets of a round, in order: IDs, titles, and identities of their data.
pub fn for_each_asset(
    reader: &Reader,
    review: ReviewRowId,
    visit: impl FnMut(Uuid, &str, Option<&str>),
) -> Result<()> {
    const SQL: &str = "SELECT a.uuid, r.title, r.content FROM review_assets r JOIN assets a ON a.id = r.asset
         WHERE r.review = ?1 ORDER BY r.asset";
    visit_assets(reader, SQL, review.0, visit)
}

/// Visits the assets that a listing has now, in the order of [`for_each_asset`]: with new versions since its latest round.
pub fn for_each_present_asset(
    reader: &Reader,
    listing: ListingRowId,
    visit: impl FnMut(Uuid, &str, Option<&str>),
) -> Result<()> {
    let new_versions = new_versions();
    let sql = format!(
        "SELECT a.uuid, a.title, {CONTENT} || {new_versions}
         FROM listing_assets la JOIN assets a ON a.id = la.asset LEFT JOIN data_objects d ON d.asset = a.id
         LEFT JOIN reviews w ON w.listing = la.listing
             AND w.number = (SELECT max(number) FROM reviews WHERE listing = ?1)
         WHERE la.listing = ?1 ORDER BY a.id"
    );
    visit_assets(reader, &sql, listing.0, visit)
}

fn visit_assets(
    reader: &Reader,
    sql: &str,
    row_id: i64,
    mut visit: impl FnMut(Uuid, &str, Option<&str>),
) -> Result<()> {
    reader.for_each_row(sql, [row_id], |row| {
        let (title, content): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        visit(row.get(0)?, &title, content.as_deref());
        Ok(())
    })
}

/// Sets the number of assets of a round, and the digest of all of it.
pub fn set_digest(writer: &Writer, review: ReviewRowId, asset_count: u64, sha256: &str) -> Result<()> {
    const SQL: &str = "UPDATE reviews SET asset_count = ?2, sha256 = ?3 WHERE id = ?1";
    writer.run(SQL, (review, asset_count as i64, sha256))
}

/// Ends the open round of a listing, if there is one.
pub fn set_decided(
    writer: &Writer,
    listing: ListingRowId,
    decision: ReviewDecision,
    at: Timestamp,
    note: Option<&str>,
) -> Result<()> {
    const SQL: &str = "UPDATE reviews SET decision = ?2, decided_at = ?3, note = ?4
         WHERE listing = ?1 AND decision IS NULL
             AND number = (SELECT max(number) FROM reviews WHERE listing = ?1)";
    writer.run(SQL, (listing, decision, at, note))
}

/// Deletes the submitted content of a withdrawn round. The round stays in the list of rounds.
pub fn forget_if_withdrawn(writer: &Writer, listing: ListingRowId, number: u32) -> Result<()> {
    const ASSETS: &str = "DELETE FROM review_assets WHERE review = (
             SELECT id FROM reviews WHERE listing = ?1 AND number = ?2 AND decision = 'withdrawn')";
    const SNAPSHOT: &str = "UPDATE reviews SET snapshot = NULL
         WHERE listing = ?1 AND number = ?2 AND decision = 'withdrawn'";
    writer.execute(ASSETS, (listing, number))?;
    writer.run(SNAPSHOT, (listing, number))
}

const COLUMNS: &str = "id AS row_id, number, submitted_at, asset_count, sha256, decision, decided_at, note";

/// Returns the latest rounds of a listing, newest first.
pub fn list(reader: &Reader, listing: ListingRowId, limit: u32) -> Result<Vec<Review>> {
    let sql = format!("SELECT {COLUMNS} FROM reviews WHERE listing = ?1 ORDER BY number DESC LIMIT ?2");
    reader.query_all(&sql, (listing, limit), Review::from_row)
}

/// Returns the latest round of a listing that ended with one of these decisions.
pub fn find_last(
    reader: &Reader,
    listing: ListingRowId,
    decisions: &[ReviewDecision],
) -> Result<Option<Review>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reviews
         WHERE listing = ?1 AND decision IN (SELECT value FROM json_each(?2)) ORDER BY number DESC LIMIT 1"
    );
    reader.query_first(&sql, (listing, row::to_json(decisions)?), Review::from_row)
}

/// Returns a round of a listing by its number.
pub fn find(reader: &Reader, listing: ListingRowId, number: u32) -> Result<Option<Review>> {
    let sql = format!("SELECT {COLUMNS} FROM reviews WHERE listing = ?1 AND number = ?2");
    reader.query_first(&sql, (listing, number), Review::from_row)
}

/// Returns the fields of a listing as they were submitted in a round; `None` if they were deleted.
pub fn find_fields(reader: &Reader, review: ReviewRowId) -> Result<Option<ListingFields>> {
    const SQL: &str = "SELECT snapshot FROM reviews WHERE id = ?1";
    let snapshot: Option<Snapshot> = reader.query_one(SQL, [review], |row| row::json(row, 0))?;
    Ok(snapshot.map(Snapshot::into_fields))
}

/// Whether the fields of a listing as they were submitted in a round are stored.
pub fn has_fields(reader: &Reader, review: ReviewRowId) -> Result<bool> {
    reader.query_one("SELECT snapshot IS NOT NULL FROM reviews WHERE id = ?1", [review], |row| row.get(0))
}

/// An asset that was added to a listing, removed from it, or changed.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct AssetChange {
    /// ID of the asset.
    #[row(name = "uuid")]
    pub id: Uuid,
    /// Its kind.
    pub kind: Kind,
    /// Title before; `None` if it was added.
    pub title_before: Option<String>,
    /// Title now; `None` if it was removed.
    pub title_now: Option<String>,
    /// What identified its data before; `None` without data.
    pub content_before: Option<String>,
    /// What identifies its data now; `None` without data.
    pub content_now: Option<String>,
}

/// The number of changes of a kind, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssetChanges {
    /// Number of all.
    pub total: u64,
    /// The first ones.
    pub first: Vec<AssetChange>,
}

const ADDED: &str = "SELECT count(*) OVER () AS total, a.uuid, a.kind, NULL AS title_before, a.title AS title_now,
         NULL AS content_before, NULL AS content_now
     FROM listing_assets la JOIN assets a ON a.id = la.asset
     WHERE la.listing = ?1 AND NOT EXISTS (SELECT 1 FROM review_assets r WHERE r.review = ?2 AND r.asset = la.asset)
     ORDER BY la.position LIMIT ?3";

const REMOVED: &str =
    "SELECT count(*) OVER () AS total, a.uuid, a.kind, r.title AS title_before, NULL AS title_now,
         r.content AS content_before, NULL AS content_now
     FROM review_assets r JOIN assets a ON a.id = r.asset
     WHERE r.review = ?2
         AND NOT EXISTS (SELECT 1 FROM listing_assets la WHERE la.asset = r.asset AND la.listing = ?1)
     ORDER BY r.asset LIMIT ?3";

/// Returns which assets of a listing were added since a round.
pub fn list_added(
    reader: &Reader,
    listing: ListingRowId,
    review: ReviewRowId,
    limit: u32,
) -> Result<AssetChanges> {
    list_changes(reader, ADDED, (listing, review, limit))
}

/// Returns which assets of a listing were removed since a round.
pub fn list_removed(
    reader: &Reader,
    listing: ListingRowId,
    review: ReviewRowId,
    limit: u32,
) -> Result<AssetChanges> {
    list_changes(reader, REMOVED, (listing, review, limit))
}

/// Returns which assets of a listing have another title or other data than in a round.
pub fn list_changed(
    reader: &Reader,
    listing: ListingRowId,
    review: ReviewRowId,
    limit: u32,
) -> Result<AssetChanges> {
    let new_versions = new_versions();
    let sql = format!(
        "SELECT count(*) OVER () AS total, uuid, kind, title_before, title_now, content_before, content_now FROM (
             SELECT r.asset, a.uuid, a.kind, r.title AS title_before, a.title AS title_now,
                 r.content AS content_before, {CONTENT} || {new_versions} AS content_now
             FROM review_assets r JOIN reviews w ON w.id = r.review JOIN assets a ON a.id = r.asset
             LEFT JOIN data_objects d ON d.asset = a.id
             WHERE r.review = ?2
                 AND EXISTS (SELECT 1 FROM listing_assets la WHERE la.asset = r.asset AND la.listing = ?1))
         WHERE title_before <> title_now OR content_before IS NOT content_now ORDER BY asset LIMIT ?3"
    );
    list_changes(reader, &sql, (listing, review, limit))
}

/// Returns the titles of these assets that exist, by ID.
pub fn asset_titles(reader: &Reader, ids: &[Uuid]) -> Result<BTreeMap<Uuid, String>> {
    const SQL: &str = "SELECT a.uuid, a.title FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value)";
    let titles = reader.query_all(SQL, [row::ids_to_json(ids)?], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(titles.into_iter().collect())
}

fn list_changes(
    reader: &Reader,
    sql: &str,
    parameters: (ListingRowId, ReviewRowId, u32),
) -> Result<AssetChanges> {
    let rows: Vec<(u64, AssetChange)> =
        reader.query_all(sql, parameters, |row| Ok((row.get("total")?, AssetChange::from_row(row)?)))?;
    let total = rows.first().map_or(0, |(total, _)| *total);
    Ok(AssetChanges { total, first: rows.into_iter().map(|(_, change)| change).collect() })
}
