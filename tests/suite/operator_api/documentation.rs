//! The table of operations in the documentation, which is generated from the routes.

use std::fmt::Write;

use marketplace::{rest::OPERATOR, string_enum::StringEnum};

use crate::harness::{documents::documents, generated};

/// The file with the table, which follows the text.
const FILE: &str = "docs/operator-api.md";

/// The line with which the table begins.
const HEADING: &str = "| operation | request | body | actor | events |\n| - | - | - | - | - |\n";

/// Returns the table: one line per operation, in the order of the document.
fn table() -> String {
    let document = documents().iter().find(|document| document.operation("list_teams").is_some()).unwrap();
    let mut table = HEADING.to_owned();
    for route in OPERATOR.routes() {
        let operation = document.operation(route.operation).unwrap();
        let body = operation.body_schema().map_or_else(|| "-".to_owned(), |name| format!("`{name}`"));
        let actor = route.effect.map_or("-", |effect| effect.actor.as_str());
        let events = route.effect.map_or(&[][..], |effect| effect.events);
        let events: Vec<String> = events.iter().map(|kind| format!("`{}`", kind.as_str())).collect();
        let events = if events.is_empty() { "-".to_owned() } else { events.join(", ") };
        let (id, method, path) = (route.operation, &operation.method, &operation.path);
        writeln!(table, "| `{id}` | `{method} {path}` | {body} | {actor} | {events} |").unwrap();
    }
    table
}

#[test]
fn table_of_operations_is_that_of_the_routes() {
    let text = generated::read(FILE);
    let (before, _) = text.split_once(HEADING).expect("the file has the table");
    let expected = format!("{before}{}", table());
    generated::assert_current(FILE, &expected);
}
