//! Functions for SQL statements.
//!
//! `derived_id(seed, row)` is the ID of a row where one statement inserts rows for many teams. It is derived from an ID of
//! the market's clock, so it is as reproducible as that one, and unique like it.

use rusqlite::{Connection, functions::FunctionFlags};
use uuid::Uuid;

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("derived_id", 2, flags, |call| Ok(derived_id(&call.get(0)?, call.get(1)?)))
}

/// Returns the UUIDv5 of a row ID in the namespace `seed`.
fn derived_id(seed: &Uuid, row: i64) -> Uuid {
    Uuid::new_v5(seed, &row.to_be_bytes())
}
