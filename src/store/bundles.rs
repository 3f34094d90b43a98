//! Bundles, and what their entries are made of. The rows of their tasks are read by `bundle_tasks`.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        bundles::{EntryContent, EntryDigest, EntrySource, ManifestEntry},
        codebase_fields::CodebaseFields,
        listings::ListingRowId,
        purchases::PurchaseStatus,
        row_ids::{AssetRowId, BundleRowId, PurchaseRowId, UploadRowId},
        samples::Selection,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// Returns the statement that inserts the entries of the bundle ?1: with a selection, from assets (`a`), under a condition.
fn insert_entries(selection: &str, from: &str, condition: &str) -> String {
    let fields: Vec<String> = CodebaseFields::in_bundles().map(|name| format!("'{name}', {name}")).collect();
    let fields = fields.join(", ");
    format!(
        "INSERT INTO bundle_entries (bundle, asset, content, upload, attached_at, commit_sha, selection, description)
         SELECT ?1, asset, content, iif(content = 'upload', upload, NULL),
             iif(content = 'repository', attached_at, NULL), iif(content = 'repository', commit_sha, NULL), selection,
             iif(content IN ('repository', 'description'), json_patch('{{}}', json_object(
                 'kind', kind, 'title', title, 'description', description, 'domain_tags', json(domain_tags),
                 'other_domain', other_domain, {fields}, 'languages', json(languages), 'file_count', file_count,
                 'file_extensions', json(file_extensions),
                 'environment', json(json_remove(environment, '$.extra_columns')),
                 'robotics', json(robotics), 'content_tags', json(content_tags))), NULL)
         FROM (
             SELECT a.id AS asset, a.*, d.upload, d.attached_at, d.commit_sha, {selection} AS selection,
                 CASE
                     WHEN a.kind IN ('task', 'taskset', 'bundle') THEN 'tasks'
                     WHEN d.upload IS NOT NULL THEN 'upload'
                     WHEN d.channel <> 'zip' AND d.archive_status = 'completed' AND d.commit_sha IS NOT NULL
                         THEN 'repository'
                     ELSE 'description'
                 END AS content
             FROM {from} LEFT JOIN data_objects d ON d.asset = a.id WHERE {condition})"
    )
}

const INSERT: &str =
    "INSERT INTO bundles (listing, purchase, listing_change, last_task, last_version, last_build,
         last_deletion)
     VALUES (?1, ?2, (SELECT coalesce(max(change), 0) FROM index_queue WHERE listing = ?1),
         (SELECT coalesce(max(id), 0) FROM tasks), (SELECT coalesce(max(id), 0) FROM task_versions),
         (SELECT coalesce(max(id), 0) FROM task_builds), (SELECT coalesce(max(id), 0) FROM task_deletions))";

/// Fixes what is delivered of a purchase: the data that its assets have now. For a sample, what the listing states,
/// or by default all assets.
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
    let row_id = BundleRowId(writer.insert(INSERT, (listing, purchase))?);
    writer.execute(&entries, (row_id, purchase))?;
    Ok(row_id)
}

/// Fixes what would be delivered of a listing now, for its vendor.
pub fn insert_for_vendor(writer: &Writer, listing: ListingRowId) -> Result<BundleRowId> {
    let entries =
        insert_entries("NULL", "listing_assets la JOIN assets a ON a.id = la.asset", "la.listing = ?2");
    let row_id = BundleRowId(writer.insert(INSERT, (listing, None::<PurchaseRowId>))?);
    writer.execute(&entries, (row_id, listing))?;
    Ok(row_id)
}

/// Deletes the bundle of a purchase, and its job. Files that no other bundle has are deleted by the next cleanup.
pub fn delete_for_purchase(writer: &Writer, purchase: PurchaseRowId) -> Result<()> {
    const JOB: &str = "DELETE FROM jobs WHERE kind = 'prepare_bundle'
         AND subject = (SELECT id FROM bundles WHERE purchase = ?1)";
    writer.execute(JOB, [purchase])?;
    writer.execute("DELETE FROM bundles WHERE purchase = ?1", [purchase])?;
    Ok(())
}

/// Deletes the vendor's bundles of a listing that are older than this one.
pub fn delete_older_for_vendor(writer: &Writer, bundle: &Bundle) -> Result<()> {
    const SQL: &str = "DELETE FROM bundles WHERE listing = ?1 AND purchase IS NULL AND id < ?2";
    if bundle.purchase.is_none() {
        writer.execute(SQL, (bundle.listing, bundle.row_id))?;
    }
    Ok(())
}

/// A bundle.
#[derive(Clone, Debug)]
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
    pub last_rows: LastRows,
    /// The manifest as it is delivered; `None` until all entries are prepared.
    pub manifest: Option<Vec<u8>>,
    /// Number of the listing's latest change when the bundle was fixed.
    listing_change: i64,
}

/// The highest row IDs when a bundle was fixed. Rows are never removed, so later ones are greater.
#[derive(Clone, Copy, Debug)]
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

fn read_bundle(row: &rusqlite::Row) -> rusqlite::Result<Bundle> {
    Ok(Bundle {
        row_id: row.get(0)?,
        listing: row.get(1)?,
        listing_id: row.get(2)?,
        purchase: row.get(3)?,
        last_rows: LastRows {
            task: row.get(4)?,
            version: row.get(5)?,
            build: row.get(6)?,
            deletion: row.get(7)?,
        },
        manifest: row.get(8)?,
        listing_change: row.get(9)?,
    })
}

/// Returns a bundle.
pub fn find(reader: &Reader, row_id: BundleRowId) -> Result<Option<Bundle>> {
    reader.query_first(&format!("{SELECT} WHERE b.id = ?1"), [row_id], read_bundle)
}

/// Returns the bundle of a purchase.
pub fn find_for_purchase(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Bundle>> {
    reader.query_first(&format!("{SELECT} WHERE b.purchase = ?1"), [purchase], read_bundle)
}

/// Returns the vendor's latest bundle of a listing.
pub fn find_for_vendor(reader: &Reader, listing: ListingRowId) -> Result<Option<Bundle>> {
    let sql = format!("{SELECT} WHERE b.listing = ?1 AND b.purchase IS NULL ORDER BY b.id DESC LIMIT 1");
    reader.query_first(&sql, [listing], read_bundle)
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
#[derive(Clone, Copy, Debug)]
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
    reader.query_first(SQL, [id], |row| {
        Ok(LinkedPurchase {
            row_id: row.get(0)?,
            listing: row.get(1)?,
            listing_id: row.get(2)?,
            buyer: row.get(3)?,
            status: row::string_enum(row, 4)?,
        })
    })
}

/// The completed purchase of a listing that gives a team the most: everything, or else a selection, or else the
/// sample. Its ID, and the row ID of its bundle if it is prepared.
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

/// An entry that is to be prepared.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Row ID of the asset.
    pub asset: AssetRowId,
    /// ID of the asset.
    pub asset_id: Uuid,
    /// What the entry is made of.
    pub content: EntryContent,
    /// Row ID of the upload.
    pub upload: Option<UploadRowId>,
    /// Time at which the repository was linked, and the commit.
    pub repository: Option<(Timestamp, String)>,
    /// The parts that a sample has; `None` for everything.
    pub selection: Option<Selection>,
    /// What is delivered of the asset if it has no bytes: the fields of a JSON object.
    pub description: Option<String>,
}

/// Returns the first entries of a bundle that are not prepared yet, at most `limit`.
pub fn list_unprepared(reader: &Reader, bundle: BundleRowId, limit: u32) -> Result<Vec<Entry>> {
    const SQL: &str = "SELECT e.asset, a.uuid, e.content, e.upload, e.attached_at, e.commit_sha, e.selection,
             e.description
         FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.source IS NULL ORDER BY e.asset LIMIT ?2";
    reader.query_all(SQL, (bundle, limit), |row| {
        let (attached_at, commit): (Option<Timestamp>, Option<String>) =
            (row::optional_time(row, 4)?, row.get(5)?);
        Ok(Entry {
            asset: row.get(0)?,
            asset_id: row.get(1)?,
            content: row::string_enum(row, 2)?,
            upload: row.get(3)?,
            repository: attached_at.zip(commit),
            selection: row::optional_json(row, 6)?,
            description: row.get(7)?,
        })
    })
}

/// Returns the fields that describe an asset as it is now, for an entry whose data cannot be delivered.
pub fn describe_asset(reader: &Reader, asset: AssetRowId) -> Result<String> {
    const SQL: &str =
        "SELECT json_patch('{}', json_object('kind', kind, 'title', title, 'description', description,
             'domain_tags', json(domain_tags))) FROM assets WHERE id = ?1";
    reader.query_one(SQL, [asset], |row| row.get(0))
}

/// The bytes of an entry, once they are prepared.
#[derive(Clone, Debug)]
pub struct PreparedEntry {
    /// Where the bytes are.
    pub source: EntrySource,
    /// Path in the bundle.
    pub path: String,
    /// Their size and digests.
    pub digest: EntryDigest,
    /// The fields of the description that is delivered, if it replaces the stored one.
    pub description: Option<String>,
    /// Why the entry is a description although the asset has data.
    pub problem: Option<String>,
}

/// Records the bytes of an entry.
pub fn set_prepared(
    writer: &Writer,
    bundle: BundleRowId,
    asset: AssetRowId,
    entry: &PreparedEntry,
) -> Result<()> {
    const SQL: &str =
        "UPDATE bundle_entries SET source = ?3, path = ?4, size_bytes = ?5, sha256 = ?6, crc32 = ?7,
             problem = ?8, description = coalesce(?9, description)
         WHERE bundle = ?1 AND asset = ?2";
    let EntryDigest { size_bytes, sha256, crc32 } = &entry.digest;
    let parameters = (
        bundle,
        asset,
        entry.source.as_str(),
        &entry.path,
        *size_bytes as i64,
        sha256,
        crc32,
        &entry.problem,
        &entry.description,
    );
    writer.execute(SQL, parameters)?;
    Ok(())
}

/// Returns the file that another bundle has of the same commit, with the same selection.
pub fn find_same_file(reader: &Reader, entry: &Entry) -> Result<Option<EntryDigest>> {
    const SQL: &str = "SELECT size_bytes, sha256, crc32 FROM bundle_entries
         WHERE asset = ?1 AND attached_at = ?2 AND commit_sha = ?3 AND source = 'file'
             AND selection ->> 'paths' IS ?4 AND (selection IS NULL) = ?5 LIMIT 1";
    let Some((attached_at, commit)) = &entry.repository else { return Ok(None) };
    let paths = entry.selection.as_ref().and_then(|selection| selection.paths.as_ref());
    let paths = paths.map(row::to_json).transpose()?;
    reader.query_first(
        SQL,
        (entry.asset, attached_at.0, commit, paths, entry.selection.is_none()),
        read_digest,
    )
}

fn read_digest(row: &rusqlite::Row) -> rusqlite::Result<EntryDigest> {
    Ok(EntryDigest { size_bytes: row.get(0)?, sha256: row.get(1)?, crc32: row.get(2)? })
}

/// Records the manifest of a bundle whose entries are all prepared.
pub fn set_manifest(writer: &Writer, bundle: BundleRowId, manifest: &[u8]) -> Result<()> {
    writer.execute("UPDATE bundles SET manifest = ?2 WHERE id = ?1", (bundle, manifest))?;
    Ok(())
}

/// Returns the prepared entries of a bundle, in their order.
pub fn list_manifest(reader: &Reader, bundle: BundleRowId) -> Result<Vec<ManifestEntry>> {
    const SQL: &str = "SELECT e.path, a.uuid, e.size_bytes, e.sha256, e.problem
         FROM bundle_entries e JOIN assets a ON a.id = e.asset WHERE e.bundle = ?1 AND e.source IS NOT NULL
         ORDER BY e.asset";
    reader.query_all(SQL, [bundle], |row| {
        Ok(ManifestEntry {
            path: row.get(0)?,
            asset_id: row.get(1)?,
            size_bytes: row.get(2)?,
            sha256: row.get(3)?,
            problem: row.get(4)?,
        })
    })
}

/// How far the preparation of a bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparationProgress {
    /// Number of entries that are prepared.
    pub prepared: u64,
    /// Number of all entries.
    pub entries: u64,
    /// Whether a job for it is queued or running.
    pub is_queued: bool,
    /// Whether the last job failed for good.
    pub has_failed: bool,
}

/// Returns how far the preparation of a bundle is.
pub fn find_progress(reader: &Reader, bundle: BundleRowId) -> Result<PreparationProgress> {
    const SQL: &str = "SELECT count(source), count(*),
             EXISTS (SELECT 1 FROM jobs WHERE kind = 'prepare_bundle' AND subject = ?1),
             EXISTS (SELECT 1 FROM ended_jobs WHERE kind = 'prepare_bundle' AND subject = ?1 AND state = 'failed')
         FROM bundle_entries WHERE bundle = ?1";
    reader.query_one(SQL, [bundle], |row| {
        Ok(PreparationProgress {
            prepared: row.get(0)?,
            entries: row.get(1)?,
            is_queued: row.get(2)?,
            has_failed: row.get(3)?,
        })
    })
}

/// Returns the number of entries of a bundle.
pub fn count_entries(reader: &Reader, bundle: BundleRowId) -> Result<u64> {
    reader.query_one("SELECT count(*) FROM bundle_entries WHERE bundle = ?1", [bundle], |row| row.get(0))
}

/// An entry that is delivered.
#[derive(Clone, Debug)]
pub struct DeliveredEntry {
    /// Row ID of the asset.
    pub asset: AssetRowId,
    /// Path in the bundle.
    pub path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// CRC-32 checksum.
    pub crc32: u32,
    /// Where the bytes are.
    pub location: Location,
}

/// Where the bytes of an entry are.
#[derive(Clone, Debug)]
pub enum Location {
    /// In the upload with this ID.
    Upload(Uuid),
    /// In the file for bundles with this SHA-256 digest.
    File(String),
    /// In the database.
    Description,
}

/// Returns what is delivered of a prepared bundle, in the order of its entries.
pub fn list_delivered(reader: &Reader, bundle: BundleRowId) -> Result<Vec<DeliveredEntry>> {
    const SQL: &str = "SELECT e.asset, e.path, e.size_bytes, e.crc32, e.source, e.sha256, u.uuid
         FROM bundle_entries e LEFT JOIN uploads u ON u.id = e.upload WHERE e.bundle = ?1 ORDER BY e.asset";
    reader.query_all(SQL, [bundle], |row| {
        let location = match row::string_enum(row, 4)? {
            EntrySource::Upload => Location::Upload(row.get(6)?),
            EntrySource::File => Location::File(row.get(5)?),
            EntrySource::Description => Location::Description,
        };
        Ok(DeliveredEntry {
            asset: row.get(0)?,
            path: row.get(1)?,
            size_bytes: row.get(2)?,
            crc32: row.get(3)?,
            location,
        })
    })
}

/// Returns the ID of an entry's asset and the fields of its description, unless the bundle was deleted.
pub fn find_description(
    reader: &Reader,
    bundle: BundleRowId,
    asset: AssetRowId,
) -> Result<Option<(Uuid, String)>> {
    const SQL: &str = "SELECT a.uuid, e.description FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.asset = ?2";
    reader.query_first(SQL, (bundle, asset), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// An upload in a bundle.
#[derive(Clone, Debug)]
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

/// Returns an upload.
pub fn find_upload(reader: &Reader, upload: UploadRowId) -> Result<BundledUpload> {
    const SQL: &str = "SELECT uuid, size_bytes, sha256, crc32 FROM uploads WHERE id = ?1";
    reader.query_one(SQL, [upload], |row| {
        Ok(BundledUpload {
            id: row.get(0)?,
            size_bytes: row.get(1)?,
            sha256: row.get(2)?,
            crc32: row.get(3)?,
        })
    })
}

/// Records the checksum of an upload.
pub fn set_upload_crc32(writer: &Writer, upload: UploadRowId, crc32: u32) -> Result<()> {
    writer.execute("UPDATE uploads SET crc32 = ?2 WHERE id = ?1", (upload, crc32))?;
    Ok(())
}

/// Returns the copies of repositories that bundles still need, because their entries are not prepared: the asset, and
/// the time at which the repository was linked.
pub fn list_repositories(reader: &Reader) -> Result<Vec<(Uuid, Timestamp)>> {
    const SQL: &str =
        "SELECT DISTINCT a.uuid, e.attached_at FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.attached_at IS NOT NULL AND e.source IS NULL ORDER BY a.id, e.attached_at";
    reader.query_all(SQL, [], |row| Ok((row.get(0)?, row::time(row, 1)?)))
}

/// Whether a bundle still needs the copy of the repository that was linked to an asset at a time.
pub fn needs_repository(reader: &Reader, asset: Uuid, attached_at: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM assets a JOIN bundle_entries e ON e.asset = a.id
             WHERE a.uuid = ?1 AND e.attached_at = ?2 AND e.source IS NULL)";
    reader.query_one(SQL, (asset, attached_at.0), |row| row.get(0))
}

/// Returns the files that were made for bundles, by digest.
pub fn list_files(reader: &Reader) -> Result<Vec<EntryDigest>> {
    const SQL: &str = "SELECT size_bytes, sha256, crc32 FROM bundle_entries WHERE source = 'file'
         GROUP BY sha256 ORDER BY sha256";
    reader.query_all(SQL, [], read_digest)
}

/// Whether a bundle has the file with this digest.
pub fn has_file(reader: &Reader, sha256: &str) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM bundle_entries WHERE sha256 = ?1 AND source = 'file')";
    reader.query_one(SQL, [sha256], |row| row.get(0))
}
