//! Rows of the operations that only buyers have.

use serde_json::Value;

use super::rows::{Asked, BOTH, BUYER, Needs, Row};

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
pub const ROWS: [Row; 2] = [
    row!("list_purchases", || everybody("listings/browse/purchases"), Vec::new, NONE),
    row!("list_offers", || everybody("listings/browse/offers"), Vec::new, NONE),
];

fn everybody(path: &str) -> Vec<Asked> {
    BUYERS.into_iter().map(|key| (key, format!("/v2/{path}"))).collect()
}
