//! Test cases of the operations that only buyers may call.

use serde_json::Value;

use super::cases::{BOTH, BUYER, Case, CaseRequest, RequiredAccess};
use crate::harness::records::{self, demo_records};

/// Keys of teams with the buyer role.
const BUYERS: [&str; 5] = [BUYER, BOTH, "mkt_demo_buyer_two", "mkt_demo_buyer_three", "mkt_demo_both_two"];

macro_rules! case {
    ($operation:literal, $happy:expr, $absent:expr, $misspelt:expr) => {
        Case {
            operation: $operation,
            access: RequiredAccess::Buyer,
            ok_requests: $happy,
            not_found_requests: $absent,
            body: || Value::Null,
            misspelled_query: $misspelt,
        }
    };
}

/// A query with an unknown parameter that has no close match.
const UNKNOWN_PARAMETER: (&str, &str) = ("limit=1", "");

/// One case per operation of the buyer API that the vendor API lacks.
pub const CASES: [Case; 7] = [
    case!("list_own_opportunities", || list_requests("opportunities"), Vec::new, ("staus=draft", "status")),
    case!(
        "get_own_opportunity",
        || opportunities_by_owner("opportunities", true, ""),
        || opportunities_by_owner("opportunities", false, ""),
        UNKNOWN_PARAMETER
    ),
    case!(
        "list_own_project_opportunities",
        || list_requests("project-opportunities"),
        Vec::new,
        ("staus=draft", "status")
    ),
    case!(
        "get_own_project_opportunity",
        || opportunities_by_owner("project_opportunities", true, ""),
        || opportunities_by_owner("project_opportunities", false, ""),
        UNKNOWN_PARAMETER
    ),
    case!(
        "list_project_bids",
        || opportunities_by_owner("project_opportunities", true, "/bids"),
        || opportunities_by_owner("project_opportunities", false, "/bids"),
        ("limt=1", "limit")
    ),
    case!("list_purchases", || for_all_keys("listings/browse/purchases"), Vec::new, UNKNOWN_PARAMETER),
    case!("list_offers", || for_all_keys("listings/browse/offers"), Vec::new, UNKNOWN_PARAMETER),
];

fn list_requests(path: &str) -> Vec<CaseRequest> {
    let mut requests = for_all_keys(&format!("buyer/{path}"));
    for query in ["limit=100", "limit=1&offset=1", "status=published", "status=nonsense"] {
        requests.extend(for_all_keys(&format!("buyer/{path}?{query}")));
    }
    requests
}

/// Requests for the opportunities of a collection that the calling team owns (`is_own`) or does not own.
fn opportunities_by_owner(collection: &str, is_own: bool, step: &str) -> Vec<CaseRequest> {
    let path = collection.replace('_', "-");
    let mut requests = Vec::new();
    for key in BUYERS {
        let team = demo_records().team_of(key);
        for record in
            demo_records().collection(collection).iter().filter(|record| (record["owner"] == team) == is_own)
        {
            requests.push((key, format!("/v2/buyer/{path}/{}{step}", records::id(collection, record))));
        }
        if !is_own {
            requests.push((key, format!("/v2/buyer/{path}/{}{step}", uuid::Uuid::nil())));
        }
    }
    requests
}

fn for_all_keys(path: &str) -> Vec<CaseRequest> {
    BUYERS.into_iter().map(|key| (key, format!("/v2/{path}"))).collect()
}
