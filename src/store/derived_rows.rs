//! Rows and columns that this program derives from others when a database is opened.

use super::{Reader, Writer, groups, inventory, task_quality};
use crate::error::Result;

/// Whether rows or columns that this program derives are missing, or were derived by another version of it.
pub(super) fn are_rows_missing(reader: &Reader) -> Result<bool> {
    Ok(inventory::is_postponed(reader)? || groups::have_other_sort_keys(reader)?)
}

/// Derives the rows that asset lists read, where that was postponed or the tables are new to the database,
/// and the sort keys of groups if their version is another one.
pub(super) fn derive_missing_rows(writer: &Writer) -> Result<()> {
    if groups::have_other_sort_keys(writer)? {
        groups::derive_sort_keys(writer)?;
    }
    if !inventory::is_postponed(writer)? {
        return Ok(());
    }
    task_quality::insert_missing_quality(writer)?;
    inventory::insert_postponed(writer)
}
