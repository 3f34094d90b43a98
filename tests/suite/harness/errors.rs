//! Errors of operations as short texts.

use marketplace::{
    error::{Error, Problem, Result},
    string_enum::StringEnum,
};

/// Returns the code of an error; for invalid values, the place and the type of each problem.
pub fn code<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(Error::Invalid(problems)) => describe(&problems).join(", "),
        Err(error @ Error::Internal(_)) => panic!("{error:?}"),
        Err(error) => error.code().unwrap().as_str().to_owned(),
    }
}

/// Returns the place and the type of each problem.
pub fn describe(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{} {}", problem.body_path(), problem.kind)).collect()
}
