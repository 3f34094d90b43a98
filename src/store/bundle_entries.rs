//! The entries of bundles: their sources, their prepared files, and the delivered content.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        bundles::{Document, EntryContent, EntryDigest, EntrySource, ManifestEntry},
        row_ids::{AssetRowId, BundleRowId, UploadRowId},
        samples::Selection,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The source of the entry for an asset (`a`) with its linked data (`d`).
pub(super) const CONTENT: &str = "CASE
         WHEN a.kind IN ('task', 'taskset', 'bundle') THEN 'tasks'
         WHEN d.upload IS NOT NULL THEN 'upload'
         WHEN d.channel <> 'zip' AND d.archive_status = 'completed' AND d.commit_sha IS NOT NULL THEN 'repository'
         ELSE 'description'
     END";

/// An entry that is to be prepared.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
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
    #[row(pair)]
    pub repository: Option<(Timestamp, String)>,
    /// The parts that a sample has; `None` for everything.
    #[row(json)]
    pub selection: Option<Selection>,
    /// The delivered description of an asset without bytes: the fields of a JSON object.
    pub description: Option<String>,
}

/// Returns the first entries of a bundle that are not prepared yet, at most `limit`.
pub fn list_unprepared(reader: &Reader, bundle: BundleRowId, limit: u32) -> Result<Vec<Entry>> {
    const SQL: &str = "SELECT e.asset, a.uuid, e.content, e.upload, e.attached_at, e.commit_sha, e.selection,
             e.description
         FROM bundle_entries e JOIN assets a ON a.id = e.asset
         WHERE e.bundle = ?1 AND e.source IS NULL ORDER BY e.asset LIMIT ?2";
    reader.query_all(SQL, (bundle, limit), Entry::from_row)
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
    writer.run(SQL, parameters)
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

pub(super) fn read_digest(row: &rusqlite::Row) -> rusqlite::Result<EntryDigest> {
    Ok(EntryDigest { size_bytes: row.get(0)?, sha256: row.get(1)?, crc32: row.get(2)? })
}

/// Records the documents of a bundle whose entries are all prepared: the manifest, and the description in Croissant. Returns
/// false if the bundle does not exist.
pub fn set_documents(writer: &Writer, bundle: BundleRowId, documents: &[Document; 2]) -> Result<bool> {
    const SQL: &str = "UPDATE bundles SET manifest = ?2, croissant = ?3, listing_facts = NULL WHERE id = ?1";
    let [manifest, croissant] = documents;
    Ok(writer.execute(SQL, (bundle, &manifest.bytes, &croissant.bytes))? > 0)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct PreparationProgress {
    /// Number of entries that are prepared.
    pub prepared: u64,
    /// Number of all entries.
    pub entries: u64,
    /// Whether a job for it is queued or running.
    pub is_queued: bool,
    /// Whether the last job failed and is not retried.
    pub has_failed: bool,
}

/// Returns the progress of the preparation of a bundle.
pub fn find_progress(reader: &Reader, bundle: BundleRowId) -> Result<PreparationProgress> {
    const SQL: &str = "SELECT count(source), count(*),
             EXISTS (SELECT 1 FROM jobs WHERE kind = 'prepare_bundle' AND subject = ?1),
             EXISTS (SELECT 1 FROM ended_jobs WHERE kind = 'prepare_bundle' AND subject = ?1 AND state = 'failed')
         FROM bundle_entries WHERE bundle = ?1";
    reader.query_one(SQL, [bundle], PreparationProgress::from_row)
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

/// Returns the delivered entries of a prepared bundle, in their order.
pub fn list_delivered(reader: &Reader, bundle: BundleRowId) -> Result<Vec<DeliveredEntry>> {
    const SQL: &str = "SELECT e.asset, e.path, e.size_bytes, e.crc32, e.source, e.sha256, u.uuid
         FROM bundle_entries e LEFT JOIN uploads u ON u.id = e.upload WHERE e.bundle = ?1 ORDER BY e.asset";
    reader.query_all(SQL, [bundle], |row| {
        let location = match row.get(4)? {
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
