//! Grants of uploads, and the upload that is under way under each.

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

/// An upload that is under way under a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The upload.
    pub upload: Upload,
    /// What the file is called.
    pub file_name: String,
    /// Its SHA-256 digest in hexadecimal, where it was announced.
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

/// The grant whose token has this digest, with the upload under way.
pub fn find(reader: &Reader, digest: &[u8; 32]) -> Result<Option<(Grant, Option<Staged>)>> {
    reader.first(&format!("SELECT {COLUMNS} FROM upload_grants WHERE digest = ?1"), [digest], read)
}

/// The grant under which an upload of this id is under way.
pub fn of_upload(reader: &Reader, upload: Uuid) -> Result<Option<(Grant, Option<Staged>)>> {
    reader.first(&format!("SELECT {COLUMNS} FROM upload_grants WHERE upload = ?1"), [upload], read)
}

/// A team's grants, newest first.
pub fn list(reader: &Reader, team: TeamNumber) -> Result<Vec<Grant>> {
    let sql = format!("SELECT {COLUMNS} FROM upload_grants WHERE team = ?1 ORDER BY id DESC");
    reader.all(&sql, [team.0], |row| Ok(read(row)?.0))
}

/// Uploads under grants that count no more: nobody will complete them.
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

/// Adds a grant, whose number is not looked at.
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

/// Notes the upload that is under way, in the place of an earlier one; or that none is.
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

/// Notes that a grant was used. Its upload is one like any other from then on.
pub fn consume(writer: &Writer, grant: i64, at: Timestamp) -> Result<()> {
    writer.execute("UPDATE upload_grants SET consumed_at = ?2 WHERE id = ?1", (grant, at.0))?;
    Ok(())
}

/// Takes a grant back that was not used. Answers whether there is one.
pub fn revoke(writer: &Writer, grant: i64, at: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE upload_grants SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1 AND consumed_at IS NULL";
    Ok(writer.execute(SQL, (grant, at.0))? > 0)
}
