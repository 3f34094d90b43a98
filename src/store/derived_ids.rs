//! IDs of rows that one statement inserts for many teams. The SQL function `derived_id(seed, row)` derives them
//! from an ID of the market's clock, so they are as reproducible as that one, and unique like it.

use rusqlite::{Connection, functions::FunctionFlags};
use uuid::Uuid;

/// Makes `derived_id` known to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("derived_id", 2, flags, |call| Ok(derived_id(&call.get(0)?, call.get(1)?)))
}

/// Returns the UUIDv5 of a row ID in the namespace `seed`.
fn derived_id(seed: &Uuid, row: i64) -> Uuid {
    Uuid::new_v5(seed, &row.to_be_bytes())
}
