//! Maintenance that an operator has switched on: one row while it lasts, and otherwise none.

use super::{Reader, Writer};
use crate::{domain::time::Timestamp, error::Result};

/// Returns the text of the maintenance, and since when it lasts; `None` if no operator has switched it on.
pub fn find(reader: &Reader) -> Result<Option<(String, Timestamp)>> {
    reader.query_first("SELECT text, started_at FROM maintenance", [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Switches maintenance on. If it is on, replaces its text.
pub fn set(writer: &Writer, text: &str, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO maintenance (id, text, started_at) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET text = excluded.text";
    writer.run(SQL, (text, at))
}

/// Switches maintenance off. Returns whether it was on.
pub fn delete(writer: &Writer) -> Result<bool> {
    Ok(writer.execute("DELETE FROM maintenance", [])? > 0)
}
