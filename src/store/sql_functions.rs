//! Functions for SQL statements.
//!
//! `derived_id(seed, row)` is the ID of a row where one statement inserts rows for many teams. It is derived from an ID of
//! the market's clock, so it is as reproducible as that one, and unique like it.
//!
//! `contains_text(text, part)` is whether a text contains another one, compared by the key by which text is found.

use marketplace_text::search_key;
use rusqlite::{Connection, functions::FunctionFlags};
use uuid::Uuid;

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("derived_id", 2, flags, |call| Ok(derived_id(&call.get(0)?, call.get(1)?)))?;
    connection.create_scalar_function("contains_text", 2, flags, |call| {
        let (text, part) = (call.get_raw(0).as_str_or_null()?, call.get_raw(1).as_str_or_null()?);
        Ok(contains_text(text.unwrap_or_default(), part.unwrap_or_default()))
    })
}

/// Whether a text contains another one.
fn contains_text(text: &str, part: &str) -> bool {
    search_key(text).contains(&search_key(part.trim()))
}

/// Returns the UUIDv5 of a row ID in the namespace `seed`.
fn derived_id(seed: &Uuid, row: i64) -> Uuid {
    Uuid::new_v5(seed, &row.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_contains_its_parts_in_any_case() {
        for (text, part, expected) in [
            ("Ledger of a bank", " BANK ", true),
            ("Ledger of a bank", "", true),
            ("Cafe\u{301} menus", "CAF\u{c9}", true),
            ("Ledger of a bank", "banks", false),
            ("100 % tested", "%", true),
            ("tested", "%", false),
        ] {
            assert_eq!(contains_text(text, part), expected, "{text:?} {part:?}");
        }
    }
}
