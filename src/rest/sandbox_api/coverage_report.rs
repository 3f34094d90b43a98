//! The outcomes of operations that clients have seen, next to the documented outcomes.

use std::collections::BTreeMap;

use crate::{
    rest::prelude::*,
    web::documented_operations::{DocumentedOperation, DocumentedOperations},
    worlds::journal::{Coverage, OutcomeCount},
};

/// Which outcomes of operations clients have met.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Coverage")]
pub struct CoverageOut {
    /// Number of operations.
    pub operations: u64,
    /// Number of operations with an outcome that was met.
    pub met_operations: u64,
    /// Number of outcomes that the documents name.
    pub outcomes: u64,
    /// Number of these that were met.
    pub met_outcomes: u64,
    /// The operations, in the order of the documents.
    pub items: Vec<CoveredOperation>,
}

/// An operation with its outcomes.
#[derive(Debug, Object, Serialize)]
pub struct CoveredOperation {
    /// The API, or the first of those that have the operation: `vendor`, `buyer`, or `operator`.
    pub api: String,
    /// `operationId` in the document.
    pub operation: String,
    /// Method.
    pub method: String,
    /// Path, with the names of its parameters.
    pub path: String,
    /// Number of requests that were answered.
    pub count: u64,
    /// The outcomes that the document names, by status, and others that were met.
    pub outcomes: Vec<CoveredOutcome>,
}

/// An outcome of an operation.
#[derive(Debug, Object, Serialize)]
pub struct CoveredOutcome {
    /// HTTP status.
    pub status: u16,
    /// Error code; null for success, and for 422, which lists problems instead.
    pub code: Option<EnumValue<Code>>,
    /// Whether the document names it.
    pub is_documented: bool,
    /// Number of times that it was met.
    pub count: u64,
    /// Time of the machine when it was met first; null if it was not.
    pub first_at: Option<UtcTime>,
    /// Time of the machine when it was met last; null if it was not.
    pub last_at: Option<UtcTime>,
}

type Counts<'a> = BTreeMap<(u16, Option<Code>), &'a OutcomeCount>;

impl CoverageOut {
    /// Compares what was met with what the documents name.
    pub fn new(operations: &DocumentedOperations, coverage: &Coverage) -> CoverageOut {
        let met = coverage.list();
        let mut by_operation: BTreeMap<(&str, &str), Counts> = BTreeMap::new();
        for ((operation, status, code), count) in &met {
            let counts = by_operation.entry((operation.api, &operation.id)).or_default();
            counts.insert((*status, *code), count);
        }
        // Tests use the sandbox API, rather than test it.
        let items: Vec<CoveredOperation> = operations
            .of_worlds()
            .map(|operation| {
                let counts = by_operation.remove(&(operation.api, operation.id.as_str()));
                CoveredOperation::new(operation, counts.unwrap_or_default())
            })
            .collect();
        let documented = || {
            items
                .iter()
                .flat_map(|item| &item.outcomes)
                .filter(|outcome: &&CoveredOutcome| outcome.is_documented)
        };
        CoverageOut {
            operations: items.len() as u64,
            met_operations: items.iter().filter(|item| item.count > 0).count() as u64,
            outcomes: documented().count() as u64,
            met_outcomes: documented().filter(|outcome| outcome.count > 0).count() as u64,
            items,
        }
    }

    /// Keeps only outcomes that were met, or only others.
    pub fn retain(&mut self, is_met: bool) {
        for item in &mut self.items {
            item.outcomes.retain(|outcome| (outcome.count > 0) == is_met);
        }
        self.items.retain(|item| !item.outcomes.is_empty());
    }
}

impl CoveredOperation {
    fn new(operation: &DocumentedOperation, mut counts: Counts) -> CoveredOperation {
        let count = counts.values().map(|count| count.count).sum();
        let mut outcomes: Vec<CoveredOutcome> = Vec::new();
        for outcome in &operation.outcomes {
            let count = counts.remove(&(outcome.status, outcome.code));
            outcomes.push(CoveredOutcome::new((outcome.status, outcome.code), true, count));
        }
        outcomes.extend(
            counts.into_iter().map(|(outcome, count)| CoveredOutcome::new(outcome, false, Some(count))),
        );
        outcomes.sort_by_key(|outcome| outcome.status);
        CoveredOperation {
            api: operation.api.to_owned(),
            operation: operation.id.clone(),
            method: operation.method.to_string(),
            path: operation.path.clone(),
            count,
            outcomes,
        }
    }
}

impl CoveredOutcome {
    fn new(
        (status, code): (u16, Option<Code>),
        is_documented: bool,
        count: Option<&OutcomeCount>,
    ) -> CoveredOutcome {
        CoveredOutcome {
            status,
            code: code.map(EnumValue),
            is_documented,
            count: count.map_or(0, |count| count.count),
            first_at: count.map(|count| count.first_at.into()),
            last_at: count.map(|count| count.last_at.into()),
        }
    }
}
