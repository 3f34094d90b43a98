//! The table of answers in the documentation, which is generated from the documents.

use std::{collections::BTreeMap, fmt::Write};

use marketplace::{
    string_enum::StringEnum,
    web::{DocumentedOperation, Outcome},
};

use super::answers::operations;
use crate::harness::generated;

/// The file with the table, which follows the text.
const FILE: &str = "docs/faults.md";

/// The line with which the generated part begins.
const HEADING: &str = "## Answers\n";

/// Returns statuses with their codes.
fn describe<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let mut codes: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for outcome in outcomes {
        let code = outcome.code.map(|code| format!("`{}`", code.as_str()));
        codes.entry(outcome.status).or_default().extend(code);
    }
    let describe =
        |(status, codes): (u16, Vec<String>)| format!("{status} {}", codes.join(", ")).trim().to_owned();
    codes.into_iter().map(describe).collect::<Vec<_>>().join("; ")
}

/// Returns what the file has after the heading.
fn generated(operations: &[DocumentedOperation]) -> String {
    let is_common = |outcome: &&Outcome| operations.iter().all(|operation| operation.has_outcome(**outcome));
    let common: Vec<&Outcome> = operations[0].outcomes.iter().filter(is_common).collect();
    let mut text = format!("\nEvery operation: {}.\n", describe(common.iter().copied()));
    for (api, title) in [("vendor", "Vendors"), ("buyer", "Buyers"), ("operator", "Operators")] {
        write!(text, "\n### {title}\n\n| operation | request | besides |\n| - | - | - |\n").unwrap();
        for operation in operations.iter().filter(|operation| operation.api == api) {
            let besides = describe(operation.outcomes.iter().filter(|outcome| !common.contains(outcome)));
            let (id, method, path) = (&operation.id, &operation.method, &operation.path);
            writeln!(text, "| `{id}` | `{method} {path}` | {besides} |").unwrap();
        }
    }
    text
}

#[test]
fn table_of_answers_is_that_of_the_documents() {
    let text = generated::read(FILE);
    let (before, _) = text.split_once(HEADING).expect("the file has the heading");
    let expected = format!("{before}{HEADING}{}", generated(&operations()));
    generated::assert_current(FILE, &expected);
}
