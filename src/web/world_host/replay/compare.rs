//! Compares answers, and describes the first difference.

use serde::Serialize;
use serde_json::Value;

use crate::{
    web::world_host::replay::{
        bodies,
        file::{ReplayAnswer, ReplayHeader, ReplayRequest},
    },
    worlds::journal::Header,
};

/// Headers that may differ.
const NOT_COMPARED: [&str; 1] = ["date"];

/// Number of bytes around the first difference that are shown.
const CONTEXT: usize = 60;

/// Maximum number of characters that are shown of a value.
const MAX_SHOWN: usize = 500;

/// Maximum number of levels of a body that are compared one by one.
const MAX_DEPTH: usize = 100;

/// The first difference between an answer and the one in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Number of the request in the journal.
    pub request: u64,
    /// `operationId`, if the request belongs to an operation.
    pub operation: Option<String>,
    /// Method of the request.
    pub method: String,
    /// Path of the request.
    pub path: String,
    /// Time of the world at which the request was recorded.
    pub at: String,
    /// What differs, such as `status`, `header etag`, or `body.items.0.id`.
    pub place: String,
    /// What the file has there; none if it has nothing.
    pub expected: Option<String>,
    /// What came; none if nothing did.
    pub actual: Option<String>,
    /// The beginning of the answer that came, if the status differs.
    pub answer: Option<String>,
}

/// What differs, with what was expected and what came.
pub type Found = (String, Option<String>, Option<String>);

/// An answer of the replay.
#[derive(Debug)]
pub struct ActualAnswer {
    /// HTTP status.
    pub status: u16,
    /// Headers, with secrets masked.
    pub headers: Vec<Header>,
    /// Body as it was sent; of a transfer that did not end in the file, only as many bytes.
    pub body: Vec<u8>,
    /// Whether there were more bytes than the file has.
    pub is_longer: bool,
}

/// Which parts of an answer are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole answer.
    All,
    /// Status and body, for answers that have IDs of the server in their headers.
    StatusAndBody,
    /// Only the status.
    Status,
}

/// Returns the first difference of an answer. `body` is the body that the file has, if it has it.
pub fn compare(
    expected: &ReplayAnswer,
    body: Option<&[u8]>,
    actual: &ActualAnswer,
    scope: Scope,
) -> Option<Found> {
    if expected.status != actual.status {
        let status = |status: u16| Some(status.to_string());
        return Some(("status".to_owned(), status(expected.status), status(actual.status)));
    }
    if scope == Scope::Status {
        return None;
    }
    // Bodies are compared first, since headers such as entity tags depend on them.
    let found = compare_bodies(expected, body, actual);
    if scope == Scope::StatusAndBody {
        return found;
    }
    found.or_else(|| compare_headers(&expected.headers, &actual.headers))
}

fn compare_headers(expected: &[ReplayHeader], actual: &[Header]) -> Option<Found> {
    let actual: Vec<ReplayHeader> =
        actual.iter().map(|header| ReplayHeader::new(&header.name, &header.value)).collect();
    let values = |headers: &[ReplayHeader], name: &str| {
        let of_name = headers.iter().filter(|header| header.name == name);
        let mut values: Vec<String> = of_name.map(|header| header.value.clone()).collect();
        values.sort();
        values
    };
    let mut names: Vec<&str> = expected.iter().chain(&actual).map(|header| header.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| !NOT_COMPARED.contains(name)).find_map(|name| {
        let (expected, actual) = (values(expected, name), values(&actual, name));
        let shown = |values: &[String]| (!values.is_empty()).then(|| values.join(", "));
        (expected != actual).then(|| (format!("header {name}"), shown(&expected), shown(&actual)))
    })
}

fn compare_bodies(expected: &ReplayAnswer, body: Option<&[u8]>, actual: &ActualAnswer) -> Option<Found> {
    let is_complete = expected.body.is_complete;
    let Some(body) = body else {
        let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&actual.body));
        let differs = expected.body.size != actual.body.len() as u64 || expected.hash != hash;
        let shown = |size: u64, hash: &str| Some(format!("{size} bytes with the hash {hash}"));
        return differs.then(|| {
            let (size, came) = (expected.body.size, actual.body.len() as u64);
            ("body".to_owned(), shown(size, &expected.hash), shown(came, &hash))
        });
    };
    let came = bodies::comparable(&actual.headers, &actual.body, !is_complete);
    if body == came && !(is_complete && actual.is_longer) {
        return None;
    }
    if let (Ok(expected), Ok(actual)) = (serde_json::from_slice(body), serde_json::from_slice(&came))
        && let Some(found) = compare_values("body".to_owned(), &expected, &actual, MAX_DEPTH)
    {
        return Some(found);
    }
    let at = body.iter().zip(&came).take_while(|(expected, actual)| expected == actual).count();
    let around = |bytes: &[u8]| {
        let start = at.saturating_sub(CONTEXT).min(bytes.len());
        let end = (at + CONTEXT).min(bytes.len());
        String::from_utf8_lossy(&bytes[start..end]).into_owned()
    };
    Some((format!("body, byte {at}"), Some(around(body)), Some(around(&came))))
}

/// Returns the first place at which two JSON values differ.
fn compare_values(place: String, expected: &Value, actual: &Value, depth: usize) -> Option<Found> {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) if depth > 0 => {
            let mut names = expected.keys().chain(actual.keys().filter(|name| !expected.contains_key(*name)));
            names.find_map(|name| {
                let place = format!("{place}.{name}");
                compare_optional(place, expected.get(name), actual.get(name), depth - 1)
            })
        }
        (Value::Array(expected), Value::Array(actual)) if depth > 0 => (0..expected.len().max(actual.len()))
            .find_map(|index| {
                let place = format!("{place}.{index}");
                compare_optional(place, expected.get(index), actual.get(index), depth - 1)
            }),
        (expected, actual) if expected == actual => None,
        (expected, actual) => Some((place, Some(shown(expected)), Some(shown(actual)))),
    }
}

fn compare_optional(
    place: String,
    expected: Option<&Value>,
    actual: Option<&Value>,
    depth: usize,
) -> Option<Found> {
    match (expected, actual) {
        (Some(expected), Some(actual)) => compare_values(place, expected, actual, depth),
        (expected, actual) => Some((place, expected.map(shown), actual.map(shown))),
    }
}

fn shown(value: &Value) -> String {
    beginning(&value.to_string())
}

/// Returns the beginning of a text.
pub fn beginning(text: &str) -> String {
    let beginning: String = text.chars().take(MAX_SHOWN).collect();
    if beginning.len() < text.len() { beginning + "…" } else { beginning }
}

impl Difference {
    /// Creates the difference of a request.
    pub fn new(request: &ReplayRequest, path: String, (place, expected, actual): Found) -> Difference {
        Difference {
            request: request.number,
            operation: request.operation.clone(),
            method: request.method.clone(),
            path,
            at: request.at.clone(),
            place,
            expected,
            actual,
            answer: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::web::world_host::replay::file::ReplayBody;

    fn expected(body: &[u8]) -> ReplayAnswer {
        let headers = vec![ReplayHeader::new("date", b"then"), ReplayHeader::new("etag", b"a")];
        let body = ReplayBody::inline(body, body.len() as u64, true);
        ReplayAnswer { status: 200, headers, body, hash: String::new() }
    }

    fn actual(status: u16, etag: &[u8], body: &[u8]) -> ActualAnswer {
        let header = |name: &str, value: &[u8]| Header { name: name.to_owned(), value: value.to_vec() };
        let headers = vec![header("etag", etag), header("date", b"now")];
        ActualAnswer { status, headers, body: body.to_vec(), is_longer: false }
    }

    fn place(body: &Value, actual: &ActualAnswer) -> Option<Found> {
        let body = body.to_string().into_bytes();
        compare(&expected(&body), Some(&body), actual, Scope::All)
    }

    #[test]
    fn first_difference_is_named() {
        let body = json!({"a": [1, {"b": "x"}], "c": null});
        let text = body.to_string().into_bytes();
        assert_eq!(place(&body, &actual(200, b"a", &text)), None);
        let found = |name: &str, expected: &str, actual: &str| {
            Some((name.to_owned(), Some(expected.to_owned()), Some(actual.to_owned())))
        };
        assert_eq!(place(&body, &actual(201, b"b", &text)), found("status", "200", "201"));
        assert_eq!(place(&body, &actual(200, b"b", &text)), found("header etag", "a", "b"));
        let other = json!({"a": [1, {"b": "y"}], "c": null}).to_string().into_bytes();
        for etag in [b"a", b"b"] {
            assert_eq!(place(&body, &actual(200, etag, &other)), found("body.a.1.b", "\"x\"", "\"y\""));
        }
        let absent = json!({"a": [1], "c": null}).to_string().into_bytes();
        let (name, expected, came) = place(&body, &actual(200, b"a", &absent)).unwrap();
        assert_eq!((name.as_str(), expected.as_deref(), came), ("body.a.1", Some("{\"b\":\"x\"}"), None));
        // The same JSON in other bytes.
        let spaced = b"{ \"a\":[1,{\"b\":\"x\"}],\"c\":null}";
        assert_eq!(place(&body, &actual(200, b"a", spaced)).unwrap().0, "body, byte 1");
    }
}
