//! Upload grants, and the pending upload of each grant.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        teams::TeamNumber,
        time::Timestamp,
        uploads::{Grant, Split, Upload},
        vocabulary::Vocabulary,
    },
    error::Result,
};

const COLUMNS: &str = "id, team, title, exclusivity, group_id, max_bytes, created_at, expires_at, revoked_at,
    consumed_at, upload, reference, file_name, size_bytes, sha256";

/// A pending upload, made with a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// ID, size and parts of the upload.
    pub upload: Upload,
    /// Name of the file.
    pub file_name: String,
    /// SHA-256 digest of the file in hexadecimal, if the client announced it.
    pub sha256: Option<String>,
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<(Grant, Option<Staged>)> {
    let grant = Grant {
        number: row.get("id")?,
        team: TeamNumber(row.get("team")?),
        title: row.get("title")?,
        exclusivity: row::word(row, "exclusivity")?,
        group: row.get("group_id")?,
        max_bytes: row.get("max_bytes")?,
        created_at: row::time(row, "created_at")?,
        expires_at: row::time(row, "expires_at")?,
        revoked_at: row::optional_time(row, "revoked_at")?,
        consumed_at: row::optional_time(row, "consumed_at")?,
    };
    let Some(id) = row.get::<_, Option<Uuid>>("upload")? else { return Ok((grant, None)) };
    let upload = Upload { id, split: Split::of(row.get("size_bytes")?), reference: row.get("reference")? };
    Ok((grant, Some(Staged { upload, file_name: row.get("file_name")?, sha256: row.get("sha256")? })))
}

/// Returns the grant whose token has this SHA-256 digest, and its pending upload.
pub fn find(reader: &Reader, digest: &[u8; 32]) -> Result<Option<(Grant, Option<Staged>)>> {
    reader.first(&format!("SELECT {COLUMNS} FROM upload_grants WHERE digest = ?1"), [digest], read)
}

/// Returns the grant that the upload with this ID was made with, and that upload.
pub fn of_upload(reader: &Reader, upload: Uuid) -> Result<Option<(Grant, Option<Staged>)>> {
    reader.first(&format!("SELECT {COLUMNS} FROM upload_grants WHERE upload = ?1"), [upload], read)
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: TeamNumber) -> Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE team = ?1 ORDER BY id DESC");
    reader.all(&sql, [team.0], |row| Ok(read(row)?.0))
}

/// Returns the pending uploads of revoked and expired grants, which cannot be completed, with the row IDs of
/// the grants.
pub fn abandoned(reader: &Reader, now: Timestamp) -> Result<Vec<(i64, Upload)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM upload_grants
         WHERE upload IS NOT NULL AND consumed_at IS NULL AND (revoked_at IS NOT NULL OR expires_at <= ?1)"
    );
    let all = reader.all(&sql, [now.0], |row| {
        let (grant, staged) = read(row)?;
        Ok(staged.map(|staged| (grant.number, staged.upload)))
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// Inserts a grant and returns its row ID. The row ID in `grant` is ignored.
pub fn insert(writer: &Writer, grant: &Grant, digest: &[u8; 32]) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO upload_grants (digest, team, title, exclusivity, group_id, max_bytes, created_at,
             expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    writer.insert(
        SQL,
        (
            digest,
            grant.team.0,
            &grant.title,
            grant.exclusivity.word(),
            grant.group,
            grant.max_bytes as i64,
            grant.created_at.0,
            grant.expires_at.0,
        ),
    )
}

/// Sets the pending upload of a grant, replacing an earlier one; `None` clears it.
pub fn stage(writer: &Writer, grant: i64, staged: Option<&Staged>) -> Result<()> {
    const SQL: &str =
        "UPDATE upload_grants SET upload = ?2, reference = ?3, file_name = ?4, size_bytes = ?5, sha256 = ?6
         WHERE id = ?1";
    let upload = staged.map(|staged| &staged.upload);
    writer.execute(
        SQL,
        (
            grant,
            upload.map(|upload| upload.id),
            upload.and_then(|upload| upload.reference.as_deref()),
            staged.map(|staged| &staged.file_name),
            upload.map(|upload| upload.split.size_bytes as i64),
            staged.and_then(|staged| staged.sha256.as_deref()),
        ),
    )?;
    Ok(())
}

/// Marks a grant as used. Its upload is then no longer pending.
pub fn consume(writer: &Writer, grant: i64, at: Timestamp) -> Result<()> {
    writer.execute("UPDATE upload_grants SET consumed_at = ?2 WHERE id = ?1", (grant, at.0))?;
    Ok(())
}

/// Revokes an unused grant. Returns whether there is such a grant.
pub fn revoke(writer: &Writer, grant: i64, at: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE upload_grants SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 AND consumed_at IS NULL";
    Ok(writer.execute(SQL, (grant, at.0))? > 0)
}
