//! Counts of the outcomes of operations that clients have seen. They are exact, even if a journal drops entries.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::entry::OperationName;
use crate::{domain::time::Timestamp, error::Code};

/// Maximum number of different outcomes. Documents have fewer; forced faults can have any.
const MAX_OUTCOMES: usize = 20_000;

/// An outcome of an operation: the operation, the HTTP status, and the error code, if it has one.
pub type MetOutcome = (OperationName, u16, Option<Code>);

/// How often an outcome was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeCount {
    /// Number of times.
    pub count: u64,
    /// Time of the machine when it was met first.
    pub first_at: Timestamp,
    /// Time of the machine when it was met last.
    pub last_at: Timestamp,
}

/// The outcomes that clients have met.
#[derive(Debug, Default)]
pub struct Coverage(Mutex<BTreeMap<MetOutcome, OutcomeCount>>);

impl Coverage {
    /// Counts an outcome.
    pub fn add(&self, outcome: &MetOutcome, at: Timestamp) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = counts.get_mut(outcome) {
            known.count += 1;
            known.last_at = at;
        } else if counts.len() < MAX_OUTCOMES {
            counts.insert(outcome.clone(), OutcomeCount { count: 1, first_at: at, last_at: at });
        }
    }

    /// Returns the outcomes that were met, in their order.
    pub fn list(&self) -> Vec<(MetOutcome, OutcomeCount)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(outcome, count)| (outcome.clone(), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted() {
        let coverage = Coverage::default();
        let outcome = |status, code| {
            (OperationName { api: "vendor", other_apis: Vec::new(), id: "get_wallet".into() }, status, code)
        };
        for (seconds, status, code) in [(1, 200, None), (2, 401, Some(Code::Unauthorized)), (3, 200, None)] {
            coverage.add(&outcome(status, code), Timestamp(seconds));
        }
        let counts =
            |count, first, last| OutcomeCount { count, first_at: Timestamp(first), last_at: Timestamp(last) };
        assert_eq!(
            coverage.list(),
            [
                (outcome(200, None), counts(2, 1, 3)),
                (outcome(401, Some(Code::Unauthorized)), counts(1, 2, 2))
            ]
        );
    }
}
