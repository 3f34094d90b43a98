//! Every ID that a response of the operator API contains leads to its details, unless the API has none of that kind: an
//! operator reads the demo market completely, following every ID.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::received_ids::{ReceivedId, Walk};
use crate::harness::{TestMarket, documents::operator_document};

/// Collections of the API with the details of records. None if no route shows such a record.
type Details = &'static [&'static str];

const ASSETS: Details = &["assets"];
const ENTRIES: Details = &["ledger-entries"];
const KEYS: Details = &["keys", "operator-keys"];
const LISTINGS: Details = &["listings"];
const RUNS: Details = &["quality-runs"];
const TASKSETS: Details = &["tasksets"];
const TEAMS: Details = &["teams"];

/// The IDs in responses, as `Schema.field`. `*` matches every schema.
const IDS: &[(&str, Details)] = &[
    ("DeliveredTaskset.id", TASKSETS),
    ("QualityRunCheck.id", &[]),
    ("*.agreement_document_id", &[]),
    ("*.asset_id", ASSETS),
    ("*.asset_ids", ASSETS),
    ("*.bulk_change_id", &[]),
    ("*.buyer_id", TEAMS),
    ("*.created_by", &[]),
    ("*.credit_purchase_id", &["credit-purchases"]),
    ("*.delivery_taskset_ids", TASKSETS),
    ("*.estimation_id", &["estimations"]),
    ("*.excluded_team_ids", TEAMS),
    ("*.grant_id", &["grants"]),
    ("*.group_id", &[]),
    ("*.import_id", &["trace-imports"]),
    ("*.inventory_asset_id", ASSETS),
    ("*.key_id", KEYS),
    ("*.latest_quality_run_id", RUNS),
    ("*.ledger_entry_id", ENTRIES),
    ("*.listing_id", LISTINGS),
    ("*.listing_ids", LISTINGS),
    ("*.notification_id", &["notifications"]),
    ("*.offer_id", &["offers"]),
    ("*.offer_ids", &["offers"]),
    ("*.operator_key_id", &["operator-keys"]),
    ("*.opportunity_id", &["opportunities", "project-opportunities"]),
    ("*.owner_id", TEAMS),
    ("*.project_bid_id", &["project-bids"]),
    ("*.project_opportunity_id", &["project-opportunities"]),
    ("*.purchase_id", &["purchases"]),
    ("*.refresh_id", &[]),
    ("*.reversal_entry_id", ENTRIES),
    ("*.run_id", RUNS),
    ("*.session_id", &[]),
    ("*.subject_id", &[]),
    ("*.successor_id", KEYS),
    ("*.task_build_id", &["task-builds"]),
    ("*.task_id", &["tasks"]),
    ("*.task_ids", &["tasks"]),
    ("*.task_version_id", &["task-versions"]),
    ("*.taskset_id", TASKSETS),
    ("*.taskset_ids", TASKSETS),
    ("*.team_id", TEAMS),
    ("*.team_ids", TEAMS),
    ("*.upload_id", &[]),
    ("*.vendor_id", TEAMS),
    ("*.vendor_team_id", TEAMS),
    ("*.webhook_id", &["webhooks"]),
    ("*.withdrawal_id", &["withdrawals"]),
];

/// The collections of records whose lists are not at the path of their details.
const LISTED_ELSEWHERE: [(&str, Details); 5] = [
    ("QualityRunSummary", RUNS),
    ("Task", &["tasks"]),
    ("TaskBuild", &["task-builds"]),
    ("TaskVersion", &["task-versions"]),
    ("TraceImport", &["trace-imports"]),
];

/// Lists below a record.
const BELOW: [(&str, &str); 5] = [
    ("listings", "history"),
    ("tasksets", "tasks"),
    ("tasksets", "traces"),
    ("tasks", "versions"),
    ("task-versions", "builds"),
];

/// Returns where the details of an ID are; `None` if that is not known. `list` is the collection of the request.
fn details(schema: &str, field: &str, list: &str) -> Option<Vec<String>> {
    let (exact, any) = (format!("{schema}.{field}"), format!("*.{field}"));
    let find = |name: &str| IDS.iter().find(|(id, _)| *id == name).map(|(_, details)| *details);
    let elsewhere = || LISTED_ELSEWHERE.iter().find(|(name, _)| *name == schema).map(|row| row.1);
    let found = find(&exact).or_else(|| find(&any)).or_else(|| elsewhere().filter(|_| field == "id"));
    match found {
        Some(collections) => Some(collections.iter().map(|name| (*name).to_owned()).collect()),
        None => (field == "id").then(|| vec![list.to_owned()]),
    }
}

/// An operator who reads everything.
struct Reader<'a> {
    market: &'a TestMarket,
    /// Status of each requested path, without the prefix of the API.
    statuses: HashMap<String, u16>,
    /// IDs in responses that are not followed yet, with the collection of the request.
    pending: Vec<(String, ReceivedId)>,
}

impl Reader<'_> {
    /// Requests a path, unless it was requested before, and the pages that follow it. Returns the status.
    async fn get(&mut self, path: &str) -> u16 {
        if let Some(status) = self.statuses.get(path) {
            return *status;
        }
        let mut page = path.to_owned();
        loop {
            let full_path = format!("/operator/v1/{page}");
            let response = self.market.get("mkt_demo_operator", &full_path).await;
            self.statuses.insert(page.clone(), response.status);
            if response.status != 200 {
                return response.status;
            }
            let body = response.json();
            let operation = operator_document().find(&full_path).expect("the document has the path");
            let mut walk = Walk::new(operator_document().schemas());
            walk.visit(operation.success_schema(), &body, ("", ""), false);
            let collection = path.split(['/', '?']).next().unwrap().to_owned();
            self.pending.extend(walk.found.into_iter().map(|id| (collection.clone(), id)));
            match body["next_cursor"].as_str() {
                Some(cursor) => page = format!("{path}&cursor={cursor}"),
                None => return 200,
            }
        }
    }
}

#[test]
fn all_ids_of_the_operator_document_are_known() {
    let mut used = BTreeSet::new();
    for operation in operator_document().operations().iter().filter(|operation| operation.method == "GET") {
        for id in operator_document().id_fields(operation.success_schema()) {
            assert!(details(&id.schema, &id.field, "list").is_some(), "{id:?} is not in the table");
            used.extend([format!("{}.{}", id.schema, id.field), format!("*.{}", id.field)]);
        }
    }
    for (id, _) in IDS {
        assert!(used.contains(*id), "no response has {id}");
    }
}

#[tokio::test]
async fn every_id_that_an_operator_receives_leads_to_its_details() {
    let market = TestMarket::demo();
    let mut reader = Reader { market: &market, statuses: HashMap::new(), pending: Vec::new() };
    for operation in operator_document().operations() {
        let path = operation.path.trim_start_matches("/operator/v1/");
        if operation.method == "GET" && !path.contains('{') {
            let has_limit = operation.query.iter().any(|name| name == "limit");
            let path = format!("{path}{}", if has_limit { "?limit=100" } else { "" });
            assert_eq!(reader.get(&path).await, 200, "{path}");
        }
    }
    let (mut problems, mut followed) = (BTreeSet::new(), HashSet::new());
    while let Some((list, received)) = reader.pending.pop() {
        let found = details(&received.schema, &received.field, &list)
            .unwrap_or_else(|| panic!("{}.{} is not in the table", received.schema, received.field));
        if found.is_empty() || !followed.insert((found.clone(), received.id.clone())) {
            continue;
        }
        let mut is_found = false;
        for collection in found {
            let path = format!("{collection}/{}", received.id);
            if reader.get(&path).await != 200 {
                continue;
            }
            is_found = true;
            for (_, below) in BELOW.iter().filter(|(owner, _)| *owner == collection) {
                assert_eq!(reader.get(&format!("{path}/{below}?limit=100")).await, 200, "{path}/{below}");
            }
        }
        if !is_found {
            problems.insert(format!("{received:?} in {list}"));
        }
    }
    assert!(problems.is_empty(), "404 for IDs that the operator received: {problems:#?}");
    assert!(followed.len() > 500, "{} IDs", followed.len());
}
