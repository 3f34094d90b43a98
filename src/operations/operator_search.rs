//! The search of operators for records of all teams.
//!
//! A record is found by its ID or the beginning of its ID, by its number, by the beginning of its name, or by words anywhere in its
//! name if it is one of the newest of its kind; a listing in the catalog also by words of its texts. The ID of a
//! request finds the audit entries and events that the request made.

use std::collections::{BTreeMap, HashSet};

use marketplace_index::{Filters, Scope, Search, Sort, Start};
use marketplace_text::equality_key;
use uuid::Uuid;

use super::{access::Platform, keys::PREFIX};
use crate::{
    domain::{
        events::{EventId, EventRowId},
        listings::ListingRowId,
    },
    error::{Error, Result},
    market::Reader,
    store::operator_search as rows,
};

pub use crate::store::{operator_search::Found, records::any_record::MAX_COMPARED};

/// Maximum length of a search text in characters.
pub const MAX_LENGTH: usize = 200;

/// Minimum number of hexadecimal digits in the beginning of an ID.
pub const MIN_ID_DIGITS: usize = 8;

/// The number of digits of an ID.
const ID_DIGITS: usize = 32;

/// What somebody searches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query(String);

/// Why nothing is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsearchable {
    /// There is no text.
    Blank,
    /// The text is longer than [`MAX_LENGTH`].
    TooLong,
    /// The text is a key. Keys are secret, so they are neither stored nor searched for.
    Key,
}

impl Query {
    /// Reads what somebody typed.
    pub fn parse(text: &str) -> std::result::Result<Query, Unsearchable> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Unsearchable::Blank);
        }
        if text.starts_with(PREFIX) {
            return Err(Unsearchable::Key);
        }
        if text.chars().count() > MAX_LENGTH {
            return Err(Unsearchable::TooLong);
        }
        Ok(Query(text.to_owned()))
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the first and the last ID that begin with the text; `None` if it is not the beginning of an ID.
    fn ids(&self) -> Option<(Uuid, Uuid)> {
        // Longer numbers are no numbers of records.
        let digits: String = self.0.chars().filter(|c| *c != '-').take(ID_DIGITS + 1).collect();
        let is_start = (MIN_ID_DIGITS..=ID_DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !self.0.starts_with('-');
        let bound = |fill: &str| {
            let missing = fill.repeat(ID_DIGITS - digits.len());
            Uuid::try_parse(&format!("{digits}{missing}")).ok()
        };
        if is_start { bound("0").zip(bound("f")) } else { None }
    }

    /// Parses the text as a number.
    fn number(&self) -> Option<i64> {
        let is_number = self.0.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.0.parse().ok()).flatten()
    }

    fn event(&self) -> Option<EventRowId> {
        EventId::parse(&self.0).map(|EventId(id)| id)
    }
}

/// Returns the found records: of each kind, at most `limit`, with the best matches first. At most seven statements: one
/// compares the words with the names of the newest [`MAX_COMPARED`] records of each kind, and each other one reads ranges of indexes.
pub fn find(reader: &Reader, _: Platform, query: &Query, limit: u32) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let ids = query.ids();
    if let Some(bounds) = ids {
        found.extend(rows::by_id(reader.rows, bounds, limit)?);
    }
    if let Some(number) = query.number() {
        found.extend(rows::by_number(reader.rows, number)?);
    }
    if let Some(id) = query.event() {
        found.extend(rows::event(reader.rows, id)?);
    }
    found.extend(rows::by_request(reader.rows, query.text(), limit)?);
    let is_whole_id = ids.is_some_and(|(first, last)| first == last);
    if !is_whole_id {
        found.extend(rows::by_name(reader.rows, query.text(), limit)?);
        found.extend(rows::by_words(reader.rows, query.text(), limit)?);
        found.extend(listings_with_words(reader, query, limit)?);
    }
    // Teams first among those with exactly this name.
    let key = equality_key(query.text());
    found.sort_by_key(|found| (!is_called(found, &key), found.kind != TEAM));
    Ok(without_repetitions(found, limit))
}

/// Returns the record if the match is unambiguous: the only one that was found, or the only one with exactly this ID, number, or name.
pub fn meant<'f>(query: &Query, found: &'f [Found]) -> Option<&'f Found> {
    if let [only] = found {
        return Some(only);
    }
    let key = equality_key(query.text());
    let mut exact = found.iter().filter(|found| is_called(found, &key));
    exact.next().filter(|_| exact.next().is_none())
}

/// The kind of teams.
const TEAM: &str = "team";

/// Whether a record has exactly the identity or the name with a key.
fn is_called(found: &Found, key: &str) -> bool {
    [&found.key, &found.name].iter().any(|of| equality_key(of) == key)
}

/// Whether the search matches a record exactly, by its identity or name.
pub fn is_exact(query: &str, found: &Found) -> bool {
    is_called(found, &equality_key(query))
}

/// Returns listings of the catalog that have the words. Returns none if the index cannot be searched, since the other parts of the
/// search work without it.
fn listings_with_words(reader: &Reader, query: &Query, limit: u32) -> Result<Vec<Found>> {
    if marketplace_index::is_blank(query.text()) {
        return Ok(Vec::new());
    }
    let search = Search {
        scope: Scope::Market,
        text: query.text().to_owned(),
        filters: Filters::default(),
        sort: Sort::Recommended,
        start: Start::First,
        ordered_as: BTreeMap::new(),
        limit: limit as usize,
        viewer: None,
        totals: false,
    };
    match reader.index.search(&search) {
        Ok(results) => {
            let ids: Vec<_> = results.listings.iter().map(|id| ListingRowId(id.cast_signed())).collect();
            rows::listings(reader.rows, &ids)
        }
        Err(Error::IndexUnavailable { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes duplicates, and of each kind the records above the limit.
fn without_repetitions(found: Vec<Found>, limit: u32) -> Vec<Found> {
    let (mut seen, mut counts) = (HashSet::new(), BTreeMap::<String, u32>::new());
    let is_new = |found: &Found| seen.insert((found.kind.clone(), found.key.clone()));
    let new: Vec<Found> = found.into_iter().filter(is_new).collect();
    let is_within = |found: &Found| {
        let count = counts.entry(found.kind.clone()).or_default();
        *count += 1;
        *count <= limit
    };
    new.into_iter().filter(is_within).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_ids_are_recognized() {
        let ids = |text: &str| Query::parse(text).unwrap().ids();
        let id = "01234567-89ab-cdef-0123-456789abcdef";
        let whole: Uuid = id.parse().unwrap();
        assert_eq!(ids(id), Some((whole, whole)));
        assert_eq!(ids(&id.replace('-', "").to_uppercase()), Some((whole, whole)));
        let (first, last) = ids("01234567-8").unwrap();
        assert_eq!(first.to_string(), "01234567-8000-0000-0000-000000000000");
        assert_eq!(last.to_string(), "01234567-8fff-ffff-ffff-ffffffffffff");
        for text in ["0123456", "01234567x", "-01234567", &format!("{id}0"), "evt_0000000000000001"] {
            assert_eq!(ids(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_events_are_recognized() {
        let query = |text: &str| Query::parse(text).unwrap();
        assert_eq!(query(" 12 ").number(), Some(12));
        for text in ["-1", "1.5", "99999999999999999999", "١٢"] {
            assert_eq!(query(text).number(), None, "{text}");
        }
        assert_eq!(query("evt_0000000000000012").event(), Some(EventRowId(12)));
    }

    #[test]
    fn only_what_is_exact_is_meant() {
        let found = |name: &str| Found {
            kind: "team".to_owned(),
            key: format!("id of {name}"),
            name: name.to_owned(),
            team: None,
        };
        let meant = |text: &str, names: &[&str]| {
            let all: Vec<Found> = names.iter().map(|name| found(name)).collect();
            super::meant(&Query::parse(text).unwrap(), &all).map(|found| found.name.clone())
        };
        assert_eq!(meant("a", &["Ab"]).as_deref(), Some("Ab"));
        assert_eq!(meant("ab", &["Abc", "Ab"]).as_deref(), Some("Ab"));
        assert_eq!(meant("ID of Ab", &["Abc", "Ab"]).as_deref(), Some("Ab"));
        for (text, names) in [("a", &["Ab", "Ac"][..]), ("ab", &["Ab", "AB"]), ("a", &[])] {
            assert_eq!(meant(text, names), None, "{text}");
        }
    }

    #[test]
    fn keys_are_not_searched_for() {
        assert_eq!(Query::parse("  mkt_demo_operator"), Err(Unsearchable::Key));
        assert_eq!(Query::parse(" \t"), Err(Unsearchable::Blank));
        assert_eq!(Query::parse(&"ä".repeat(MAX_LENGTH)), Ok(Query("ä".repeat(MAX_LENGTH))));
        assert_eq!(Query::parse(&"ä".repeat(MAX_LENGTH + 1)), Err(Unsearchable::TooLong));
    }
}
