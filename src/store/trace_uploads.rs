//! Uploads of files with traces that are in progress.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        row_ids::TasksetRowId,
        teams::TeamRowId,
        time::Timestamp,
        uploads::{PartLayout, Upload},
    },
    error::Result,
};

/// An upload of traces in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceUpload {
    /// ID, size, and parts of the upload.
    pub upload: Upload,
    /// Row ID of the taskset.
    pub taskset: TasksetRowId,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// Row ID of the team of the taskset.
    pub team: TeamRowId,
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the file.
    pub file_name: String,
    /// SHA-256 digest of the file in hexadecimal, if it was announced.
    pub sha256: Option<String>,
    /// Time at which the upload was planned.
    pub created_at: Timestamp,
    /// Time at which the upload expires.
    pub expires_at: Timestamp,
}

/// Returns the upload with this ID, even if it has expired.
pub fn find(reader: &Reader, upload: Uuid) -> Result<Option<TraceUpload>> {
    const SQL: &str = "SELECT u.uuid, u.reference, u.size_bytes, u.taskset, s.uuid AS taskset_uuid, s.team,
             t.uuid AS team_uuid, u.file_name, u.sha256, u.created_at, u.expires_at
         FROM trace_uploads u JOIN tasksets s ON s.id = u.taskset JOIN teams t ON t.id = s.team
         WHERE u.uuid = ?1";
    reader.query_first(SQL, [upload], |row| {
        Ok(TraceUpload {
            upload: Upload {
                id: row.get("uuid")?,
                layout: PartLayout::new(row.get("size_bytes")?),
                store_upload_id: row.get("reference")?,
            },
            taskset: row.get("taskset")?,
            taskset_id: row.get("taskset_uuid")?,
            team: row.get("team")?,
            team_id: row.get("team_uuid")?,
            file_name: row.get("file_name")?,
            sha256: row.get("sha256")?,
            created_at: row::time(row, "created_at")?,
            expires_at: row::time(row, "expires_at")?,
        })
    })
}

/// Returns the number of uploads in progress for the tasksets of a team.
pub fn count(reader: &Reader, team: TeamRowId, now: Timestamp) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM trace_uploads u JOIN tasksets s ON s.id = u.taskset
         WHERE s.team = ?1 AND u.expires_at > ?2";
    reader.query_one(SQL, (team, now.0), |row| row.get(0))
}

/// Inserts an upload.
pub fn insert(writer: &Writer, new: &TraceUpload) -> Result<()> {
    const SQL: &str =
        "INSERT INTO trace_uploads (uuid, taskset, reference, file_name, size_bytes, sha256, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let Upload { id, layout, store_upload_id } = &new.upload;
    writer.execute(
        SQL,
        (
            id,
            new.taskset,
            store_upload_id,
            &new.file_name,
            layout.size_bytes as i64,
            &new.sha256,
            new.created_at.0,
            new.expires_at.0,
        ),
    )?;
    Ok(())
}

/// Deletes an upload that was completed.
pub fn delete(writer: &Writer, upload: Uuid) -> Result<()> {
    writer.execute("DELETE FROM trace_uploads WHERE uuid = ?1", [upload])?;
    Ok(())
}
