//! Assets on listings: which changes are allowed, and how the catalog reflects them.

use serde_json::{Value, json};

use super::stock::{change, id, read, seller, stock};
use crate::{catalog::shop::BROWSE, harness::TestMarket};

/// Returns a market with a listing of the seller that has this history and contains an analyzed codebase.
fn market(history: &Value) -> TestMarket {
    let data = json!({"channel": "github", "repo_full_name": "acme/ledger", "archive_status": "completed",
        "analysis_status": "completed", "attached_at": "-P5D", "analyzed_at": "-P4D", "archive_bytes": 9000});
    stock(&json!({
        "assets": [
            {"key": "code", "team": "seller", "sku": "codebase", "title": "Code", "description": "D", "created_at": "-P9D",
                "domain_tags": ["finance"],
                "codebase": {"exclusivity": "available", "languages": {"cobol": 700, "python": 300}, "data": data}},
            {"key": "task", "team": "seller", "sku": "other", "title": "Rest", "other": [], "created_at": "-P9D"},
        ],
        "listings": [{"key": "l", "team": "seller", "title": "L", "description": "D", "price_usd": 5, "created_at": "-P9D",
            "assets": ["code", "task"], "history": history}],
    }))
}

fn live() -> Value {
    json!([{"event": "submitted", "at": "-P8D"}, {"event": "approved", "at": "-P7D"}, {"event": "published", "at": "-P6D"}])
}

async fn listing(market: &TestMarket) -> Value {
    market.get("mkt_buyer", &format!("{BROWSE}/{}", id("listings", "l"))).await.ok()
}

async fn page(market: &TestMarket, query: &str) -> Value {
    market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok()
}

/// A change of an asset shows on its listing at once: in scale, filters, facets, summary, and details.
#[tokio::test]
async fn the_catalog_follows_a_change_of_an_asset() {
    let market = market(&live());
    let path = format!("codebases/{}", id("assets", "code"));
    assert_eq!(page(&market, "min_loc=5000").await["items"], json!([]));
    change(&market, &path, json!({"lines_of_code": 5000, "domain_tags": ["legal"]})).await;
    let found = page(&market, "min_loc=5000").await;
    assert_eq!(found["items"][0]["catalog_scale"]["loc"], 5000);
    let shown = listing(&market).await;
    assert_eq!(shown["assets"][0]["scale"]["loc"], 5000);
    assert_eq!(shown["assets"][0]["domain_tags"], json!(["legal"]));
}

/// "An asset on a listing in review or active is `asset_in_use`: it can be neither deleted nor detached from
/// its data."
#[tokio::test]
async fn what_a_listing_in_review_or_in_the_catalog_carries_stays() {
    let path = format!("codebases/{}", id("assets", "code"));
    for history in [live(), json!([{"event": "submitted", "at": "-P8D"}])] {
        let market = market(&history);
        let refusal = seller(&market, "DELETE", &format!("{path}/data"), Value::Null).await;
        assert_eq!(refusal.refused(409), "asset_in_use");
        assert_eq!(read(&market, &path).await["data"]["channel"], "github");
    }
}

/// Detaching the data of a codebase updates the scale of its listing, and deleting the codebase detaches it.
#[tokio::test]
async fn other_listings_follow_what_is_detached_and_deleted() {
    let mut history = live();
    history.as_array_mut().unwrap().push(json!({"event": "unpublished", "at": "-P2D"}));
    let market = market(&history);
    let path = format!("codebases/{}", id("assets", "code"));
    let own = || async { market.get("mkt_seller", &format!("{BROWSE}/{}", id("listings", "l"))).await.ok() };
    assert_eq!(own().await["catalog_scale"]["languages"], json!(["cobol", "python"]));
    seller(&market, "DELETE", &format!("{path}/data"), Value::Null).await.with(204);
    assert_eq!(own().await["catalog_scale"]["languages"], json!([]));
    assert_eq!(own().await["catalog_scale"]["asset_counts"], json!({"codebase": 1, "other": 1}));
    seller(&market, "DELETE", &path, Value::Null).await.with(204);
    assert_eq!(own().await["catalog_scale"]["asset_counts"], json!({"other": 1}));
    let life = read(&market, &format!("listings/{}/history", id("listings", "l"))).await;
    assert_eq!(
        (&life["events"][0]["event_type"], &life["events"][0]["to_status"]),
        (&json!("asset_detached"), &json!("ready"))
    );
    assert_eq!(read(&market, &format!("assets?listing_id={}", id("listings", "l"))).await["total"], 1);
}
