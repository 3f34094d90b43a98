//! Test cases of the operations that only vendors may call.

use marketplace::{
    config::ContactSettings,
    rest::{self, Api},
};
use serde_json::Value;
use uuid::Uuid;

use super::cases::{BOTH, Case, CaseRequest, LOCKED_VENDOR, RequiredAccess, VENDOR};
use crate::harness::{
    BASE,
    records::{self, demo_records},
};

/// Keys of teams with the vendor role.
const VENDORS: [&str; 4] = [VENDOR, BOTH, LOCKED_VENDOR, "mkt_demo_vendor_two"];

macro_rules! case {
    ($operation:literal, $happy:expr, $absent:expr, $misspelt:expr) => {
        Case {
            operation: $operation,
            access: RequiredAccess::Vendor,
            ok_requests: $happy,
            not_found_requests: $absent,
            body: || example_body($operation),
            misspelled_query: $misspelt,
        }
    };
}

/// A query with a misspelled parameter of the asset lists, and the right name.
const MISSPELLED_STAGE: (&str, &str) = ("stge=complete", "stage");
/// A query with an unknown parameter that has no close match.
const UNKNOWN_PARAMETER: (&str, &str) = ("limit=1", "");

/// One case per operation of the vendor API that the buyer API lacks.
pub const CASES: [Case; 59] = [
    case!("list_estimations", estimation_lists, no_requests, ("filtr=x", "filter")),
    case!(
        "get_estimation_summary",
        || for_all_keys("estimations/summary"),
        no_requests,
        ("filtr=x", "filter")
    ),
    case!("list_latest_estimations", latest_estimations, no_requests, ("aset_id=x&asset_id=x", "asset_id")),
    case!("get_estimation", || estimations(true), || estimations(false), UNKNOWN_PARAMETER),
    case!("list_opportunities", opportunity_lists, no_requests, ("max_buget=3", "max_budget")),
    case!(
        "get_opportunity",
        || opportunities("opportunities", true),
        || opportunities("opportunities", false),
        UNKNOWN_PARAMETER
    ),
    case!(
        "get_project_opportunity",
        || opportunities("project_opportunities", true),
        || opportunities("project_opportunities", false),
        UNKNOWN_PARAMETER
    ),
    case!(
        "list_own_project_bids",
        || bid_pages("project-opportunities/bids/mine"),
        no_requests,
        ("limt=1", "limit")
    ),
    case!("get_listing_qc", listing_qualities, || listings(false, "/qc"), ("task_row=all", "task_rows")),
    case!("list_qc_reports", || pages("listings/qc-reports"), no_requests, ("limt=1", "limit")),
    case!("list_sales", || for_all_keys("listings/sales"), no_requests, UNKNOWN_PARAMETER),
    case!("list_earnings", || pages("wallet/earnings"), no_requests, ("ofset=1", "offset")),
    case!("list_own_listings", own_listing_lists, no_requests, ("workspace_veiw=all", "workspace_view")),
    case!("get_own_listing", || listings(true, ""), || listings(false, ""), UNKNOWN_PARAMETER),
    case!(
        "get_listing_history",
        || listings(true, "/history"),
        || listings(false, "/history"),
        UNKNOWN_PARAMETER
    ),
    case!(
        "list_listing_assets",
        || listings(true, "/assets"),
        || listings(false, "/assets"),
        UNKNOWN_PARAMETER
    ),
    case!(
        "attach_listing_assets",
        || listings(true, "/assets"),
        || listings(false, "/assets"),
        UNKNOWN_PARAMETER
    ),
    case!("detach_listing_asset", own_listing_assets, unattached_assets, UNKNOWN_PARAMETER),
    case!("list_assets", || list_requests("assets"), no_requests, ("atach_to=x", "attach_to")),
    case!("get_asset_window", windows, no_requests, ("leaf_buget=3", "leaf_budget")),
    case!("get_asset", || assets(None, "assets", ""), || other_assets(None, "assets", ""), UNKNOWN_PARAMETER),
    case!("place_asset", own_placements, forbidden_placements, UNKNOWN_PARAMETER),
    case!("list_codebases", || list_requests("codebases"), no_requests, MISSPELLED_STAGE),
    case!("create_codebase", || for_all_keys("codebases"), no_requests, UNKNOWN_PARAMETER),
    case!("create_codebases", || for_all_keys("codebases/batch"), no_requests, UNKNOWN_PARAMETER),
    case!("list_languages", || for_all_keys("codebases/languages"), no_requests, UNKNOWN_PARAMETER),
    case!("get_codebase", || codebases(""), || missing_codebases(""), UNKNOWN_PARAMETER),
    case!("update_codebase", || codebases(""), || missing_codebases(""), UNKNOWN_PARAMETER),
    case!("delete_codebase", || codebases(""), || missing_codebases(""), UNKNOWN_PARAMETER),
    case!(
        "get_codebase_structure",
        || linked_structures("codebase", "codebases"),
        || missing_codebases("/data/structure"),
        UNKNOWN_PARAMETER
    ),
    case!("attach_codebase_data", || codebases("/data"), || missing_codebases("/data"), UNKNOWN_PARAMETER),
    case!("detach_codebase_data", || codebases("/data"), || missing_codebases("/data"), UNKNOWN_PARAMETER),
    case!("list_raw_data", || list_requests("raw-data"), no_requests, MISSPELLED_STAGE),
    case!("create_raw_data", || for_all_keys("raw-data"), no_requests, UNKNOWN_PARAMETER),
    case!("get_raw_data", || raw_data(""), || missing_raw_data(""), UNKNOWN_PARAMETER),
    case!("update_raw_data", || raw_data(""), || missing_raw_data(""), UNKNOWN_PARAMETER),
    case!("delete_raw_data", || raw_data(""), || missing_raw_data(""), UNKNOWN_PARAMETER),
    case!(
        "get_raw_data_structure",
        || linked_structures("raw_data", "raw-data"),
        || missing_raw_data("/data/structure"),
        UNKNOWN_PARAMETER
    ),
    case!("attach_raw_data", || raw_data("/data"), || missing_raw_data("/data"), UNKNOWN_PARAMETER),
    case!("detach_raw_data", || raw_data("/data"), || missing_raw_data("/data"), UNKNOWN_PARAMETER),
    case!("start_codebase_qc", || codebases("/qc/runs"), || missing_codebases("/qc/runs"), UNKNOWN_PARAMETER),
    case!("get_codebase_qc", || codebases("/qc"), || missing_codebases("/qc"), UNKNOWN_PARAMETER),
    case!("start_raw_data_qc", || raw_data("/qc/runs"), || missing_raw_data("/qc/runs"), UNKNOWN_PARAMETER),
    case!("get_raw_data_qc", || raw_data("/qc"), || missing_raw_data("/qc"), UNKNOWN_PARAMETER),
    case!("plan_upload", || unknown_grants(""), || unknown_grants(""), UNKNOWN_PARAMETER),
    case!("get_upload_parts", || unknown_grants("/parts"), || unknown_grants("/parts"), UNKNOWN_PARAMETER),
    case!(
        "complete_upload",
        || unknown_grants("/complete"),
        || unknown_grants("/complete"),
        UNKNOWN_PARAMETER
    ),
    case!("list_tasks", || list_requests("tasks"), no_requests, MISSPELLED_STAGE),
    case!("import_tasks", || for_all_keys("tasks/import"), hidden_taskset, UNKNOWN_PARAMETER),
    case!("get_task", || tasks(""), || missing_tasks(""), UNKNOWN_PARAMETER),
    case!("update_task", || tasks(""), || missing_tasks(""), UNKNOWN_PARAMETER),
    case!("refresh_task_qc", || for_all_keys("tasks/refresh-qc"), no_requests, UNKNOWN_PARAMETER),
    case!("get_task_qc_refresh", || for_all_keys("tasks/refresh-qc"), no_requests, UNKNOWN_PARAMETER),
    case!("get_task_qc_facets", || for_all_keys("tasks/qc-facets"), no_requests, UNKNOWN_PARAMETER),
    case!("list_asset_groups", || for_all_keys("asset-groups"), no_requests, UNKNOWN_PARAMETER),
    case!("create_asset_group", || for_all_keys("asset-groups"), no_requests, UNKNOWN_PARAMETER),
    case!("get_asset_group", || groups(true), || groups(false), UNKNOWN_PARAMETER),
    case!("update_asset_group", || groups(true), || groups(false), UNKNOWN_PARAMETER),
    case!("delete_asset_group", || groups(true), || groups(false), UNKNOWN_PARAMETER),
];

/// Returns the example body of an operation in the vendor document; `Null` if the operation takes no body.
pub fn example_body(operation: &str) -> Value {
    use std::sync::OnceLock;
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| {
        serde_json::from_str(&rest::openapi_json(Api::Vendor, BASE, &ContactSettings::default())).unwrap()
    });
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let found = operations.into_iter().find(|found| found["operationId"] == operation).unwrap();
    let body = &found["requestBody"];
    if body.is_null() {
        return Value::Null;
    }
    let example = body["content"]["application/json"]["example"].clone();
    assert!(!example.is_null(), "{operation} has no example of its body");
    example
}

fn no_requests() -> Vec<CaseRequest> {
    Vec::new()
}

fn for_all_keys(path: &str) -> Vec<CaseRequest> {
    VENDORS.into_iter().map(|key| (key, format!("/v2/{path}"))).collect()
}

fn list_requests(path: &str) -> Vec<CaseRequest> {
    let mut requests = for_all_keys(path);
    for query in [
        "limit=200",
        "limit=1&offset=2",
        "offset=2147483647",
        "stage=complete&sort=name",
        "stage=incomplete&sort=price&sort_direction=desc",
        "filter=name:contains:a&filter=channel:is_not:zip",
        "filter=domain:is:finance&sort=created_at",
    ] {
        requests.extend(for_all_keys(&format!("{path}?{query}")));
    }
    requests
}

fn own_listing_lists() -> Vec<CaseRequest> {
    let mut requests = for_all_keys("listings");
    for query in [
        "workspace_view=live&limit=1&offset=1",
        "workspace_view=archived",
        "workspace_view=submitted&lifecycle_stages=draft",
        "query=data&sort=price_low",
        "no_assets=true&verified_only=true&min_price=10",
    ] {
        requests.extend(for_all_keys(&format!("listings?{query}")));
    }
    requests
}

/// Requests for listings that the calling vendor owns (`is_own`) or does not own; `step` is appended to the
/// path.
fn listings(is_own: bool, step: &str) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for listing in
            demo_records().collection("listings").iter().filter(|listing| (listing["team"] == team) == is_own)
        {
            requests.push((key, format!("/v2/listings/{}{step}", records::id("listings", listing))));
        }
        if !is_own {
            requests.push((key, format!("/v2/listings/{}{step}", Uuid::nil())));
        }
    }
    requests
}

/// Requests for the assets on a vendor's own listings.
fn own_listing_assets() -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for listing in demo_records().collection("listings").iter().filter(|listing| listing["team"] == team)
        {
            for asset in records::texts(&listing["assets"]) {
                let asset = marketplace::clock::fixture_record_id("assets", asset);
                requests
                    .push((key, format!("/v2/listings/{}/assets/{asset}", records::id("listings", listing))));
            }
        }
    }
    requests
}

/// Another team's listing with one of its assets, and an own listing with assets that are not on it.
fn unattached_assets() -> Vec<CaseRequest> {
    let of = |key: &str| own_listing_assets().into_iter().find(|(own, _)| *own == key).unwrap().1;
    let (own, other) = (of(VENDOR), of(BOTH));
    let asset = other.rsplit('/').next().unwrap();
    let listing = own.rsplit_once('/').unwrap().0;
    vec![
        (VENDOR, other.clone()),
        (VENDOR, format!("{listing}/{asset}")),
        (VENDOR, format!("{listing}/{}", Uuid::nil())),
    ]
}

fn bid_pages(path: &str) -> Vec<CaseRequest> {
    let mut requests = for_all_keys(path);
    for query in ["limit=100", "limit=1&offset=1", "offset=2147483647"] {
        requests.extend(for_all_keys(&format!("{path}?{query}")));
    }
    requests
}

fn opportunity_lists() -> Vec<CaseRequest> {
    let mut requests = bid_pages("opportunities");
    for sort in ["deadline", "recent", "title", "budget_low", "budget_high"] {
        requests
            .extend(for_all_keys(&format!("opportunities?sort={sort}&asset_types=codebase&max_budget=1e6")));
    }
    requests
}

/// Requests for opportunities of a collection that are visible to the calling vendor (`is_seen`) or not.
fn opportunities(collection: &str, is_seen: bool) -> Vec<CaseRequest> {
    let path = collection.replace('_', "-");
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for record in demo_records().collection(collection) {
            let is_excluded = records::texts(&record["excluded_teams"]).any(|excluded| excluded == team);
            let is_shown = ["published", "cancelled"].contains(&record["status"].as_str().unwrap());
            if ((is_shown && !is_excluded) || concerns(team, collection, record)) == is_seen {
                requests.push((key, format!("/v2/{path}/{}", records::id(collection, record))));
            }
        }
        if !is_seen {
            requests.push((key, format!("/v2/{path}/{}", Uuid::nil())));
        }
    }
    requests
}

/// Whether the team has a bid on the opportunity or a notification of it.
fn concerns(team: &str, collection: &str, opportunity: &Value) -> bool {
    let field = if collection == "opportunities" { "opportunity" } else { "project_opportunity" };
    let records = ["project_bids", "notifications"].into_iter();
    let mut records = records.flat_map(|collection| demo_records().collection(collection));
    records.any(|record| record["team"] == team && record[field] == opportunity["key"])
}

fn estimation_lists() -> Vec<CaseRequest> {
    let mut requests = pages("estimations");
    for sort in ["name", "type", "channel", "status", "quote", "date"] {
        requests.extend(for_all_keys(&format!("estimations?sort={sort}&filter=status:is_not:failed")));
    }
    requests
}

fn latest_estimations() -> Vec<CaseRequest> {
    let ids: Vec<String> = demo_records()
        .collection("assets")
        .iter()
        .take(150)
        .map(|asset| format!("asset_id={}", records::id("assets", asset)))
        .collect();
    for_all_keys(&format!("estimations/latest?{}", ids.join("&")))
}

/// Requests for estimations that the calling vendor owns (`is_own`) or does not own.
fn estimations(is_own: bool) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for record in demo_records()
            .collection("estimations")
            .iter()
            .filter(|record| (record["team"] == team) == is_own)
        {
            requests.push((key, format!("/v2/estimations/{}", records::id("estimations", record))));
        }
        if !is_own {
            requests.push((key, format!("/v2/estimations/{}", Uuid::nil())));
        }
    }
    requests
}

fn pages(path: &str) -> Vec<CaseRequest> {
    let mut requests = for_all_keys(path);
    for query in ["limit=200", "limit=1&offset=1", "offset=2147483647"] {
        requests.extend(for_all_keys(&format!("{path}?{query}")));
    }
    requests
}

fn listing_qualities() -> Vec<CaseRequest> {
    [listings(true, "/qc"), listings(true, "/qc?task_rows=all")].concat()
}

fn windows() -> Vec<CaseRequest> {
    let mut requests = for_all_keys("assets/window");
    for query in
        ["leaf_budget=1&header_budget=2", "include_empty_groups=true", "sku=codebase&deprecated=false"]
    {
        requests.extend(for_all_keys(&format!("assets/window?{query}")));
    }
    requests
}

/// Requests for assets of a kind (or of any) that the calling vendor owns (`is_own`), or for all other
/// assets.
fn assets_by_owner(kind: Option<&str>, is_own: bool, path: &str, step: &str) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for asset in demo_records().collection("assets") {
            let fits = kind.is_none_or(|kind| asset["sku"] == kind);
            if (asset["team"] == team && fits) == is_own {
                requests.push((key, format!("/v2/{path}/{}{step}", records::id("assets", asset))));
            }
        }
        if !is_own {
            requests.push((key, format!("/v2/{path}/{}{step}", Uuid::nil())));
        }
    }
    requests
}

fn assets(kind: Option<&str>, path: &str, step: &str) -> Vec<CaseRequest> {
    assets_by_owner(kind, true, path, step)
}

/// Requests for other teams' assets, and with a `kind` also for own assets of another kind.
fn other_assets(kind: Option<&str>, path: &str, step: &str) -> Vec<CaseRequest> {
    assets_by_owner(kind, false, path, step)
}

/// Requests for the structures of a vendor's own assets of a kind that have linked data.
fn linked_structures(kind: &str, path: &str) -> Vec<CaseRequest> {
    let with_data: Vec<String> = demo_records()
        .collection("assets")
        .iter()
        .filter(|asset| !asset[kind]["data"].is_null())
        .map(|asset| records::id("assets", asset).to_string())
        .collect();
    let all = assets(Some(kind), path, "/data/structure").into_iter();
    all.filter(|(_, path)| with_data.iter().any(|id| path.contains(id))).collect()
}

/// Requests with an unknown grant token. Successful requests with a grant are in `write_operations.rs`.
fn unknown_grants(step: &str) -> Vec<CaseRequest> {
    for_all_keys(&format!("vendor/uploads/grants/{}{step}", "x".repeat(32)))
}

fn codebases(step: &str) -> Vec<CaseRequest> {
    assets(Some("codebase"), "codebases", step)
}

fn missing_codebases(step: &str) -> Vec<CaseRequest> {
    other_assets(Some("codebase"), "codebases", step)
}

fn raw_data(step: &str) -> Vec<CaseRequest> {
    assets(Some("raw_data"), "raw-data", step)
}

fn missing_raw_data(step: &str) -> Vec<CaseRequest> {
    other_assets(Some("raw_data"), "raw-data", step)
}

fn tasks(step: &str) -> Vec<CaseRequest> {
    assets(Some("task"), "tasks", step)
}

fn missing_tasks(step: &str) -> Vec<CaseRequest> {
    other_assets(Some("task"), "tasks", step)
}

/// Requests for groups that the calling vendor owns (`is_own`) or does not own.
fn groups(is_own: bool) -> Vec<CaseRequest> {
    let mut requests = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for group in
            demo_records().collection("groups").iter().filter(|group| (group["team"] == team) == is_own)
        {
            requests.push((key, format!("/v2/asset-groups/{}", records::id("groups", group))));
        }
        if !is_own {
            requests.push((key, format!("/v2/asset-groups/{}", Uuid::nil())));
        }
    }
    requests
}

fn own_placements() -> Vec<CaseRequest> {
    let group = groups(true).swap_remove(0);
    let asset = assets(None, "assets", "").into_iter().find(|(key, _)| *key == group.0).unwrap();
    vec![(group.0, format!("{}{}", group.1, asset.1.replace("/v2", "")))]
}

/// Another team's group with an own asset, an own group with another team's asset, and both from other teams.
fn forbidden_placements() -> Vec<CaseRequest> {
    let of = |requests: Vec<CaseRequest>| requests.into_iter().find(|(key, _)| *key == VENDOR).unwrap().1;
    let (own, other) = (of(assets(None, "assets", "")), of(other_assets(None, "assets", "")));
    let (group, other_group) = (of(groups(true)), of(groups(false)));
    let path = |group: &str, asset: &str| (VENDOR, format!("{group}{}", asset.replace("/v2", "")));
    vec![path(&other_group, &own), path(&group, &other), path(&other_group, &other)]
}

/// The taskset of the example is on a withdrawn listing, which is visible only to its team and to a team that
/// bought it.
fn hidden_taskset() -> Vec<CaseRequest> {
    for_all_keys("tasks/import").into_iter().filter(|(key, _)| ![VENDOR, BOTH].contains(key)).collect()
}
