//! Every operation of the operators' APIs is shown or carried out by a page, or has a reason why not.

use std::collections::BTreeSet;

use marketplace::{
    console::{self, ResourceInfo},
    rest::{self, APIS},
};

use super::resources;
use crate::harness::documents::{Document, Operation, documents, operator_document};

/// The operations without a page, with the reasons.
const WITHOUT_PAGE: &[(&str, &str)] = &[
    ("plan_team_upload", "a program sends the bytes of the file"),
    ("complete_team_upload", "a program sends the bytes of the file"),
    ("create_trace_upload", "a program sends the bytes of the file"),
    ("get_trace_upload", "a program sends the bytes of the file"),
    ("create_trace_import", "a program sends the bytes of the file"),
    ("create_task_version", "a program writes the instructions, the environment, and the agent as JSON"),
    ("list_snapshots", "the form for a new world takes the name of a snapshot"),
    ("list_world_snapshots", "tests make snapshots"),
    ("create_snapshot", "tests make snapshots"),
    ("delete_snapshot", "tests make snapshots"),
    ("list_world_journal", "tests read what they have sent"),
    ("clear_world_journal", "tests read what they have sent"),
    ("check_world_expectation", "tests state what they expect"),
    ("get_coverage", "tests ask which operations they have called"),
    ("get_world_coverage", "tests ask which operations they have called"),
    ("put_world_repository", "tests send a repository as a file"),
];

fn sandbox_document() -> &'static Document {
    let position = APIS.iter().position(|api| api.name == rest::SANDBOX.name).unwrap();
    &documents()[position]
}

/// Returns a path with the same name for all parameters.
fn shape(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the operations that the pages of a resource show and carry out.
fn operations_of(info: &ResourceInfo) -> Vec<String> {
    let get = |path: String| {
        let is_shown = |row: &&Operation| row.method == "GET" && shape(&row.path) == shape(&path);
        operator_document().operations().iter().find(is_shown).map(|operation| operation.id.clone())
    };
    let list = get(info.list_api.to_owned());
    assert!(list.is_some(), "{} lists what {} does not", info.list, info.list_api);
    let record = info.api.map(|api| get(format!("{api}/{{id}}")));
    assert!(record != Some(None), "{} has records that {:?} does not have", info.list, info.api);
    let steps = info.all_steps().map(|step| step.operation.to_owned());
    let below = info.related_operations.iter().map(|operation| (*operation).to_owned());
    list.into_iter().chain(record.flatten()).chain(steps).chain(below).collect()
}

#[test]
fn every_operation_has_a_page_or_a_reason() {
    let of_resources = resources().into_iter().flat_map(|info| operations_of(&info));
    let of_pages = console::pages().into_iter().flat_map(|row| row.operations).map(|name| (*name).to_owned());
    let reached: BTreeSet<String> = of_resources.chain(of_pages).collect();
    let all: BTreeSet<String> = [operator_document(), sandbox_document()]
        .iter()
        .flat_map(|document| document.operations().iter().map(|operation| operation.id.clone()))
        .collect();
    let unknown: Vec<_> = reached.difference(&all).collect();
    assert!(unknown.is_empty(), "pages name operations that do not exist: {unknown:?}");
    let missing: BTreeSet<&str> = all.difference(&reached).map(String::as_str).collect();
    let excused: BTreeSet<&str> = WITHOUT_PAGE.iter().map(|(operation, _)| *operation).collect();
    let without: Vec<_> = missing.difference(&excused).collect();
    assert!(without.is_empty(), "operations without a page, and without a reason: {without:?}");
    let stale: Vec<_> = excused.difference(&missing).collect();
    assert!(stale.is_empty(), "these have a page, or do not exist: {stale:?}");
}

#[test]
fn lists_have_all_filters_of_the_api() {
    for info in resources() {
        let is_list = |row: &&Operation| row.method == "GET" && row.path == info.list_api;
        let found = operator_document().operations().iter().find(is_list);
        let operation = found.unwrap_or_else(|| panic!("{} is not in the document", info.list_api));
        for parameter in &operation.query {
            let is_filter = info.filters.iter().any(|(name, _)| name == parameter);
            assert!(
                is_filter || ["limit", "cursor"].contains(&parameter.as_str()),
                "{} has no filter {parameter}",
                info.list
            );
        }
        for parameter in info.list_api.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()) {
            assert!(info.filters.iter().any(|(name, _)| *name == parameter), "{}: {parameter}", info.list);
        }
    }
}
