//! The problems with a body while it is parsed.

use crate::{
    error::{MAX_PROBLEMS, Problem},
    rest::arguments::request_body::{path::Path, rules::Fault},
};

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

    /// Records a problem with a value.
    pub fn report(&mut self, path: &Path, (kind, predicate): Fault) {
        let msg = format!("{} {predicate}.", path.describe());
        self.problems.push(Problem { loc: path.to_loc(), msg, kind });
    }

    /// Whether there are as many problems as are reported. The rest of the body is then only checked for valid
    /// JSON and for missing fields, whose place is the beginning of their object.
    pub fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }
}

/// Returns the problem with a name that an object has twice.
pub fn duplicate_fault() -> Fault {
    ("duplicate_key", "is sent more than once; send each name of an object once".to_owned())
}
