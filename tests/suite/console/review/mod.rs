//! Operators review listings: the queue, decisions on what they have seen, and two reviewers at once.

mod decisions;
mod queue;
mod revisions;

use marketplace::{
    domain::{listing_lifecycle::Operation, principals::KeyScope},
    market::Writer,
    store,
};
use serde_json::{Value, json};

use crate::{
    catalog::small_market::{listing, published, small_market_with},
    harness::{
        TestMarket,
        browser::{Browser, Page, open},
        listing_lifecycle,
    },
    sales::{codebase, listing_id},
};

const QUEUE: &str = "/console/operator/review";

/// A market in which the listings `b`, `c`, and `a` wait for a review, `b` for the longest time. `b` has a codebase, and `c` is of
/// another vendor. `draft` was never submitted, `old` is in the catalog.
fn market() -> TestMarket {
    let waiting = |key: &str, days: u32, change: &Value| {
        let mut record = listing(key, change);
        record["history"] = json!([{"event": "submitted", "at": format!("-P{days}D")}]);
        record
    };
    let listings = [
        published("old", 30, &json!({})),
        waiting("a", 3, &json!({})),
        waiting(
            "b",
            9,
            &json!({"assets": ["code"], "title": "<b>Tides</b>", "description": "Of nine harbors."}),
        ),
        waiting("c", 5, &json!({"team": "both"})),
        listing("draft", &json!({})),
    ];
    small_market_with(&listings, &json!({"assets": [codebase("code", &json!(20))]}))
}

async fn reviewer<'m>(market: &'m TestMarket, name: &str) -> Browser<'m> {
    Browser::signed_in(market, &market.operator_key(name, KeyScope::All)).await
}

fn path_of(key: &str) -> String {
    format!("{QUEUE}/{}", listing_id(key))
}

/// Sends the form of a page with a decision and a note.
async fn decide(browser: &Browser<'_>, page: &Page, key: &str, decision: &str, note: &str) -> Page {
    let answer = browser.submit(page, &path_of(key), &[("decision", decision), ("note", note)]).await;
    // It asks before it approves a listing whose required checks have not all passed.
    if decision == "approve" && answer.status() == 200 && answer.text.contains("value=\"approve_anyway\"") {
        return browser.submit(&answer, &path_of(key), &[("decision", "approve_anyway")]).await;
    }
    answer
}

fn perform(market: &TestMarket, key: &str, operation: Operation) {
    let perform = |writer: &mut Writer| listing_lifecycle::perform(writer, listing_id(key), operation);
    market.write(perform).unwrap();
}

fn review_status(market: &TestMarket, key: &str) -> String {
    let find = |reader: &marketplace::market::Reader| store::listings::find(reader.rows, listing_id(key));
    let listing = market.read(find).unwrap().unwrap();
    marketplace::string_enum::StringEnum::as_str(listing.status.review).to_owned()
}
