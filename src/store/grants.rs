//! Upload grants, and the pending upload of each grant. `discarded_uploads.rs` takes uploads from their grants.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{
        grants::Grant,
        row_ids::GrantRowId,
        teams::TeamRowId,
        time::Timestamp,
        uploads::{PartLayout, Upload},
    },
    error::{Error, Result},
};

const COLUMNS: &str =
    "id, uuid, team, title, exclusivity, group_id, max_bytes, created_at, expires_at, revoked_at,
    consumed_at, expired_at, upload, reference, file_name, size_bytes, sha256";

/// A pending upload, made with a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingUpload {
    /// ID, size and parts of the upload.
    pub upload: Upload,
    /// Name of the file.
    pub file_name: String,
    /// SHA-256 digest of the file in hexadecimal, if the client announced it.
    pub sha256: Option<String>,
}

/// Reads a grant without its upload.
pub(super) fn read_fields(row: &rusqlite::Row) -> rusqlite::Result<Grant> {
    Ok(Grant {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        team: row.get("team")?,
        title: row.get("title")?,
        exclusivity: row.get("exclusivity")?,
        group_row_id: row.get("group_id")?,
        max_bytes: row.get("max_bytes")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
        consumed_at: row.get("consumed_at")?,
        expired_at: row.get("expired_at")?,
    })
}

fn read_grant(row: &rusqlite::Row) -> rusqlite::Result<(Grant, Option<PendingUpload>)> {
    let grant = read_fields(row)?;
    let Some(id) = row.get::<_, Option<Uuid>>("upload")? else { return Ok((grant, None)) };
    let upload = Upload {
        id,
        layout: PartLayout::new(row.get("size_bytes")?),
        store_upload_id: row.get("reference")?,
    };
    Ok((grant, Some(PendingUpload { upload, file_name: row.get("file_name")?, sha256: row.get("sha256")? })))
}

/// Returns the grant whose token has this SHA-256 digest, and its pending upload.
pub fn find(reader: &Reader, digest: &[u8; 32]) -> Result<Option<(Grant, Option<PendingUpload>)>> {
    reader.query_first(
        &format!("SELECT {COLUMNS} FROM upload_grants WHERE digest = ?1"),
        [digest],
        read_grant,
    )
}

/// Returns the grant that the upload with this ID was made with, and that upload.
pub fn find_by_upload(reader: &Reader, upload: Uuid) -> Result<Option<(Grant, Option<PendingUpload>)>> {
    reader.query_first(
        &format!("SELECT {COLUMNS} FROM upload_grants WHERE upload = ?1"),
        [upload],
        read_grant,
    )
}

/// Returns the grant with this row ID.
pub fn find_by_row_id(reader: &Reader, grant: GrantRowId) -> Result<Option<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE id = ?1");
    reader.query_first(&sql, [grant], |row| Ok(read_grant(row)?.0))
}

/// Returns a team's grants that were neither revoked nor used, oldest first.
pub fn list_unfinished(reader: &Reader, team: TeamRowId) -> Result<Vec<Grant>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM upload_grants
         WHERE team = ?1 AND revoked_at IS NULL AND consumed_at IS NULL ORDER BY id"
    );
    reader.query_all(&sql, [team], |row| Ok(read_grant(row)?.0))
}

/// Returns the grant with this ID.
pub fn find_by_id(reader: &Reader, id: Uuid) -> Result<Option<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE uuid = ?1");
    reader.query_first(&sql, [id], |row| Ok(read_grant(row)?.0))
}

/// Returns the number of a team's grants that can be used at this time.
pub fn count_open(reader: &Reader, team: TeamRowId, now: Timestamp) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM upload_grants
         WHERE team = ?1 AND revoked_at IS NULL AND consumed_at IS NULL AND expired_at IS NULL AND expires_at > ?2";
    reader.query_one(SQL, (team, now), |row| row.get(0))
}

/// Returns a team's newest grants, newest first.
pub fn list_newest(reader: &Reader, team: TeamRowId, limit: u32) -> Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE team = ?1 ORDER BY id DESC LIMIT ?2");
    reader.query_all(&sql, (team, limit), |row| Ok(read_grant(row)?.0))
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: TeamRowId) -> Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE team = ?1 ORDER BY id DESC");
    reader.query_all(&sql, [team], |row| Ok(read_grant(row)?.0))
}

/// Inserts a grant and returns its row ID. The row ID in `grant` is ignored.
pub fn insert(writer: &Writer, grant: &Grant, digest: &[u8; 32]) -> Result<GrantRowId> {
    const SQL: &str =
        "INSERT INTO upload_grants (digest, team, title, exclusivity, group_id, max_bytes, created_at,
             expires_at, uuid)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let row_id = writer.insert(
        SQL,
        (
            digest,
            grant.team,
            &grant.title,
            grant.exclusivity,
            grant.group_row_id,
            grant.max_bytes as i64,
            grant.created_at,
            grant.expires_at,
            grant.id,
        ),
    )?;
    Ok(GrantRowId(row_id))
}

/// Sets the pending upload of a grant that has none, or changes the file name or digest of the pending one.
pub fn set_pending_upload(writer: &Writer, grant: GrantRowId, pending: &PendingUpload) -> Result<()> {
    const SQL: &str =
        "UPDATE upload_grants SET upload = ?2, reference = ?3, file_name = ?4, size_bytes = ?5, sha256 = ?6
         WHERE id = ?1 AND consumed_at IS NULL AND (upload IS NULL OR upload = ?2)";
    let PendingUpload { upload, file_name, sha256 } = pending;
    let size_bytes = upload.layout.size_bytes as i64;
    let values =
        (grant, upload.id, upload.store_upload_id.as_deref(), file_name, size_bytes, sha256.as_deref());
    match writer.execute(SQL, values)? {
        0 => Err(Error::internal("the grant was used, or has another upload")),
        _ => Ok(()),
    }
}

/// Stores the entity tags of the parts of the pending upload, in their order.
pub fn set_part_etags(writer: &Writer, grant: GrantRowId, etags: &[&str]) -> Result<()> {
    let etags = serde_json::to_string(etags).map_err(Error::internal)?;
    writer.run("UPDATE upload_grants SET part_etags = ?2 WHERE id = ?1", (grant, etags))
}

/// Returns the entity tags of the parts of the pending upload, in their order, if they were stored.
pub fn find_part_etags(reader: &Reader, grant: GrantRowId) -> Result<Option<Vec<String>>> {
    let sql = "SELECT part_etags FROM upload_grants WHERE id = ?1";
    let etags: Option<String> = reader.query_one(sql, [grant], |row| row.get(0))?;
    etags.map(|etags| serde_json::from_str(&etags).map_err(Error::internal)).transpose()
}

/// Marks a grant as used by its pending upload, which is then no longer pending.
pub fn mark_consumed(writer: &Writer, grant: GrantRowId, upload: Uuid, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE upload_grants SET consumed_at = ?3, part_etags = NULL
         WHERE id = ?1 AND upload = ?2 AND consumed_at IS NULL";
    match writer.execute(SQL, (grant, upload, at))? {
        0 => Err(Error::internal("the grant was used, or has another upload")),
        _ => Ok(()),
    }
}

/// Records that a grant was revoked.
pub fn revoke(writer: &Writer, grant: GrantRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE upload_grants SET revoked_at = ?2 WHERE id = ?1", (grant, at))
}

/// Records that a grant has expired.
pub fn expire(writer: &Writer, grant: GrantRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE upload_grants SET expired_at = ?2 WHERE id = ?1", (grant, at))
}
