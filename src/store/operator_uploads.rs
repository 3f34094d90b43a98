//! Uploads in progress that are planned for a team: zips and files with traces of a taskset by operators, and zips by the team
//! itself in the web app.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{
        assets::{Exclusivity, Kind},
        row_ids::TasksetRowId,
        teams::TeamRowId,
        time::Timestamp,
        uploads::{PartLayout, Upload},
    },
    error::Result,
    string_enum::StringEnum,
};

/// An upload that is in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorUpload {
    /// ID, size, and parts of the upload.
    pub upload: Upload,
    /// Row ID of the team.
    pub team: TeamRowId,
    /// ID of the team.
    pub team_id: Uuid,
    /// The taskset whose traces the file has; `None` for a zip.
    pub taskset: Option<UploadTaskset>,
    /// Name of the file.
    pub file_name: String,
    /// SHA-256 digest of the file in hexadecimal, if it was announced.
    pub sha256: Option<String>,
    /// Time at which the upload was planned.
    pub created_at: Timestamp,
    /// Time at which the upload expires.
    pub expires_at: Timestamp,
    /// What it becomes, if the team itself uploads it; `None` for an upload by an operator.
    pub target: Option<UploadTarget>,
}

/// What an upload by the team itself becomes when it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadTarget {
    /// Kind of the asset.
    pub kind: Kind,
    /// ID of the asset that gets the data; `None` for a new asset.
    pub asset: Option<Uuid>,
    /// Title of a new asset.
    pub title: String,
    /// Exclusivity of a new codebase.
    pub exclusivity: Option<Exclusivity>,
    /// ID of the group of a new asset; `None` for the default group.
    pub group: Option<Uuid>,
    /// Time of the file's last change in Unix milliseconds, as the browser reports it, to recognize the file.
    pub modified_ms: Option<i64>,
}

/// The taskset of an upload of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadTaskset {
    /// Row ID of the taskset.
    pub row_id: TasksetRowId,
    /// ID of the taskset.
    pub id: Uuid,
}

/// The columns of an upload, for [`read`].
pub(super) const COLUMNS: &str = "u.uuid, u.reference, u.size_bytes, u.team, t.uuid AS team_uuid, u.taskset,
    s.uuid AS taskset_uuid, u.file_name, u.sha256, u.created_at, u.expires_at, u.kind, u.asset, u.title, u.exclusivity,
    u.group_uuid, u.modified_ms";

/// The tables of these columns.
pub(super) const TABLES: &str =
    "operator_uploads u LEFT JOIN teams t ON t.id = u.team LEFT JOIN tasksets s ON s.id = u.taskset";

/// Reads an upload.
pub(super) fn read(row: &rusqlite::Row) -> rusqlite::Result<OperatorUpload> {
    let taskset: Option<TasksetRowId> = row.get("taskset")?;
    let taskset_id: Option<Uuid> = row.get("taskset_uuid")?;
    Ok(OperatorUpload {
        upload: Upload {
            id: row.get("uuid")?,
            layout: PartLayout::new(row.get("size_bytes")?),
            store_upload_id: row.get("reference")?,
        },
        team: row.get("team")?,
        team_id: row.get("team_uuid")?,
        taskset: taskset.zip(taskset_id).map(|(row_id, id)| UploadTaskset { row_id, id }),
        file_name: row.get("file_name")?,
        sha256: row.get("sha256")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        target: read_target(row)?,
    })
}

fn read_target(row: &rusqlite::Row) -> rusqlite::Result<Option<UploadTarget>> {
    let Some(kind) = row.get("kind")? else { return Ok(None) };
    Ok(Some(UploadTarget {
        kind,
        asset: row.get("asset")?,
        title: row.get::<_, Option<String>>("title")?.unwrap_or_default(),
        exclusivity: row.get("exclusivity")?,
        group: row.get("group_uuid")?,
        modified_ms: row.get("modified_ms")?,
    }))
}

/// Returns the upload with this ID, even if it has expired.
pub fn find(reader: &Reader, upload: Uuid) -> Result<Option<OperatorUpload>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE u.uuid = ?1"), [upload], read)
}

/// Returns the number of uploads in progress for a team: those that it makes itself, or those of operators.
pub fn count(reader: &Reader, team: TeamRowId, are_own: bool, now: Timestamp) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM operator_uploads
         WHERE team = ?1 AND (kind IS NOT NULL) = ?2 AND expires_at > ?3";
    reader.query_one(SQL, (team, are_own, now), |row| row.get(0))
}

/// Returns the uploads in progress that a team makes itself, newest first.
pub fn list_own(reader: &Reader, team: TeamRowId, now: Timestamp) -> Result<Vec<OperatorUpload>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {TABLES} WHERE u.team = ?1 AND u.kind IS NOT NULL AND u.expires_at > ?2 ORDER BY u.id DESC"
    );
    reader.query_all(&sql, (team, now), read)
}

/// Inserts an upload.
pub fn insert(writer: &Writer, new: &OperatorUpload) -> Result<()> {
    const SQL: &str = "INSERT INTO operator_uploads
             (uuid, team, taskset, reference, file_name, size_bytes, sha256, created_at, expires_at, kind, asset, title,
              exclusivity, group_uuid, modified_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let Upload { id, layout, store_upload_id } = &new.upload;
    let target = new.target.as_ref();
    writer.run(
        SQL,
        rusqlite::params![
            id,
            new.team,
            new.taskset.map(|taskset| taskset.row_id),
            store_upload_id,
            &new.file_name,
            layout.size_bytes as i64,
            &new.sha256,
            new.created_at,
            new.expires_at,
            target.map(|target| target.kind.as_str()),
            target.and_then(|target| target.asset),
            target.map(|target| &target.title),
            target.and_then(|target| target.exclusivity).map(Exclusivity::as_str),
            target.and_then(|target| target.group),
            target.and_then(|target| target.modified_ms),
        ],
    )
}

/// Deletes an upload that was completed.
pub fn delete(writer: &Writer, upload: Uuid) -> Result<()> {
    writer.run("DELETE FROM operator_uploads WHERE uuid = ?1", [upload])
}
