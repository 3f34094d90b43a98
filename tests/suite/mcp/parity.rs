//! A tool returns what its operation returns for the same key, over the whole demo market; and its output
//! matches its output schema.

use std::collections::BTreeMap;

use marketplace::{
    mcp::table::{self, OperationCall, ToolOperations},
    rest::route::Audience,
};
use serde_json::{Map, Value, json};

use super::{
    ADDED_FIELDS, call, documents, rest_records::LISTS_OF_A_RECORD, routes, tools_with_full_schemas,
};
use crate::{
    contract::cases::{BUYER, Case},
    harness::demo,
};

/// Maximum number of requests that are compared for each operation.
const MAX_COMPARED_REQUESTS: usize = 12;

/// A GET operation as documented: its path, and the names of its list parameters.
struct OperationDoc {
    path: String,
    lists: Vec<String>,
}

fn operation_docs() -> BTreeMap<String, OperationDoc> {
    let mut docs = BTreeMap::new();
    for document in documents() {
        for (path, item) in document["paths"].as_object().unwrap() {
            let Some(operation) = item.get("get") else { continue };
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let lists = parameters.iter().filter(|parameter| parameter["schema"]["type"] == "array");
            let lists = lists.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect();
            let id = operation["operationId"].as_str().unwrap().to_owned();
            docs.insert(id, OperationDoc { path: path.clone(), lists });
        }
    }
    docs
}

/// Converts the path and query of a request into tool arguments.
fn tool_arguments(documented: &OperationDoc, path: &str) -> Map<String, Value> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut arguments = Map::new();
    for (segment, value) in documented.path.split('/').zip(path.split('/')) {
        if let Some(name) = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            arguments.insert(name.to_owned(), json!(value));
        }
    }
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if documented.lists.iter().any(|list| *list == name) {
            let list = arguments.entry(name).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().push(json!(value));
        } else {
            arguments.insert(name.into_owned(), json!(value));
        }
    }
    arguments
}

/// An operation of a tool: who may call it, the operation, and the argument and value that select it.
type ChosenCall = (Audience, OperationCall, Option<(&'static str, &'static str)>);

/// Returns the operations of a tool, each with the argument that selects it.
fn chosen_calls(row: &table::ToolEntry) -> Vec<ChosenCall> {
    match &row.operations {
        ToolOperations::None => Vec::new(),
        ToolOperations::Single(call) => vec![(row.audience, *call, None)],
        ToolOperations::Choice { argument, options, .. } => options
            .iter()
            .map(|(value, audience, call)| (*audience, *call, Some((argument.argument, *value))))
            .collect(),
    }
}

#[tokio::test]
async fn tools_return_what_their_operations_return() {
    let documented = operation_docs();
    let mut schemas: BTreeMap<&str, BTreeMap<String, jsonschema::Validator>> = BTreeMap::new();
    for row in &table::tools(&routes()) {
        for (audience, operation_call, choice) in chosen_calls(row) {
            // Nothing else serves the operations that only agents call.
            if documented[operation_call.operation].path.starts_with("/agents/") {
                continue;
            }
            let mut requests = Case::for_operation(operation_call.operation).ok_requests();
            // Some rows list all requests of one team before those of the next, so requests are sampled
            // evenly.
            let step = requests.len().div_ceil(MAX_COMPARED_REQUESTS).max(1);
            requests = requests.into_iter().step_by(step).collect();
            let mut compared = 0;
            for (key, path) in requests {
                if audience == Audience::Vendors && key == BUYER {
                    continue;
                }
                let mut expected = demo().get(key, &path).await.ok();
                // Signed addresses are returned only if they are named.
                expected.as_object_mut().unwrap().remove("bundle_download_url");
                let mut arguments = tool_arguments(&documented[operation_call.operation], &path);
                if let Some((name, value)) = choice {
                    arguments.insert(name.to_owned(), json!(value));
                }
                arguments.insert("fields".to_owned(), json!(["*"]));
                let is_paged = operation_call.list.is_some() && !arguments.contains_key("limit");
                if is_paged {
                    let default_limit = if row.text.name == "list_estimations" { 50 } else { 100 };
                    let size = expected["limit"].as_u64().unwrap_or(default_limit).max(1);
                    arguments.insert("limit".to_owned(), json!(size));
                }
                let output = call(demo(), key, row.text.name, Value::Object(arguments)).await.ok();
                if !schemas.contains_key(key) {
                    schemas.insert(key, output_validators(key).await);
                }
                let errors: Vec<String> =
                    schemas[key][row.text.name].iter_errors(&output).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{}: {errors:?}", row.text.name);
                if output["cut"].is_null() {
                    assert_eq!(without_added_fields(output), expected, "{} as {key}: {path}", row.text.name);
                    compared += 1;
                }
            }
            assert!(compared > 0, "no response of {} was compared", operation_call.operation);
        }
    }
}

/// Returns a validator for the output schema of each tool that a key can see.
async fn output_validators(key: &str) -> BTreeMap<String, jsonschema::Validator> {
    let schema = |tool: &Value| {
        let name = tool["name"].as_str().unwrap().to_owned();
        (name, jsonschema::validator_for(&tool["outputSchema"]).unwrap())
    };
    tools_with_full_schemas(demo(), key).await.iter().map(schema).collect()
}

/// Removes the fields that the tool itself adds to an output.
fn without_added_fields(mut output: Value) -> Value {
    for name in ADDED_FIELDS {
        output.as_object_mut().unwrap().remove(name);
    }
    output
}

/// Returns the ID of a listing of the catalog.
async fn any_listing_id(key: &str) -> Value {
    demo().get(key, "/v2/listings/browse?limit=1").await.ok()["items"][0]["id"].clone()
}

#[tokio::test]
async fn every_output_matches_its_schema() {
    let (documented, rows) = (operation_docs(), table::tools(&routes()));
    for key in ["mkt_demo_vendor", "mkt_demo_buyer", "mkt_demo_both"] {
        for tool in tools_with_full_schemas(demo(), key).await {
            let name = tool["name"].as_str().unwrap();
            let input_validator = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
            let output_validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
            let row = rows.iter().find(|row| row.text.name == name).unwrap();
            let mut argument_sets = Vec::new();
            for (audience, operation_call, choice) in chosen_calls(row) {
                if audience == Audience::Vendors && key == BUYER {
                    continue;
                }
                let mut arguments = Map::new();
                if documented[operation_call.operation].path.starts_with("/agents/") {
                    let listing = any_listing_id(key).await;
                    if choice.is_some_and(|(_, value)| LISTS_OF_A_RECORD.contains(&value)) {
                        // The tests of aggregates call these with the IDs of the team's records.
                        continue;
                    }
                    match operation_call.operation {
                        "get_listings" => _ = arguments.insert("ids".to_owned(), json!([listing])),
                        "get_quality_for_agents" | "get_listing_croissant" => {
                            _ = arguments.insert("listing_id".to_owned(), listing);
                        }
                        "preview_tasks_for_agents" => {
                            let of_api = "preview_taskset_tasks";
                            let requests = Case::for_operation(of_api).ok_requests();
                            let (_, path) = requests.iter().find(|(other, _)| *other == key).unwrap();
                            arguments = self::tool_arguments(&documented[of_api], path);
                        }
                        _ => {}
                    }
                } else if let Some((_, path)) = Case::for_operation(operation_call.operation)
                    .ok_requests()
                    .iter()
                    .find(|(request_key, _)| *request_key == key)
                {
                    let path = path.split('?').next().unwrap();
                    arguments = self::tool_arguments(&documented[operation_call.operation], path);
                } else if documented[operation_call.operation].path.contains('{') {
                    continue;
                }
                if let Some((name, value)) = choice {
                    let values = &tool["inputSchema"]["properties"][name]["enum"];
                    // A choice of another role.
                    if !values.as_array().unwrap().contains(&json!(value)) {
                        continue;
                    }
                    arguments.insert(name.to_owned(), json!(value));
                }
                if name == "list_latest_estimations" {
                    arguments.insert("asset_id".to_owned(), json!(["00000000-0000-0000-0000-000000000000"]));
                }
                argument_sets.push(Value::Object(arguments));
            }
            if matches!(row.operations, ToolOperations::None) {
                argument_sets.push(json!({}));
            }
            for arguments in argument_sets {
                assert!(input_validator.is_valid(&arguments), "{name}: {arguments}");
                let base_arguments = arguments.clone();
                let output = call(demo(), key, name, arguments).await.ok();
                let errors: Vec<String> =
                    output_validator.iter_errors(&output).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{name}: {errors:?}");
                // Outputs with selected fields, and truncated ones, lack some of the fields.
                if let Some(field) = output.as_object().and_then(|fields| fields.keys().next()) {
                    let mut selected = base_arguments.clone();
                    selected["fields"] = json!([field]);
                    let selected = call(demo(), key, name, selected).await;
                    assert!(
                        selected.is_error || output_validator.is_valid(&selected.value),
                        "{name} with fields {field}"
                    );
                }
                let schema_fields = tool["outputSchema"]["properties"].as_object().unwrap();
                let undeclared: Vec<_> = output
                    .as_object()
                    .unwrap()
                    .keys()
                    .filter(|field| !schema_fields.contains_key(*field))
                    .collect();
                assert!(
                    undeclared.is_empty(),
                    "{name} returns {undeclared:?}, which its output schema lacks"
                );
            }
        }
    }
}
