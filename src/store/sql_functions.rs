//! Functions for SQL statements.
//!
//! `derived_id(seed, row)` is the ID of a row where one statement inserts rows for many teams. It is derived from an ID of
//! the market's clock, so it is as reproducible as that one, and unique like it.
//!
//! `median(number)` is the median of whole numbers, rounded; null without any.
//!
//! `contains_text(text, part)` is true if a text contains another one, compared by their search keys.
//!
//! `contains_words(text, words)` is true if there is at least one word and the text contains all of the words, compared
//! by the same key. Text without letters and digits is not a word.
//!
//! `agreed_title(text)` is the title of the listing in the text of an agreement, or of ordered terms; null if it has none.

use marketplace_text::search_key;
use rusqlite::{
    Connection, Result,
    functions::{Aggregate, Context, FunctionFlags},
};
use uuid::Uuid;

use crate::domain::{aggregation::Statistics, agreements};

/// Makes the functions known to a connection.
pub(super) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("derived_id", 2, flags, |call| Ok(derived_id(&call.get(0)?, call.get(1)?)))?;
    connection.create_aggregate_function("median", 1, flags, Median)?;
    connection.create_scalar_function("contains_text", 2, flags, |call| {
        let part = call.get_or_create_aux(1, |part| {
            part.as_str_or_null().map(|part| key_of_part(part.unwrap_or_default()))
        })?;
        Ok(contains_text(call.get_raw(0).as_str_or_null()?.unwrap_or_default(), &part))
    })?;
    connection.create_scalar_function("contains_words", 2, flags, |call| {
        let words = call.get_or_create_aux(1, |words| {
            words.as_str_or_null().map(|words| words_of(words.unwrap_or_default()))
        })?;
        Ok(contains_words(call.get_raw(0).as_str_or_null()?.unwrap_or_default(), &words))
    })?;
    connection.create_scalar_function("agreed_title", 1, flags, |call| {
        let names = call.get_raw(0).as_str_or_null()?.and_then(agreements::names);
        Ok(names.map(|names| names.title.to_owned()))
    })
}

/// The function `median`. It keeps all numbers of a group.
struct Median;

impl Aggregate<Vec<i64>, Option<i64>> for Median {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<i64>> {
        Ok(Vec::new())
    }

    fn step(&self, call: &mut Context<'_>, numbers: &mut Vec<i64>) -> Result<()> {
        numbers.extend(call.get::<Option<i64>>(0)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, numbers: Option<Vec<i64>>) -> Result<Option<i64>> {
        let statistics = Statistics::of(numbers.unwrap_or_default());
        Ok(statistics.map(|statistics| statistics.median.round() as i64))
    }
}

/// Returns the key of a text that others may contain.
fn key_of_part(part: &str) -> String {
    search_key(part.trim())
}

/// Whether a text contains another one, which has this key.
fn contains_text(text: &str, part: &str) -> bool {
    search_key(text).contains(part)
}

/// Returns the keys of the words of a text.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    words.map(search_key).filter(|word| !word.is_empty()).collect()
}

/// Whether there is at least one word and the text contains all of the words.
fn contains_words(text: &str, words: &[String]) -> bool {
    if words.is_empty() {
        return false;
    }
    let text = search_key(text);
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Returns the UUIDv5 of a row ID in the namespace `seed`.
fn derived_id(seed: &Uuid, row: i64) -> Uuid {
    Uuid::new_v5(seed, &row.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_that_of_each_group() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let sql = "SELECT median(column2) FROM (VALUES (1, 5), (1, NULL), (1, -1), (1, 7), (2, 1), (2, 4), (3, NULL))
             GROUP BY column1 ORDER BY column1";
        let mut statement = connection.prepare(sql).unwrap();
        let medians: Vec<Option<i64>> =
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_>>().unwrap();
        assert_eq!(medians, [Some(5), Some(3), None]);
        let of_nothing = "SELECT median(1) WHERE FALSE";
        assert_eq!(connection.query_row(of_nothing, [], |row| row.get::<_, Option<i64>>(0)).unwrap(), None);
    }

    #[test]
    fn agreed_title_is_that_of_the_agreement() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let title = |text: Option<&str>| {
            let sql = "SELECT agreed_title(?1)";
            connection.query_row(sql, [text], |row| row.get::<_, Option<String>>(0)).unwrap()
        };
        let text = "Agreement 1\nBuyer: B\nVendor: V\nListing: Listing: x\nListing ID: 2\n";
        assert_eq!(title(Some(text)).as_deref(), Some("Listing: x"));
        assert_eq!([title(Some("Terms")), title(None)], [None, None]);
    }

    #[test]
    fn text_contains_all_words_in_any_order() {
        for (text, words, expected) in [
            ("Aurora Frontier", "frontier AURORA", true),
            ("Aurora Frontier", " ront  uror ", true),
            ("Aurora Frontier", "aurora labs", false),
            ("Café", "cafe", true),
            ("Ledger - service", "ledger -", true),
            ("Ledger", "", false),
            ("100% -- yes", "% --", false),
        ] {
            assert_eq!(contains_words(text, &words_of(words)), expected, "{text} {words}");
        }
    }

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
            assert_eq!(contains_text(text, &key_of_part(part)), expected, "{text:?} {part:?}");
        }
    }

    #[test]
    fn part_is_that_of_each_execution() {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let sql = "SELECT count(*) FROM (VALUES ('Café'), ('Ledger')) WHERE contains_text(column1, ?1)";
        let mut statement = connection.prepare(sql).unwrap();
        for (part, expected) in [("CAFE", 1), ("e", 2), ("ledgers", 0), (" ", 2), ("ledger", 1)] {
            let count: i64 = statement.query_row([part], |row| row.get(0)).unwrap();
            assert_eq!(count, expected, "{part}");
        }
    }
}
