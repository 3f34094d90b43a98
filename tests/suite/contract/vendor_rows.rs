//! Rows of the operations that only vendors have.

use marketplace::rest::{self, Side};
use serde_json::Value;
use uuid::Uuid;

use super::rows::{Asked, BOTH, LOCKED, Needs, Row, VENDOR};
use crate::harness::{
    BASE,
    records::{self, demo_records},
};

/// Keys of vendors.
const VENDORS: [&str; 4] = [VENDOR, BOTH, LOCKED, "mkt_demo_vendor_two"];

macro_rules! row {
    ($operation:literal, $happy:expr, $absent:expr, $misspelt:expr) => {
        Row {
            operation: $operation,
            needs: Needs::Vendor,
            happy: $happy,
            absent: $absent,
            body: || example($operation),
            misspelt: $misspelt,
        }
    };
}

const MISSPELT: (&str, &str) = ("stge=complete", "stage");
const NONE: (&str, &str) = ("limit=1", "");

/// Every operation.
pub const ROWS: [Row; 59] = [
    row!("list_estimations", estimation_lists, nothing, ("filtr=x", "filter")),
    row!("get_estimation_summary", || everybody("estimations/summary"), nothing, ("filtr=x", "filter")),
    row!("list_latest_estimations", latest_estimations, nothing, ("aset_id=x&asset_id=x", "asset_id")),
    row!("get_estimation", || estimations(true), || estimations(false), NONE),
    row!("list_opportunities", opportunity_lists, nothing, ("max_buget=3", "max_budget")),
    row!(
        "get_opportunity",
        || opportunities("opportunities", true),
        || opportunities("opportunities", false),
        NONE
    ),
    row!(
        "get_project_opportunity",
        || opportunities("project_opportunities", true),
        || opportunities("project_opportunities", false),
        NONE
    ),
    row!(
        "list_own_project_bids",
        || bid_pages("project-opportunities/bids/mine"),
        nothing,
        ("limt=1", "limit")
    ),
    row!("get_listing_qc", qualities, || listings(false, "/qc"), ("task_row=all", "task_rows")),
    row!("list_qc_reports", || pages("listings/qc-reports"), nothing, ("limt=1", "limit")),
    row!("list_sales", || everybody("listings/sales"), nothing, NONE),
    row!("list_earnings", || pages("wallet/earnings"), nothing, ("ofset=1", "offset")),
    row!("list_own_listings", own_lists, nothing, ("workspace_veiw=all", "workspace_view")),
    row!("get_own_listing", || listings(true, ""), || listings(false, ""), NONE),
    row!("get_listing_history", || listings(true, "/history"), || listings(false, "/history"), NONE),
    row!("list_listing_assets", || listings(true, "/assets"), || listings(false, "/assets"), NONE),
    row!("attach_listing_assets", || listings(true, "/assets"), || listings(false, "/assets"), NONE),
    row!("detach_listing_asset", on_own_listings, not_on_listings, NONE),
    row!("list_assets", || lists("assets"), nothing, ("atach_to=x", "attach_to")),
    row!("get_asset_window", windows, nothing, ("leaf_buget=3", "leaf_budget")),
    row!("get_asset", || assets(None, "assets", ""), || foreign(None, "assets", ""), NONE),
    row!("place_asset", placed, misplaced, NONE),
    row!("list_codebases", || lists("codebases"), nothing, MISSPELT),
    row!("create_codebase", || everybody("codebases"), nothing, NONE),
    row!("create_codebases", || everybody("codebases/batch"), nothing, NONE),
    row!("list_languages", || everybody("codebases/languages"), nothing, NONE),
    row!("get_codebase", || codebases(""), || no_codebases(""), NONE),
    row!("update_codebase", || codebases(""), || no_codebases(""), NONE),
    row!("delete_codebase", || codebases(""), || no_codebases(""), NONE),
    row!(
        "get_codebase_structure",
        || linked("codebase", "codebases"),
        || no_codebases("/data/structure"),
        NONE
    ),
    row!("attach_codebase_data", || codebases("/data"), || no_codebases("/data"), NONE),
    row!("detach_codebase_data", || codebases("/data"), || no_codebases("/data"), NONE),
    row!("list_raw_data", || lists("raw-data"), nothing, MISSPELT),
    row!("create_raw_data", || everybody("raw-data"), nothing, NONE),
    row!("get_raw_data", || raw_data(""), || no_raw_data(""), NONE),
    row!("update_raw_data", || raw_data(""), || no_raw_data(""), NONE),
    row!("delete_raw_data", || raw_data(""), || no_raw_data(""), NONE),
    row!(
        "get_raw_data_structure",
        || linked("raw_data", "raw-data"),
        || no_raw_data("/data/structure"),
        NONE
    ),
    row!("attach_raw_data", || raw_data("/data"), || no_raw_data("/data"), NONE),
    row!("detach_raw_data", || raw_data("/data"), || no_raw_data("/data"), NONE),
    row!("start_codebase_qc", || codebases("/qc/runs"), || no_codebases("/qc/runs"), NONE),
    row!("get_codebase_qc", || codebases("/qc"), || no_codebases("/qc"), NONE),
    row!("start_raw_data_qc", || raw_data("/qc/runs"), || no_raw_data("/qc/runs"), NONE),
    row!("get_raw_data_qc", || raw_data("/qc"), || no_raw_data("/qc"), NONE),
    row!("plan_upload", || grants(""), || grants(""), NONE),
    row!("get_upload_parts", || grants("/parts"), || grants("/parts"), NONE),
    row!("complete_upload", || grants("/complete"), || grants("/complete"), NONE),
    row!("list_tasks", || lists("tasks"), nothing, MISSPELT),
    row!("import_tasks", || everybody("tasks/import"), unseen_taskset, NONE),
    row!("get_task", || tasks(""), || no_tasks(""), NONE),
    row!("update_task", || tasks(""), || no_tasks(""), NONE),
    row!("refresh_task_qc", || everybody("tasks/refresh-qc"), nothing, NONE),
    row!("get_task_qc_refresh", || everybody("tasks/refresh-qc"), nothing, NONE),
    row!("get_task_qc_facets", || everybody("tasks/qc-facets"), nothing, NONE),
    row!("list_asset_groups", || everybody("asset-groups"), nothing, NONE),
    row!("create_asset_group", || everybody("asset-groups"), nothing, NONE),
    row!("get_asset_group", || groups(true), || groups(false), NONE),
    row!("update_asset_group", || groups(true), || groups(false), NONE),
    row!("delete_asset_group", || groups(true), || groups(false), NONE),
];

/// The body that the document shows for an operation; `Null` where it takes none.
pub fn example(operation: &str) -> Value {
    use std::sync::OnceLock;
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let document =
        DOCUMENT.get_or_init(|| serde_json::from_str(&rest::document(Side::Vendor, BASE)).unwrap());
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let found = operations.into_iter().find(|found| found["operationId"] == operation).unwrap();
    let body = &found["requestBody"];
    if body.is_null() {
        return Value::Null;
    }
    let example = body["content"]["application/json"]["example"].clone();
    assert!(!example.is_null(), "{operation} shows no body");
    example
}

fn nothing() -> Vec<Asked> {
    Vec::new()
}

fn everybody(path: &str) -> Vec<Asked> {
    VENDORS.into_iter().map(|key| (key, format!("/v2/{path}"))).collect()
}

fn lists(path: &str) -> Vec<Asked> {
    let mut asked = everybody(path);
    for query in [
        "limit=200",
        "limit=1&offset=2",
        "offset=2147483647",
        "stage=complete&sort=name",
        "stage=incomplete&sort=price&sort_direction=desc",
        "filter=name:contains:a&filter=channel:is_not:zip",
        "filter=domain:is:finance&sort=created_at",
    ] {
        asked.extend(everybody(&format!("{path}?{query}")));
    }
    asked
}

fn own_lists() -> Vec<Asked> {
    let mut asked = everybody("listings");
    for query in [
        "workspace_view=live&limit=1&offset=1",
        "workspace_view=archived",
        "workspace_view=submitted&lifecycle_stages=draft",
        "query=data&sort=price_low",
        "no_assets=true&verified_only=true&min_price=10",
    ] {
        asked.extend(everybody(&format!("listings?{query}")));
    }
    asked
}

/// Listings that are a vendor's own or not.
fn listings(is_own: bool, step: &str) -> Vec<Asked> {
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for listing in
            demo_records().of("listings").iter().filter(|listing| (listing["team"] == team) == is_own)
        {
            asked.push((key, format!("/v2/listings/{}{step}", records::id("listings", listing))));
        }
        if !is_own {
            asked.push((key, format!("/v2/listings/{}{step}", Uuid::nil())));
        }
    }
    asked
}

/// Assets on a vendor's own listings.
fn on_own_listings() -> Vec<Asked> {
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for listing in demo_records().of("listings").iter().filter(|listing| listing["team"] == team) {
            for asset in records::texts(&listing["assets"]) {
                let asset = marketplace::clock::record_id("assets", asset);
                asked
                    .push((key, format!("/v2/listings/{}/assets/{asset}", records::id("listings", listing))));
            }
        }
    }
    asked
}

/// A foreign listing with one of its assets, and an own listing with an asset that is not on it.
fn not_on_listings() -> Vec<Asked> {
    let of = |key: &str| on_own_listings().into_iter().find(|(own, _)| *own == key).unwrap().1;
    let (own, other) = (of(VENDOR), of(BOTH));
    let asset = other.rsplit('/').next().unwrap();
    let listing = own.rsplit_once('/').unwrap().0;
    vec![
        (VENDOR, other.clone()),
        (VENDOR, format!("{listing}/{asset}")),
        (VENDOR, format!("{listing}/{}", Uuid::nil())),
    ]
}

fn bid_pages(path: &str) -> Vec<Asked> {
    let mut asked = everybody(path);
    for query in ["limit=100", "limit=1&offset=1", "offset=2147483647"] {
        asked.extend(everybody(&format!("{path}?{query}")));
    }
    asked
}

fn opportunity_lists() -> Vec<Asked> {
    let mut asked = bid_pages("opportunities");
    for sort in ["deadline", "recent", "title", "budget_low", "budget_high"] {
        asked.extend(everybody(&format!("opportunities?sort={sort}&asset_types=codebase&max_budget=1e6")));
    }
    asked
}

/// Opportunities of a collection that a vendor sees by their ids, or does not.
fn opportunities(collection: &str, is_seen: bool) -> Vec<Asked> {
    let path = collection.replace('_', "-");
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for record in demo_records().of(collection) {
            let is_excluded = records::texts(&record["excluded_teams"]).any(|excluded| excluded == team);
            let is_shown = ["published", "cancelled"].contains(&record["status"].as_str().unwrap());
            if (is_shown && !is_excluded) == is_seen {
                asked.push((key, format!("/v2/{path}/{}", records::id(collection, record))));
            }
        }
        if !is_seen {
            asked.push((key, format!("/v2/{path}/{}", Uuid::nil())));
        }
    }
    asked
}

fn estimation_lists() -> Vec<Asked> {
    let mut asked = pages("estimations");
    for sort in ["name", "type", "channel", "status", "quote", "date"] {
        asked.extend(everybody(&format!("estimations?sort={sort}&filter=status:is_not:failed")));
    }
    asked
}

fn latest_estimations() -> Vec<Asked> {
    let ids: Vec<String> = demo_records()
        .of("assets")
        .iter()
        .take(150)
        .map(|asset| format!("asset_id={}", records::id("assets", asset)))
        .collect();
    everybody(&format!("estimations/latest?{}", ids.join("&")))
}

/// Estimations that are a vendor's own or not.
fn estimations(is_own: bool) -> Vec<Asked> {
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for record in
            demo_records().of("estimations").iter().filter(|record| (record["team"] == team) == is_own)
        {
            asked.push((key, format!("/v2/estimations/{}", records::id("estimations", record))));
        }
        if !is_own {
            asked.push((key, format!("/v2/estimations/{}", Uuid::nil())));
        }
    }
    asked
}

fn pages(path: &str) -> Vec<Asked> {
    let mut asked = everybody(path);
    for query in ["limit=200", "limit=1&offset=1", "offset=2147483647"] {
        asked.extend(everybody(&format!("{path}?{query}")));
    }
    asked
}

fn qualities() -> Vec<Asked> {
    [listings(true, "/qc"), listings(true, "/qc?task_rows=all")].concat()
}

fn windows() -> Vec<Asked> {
    let mut asked = everybody("assets/window");
    for query in
        ["leaf_budget=1&header_budget=2", "include_empty_groups=true", "sku=codebase&deprecated=false"]
    {
        asked.extend(everybody(&format!("assets/window?{query}")));
    }
    asked
}

/// Assets of a kind, or of any, that are a vendor's own or not.
fn on_assets(kind: Option<&str>, is_own: bool, path: &str, step: &str) -> Vec<Asked> {
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for asset in demo_records().of("assets") {
            let fits = kind.is_none_or(|kind| asset["sku"] == kind);
            if (asset["team"] == team && fits) == is_own {
                asked.push((key, format!("/v2/{path}/{}{step}", records::id("assets", asset))));
            }
        }
        if !is_own {
            asked.push((key, format!("/v2/{path}/{}{step}", Uuid::nil())));
        }
    }
    asked
}

fn assets(kind: Option<&str>, path: &str, step: &str) -> Vec<Asked> {
    on_assets(kind, true, path, step)
}

/// Assets of others, and for the routes of a kind the team's own of other kinds.
fn foreign(kind: Option<&str>, path: &str, step: &str) -> Vec<Asked> {
    on_assets(kind, false, path, step)
}

/// The structures of a vendor's own assets of a kind that have data.
fn linked(kind: &str, path: &str) -> Vec<Asked> {
    let with_data: Vec<String> = demo_records()
        .of("assets")
        .iter()
        .filter(|asset| !asset[kind]["data"].is_null())
        .map(|asset| records::id("assets", asset).to_string())
        .collect();
    let all = assets(Some(kind), path, "/data/structure").into_iter();
    all.filter(|(_, path)| with_data.iter().any(|id| path.contains(id))).collect()
}

/// A grant that nobody has: what one allows is shown by the walk through all writes.
fn grants(step: &str) -> Vec<Asked> {
    everybody(&format!("vendor/uploads/grants/{}{step}", "x".repeat(32)))
}

fn codebases(step: &str) -> Vec<Asked> {
    assets(Some("codebase"), "codebases", step)
}

fn no_codebases(step: &str) -> Vec<Asked> {
    foreign(Some("codebase"), "codebases", step)
}

fn raw_data(step: &str) -> Vec<Asked> {
    assets(Some("raw_data"), "raw-data", step)
}

fn no_raw_data(step: &str) -> Vec<Asked> {
    foreign(Some("raw_data"), "raw-data", step)
}

fn tasks(step: &str) -> Vec<Asked> {
    assets(Some("task"), "tasks", step)
}

fn no_tasks(step: &str) -> Vec<Asked> {
    foreign(Some("task"), "tasks", step)
}

/// Groups that are a vendor's own or not.
fn groups(is_own: bool) -> Vec<Asked> {
    let mut asked = Vec::new();
    for key in VENDORS {
        let team = demo_records().team_of(key);
        for group in demo_records().of("groups").iter().filter(|group| (group["team"] == team) == is_own) {
            asked.push((key, format!("/v2/asset-groups/{}", records::id("groups", group))));
        }
        if !is_own {
            asked.push((key, format!("/v2/asset-groups/{}", Uuid::nil())));
        }
    }
    asked
}

fn placed() -> Vec<Asked> {
    let group = groups(true).swap_remove(0);
    let asset = assets(None, "assets", "").into_iter().find(|(key, _)| *key == group.0).unwrap();
    vec![(group.0, format!("{}{}", group.1, asset.1.replace("/v2", "")))]
}

/// An own asset into a foreign group, a foreign asset into an own group, and both.
fn misplaced() -> Vec<Asked> {
    let of = |asked: Vec<Asked>| asked.into_iter().find(|(key, _)| *key == VENDOR).unwrap().1;
    let (own, other) = (of(assets(None, "assets", "")), of(foreign(None, "assets", "")));
    let (group, other_group) = (of(groups(true)), of(groups(false)));
    let path = |group: &str, asset: &str| (VENDOR, format!("{group}{}", asset.replace("/v2", "")));
    vec![path(&other_group, &own), path(&group, &other), path(&other_group, &other)]
}

/// The example's taskset is on a withdrawn listing, which only its team sees and one that has bought it.
fn unseen_taskset() -> Vec<Asked> {
    everybody("tasks/import").into_iter().filter(|(key, _)| ![VENDOR, BOTH].contains(key)).collect()
}
