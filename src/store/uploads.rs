//! Files that teams uploaded to the market's blob store, or that the platform uploaded for them: zip archives, and
//! traces to import.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        row_ids::{AssetRowId, UploadRowId},
        teams::TeamRowId,
        time::Timestamp,
        uploads::KEEP_UNUSED_DAYS,
    },
    error::Result,
};

/// The fields of an upload to insert.
#[derive(Debug)]
pub struct NewUpload<'a> {
    /// ID of the upload, which also names its blob.
    pub id: Uuid,
    /// Row ID of the team.
    pub team: TeamRowId,
    /// Original name of the file.
    pub file_name: &'a str,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file in hexadecimal.
    pub sha256: &'a str,
    /// URL by which raw data assets refer to the upload.
    pub url: &'a str,
    /// Time at which the upload completed.
    pub created_at: Timestamp,
}

/// Inserts an upload that nothing uses yet, and returns its row ID.
pub fn insert(writer: &Writer, upload: &NewUpload) -> Result<UploadRowId> {
    const SQL: &str =
        "INSERT INTO uploads (uuid, team, file_name, size_bytes, sha256, url, created_at, removable_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let row_id = writer.insert(
        SQL,
        (
            upload.id,
            upload.team,
            upload.file_name,
            upload.size_bytes as i64,
            upload.sha256,
            upload.url,
            upload.created_at,
            upload.created_at.plus_days(KEEP_UNUSED_DAYS),
        ),
    )?;
    Ok(UploadRowId(row_id))
}

/// Records that an asset or an import uses an upload.
pub(super) fn mark_used(writer: &Writer, upload: UploadRowId) -> Result<()> {
    writer.run("UPDATE uploads SET removable_at = NULL WHERE id = ?1", [upload])
}

/// Records that an asset no longer uses its upload, if it has one. Must be called before the data of the asset is deleted.
pub(super) fn mark_unused(writer: &Writer, asset: AssetRowId, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE uploads SET removable_at = ?2
         WHERE id = (SELECT upload FROM data_objects WHERE asset = ?1)
             AND NOT EXISTS (SELECT 1 FROM data_objects WHERE upload = uploads.id AND asset <> ?1)";
    writer.run(SQL, (asset, now.plus_days(KEEP_UNUSED_DAYS).0))
}

/// Whether there is an upload with this ID.
pub fn exists(reader: &Reader, id: Uuid) -> Result<bool> {
    reader.query_one("SELECT EXISTS (SELECT 1 FROM uploads WHERE uuid = ?1)", [id], |row| row.get(0))
}

/// Returns the row ID and the size in bytes of the team's archive with this URL. Uploads of traces are not
/// archives.
pub fn find_by_url(reader: &Reader, team: TeamRowId, url: &str) -> Result<Option<(UploadRowId, u64)>> {
    const SQL: &str = "SELECT id, size_bytes FROM uploads WHERE url = ?1 AND team = ?2
         AND NOT EXISTS (SELECT 1 FROM trace_imports WHERE upload = uploads.id)";
    reader.query_first(SQL, (url, team), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A zip that was uploaded.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct CompletedUpload {
    /// ID of the upload.
    pub id: Uuid,
    /// ID of the team.
    pub team: Uuid,
    /// Original name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file in hexadecimal.
    pub sha256: String,
    /// URL by which raw data assets refer to the upload.
    pub url: String,
    /// Time at which the upload completed.
    pub completed_at: Timestamp,
}

/// Returns the uploaded zip with this ID. Uploads of traces are not zips.
pub fn find_zip(reader: &Reader, id: Uuid) -> Result<Option<CompletedUpload>> {
    const SQL: &str =
        "SELECT u.uuid AS id, t.uuid AS team, u.file_name, u.size_bytes, u.sha256, u.url, u.created_at AS completed_at
         FROM uploads u JOIN teams t ON t.id = u.team
         WHERE u.uuid = ?1 AND NOT EXISTS (SELECT 1 FROM trace_imports WHERE upload = u.id)";
    reader.query_first(SQL, [id], CompletedUpload::from_row)
}

/// Returns the ID and the title of the asset whose data is an upload; `None` if no asset has it.
pub fn find_asset_of_upload(reader: &Reader, upload: Uuid) -> Result<Option<(Uuid, String)>> {
    const SQL: &str = "SELECT a.uuid, a.title FROM uploads u JOIN data_objects d ON d.upload = u.id
         JOIN assets a ON a.id = d.asset WHERE u.uuid = ?1 AND a.deleted_at IS NULL ORDER BY a.id LIMIT 1";
    reader.query_first(SQL, [upload], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the SHA-256 digest, in hexadecimal, of the upload that is linked to an asset; `None` if none is.
pub fn find_digest_of_asset(reader: &Reader, asset: AssetRowId) -> Result<Option<String>> {
    const SQL: &str =
        "SELECT u.sha256 FROM data_objects d JOIN uploads u ON u.id = d.upload WHERE d.asset = ?1";
    reader.query_first(SQL, [asset], |row| row.get(0))
}

/// A stored upload, with the size and the digest that its file must have.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct RecordedUpload {
    /// ID of the upload, which also names its blob.
    pub id: Uuid,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file in hexadecimal.
    pub sha256: String,
    /// Name of the file, as its team called it.
    pub file_name: String,
    /// Name of the team.
    pub team_name: String,
}

/// Returns every upload, oldest first.
pub fn list(reader: &Reader) -> Result<Vec<RecordedUpload>> {
    const SQL: &str = "SELECT u.uuid, u.size_bytes, u.sha256, u.file_name, t.name
         FROM uploads u JOIN teams t ON t.id = u.team ORDER BY u.id";
    reader.query_all(SQL, [], RecordedUpload::from_row)
}
