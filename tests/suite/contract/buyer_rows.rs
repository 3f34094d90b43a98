//! Rows of the operations that only buyers have.

use serde_json::Value;

use super::rows::{Asked, BOTH, BUYER, Needs, Row};
use crate::harness::records::{self, demo_records};

/// Keys of buyers.
const BUYERS: [&str; 5] = [BUYER, BOTH, "mkt_demo_buyer_two", "mkt_demo_buyer_three", "mkt_demo_both_two"];

macro_rules! row {
    ($operation:literal, $happy:expr, $absent:expr, $misspelt:expr) => {
        Row {
            operation: $operation,
            needs: Needs::Buyer,
            happy: $happy,
            absent: $absent,
            body: || Value::Null,
            misspelt: $misspelt,
        }
    };
}

const NONE: (&str, &str) = ("limit=1", "");

/// Every operation.
pub const ROWS: [Row; 7] = [
    row!("list_own_opportunities", || lists("opportunities"), Vec::new, ("staus=draft", "status")),
    row!("get_own_opportunity", || own("opportunities", true, ""), || own("opportunities", false, ""), NONE),
    row!(
        "list_own_project_opportunities",
        || lists("project-opportunities"),
        Vec::new,
        ("staus=draft", "status")
    ),
    row!(
        "get_own_project_opportunity",
        || own("project_opportunities", true, ""),
        || own("project_opportunities", false, ""),
        NONE
    ),
    row!(
        "list_project_bids",
        || own("project_opportunities", true, "/bids"),
        || own("project_opportunities", false, "/bids"),
        ("limt=1", "limit")
    ),
    row!("list_purchases", || everybody("listings/browse/purchases"), Vec::new, NONE),
    row!("list_offers", || everybody("listings/browse/offers"), Vec::new, NONE),
];

fn lists(path: &str) -> Vec<Asked> {
    let mut asked = everybody(&format!("buyer/{path}"));
    for query in ["limit=100", "limit=1&offset=1", "status=published", "status=nonsense"] {
        asked.extend(everybody(&format!("buyer/{path}?{query}")));
    }
    asked
}

/// Opportunities of a collection that are a buyer's own, or not.
fn own(collection: &str, is_own: bool, step: &str) -> Vec<Asked> {
    let path = collection.replace('_', "-");
    let mut asked = Vec::new();
    for key in BUYERS {
        let team = demo_records().team_of(key);
        for record in
            demo_records().of(collection).iter().filter(|record| (record["owner"] == team) == is_own)
        {
            asked.push((key, format!("/v2/buyer/{path}/{}{step}", records::id(collection, record))));
        }
        if !is_own {
            asked.push((key, format!("/v2/buyer/{path}/{}{step}", uuid::Uuid::nil())));
        }
    }
    asked
}

fn everybody(path: &str) -> Vec<Asked> {
    BUYERS.into_iter().map(|key| (key, format!("/v2/{path}"))).collect()
}
