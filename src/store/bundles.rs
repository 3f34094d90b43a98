//! Bundles, and the files that they are made of. `bundle_entries` has their entries, and `bundle_tasks` the rows of their tasks.

use uuid::Uuid;

use super::{
    Reader, Writer,
    bundle_entries::{self, CONTENT},
    croissant,
    row::FromRow,
};
use crate::{
    domain::{
        bundles::EntryDigest,
        codebase_fields::CodebaseFields,
        listings::ListingRowId,
        purchases::PurchaseStatus,
        row_ids::{BundleRowId, PurchaseRowId, UploadRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// Returns the statement that inserts the entries of the bundle ?1: with a selection, from assets (`a`), under a condition. The
/// quality run of the bundle has checked an entry if the asset had the same data when the run started.
fn insert_entries(selection: &str, from: &str, condition: &str) -> String {
    let fields: Vec<String> = CodebaseFields::in_bundles().map(|name| format!("'{name}', {name}")).collect();
    let fields = fields.join(", ");
    format!(
        "WITH checked (asset, attached_at) AS MATERIALIZED (
             SELECT j.value ->> 'asset', coalesce(j.value ->> 'attached_at', -1)
             FROM bundles b JOIN quality_runs r ON r.id = b.quality_run JOIN json_each(r.assets) j WHERE b.id = ?1)
         INSERT INTO bundle_entries (bundle, asset, title, is_checked, content, upload, attached_at, commit_sha, selection,
             description)
         SELECT ?1, asset, title,
             (asset, coalesce(attached_at, -1)) IN checked AND (content <> 'description' OR attached_at IS NULL),
             content, iif(content = 'upload', upload, NULL),
             iif(content = 'repository', attached_at, NULL), iif(content = 'repository', commit_sha, NULL), selection,
             iif(content IN ('repository', 'description'), json_patch('{{}}', json_object(
                 'kind', kind, 'title', title, 'description', description, 'domain_tags', json(domain_tags),
                 'other_domain', other_domain, {fields}, 'languages', json(languages), 'file_count', file_count,
                 'file_extensions', json(file_extensions),
                 'environment', json(json_remove(environment, '$.extra_columns')),
                 'robotics', json(robotics), 'content_tags', json(content_tags))), NULL)
         FROM (
             SELECT a.id AS asset, a.*, d.upload, d.attached_at, d.commit_sha, {selection} AS selection, {CONTENT} AS content
             FROM {from} LEFT JOIN data_objects d ON d.asset = a.id WHERE {condition})"
    )
}

/// Returns the statement that inserts the bundle of the listing ?1, for the purchase ?2.
fn insert_bundle() -> String {
    format!(
        "INSERT INTO bundles (listing, purchase, listing_change, last_task, last_version, last_build,
             last_deletion, quality_run, listing_facts)
         SELECT ?1, ?2, (SELECT coalesce(max(change), 0) FROM index_queue WHERE listing = ?1),
             (SELECT coalesce(max(id), 0) FROM tasks), (SELECT coalesce(max(id), 0) FROM task_versions),
             (SELECT coalesce(max(id), 0) FROM task_builds), (SELECT coalesce(max(id), 0) FROM task_deletions),
             (SELECT id FROM quality_runs WHERE listing = ?1 AND status = 'completed'
                 ORDER BY run_number DESC LIMIT 1), {}
         FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = ?1",
        croissant::FACTS
    )
}

/// Fixes the delivery of a purchase: the present data of its assets. For a sample, the parts that the listing states, or by
/// default all assets.
pub fn insert_for_purchase(
    writer: &Writer,
    listing: ListingRowId,
    purchase: PurchaseRowId,
) -> Result<BundleRowId> {
    let entries = insert_entries(
        "iif(p.kind = 'sample', coalesce(s.value, '{}'), NULL)",
        "purchases p JOIN listings l ON l.id = p.listing
             JOIN purchase_assets pa ON pa.purchase = p.id JOIN assets a ON a.id = pa.asset
             LEFT JOIN json_each(iif(p.kind = 'sample', l.sample, NULL)) s ON unhex(s.value ->> 'asset') = a.uuid",
        "p.id = ?2 AND (p.kind <> 'sample' OR l.sample IS NULL OR s.value IS NOT NULL)"
    );
    let row_id = BundleRowId(writer.insert(&insert_bundle(), (listing, purchase))?);
    writer.execute(&entries, (row_id, purchase))?;
    Ok(row_id)
}

/// Fixes what would be delivered of a listing now, for its vendor.
pub fn insert_for_vendor(writer: &Writer, listing: ListingRowId) -> Result<BundleRowId> {
    let entries =
        insert_entries("NULL", "listing_assets la JOIN assets a ON a.id = la.asset", "la.listing = ?2");
    let row_id = BundleRowId(writer.insert(&insert_bundle(), (listing, None::<PurchaseRowId>))?);
    writer.execute(&entries, (row_id, listing))?;
    Ok(row_id)
}

/// Deletes the bundle of a purchase, and its job. Files that no other bundle has are deleted by the next cleanup.
pub fn delete_for_purchase(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    const JOB: &str = "DELETE FROM jobs WHERE kind = 'prepare_bundle'
         AND subject = (SELECT id FROM bundles WHERE purchase = ?1)";
    writer.execute(JOB, [purchase])?;
    writer.run("DELETE FROM bundles WHERE purchase = ?1", [purchase])
}

/// Deletes the vendor's bundles of a listing that are older than this one.
pub fn delete_older_for_vendor(writer: &Writer, bundle: &Bundle) -> Result<()> {
    const SQL: &str = "DELETE FROM bundles WHERE listing = ?1 AND purchase IS NULL AND id < ?2";
    if bundle.purchase.is_none() {
        writer.execute(SQL, (bundle.listing, bundle.row_id))?;
    }
    Ok(())
}

/// Deletes the bundles that vendors made for themselves if they contain an upload that can be removed now. They show earlier states
/// of listings.
pub(super) fn delete_unused_for_vendors(writer: &Writer, now: Timestamp) -> Result<()> {
    const SQL: &str = "DELETE FROM bundles WHERE purchase IS NULL AND id IN (
             SELECT e.bundle FROM uploads u JOIN bundle_entries e ON e.upload = u.id
             WHERE u.removable_at <= ?1 AND NOT EXISTS (SELECT 1 FROM data_objects WHERE upload = u.id))";
    writer.run(SQL, [now.0])
}

/// A bundle.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Bundle {
    /// Row ID of the bundle.
    pub row_id: BundleRowId,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Row ID of the purchase; `None` for the vendor's own bundle.
    pub purchase: Option<PurchaseRowId>,
    /// The highest row IDs of the tasks, versions, builds, and deletions of tasks that it has.
    #[row(flatten)]
    pub last_rows: LastRows,
    /// The manifest as it is delivered; `None` until all entries are prepared.
    pub manifest: Option<Vec<u8>>,
    /// Number of the listing's latest change when the bundle was fixed.
    listing_change: i64,
}

/// The highest row IDs when a bundle was fixed. Rows are never removed, so later ones are greater.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct LastRows {
    /// Of tasks.
    pub task: i64,
    /// Of versions.
    pub version: i64,
    /// Of builds.
    pub build: i64,
    /// Of deletions of tasks.
    pub deletion: i64,
}

const SELECT: &str = "SELECT b.id, b.listing, l.uuid, b.purchase, b.last_task, b.last_version, b.last_build,
         b.last_deletion, b.manifest, b.listing_change
     FROM bundles b JOIN listings l ON l.id = b.listing";

/// Returns a bundle.
pub fn find(reader: &Reader, row_id: BundleRowId) -> Result<Option<Bundle>> {
    reader.query_first(&format!("{SELECT} WHERE b.id = ?1"), [row_id], Bundle::from_row)
}

/// Returns the description in Croissant of a prepared bundle; `None` if it was prepared without one.
pub fn find_croissant(reader: &Reader, row_id: BundleRowId) -> Result<Option<Vec<u8>>> {
    reader.query_one("SELECT croissant FROM bundles WHERE id = ?1", [row_id], |row| row.get(0))
}

/// Returns the bundle of a purchase.
pub fn find_for_purchase(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Bundle>> {
    reader.query_first(&format!("{SELECT} WHERE b.purchase = ?1"), [purchase], Bundle::from_row)
}

/// Returns the vendor's latest bundle of a listing.
pub fn find_for_vendor(reader: &Reader, listing: ListingRowId) -> Result<Option<Bundle>> {
    let sql = format!("{SELECT} WHERE b.listing = ?1 AND b.purchase IS NULL ORDER BY b.id DESC LIMIT 1");
    reader.query_first(&sql, [listing], Bundle::from_row)
}

/// Whether a vendor's bundle is of the listing as it is now: neither the listing, nor its assets, nor their tasks have
/// changed since.
pub fn is_current(reader: &Reader, bundle: &Bundle) -> Result<bool> {
    const SQL: &str = "SELECT (SELECT coalesce(max(change), 0) FROM index_queue WHERE listing = ?1) = ?2
         AND NOT EXISTS (
             SELECT 1 FROM task_versions v JOIN tasks k ON k.id = v.task JOIN listed ON listed.taskset = k.taskset
             WHERE v.id > ?3)
         AND NOT EXISTS (
             SELECT 1 FROM task_builds u JOIN task_versions v ON v.id = u.task_version JOIN tasks k ON k.id = v.task
             JOIN listed ON listed.taskset = k.taskset WHERE u.id > ?4)";
    const LISTED: &str = "WITH listed (taskset) AS (
             SELECT a.taskset FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = ?1 AND a.taskset IS NOT NULL
             UNION SELECT t.taskset FROM listing_assets la JOIN bundle_tasksets t ON t.asset = la.asset
             WHERE la.listing = ?1
             UNION SELECT k.taskset FROM listing_assets la JOIN assets a ON a.id = la.asset
             JOIN task_versions v ON v.id = a.task_version JOIN tasks k ON k.id = v.task WHERE la.listing = ?1)";
    let rows = bundle.last_rows;
    let parameters = (bundle.listing, bundle.listing_change, rows.version, rows.build);
    reader.query_one(&format!("{LISTED} {SQL}"), parameters, |row| row.get(0))
}

/// A purchase with what its bundle's link needs.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct LinkedPurchase {
    /// Row ID of the purchase.
    pub row_id: PurchaseRowId,
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// ID of the listing.
    pub listing_id: Uuid,
    /// Row ID of the buyer.
    pub buyer: TeamRowId,
    /// Status of the purchase.
    pub status: PurchaseStatus,
}

/// Returns a purchase by its ID.
pub fn find_purchase(reader: &Reader, id: Uuid) -> Result<Option<LinkedPurchase>> {
    const SQL: &str = "SELECT p.id, p.listing, l.uuid, p.buyer, p.status
         FROM purchases p JOIN listings l ON l.id = p.listing WHERE p.uuid = ?1";
    reader.query_first(SQL, [id], LinkedPurchase::from_row)
}

/// The widest completed purchase of a listing by a team: everything, or else a selection, or else the sample. Its
/// ID, and the row ID of its bundle if it is prepared.
pub fn find_widest(
    reader: &Reader,
    buyer: TeamRowId,
    listing: ListingRowId,
) -> Result<Option<(Uuid, Option<BundleRowId>)>> {
    const SQL: &str = "SELECT p.uuid, b.id FROM purchases p
         LEFT JOIN bundles b ON b.purchase = p.id AND b.manifest IS NOT NULL
         WHERE p.buyer = ?1 AND p.listing = ?2 AND p.status = 'completed'
         ORDER BY CASE p.scope ->> 'mode' WHEN 'all' THEN 0 WHEN 'selection' THEN 1 ELSE 2 END, p.id DESC LIMIT 1";
    reader.query_first(SQL, (buyer, listing), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An upload in a bundle.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct BundledUpload {
    /// ID of the upload.
    pub id: Uuid,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
    /// CRC-32 checksum, once it is computed.
    pub crc32: Option<u32>,
}

/// Returns an upload; `None` if it and the bundle were deleted.
pub fn find_upload(reader: &Reader, upload: UploadRowId) -> Result<Option<BundledUpload>> {
    const SQL: &str = "SELECT uuid, size_bytes, sha256, crc32 FROM uploads WHERE id = ?1";
    reader.query_first(SQL, [upload], BundledUpload::from_row)
}

/// Records the checksum of an upload.
pub fn set_upload_crc32(writer: &Writer, upload: UploadRowId, crc32: u32) -> Result<()> {
    writer.run("UPDATE uploads SET crc32 = ?2 WHERE id = ?1", (upload, crc32))
}

/// Returns the copies of repositories that bundles still need, because their entries are not prepared: the asset, and
/// the time at which the repository was linked.
pub fn list_repositories(reader: &Reader) -> Result<Vec<(Uuid, Timestamp)>> {
    const SQL: &str =
        "SELECT DISTINCT a.uuid, e.attached_at FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.attached_at IS NOT NULL AND e.source IS NULL ORDER BY a.id, e.attached_at";
    reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Whether a bundle still needs the copy of the repository that was linked to an asset at a time.
pub fn needs_repository(reader: &Reader, asset: Uuid, attached_at: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM assets a JOIN bundle_entries e ON e.asset = a.id
             WHERE a.uuid = ?1 AND e.attached_at = ?2 AND e.source IS NULL)";
    reader.query_one(SQL, (asset, attached_at), |row| row.get(0))
}

/// Returns the files that were made for bundles, by digest.
pub fn list_files(reader: &Reader) -> Result<Vec<EntryDigest>> {
    const SQL: &str = "SELECT size_bytes, sha256, crc32 FROM bundle_entries WHERE source = 'file'
         GROUP BY sha256 ORDER BY sha256";
    reader.query_all(SQL, [], bundle_entries::read_digest)
}

/// Whether a bundle has the file with this digest.
pub fn has_file(reader: &Reader, sha256: &str) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM bundle_entries WHERE sha256 = ?1 AND source = 'file')";
    reader.query_one(SQL, [sha256], |row| row.get(0))
}
