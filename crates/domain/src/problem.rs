//! Validation problems: one invalid value of a request each, with its location.

/// Maximum number of problems with a body in one response: the first ones in the order of the body.
pub const MAX_PROBLEMS: usize = 100;

/// One element of the path to an invalid value: a name, or an index in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(untagged)]
pub enum LocSegment {
    /// The name of a field or parameter.
    Name(String),
    /// A zero-based index in a list.
    Index(usize),
}

/// One validation problem of a request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Location of the invalid value: `path`, `query`, `header` or `body`, followed by the path to the value.
    pub loc: Vec<LocSegment>,
    /// The invalid value, and the expected one, in words.
    pub msg: String,
    /// Machine-readable type of the problem, in the style of Pydantic, such as `extra_forbidden`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Problem {
    /// Returns the path to the invalid value, with dots between its segments; empty if that is the whole body.
    pub fn body_path(&self) -> String {
        let segments = self.loc.iter().skip(1).map(|segment| match segment {
            LocSegment::Name(name) => name.clone(),
            LocSegment::Index(index) => index.to_string(),
        });
        segments.collect::<Vec<_>>().join(".")
    }

    /// Creates a problem with a query parameter.
    pub fn query(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::new("query", name, kind, msg)
    }

    /// Creates a problem with a path parameter.
    pub fn path(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::new("path", name, kind, msg)
    }

    /// Moves the problem to a nested value: inserts `path` after the first element of its location.
    #[must_use]
    pub fn nested_in(mut self, path: &[LocSegment]) -> Problem {
        self.loc.splice(1..1, path.iter().cloned());
        self
    }

    /// Creates a problem with a header.
    pub fn header(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::new("header", name, kind, msg)
    }

    /// Creates a problem with a value in the body. `path` holds the field names and the indices that lead to the
    /// value. No field of a body has a number as its name.
    pub fn body(path: &[&str], kind: &'static str, msg: impl Into<String>) -> Problem {
        let names = std::iter::once("body").chain(path.iter().copied());
        let segment = |name: &str| match name.parse() {
            Ok(index) => LocSegment::Index(index),
            Err(_) => LocSegment::Name(name.to_owned()),
        };
        Problem { loc: names.map(segment).collect(), msg: msg.into(), kind }
    }

    fn new(location: &str, name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        let loc = vec![LocSegment::Name(location.to_owned()), LocSegment::Name(name.to_owned())];
        Problem { loc, msg: msg.into(), kind }
    }
}
