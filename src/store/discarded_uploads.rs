//! Discarded uploads, whose bytes are still to be deleted: uploads that were taken from their grants, uploads that operators will
//! not complete, and unused uploads.

use rusqlite::ToSql;

use super::{Reader, Writer, bundles};
use crate::{
    domain::{
        row_ids::GrantRowId,
        time::Timestamp,
        uploads::{KEEP_UNUSED_DAYS, PartLayout, Upload},
    },
    error::Result,
};

/// Discards the pending upload of a grant, if it has one.
pub fn discard(writer: &Writer, grant: GrantRowId) -> Result<()> {
    discard_where(writer, "id = ?1", grant.0)
}

/// Discards the pending uploads of all grants that were revoked or have expired.
pub fn discard_abandoned(writer: &Writer, now: Timestamp) -> Result<()> {
    discard_where(writer, "(revoked_at IS NOT NULL OR expired_at IS NOT NULL OR expires_at <= ?1)", now.0)?;
    discard_operator_uploads(writer, "expires_at <= ?1", now.0)
}

/// Discards the uploads that can be removed now, and the bundles of them that vendors made for themselves. Uploads that are still
/// in use, such as in the bundle of a purchase, are checked again after [`KEEP_UNUSED_DAYS`].
pub fn discard_unused(writer: &Writer, now: Timestamp) -> Result<()> {
    const IS_ANY: &str = "SELECT EXISTS (SELECT 1 FROM uploads WHERE removable_at <= ?1)";
    const POSTPONE: &str = "UPDATE uploads SET removable_at = ?2 WHERE removable_at <= ?1
         AND (EXISTS (SELECT 1 FROM bundle_entries WHERE upload = uploads.id)
             OR EXISTS (SELECT 1 FROM data_objects WHERE upload = uploads.id)
             OR EXISTS (SELECT 1 FROM trace_imports WHERE upload = uploads.id))";
    const INSERT: &str = "INSERT INTO discarded_uploads (upload, reference, size_bytes)
         SELECT uuid, NULL, max(size_bytes, 1) FROM uploads WHERE removable_at <= ?1";
    if writer.query_one(IS_ANY, [now.0], |row| row.get(0))? {
        bundles::delete_unused_for_vendors(writer, now)?;
        writer.execute(POSTPONE, (now.0, now.plus_days(KEEP_UNUSED_DAYS).0))?;
        writer.execute(INSERT, [now.0])?;
        writer.execute("DELETE FROM uploads WHERE removable_at <= ?1", [now.0])?;
    }
    Ok(())
}

/// Discards an upload by an operator that was canceled or cannot be completed.
pub fn discard_operator_upload(writer: &Writer, upload: uuid::Uuid) -> Result<()> {
    discard_operator_uploads(writer, "uuid = ?1", upload)
}

fn discard_operator_uploads(writer: &Writer, condition: &str, parameter: impl ToSql + Copy) -> Result<()> {
    let insert = format!(
        "INSERT INTO discarded_uploads (upload, reference, size_bytes)
         SELECT uuid, reference, size_bytes FROM operator_uploads WHERE {condition}"
    );
    if writer.execute(&insert, [parameter])? > 0 {
        writer.execute(&format!("DELETE FROM operator_uploads WHERE {condition}"), [parameter])?;
    }
    Ok(())
}

fn discard_where(writer: &Writer, condition: &str, parameter: i64) -> Result<()> {
    let insert = format!(
        "INSERT INTO discarded_uploads (upload, reference, size_bytes)
         SELECT upload, reference, size_bytes FROM upload_grants
         WHERE {condition} AND upload IS NOT NULL AND consumed_at IS NULL"
    );
    if writer.execute(&insert, [parameter])? > 0 {
        let clear = format!(
            "UPDATE upload_grants
             SET upload = NULL, reference = NULL, file_name = NULL, size_bytes = NULL, sha256 = NULL,
                 part_etags = NULL
             WHERE {condition} AND upload IS NOT NULL AND consumed_at IS NULL"
        );
        writer.execute(&clear, [parameter])?;
    }
    Ok(())
}

/// Whether there is an upload to discard at the time `now`, or one that was discarded and whose bytes may
/// still exist.
pub fn has_any(reader: &Reader, now: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM discarded_uploads) OR EXISTS (
             SELECT 1 FROM upload_grants WHERE upload IS NOT NULL AND consumed_at IS NULL
                 AND (revoked_at IS NOT NULL OR expired_at IS NOT NULL OR expires_at <= ?1))
             OR EXISTS (SELECT 1 FROM operator_uploads WHERE expires_at <= ?1)
             OR EXISTS (SELECT 1 FROM uploads WHERE removable_at <= ?1)";
    reader.query_one(SQL, [now], |row| row.get(0))
}

/// Returns when the first upload can be discarded, given that none can be now; `None` if there is none.
pub fn next_discard_at(reader: &Reader) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT min(at) FROM (
             SELECT min(expires_at) AS at FROM upload_grants WHERE upload IS NOT NULL AND consumed_at IS NULL
             UNION ALL SELECT min(expires_at) FROM operator_uploads
             UNION ALL SELECT min(removable_at) FROM uploads WHERE removable_at IS NOT NULL)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Returns all discarded uploads whose bytes may still exist.
pub fn list(reader: &Reader) -> Result<Vec<Upload>> {
    const SQL: &str = "SELECT upload, reference, size_bytes FROM discarded_uploads ORDER BY upload";
    reader.query_all(SQL, [], |row| {
        Ok(Upload { id: row.get(0)?, store_upload_id: row.get(1)?, layout: PartLayout::new(row.get(2)?) })
    })
}

/// Removes a discarded upload whose bytes were deleted.
pub fn remove(writer: &Writer, upload: uuid::Uuid) -> Result<()> {
    writer.run("DELETE FROM discarded_uploads WHERE upload = ?1", [upload])
}
