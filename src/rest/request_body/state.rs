//! The problems with a body while it is parsed.

use super::{path::Path, rules::Fault};
use crate::error::Problem;

/// Maximum number of problems in one response. Parsing stops there.
pub const MAX_PROBLEMS: usize = 100;

/// What parsing has found so far.
pub struct State {
    /// The problems so far.
    pub problems: Vec<Problem>,
    /// Bytes of memory that values of any shape may still use.
    pub free_form_bytes: usize,
}

impl State {
    /// Creates the state before the first value.
    pub const fn new(free_form_bytes: usize) -> State {
        State { problems: Vec::new(), free_form_bytes }
    }

    /// Records a problem. The error ends parsing, after the maximum number of problems.
    pub fn report<E: serde::de::Error>(&mut self, path: &Path, (kind, predicate): Fault) -> Result<(), E> {
        let msg = format!("{} {predicate}.", path.describe());
        self.push(Problem { loc: path.to_loc(), msg, kind })
    }

    /// Records a problem, like [`State::report`].
    pub fn push<E: serde::de::Error>(&mut self, problem: Problem) -> Result<(), E> {
        self.problems.push(problem);
        if self.problems.len() < MAX_PROBLEMS { Ok(()) } else { Err(E::custom("too many problems")) }
    }
}

/// Returns the problem with a name that an object has twice.
pub fn duplicate_fault() -> Fault {
    ("duplicate_key", "is sent more than once; send each name of an object once".to_owned())
}
