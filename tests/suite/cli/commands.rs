//! Every operation of the operator API has a command, and every list has a limit.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::rest::OPERATOR;

use super::{run, stdout_of, temp_dir};
use crate::harness::documents::operator_document;

/// The file with the table of commands.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/cli/commands.md");

/// The line with which the table begins.
const HEADING: &str = "| command | operations |\n| - | - |\n";

/// Returns the commands of the table, each as its words, with the operations that it is for.
fn commands() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(FILE).unwrap();
    let table = text.split_once(HEADING).expect("the file has the table").1.split("\n\n").next().unwrap();
    let mut commands = BTreeMap::new();
    for row in table.lines() {
        // | `listing` | `approve`: `approve_listing`; … |
        let (command, pairs) = row.trim_matches(['|', ' ']).split_once(" | ").unwrap();
        for pair in pairs.split("; ") {
            let (name, operations) = pair.split_once(": ").unwrap_or(("", pair));
            let words = format!("{command} {name}").replace('`', "");
            let operations = operations.split(", ").map(|operation| operation.trim_matches('`').to_owned());
            assert!(commands.insert(words.trim().to_owned(), operations.collect()).is_none(), "{words}");
        }
    }
    commands
}

#[test]
fn every_operation_of_operators_has_a_command() {
    let commands = commands();
    let mut missing: BTreeSet<&str> = OPERATOR.routes().iter().map(|route| route.operation).collect();
    for (command, operations) in &commands {
        for operation in operations {
            missing.remove(operation.as_str());
            let is_known = OPERATOR.routes().iter().any(|route| route.operation == operation);
            assert!(is_known, "{command}: there is no operation {operation}");
        }
    }
    assert!(missing.is_empty(), "commands.md has no command for {missing:?}");
    // The program writes a page for each of its commands.
    let temp_dir = temp_dir();
    stdout_of(&run(&["man", "pages"], temp_dir.path()));
    for (command, operations) in &commands {
        let page = format!("pages/marketplace-{}.1", command.replace(' ', "-"));
        let page = std::fs::read_to_string(temp_dir.path().join(&page));
        let page = page.unwrap_or_else(|cause| panic!("{command}: {cause}"));
        let is_list = operations.iter().any(|operation| {
            let operation = operator_document().operation(operation).unwrap();
            operation.query.iter().any(|parameter| parameter == "limit")
        });
        assert!(!is_list || page.contains("\\-\\-limit"), "{command} has no --limit");
        for option in ["\\-\\-url", "\\-\\-json", "\\-\\-data"] {
            assert!(page.contains(option), "{command} has no {option}");
        }
    }
}
