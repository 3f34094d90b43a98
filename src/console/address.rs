//! Addresses of pages, and the query in an address, which holds the whole state of a list.

use std::borrow::Cow;

use poem::Request;

use crate::web::{request_kinds, served_market::ServedMarket};

/// The path below which all pages are.
pub const PREFIX: &str = request_kinds::CONSOLE;

/// The addresses of one market, which begin with the path of `server.public_url`, and in a world with that of the world, too.
#[derive(Clone, Debug, Default)]
pub struct Links {
    base_path: String,
}

impl Links {
    /// Returns the addresses of the market that a request is for.
    pub fn of_request(served: &ServedMarket, request: &Request) -> Links {
        Links { base_path: served.link_base().path_for_request(request) }
    }

    /// Returns the address of a page. `path` is below [`PREFIX`], and may have a query.
    pub fn to(&self, path: &str) -> String {
        format!("{}{PREFIX}{path}", self.base_path)
    }

    /// Returns the address of a part of the market outside of the web app, such as `/buyer/docs`.
    pub fn outside(&self, path: &str) -> String {
        format!("{}{path}", self.base_path)
    }
}

/// The names and values of a query, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query without its question mark, or a form. Browsers send each line end as two characters, and count it as one of the
    /// characters that a text may have, so it becomes a line feed.
    pub fn parse(query: &str) -> Query {
        let unified = |value: Cow<str>| {
            if value.contains('\r') { value.replace("\r\n", "\n") } else { value.into_owned() }
        };
        let pairs = form_urlencoded::parse(query.as_bytes());
        Query(pairs.map(|(name, value)| (name.into_owned(), unified(value))).collect())
    }

    /// Returns the first value of a name without surrounding white space; `None` if it is empty, too.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the first value of a name with its white space.
    pub fn exact(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the query has a name, also without a value.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Returns the values of a name that are not blank.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let values = self.0.iter().filter(move |(known, _)| known == name);
        values.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns all names and values that are not blank.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter().map(|(name, value)| (name.as_str(), value.trim()));
        pairs.filter(|(_, value)| !value.is_empty())
    }

    /// Returns the query with a name that has this value only; without the name if the value is empty.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Query {
        let mut query = self.without(name, None);
        if !value.is_empty() {
            query.0.push((name.to_owned(), value.to_owned()));
        }
        query
    }

    /// Returns the query with another value of a name.
    #[must_use]
    pub fn and(&self, name: &str, value: &str) -> Query {
        let mut query = self.clone();
        query.0.push((name.to_owned(), value.to_owned()));
        query
    }

    /// Returns the query without a value of a name, or without all of its values.
    #[must_use]
    pub fn without(&self, name: &str, value: Option<&str>) -> Query {
        let is_other =
            |pair: &&(String, String)| pair.0 != name || value.is_some_and(|value| pair.1.trim() != value);
        Query(self.0.iter().filter(is_other).cloned().collect())
    }

    /// Returns the address of a path with this query.
    pub fn at(&self, path: &str) -> String {
        let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(self.pairs()).finish();
        if encoded.is_empty() { path.to_owned() } else { format!("{path}?{encoded}") }
    }
}

/// Maximum length in bytes of the address of a page to show after signing in. It may contain a note for colleagues.
const MAX_NEXT_BYTES: usize = 8_000;

/// Returns the page to show after signing in: a path below [`PREFIX`] with its query. Anything that a browser could take for
/// another path, or for an address of another site, is refused.
pub fn next_page(text: &str) -> Option<&str> {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let is_path = path.starts_with('/') && !path.contains("//");
    let is_of_page = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-_".contains(&byte));
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (is_path && is_of_page && is_plain && text.len() <= MAX_NEXT_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_is_changed_by_name_and_value() {
        let query = Query::parse("a=1&b=2&a=3&c=+&d=x%20y");
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "3"]);
        assert_eq!(query.get("c"), None, "blank");
        assert_eq!(query.with("b", "&").at("/x"), "/x?a=1&a=3&d=x+y&b=%26");
        assert_eq!(query.without("a", Some("3")).at("/x"), "/x?a=1&b=2&d=x+y");
        assert_eq!(query.without("a", None).and("b", "9").at("/x"), "/x?b=2&d=x+y&b=9");
        assert_eq!(Query::default().at("/x"), "/x");
    }

    #[test]
    fn next_page_is_a_path_of_this_server() {
        for path in ["/", "/catalog?query=a%20b", "/listings/4c1852a8"] {
            assert_eq!(next_page(path), Some(path));
        }
        for other in [
            "",
            "catalog",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "/a\tb",
            "/a b",
            "/ä",
            "/../v2",
            "/%2e%2e/x",
            "/a//b",
            "/@x",
        ] {
            assert_eq!(next_page(other), None, "{other}");
        }
    }
}
