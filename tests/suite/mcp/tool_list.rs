//! The tool list: each tool is backed by GET operations, each GET operation is reachable, the list stays
//! small, and every tool has a committed snapshot.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{
    domain::principals::PrincipalKind,
    mcp::table::{self, ToolEntry},
    rest::{
        self,
        route::{DeclaredRoute, Tool},
    },
};
use serde_json::{Value, json};

use super::{
    all_tools, documents, names, post_to, protocol::Revision, routes, tools, tools_with_full_schemas,
};
use crate::{
    contract::cases::{BOTH, BUYER, VENDOR},
    harness::demo,
};

/// Maximum sizes in bytes of what opens a session of a buyer, and of a vendor with or without the role of a buyer: the tool
/// list, and that with what the server says of itself. A token is four bytes.
const OF_BUYER: (usize, usize) = (24_000, 6_500 * 4);
const OF_VENDOR: (usize, usize) = (48_000, 12_500 * 4);

/// Number of bytes by which a session stays below its maximum, for longer names and addresses of a server.
const MARGIN: usize = 150;

/// Returns the HTTP method of every operation, by `operationId`.
fn operations() -> BTreeMap<String, String> {
    let documents = documents();
    let paths = documents.iter().flat_map(|document| document["paths"].as_object().unwrap().values());
    paths
        .flat_map(|item| item.as_object().unwrap())
        .map(|(method, operation)| (operation["operationId"].as_str().unwrap().to_owned(), method.clone()))
        .collect()
}

#[test]
fn every_get_operation_has_a_tool_or_a_reason_for_exclusion() {
    let operations = operations();
    let tools = table::tools(&routes());
    let of_teams = |route: &&DeclaredRoute| route.required_access.key_kind() == PrincipalKind::Team;
    let called: BTreeSet<&str> =
        tools.iter().flat_map(ToolEntry::operation_calls).map(|(_, call)| call.operation).collect();
    for operation in &called {
        assert_eq!(operations.get(*operation).map(String::as_str), Some("get"), "{operation}");
    }
    for route in rest::routes().iter().filter(of_teams).filter(|route| !called.contains(route.operation)) {
        match route.tool() {
            Some(Tool::Excluded(reason)) => assert!(reason.len() > 20, "{}: {reason}", route.operation),
            Some(_) => panic!("{} has a tool that is not listed", route.operation),
            None => assert_ne!(operations[route.operation], "get", "{}", route.operation),
        }
    }
}

#[tokio::test]
async fn session_opens_within_its_byte_budget() {
    for (key, max_tools, (max_list, max_session)) in
        [(BOTH, 40, OF_VENDOR), (BUYER, 25, OF_BUYER), (VENDOR, 40, OF_VENDOR)]
    {
        let tools = tools(demo(), key).await;
        assert!(tools.len() <= max_tools, "{key} has {} tools", tools.len());
        let bytes = |field: &str| -> usize { tools.iter().map(|tool| tool[field].to_string().len()).sum() };
        let parts = ["title", "description", "inputSchema", "outputSchema", "annotations"];
        let parts: Vec<String> = parts.iter().map(|part| format!("{part}: {}", bytes(part))).collect();
        let list = Value::from(tools).to_string().len();
        assert!(list <= max_list, "{key}: {list} bytes in total ({})", parts.join(", "));
        for revision in [Revision::WithSessions, Revision::Newest] {
            // What the client receives, with the envelopes of the protocol.
            let session: usize = revision.open(key).await.iter().map(Vec::len).sum();
            assert!(session + MARGIN <= max_session, "{key} at {revision:?}: {session} bytes");
        }
    }
}

/// Some clients load the tools one by one, so no description can be left out because another tool has it.
#[tokio::test]
async fn every_argument_of_every_tool_is_described() {
    for key in [BOTH, BUYER, VENDOR] {
        for tool in all_tools(demo(), key).await {
            let description = tool["description"].as_str().unwrap();
            assert!((20..500).contains(&description.len()), "{tool}");
            for (name, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
                let described = schema["description"].as_str().unwrap();
                assert!(described.len() > 8, "{} {name}: {described:?}", tool["name"]);
                assert!(
                    !description.contains(described),
                    "the tool's description repeats that of {name}: {description:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn output_schemas_are_full_if_the_address_says_so() {
    let (shallow, full) = (all_tools(demo(), BOTH).await, tools_with_full_schemas(demo(), BOTH).await);
    assert_eq!(names(&shallow), names(&full));
    for (shallow, full) in shallow.iter().zip(&full) {
        let fields: Vec<&String> = full["outputSchema"]["properties"].as_object().unwrap().keys().collect();
        assert_eq!(shallow["outputSchema"], json!({"type": "object", "propertyNames": {"enum": fields}}));
        assert_eq!(shallow["inputSchema"], full["inputSchema"]);
        assert!(shallow["outputSchema"].to_string().len() < full["outputSchema"].to_string().len());
    }
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}});
    let refused = post_to(demo(), "/v2/mcp/?schemas=deep", BOTH, &body).await;
    let refused: Value = serde_json::from_slice(&refused.bytes).unwrap();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn tools_are_annotated_read_only_and_have_valid_schemas() {
    for tool in tools_with_full_schemas(demo(), BOTH).await {
        let hints = json!({
            "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], hints);
        assert!(!tool["title"].as_str().unwrap().is_empty());
        for schema in ["inputSchema", "outputSchema"] {
            let schema = &tool[schema];
            assert!(jsonschema::meta::is_valid(schema), "{schema}");
            assert_eq!(schema["type"], "object", "{tool}");
            let text = schema.to_string();
            for foreign in ["$ref", "nullable", "int64", "double", ".0}", ".0,", "#/components"] {
                assert!(!text.contains(foreign), "{foreign} in {text}");
            }
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
}

#[tokio::test]
async fn lists_are_paged_and_fields_can_be_selected() {
    for tool in tools_with_full_schemas(demo(), BOTH).await {
        let name = tool["name"].as_str().unwrap();
        let arguments = tool["inputSchema"]["properties"].as_object().unwrap();
        let output_fields = tool["outputSchema"]["properties"].as_object().unwrap();
        if name.starts_with("list_") || name == "browse_listings" || name == "get_listings" {
            assert_eq!(arguments["limit"]["default"], 20, "{name}");
            assert!(
                output_fields.contains_key("next_offset") || output_fields.contains_key("next_cursor"),
                "{name}"
            );
        }
        assert_eq!(arguments.contains_key("fields"), name != "get_current_team", "{name}");
    }
}

#[tokio::test]
async fn each_tool_matches_its_snapshot() {
    let tools = all_tools(demo(), BOTH).await;
    assert_eq!(names(&tools)[0], "get_current_team");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("tools");
    settings.bind(|| {
        for tool in &tools {
            insta::assert_json_snapshot!(tool["name"].as_str().unwrap(), tool);
        }
    });
    let mut committed: Vec<String> =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/mcp/tools"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".snap").map(str::to_owned))
            .collect();
    committed.sort();
    let mut names: Vec<&str> = names(&tools);
    names.sort_unstable();
    assert_eq!(committed, names, "the snapshots do not match the tools");
}

#[tokio::test]
async fn roles_add_tools_and_choices() {
    let (both, buyer, vendor) =
        (tools(demo(), BOTH).await, tools(demo(), BUYER).await, tools(demo(), VENDOR).await);
    let union: BTreeSet<&str> = names(&buyer).into_iter().chain(names(&vendor)).collect();
    assert_eq!(union, names(&both).into_iter().collect());
    let kinds = |tools: &[Value]| {
        let taxonomy = tools.iter().find(|tool| tool["name"] == "list_taxonomy").unwrap();
        taxonomy["inputSchema"]["properties"]["kind"]["enum"].clone()
    };
    let shared = ["languages", "domains", "inventory_tags", "content_tags", "asset_types"];
    assert_eq!(kinds(&buyer), json!(shared));
    assert_eq!(kinds(&vendor), json!([&shared[..], &["task_filters"]].concat()));
}
