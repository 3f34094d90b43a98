//! Validation problems: one invalid value of a request each, with its location.

use super::{Error, Result};

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
    /// What is invalid, and what is expected.
    pub msg: String,
    /// Machine-readable type of the problem, in the style of Pydantic, such as `extra_forbidden`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Problem {
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

    /// Creates a problem with a value in the body. `path` holds the field names that lead to the value.
    pub fn body(path: &[&str], kind: &'static str, msg: impl Into<String>) -> Problem {
        let names = std::iter::once("body").chain(path.iter().copied());
        Problem { loc: names.map(|name| LocSegment::Name(name.to_owned())).collect(), msg: msg.into(), kind }
    }

    fn new(location: &str, name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        let loc = vec![LocSegment::Name(location.to_owned()), LocSegment::Name(name.to_owned())];
        Problem { loc, msg: msg.into(), kind }
    }
}

/// The problems with a body that were found so far.
///
/// The parser of a body passes them on with everything that it could parse. An operation adds what is wrong
/// with that, such as unknown references, and fails with all problems before it changes anything. So a client
/// gets all of them at once.
#[derive(Clone, Debug, Default)]
pub struct Problems(Vec<Problem>);

impl From<Vec<Problem>> for Problems {
    fn from(problems: Vec<Problem>) -> Problems {
        Problems(problems)
    }
}

impl Problems {
    /// Whether there are no problems.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of problems.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Adds problems with an object in the body to those with the body. `path` leads to the object.
    pub fn extend_nested(&mut self, problems: Problems, path: &[LocSegment]) {
        self.0.extend(problems.0.into_iter().map(|problem| problem.nested_in(path)));
    }

    /// Adds the problems of an [`Error::Invalid`], and returns other errors.
    pub fn collect<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid(problems)) => {
                self.0.extend(problems);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what the path of the request names. `None` if it does not exist or is gone, but the body has
    /// problems: they are reported first, together with those that can be found without it.
    pub fn if_available<T>(&self, found: Result<T>) -> Result<Option<T>> {
        match found {
            Ok(value) => Ok(Some(value)),
            Err(Error::NotFound(_) | Error::Gone(..)) if !self.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a problem with a field of the object at `path`, or with a part of the field.
    pub fn has_field(&self, path: &[LocSegment], field: &str) -> bool {
        self.0.iter().any(|problem| {
            let rest = problem.loc.get(1..).and_then(|loc| loc.strip_prefix(path));
            matches!(rest, Some([LocSegment::Name(name), ..]) if name == field)
        })
    }

    /// Fails if there are problems.
    pub fn into_result(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Invalid(self.0)) }
    }

    /// Fails if there are problems. Otherwise returns `value`, which is `None` only because of a problem.
    pub fn into_result_of<T>(self, value: Option<T>) -> Result<T> {
        self.into_result()?;
        value.ok_or_else(|| Error::internal("a part of a body is missing without a problem"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_with_a_body_come_before_what_its_path_names() {
        let absent = || Err::<u8, _>(Error::not_found("codebase"));
        assert!(matches!(Problems::default().if_available(absent()), Err(Error::NotFound(_))));
        let mut problems = Problems::default();
        problems.push(Problem::body(&["commits"], "int_type", "must be an integer"));
        assert!(matches!(problems.if_available(absent()), Ok(None)));
        assert!(matches!(
            problems.if_available::<u8>(Err(Error::storage_full())),
            Err(Error::StorageFull { .. })
        ));
        assert!(matches!(problems.into_result_of(Some(1)), Err(Error::Invalid(found)) if found.len() == 1));
    }

    #[test]
    fn field_is_found_by_its_whole_path() {
        let path = [LocSegment::Name("items".to_owned()), LocSegment::Index(1)];
        let mut inner = Problems::default();
        inner.push(Problem::body(&["domain_tags", "x"], "unknown_slug", ""));
        let mut problems = Problems::default();
        problems.extend_nested(inner, &path);
        assert!(problems.has_field(&path, "domain_tags"));
        assert!(!problems.has_field(&path, "x") && !problems.has_field(&[], "domain_tags"));
        assert!(problems.has_field(&[], "items"));
    }
}
