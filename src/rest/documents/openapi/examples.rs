//! Examples in the documents: parameters and responses. Examples of request bodies are attributes of the
//! routes.
//!
//! The responses are those of the demo market, stored in `examples.json`; a test regenerates and compares
//! them.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{
    clock::{fixture_record_id, stopped_record_id},
    domain::principals::PrincipalKind,
    rest::route::{DeclaredRoute, RouteAttributes, Target},
};

/// Example responses by operation ID.
const RESPONSES: &str = include_str!("../examples.json");

/// Returns the example response of an operation.
pub fn example_response(route: &DeclaredRoute) -> Option<Value> {
    static PARSED: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(RESPONSES).unwrap_or_default());
    PARSED.get(example_key(route)).cloned()
}

/// Returns the name under which the example response of an operation is stored. Operators' operations can have the same
/// IDs as those of teams.
pub fn example_key(route: &DeclaredRoute) -> String {
    match route.required_access.key_kind() {
        PrincipalKind::Team => route.operation.to_owned(),
        PrincipalKind::Operator => format!("operator/{}", route.operation),
    }
}

/// Returns the example value of a parameter of an operation. IDs are those of the demo market. All examples of an
/// operation have results together, since tools send them together. Therefore, optional parameters that would exclude
/// each other have none.
pub fn example_parameter(attributes: &RouteAttributes, name: &str, is_in_path: bool) -> Option<Value> {
    let own = attributes.parameter_examples.iter().find(|(parameter, _)| *parameter == name);
    if let Some((_, json)) = own {
        return Some(serde_json::from_str(json).expect("an example is JSON"));
    }
    Some(match name {
        "filter" => json!(["stage:is:complete"]),
        "limit" => json!(24),
        _ if is_in_path => json!(example_id(attributes.contract.target, name)?),
        _ => return None,
    })
}

/// Returns the example ID of a path parameter: of a listing in the catalog, and of records of the demo's
/// vendor and buyer.
fn example_id(target: Target, name: &str) -> Option<String> {
    match target {
        Target::RecordOf(collection) => {
            return example_key_of_record(collection).map(|key| match collection {
                "asset_types" | "domains" | "content_tags" | "inventory_tags" => key.to_owned(),
                _ => fixture_record_id(collection, key).to_string(),
            });
        }
        Target::TaskPart(collection) => {
            let key = match collection {
                "tasks" => "boreal-triage-notes/chest-pain",
                "task_versions" => "boreal-triage-notes/chest-pain/1",
                _ => "boreal-triage-notes/chest-pain/1/1",
            };
            return Some(fixture_record_id(collection, key).to_string());
        }
        Target::World => return Some("example".to_owned()),
        Target::WorldRepository => {
            let example = match name {
                "owner" => "acme",
                "name" => "billing",
                _ => "example",
            };
            return Some(example.to_owned());
        }
        Target::WorldFault => {
            return Some(if name == "fault" { "fault-1" } else { "example" }.to_owned());
        }
        Target::Snapshot => return Some("after-review".to_owned()),
        Target::Absent(id) => return Some(id.to_owned()),
        Target::Record(collection, key) => return Some(fixture_record_id(collection, key).to_string()),
        Target::Created(collection) => return Some(stopped_record_id(collection, 0).to_string()),
        _ => {}
    }
    let id = match (name, target) {
        (_, Target::None) => return None,
        (_, Target::LedgerEntryOf("adjustment")) => "75ecf810-ae0b-55d5-8a29-22a307e48b4c",
        (_, Target::LedgerEntryOf(_)) => "372536b2-c33f-5140-b8a9-a30ec6e8b4a1",
        ("listing_id", _) => "34f2c447-0d0a-5b97-aa77-8245b1d085a3",
        ("taskset_id", Target::CatalogTaskset) => "37015791-0563-5418-ad9d-8ea4f26f8602",
        ("group_id", _) => "594e74df-b05c-5021-8f58-73f7d8c20e9a",
        ("asset_id", Target::OwnTask) => "c67ae8a9-58a3-5df1-bb64-d66274bc0b5b",
        ("asset_id", Target::OwnRawData | Target::OwnLinkedRawData) => "29b2be45-a5f6-55e0-bc0e-2b2248571f6d",
        ("asset_id", _) => "38b28206-20c1-55d4-9f66-f6011c61f2ce",
        ("estimation_id", _) => "c5c9cde1-479a-5cb7-a912-8ac541cf704e",
        ("opportunity_id", Target::Opportunity) => "1c05baa5-aa62-50bd-a4be-365f1da5cc53",
        ("opportunity_id", Target::ProjectOpportunity) => "008c5450-1928-5d2b-9ce5-fdb4fc928799",
        ("opportunity_id", Target::OwnOpportunity) => "cc712357-1a3c-5cbd-9518-0b8753bc4518",
        ("opportunity_id", _) => "78f9ea3b-c4b8-55da-a0ce-49a1f59fbbf6",
        _ => return None,
    };
    Some(id.to_owned())
}

/// Returns the key of a record of the demo market.
fn example_key_of_record(collection: &str) -> Option<&'static str> {
    Some(match collection {
        "teams" => "lumen-codeworks",
        "keys" | "webhooks" => "demo-vendor",
        "operator_keys" => "demo-operator",
        "listings" => "lumen-issues",
        "assets" => "lumen-tide-tables",
        "quality_runs" => "qr-lumen-issues-1",
        "offers" => "of-orchard-git-3",
        "purchases" => "pu-meridian-task-picks-1",
        "ledger_entries" => "payout-fathom-1",
        "credit_purchases" => "wire-copperline-2",
        "withdrawals" => "payout-meridian-1",
        "notifications" => "note-lumen-01",
        "estimations" => "est-lumen-ledger-core",
        "opportunities" => "aurora-cobol-estates",
        "project_opportunities" => "aurora-p-terminal",
        "project_bids" => "bid-redline-quillstone",
        "tasksets" => "boreal-triage-notes",
        "asset_types" => "codebase",
        "domains" => "software-engineering",
        "content_tags" => "brochures",
        "inventory_tags" => "permissive-license",
        "webhook_deliveries" => "demo-vendor-sale",
        _ => return None,
    })
}
