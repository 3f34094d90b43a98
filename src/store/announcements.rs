//! The announcement of the operator on all pages of the web app: at most one row.

use super::{Reader, Writer};
use crate::{
    domain::{announcements::Announcement, time::Timestamp},
    error::Result,
};

/// Returns the announcement, and when it was changed the last time.
pub fn find(reader: &Reader) -> Result<Option<(Announcement, Timestamp)>> {
    const SQL: &str = "SELECT text, level, starts_at, ends_at, changed_at FROM announcement";
    reader.query_first(SQL, [], |row| {
        let announcement = Announcement {
            text: row.get(0)?,
            level: row.get(1)?,
            starts_at: row.get(2)?,
            ends_at: row.get(3)?,
        };
        Ok((announcement, row.get(4)?))
    })
}

/// Stores the announcement in place of the earlier one.
pub fn set(writer: &Writer, announcement: &Announcement, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO announcement (id, text, level, starts_at, ends_at, changed_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET text = excluded.text, level = excluded.level,
             starts_at = excluded.starts_at, ends_at = excluded.ends_at, changed_at = excluded.changed_at";
    let Announcement { text, level, starts_at, ends_at } = announcement;
    writer.run(SQL, (text, level, starts_at, ends_at, at))
}

/// Deletes the announcement. Returns whether there was one.
pub fn delete(writer: &Writer) -> Result<bool> {
    Ok(writer.execute("DELETE FROM announcement", [])? > 0)
}
