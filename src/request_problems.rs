//! What operations do with the problems of a request.

use crate::{
    domain::{
        problems::Problems,
        texts::{self, TextRule},
    },
    error::{Error, Result},
};

/// Converts between the problems of a request and the errors of operations.
pub trait ProblemsExt: Sized {
    /// Adds the problems of an [`Error::Invalid`], and returns other errors.
    fn collect<T>(&mut self, result: Result<T>) -> Result<Option<T>>;

    /// Returns what the path of the request names. `None` if it does not exist or is gone, but the body has
    /// problems: they are reported first, together with those that can be found without it.
    fn if_available<T>(&self, found: Result<T>) -> Result<Option<T>>;

    /// Fails if there are problems. Otherwise returns `value`, which is `None` only because of a problem.
    fn into_result_of<T>(self, value: Option<T>) -> Result<T>;

    /// Fails if there are problems.
    fn into_result(self) -> Result<()>;
}

impl ProblemsExt for Problems {
    fn collect<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid(problems)) => {
                self.extend(problems);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn if_available<T>(&self, found: Result<T>) -> Result<Option<T>> {
        match found {
            Ok(value) => Ok(Some(value)),
            Err(Error::NotFound(_) | Error::Gone(..)) if !self.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn into_result_of<T>(self, value: Option<T>) -> Result<T> {
        self.into_result()?;
        value.ok_or_else(|| Error::internal("a part of a body is missing without a problem"))
    }

    fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::Invalid(self.into_vec())) }
    }
}

/// Fails if a text of a body, to which `path` leads, does not follow its rule.
pub fn check_text(path: &[&str], text: &str, rule: TextRule) -> Result<()> {
    texts::find_problem(path, text, rule).map_or(Ok(()), |problem| Err(Error::invalid(problem)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Problem;

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
}
