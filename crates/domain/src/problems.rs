//! The problems with a request body, which its parser and an operation find together.

use super::{
    problem::{LocSegment, Problem},
    texts::{self, TextRule},
};

/// The problems with a body that were found so far.
///
/// The parser of a body passes them on with everything that it could parse. An operation adds further problems,
/// such as unknown references, and fails with all problems before it changes anything. So a client gets all of
/// them at once.
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

    /// Adds the problem with a text, if there is one. See [`texts::find_problem`].
    pub fn check_text(&mut self, path: &[&str], text: &str, rule: TextRule) {
        if let Some(problem) = texts::find_problem(path, text, rule) {
            self.push(problem);
        }
    }

    /// Adds problems with an object in the body to those with the body. `path` leads to the object.
    pub fn extend_nested(&mut self, problems: Problems, path: &[LocSegment]) {
        self.0.extend(problems.0.into_iter().map(|problem| problem.nested_in(path)));
    }

    /// Adds further problems.
    pub fn extend(&mut self, problems: Vec<Problem>) {
        self.0.extend(problems);
    }

    /// Returns the problems in the order in which they were found.
    pub fn into_vec(self) -> Vec<Problem> {
        self.0
    }

    /// Whether there is a problem with a field of the object at `path`, or with a part of the field.
    pub fn has_field(&self, path: &[LocSegment], field: &str) -> bool {
        self.0.iter().any(|problem| {
            let rest = problem.loc.get(1..).and_then(|loc| loc.strip_prefix(path));
            matches!(rest, Some([LocSegment::Name(name), ..]) if name == field)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
