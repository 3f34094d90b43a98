//! The problems with a request body, which its parser and an operation find together.

use super::texts::{self, TextRule};
use crate::error::{Error, LocSegment, Problem, Result};

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

    /// Adds what is wrong with a text, if anything is. See [`texts::find_problem`].
    pub fn check_text(&mut self, path: &[&str], text: &str, rule: TextRule) {
        if let Some(problem) = texts::find_problem(path, text, rule) {
            self.push(problem);
        }
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
