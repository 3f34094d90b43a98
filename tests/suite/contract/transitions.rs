//! Transitions of the records of the demo over HTTP: each that the state does not allow is refused, and the error says which
//! state it is and what it allows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::cases::{Case, OPERATOR, RequiredAccess, cases};
use crate::harness::TestMarket;

/// Records per collection that are tried, of those that are in the same state at first.
const RECORDS_PER_STATE: usize = 3;

/// Fields with the state of a record.
const STATE_FIELDS: [&str; 3] = ["stage", "status", "state"];

/// Observations of a state of the records in a collection.
#[derive(Default)]
struct Seen {
    /// The operations that errors say are allowed, of any record in the state.
    allowed: BTreeSet<String>,
    succeeded: BTreeSet<&'static str>,
    refused: BTreeSet<&'static str>,
}

/// What was seen, by collection and state.
type Table = BTreeMap<(&'static str, String), Seen>;

/// Returns the path of a collection and the verb, for an operation that changes the state of one of its records.
fn transition(case: &Case) -> Option<(&'static str, &'static str)> {
    let path = case.documented().path.as_str();
    let (collection, rest) = path.split_once("/{")?;
    let (_, verb) = rest.split_once("}/")?;
    let is_transition = case.access == RequiredAccess::ActingOperator && case.documented().method == "POST";
    // The tests need the keys of operators.
    let is_key = collection == "/operator/v1/operator-keys";
    (is_transition && !is_key).then_some((collection, verb))
}

/// Returns the operations on the records of each collection.
fn transitions() -> BTreeMap<&'static str, Vec<(&'static str, &'static Case)>> {
    let mut by_collection = BTreeMap::<_, Vec<_>>::new();
    for case in cases().filter(|case| !case.is_of_sandbox()) {
        if let Some((collection, verb)) = transition(case) {
            by_collection.entry(collection).or_default().push((verb, case));
        }
    }
    by_collection
}

/// Returns the state of a record, if it has one.
fn state(record: &Value) -> Option<&str> {
    STATE_FIELDS.into_iter().find_map(|field| record[field].as_str())
}

/// Returns the paths of some records of a collection.
async fn records(market: &TestMarket, collection: &str) -> Vec<String> {
    let page = market.get(OPERATOR, &format!("{collection}?limit=100")).await;
    if page.status == 404 {
        // Records that are listed with another one, and have no transitions: tasks and their versions.
        return Vec::new();
    }
    let page = page.ok();
    let mut by_state = BTreeMap::<&str, usize>::new();
    let mut paths = Vec::new();
    for record in page["items"].as_array().unwrap() {
        let Some(state) = state(record) else { continue };
        let count = by_state.entry(state).or_default();
        *count += 1;
        if *count <= RECORDS_PER_STATE {
            let id = if record["id"].is_null() { &record["slug"] } else { &record["id"] };
            paths.push(format!("{collection}/{}", id.as_str().unwrap()));
        }
    }
    paths
}

/// Calls an operation on a record, and notes what its state allows. `known` is what the record allows, if an error has said
/// it since the record changed.
async fn call(
    market: &TestMarket,
    table: &mut Table,
    known: &mut Option<BTreeSet<String>>,
    (collection, record): (&'static str, &str),
    (verb, case): (&'static str, &Case),
) {
    let before = market.get(OPERATOR, record).await;
    let from = state(&before.json()).unwrap().to_owned();
    let response = market.call(OPERATOR, "POST", &format!("{record}/{verb}"), &case.body()).await;
    let context = format!("{verb} of {record} in {from}");
    let operation = verb.replace('-', "_");
    let seen = table.entry((collection, from.clone())).or_default();
    if response.status < 300 {
        let is_known = known.take().is_none_or(|known| known.contains(&operation));
        assert!(is_known || is_always_possible(verb), "{context}");
        seen.succeeded.insert(verb);
    } else if response.json()["error"]["code"] == "invalid_transition" {
        assert_eq!(response.status, 409);
        let details = response.json()["error"]["details"].clone();
        let allowed: BTreeSet<String> = serde_json::from_value(details["allowed"].clone()).unwrap();
        assert_eq!(details["from"], json!(from), "{context}");
        assert!(!allowed.contains(&operation), "{context}: {allowed:?}");
        let known = known.get_or_insert_with(|| allowed.clone());
        assert_eq!(*known, allowed, "{context}");
        assert_eq!(market.get(OPERATOR, record).await.bytes, before.bytes, "{context}");
        seen.allowed.extend(allowed);
        seen.refused.insert(verb);
    }
}

/// Whether a verb is not a transition, so that errors do not name it.
fn is_always_possible(verb: &str) -> bool {
    ["attach", "detach", "certify", "revoke", "feature", "unfeature", "exclude"].contains(&verb)
}

#[tokio::test]
async fn transitions_that_a_state_does_not_allow_are_refused() {
    let mut table = Table::new();
    // The order of the operations decides which states records reach.
    for is_reversed in [false, true] {
        let market = TestMarket::demo();
        for (collection, mut operations) in transitions() {
            if is_reversed {
                operations.reverse();
            }
            for record in records(&market, collection).await {
                let mut known = None;
                for operation in &operations {
                    call(&market, &mut table, &mut known, (collection, &record), *operation).await;
                }
            }
        }
    }
    let lines =
        table.iter().filter(|(_, seen)| !seen.refused.is_empty()).map(|((collection, from), seen)| {
            format!(
                "{collection} {from}: allowed {:?}, done {:?}, refused {:?}",
                seen.allowed, seen.succeeded, seen.refused
            )
        });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
