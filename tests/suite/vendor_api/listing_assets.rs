//! Assets on listings: which changes are allowed, and how the catalog reflects them.

use serde_json::{Value, json};

use super::seller_market::{
    github_link, market_with, seeded_id, seller_call, seller_get, seller_patch, seller_post,
};
use crate::{
    catalog::small_market::{BROWSE, listing},
    harness::TestMarket,
    sales::codebase,
};

/// Returns a market with a listing of the seller that has this history and contains an analyzed codebase.
fn market(history: &Value) -> TestMarket {
    let data = json!({"channel": "github", "repo_full_name": "acme/ledger", "archive_status": "completed",
        "analysis_status": "completed", "attached_at": "-P5D", "analyzed_at": "-P4D", "archive_bytes": 9000});
    market_with(&json!({
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

fn published_history() -> Value {
    json!([{"event": "submitted", "at": "-P8D"}, {"event": "approved", "at": "-P7D"}, {"event": "published", "at": "-P6D"}])
}

async fn get_listing(market: &TestMarket) -> Value {
    market.get("mkt_buyer", &format!("{BROWSE}/{}", seeded_id("listings", "l"))).await.ok()
}

async fn browse_page(market: &TestMarket, query: &str) -> Value {
    market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok()
}

/// A change of an asset shows on its listing at once: in scale, filters, facets, summary, and details.
#[tokio::test]
async fn catalog_reflects_asset_changes() {
    let market = market(&published_history());
    let path = format!("codebases/{}", seeded_id("assets", "code"));
    assert_eq!(browse_page(&market, "min_loc=5000").await["items"], json!([]));
    seller_patch(&market, &path, json!({"lines_of_code": 5000, "domain_tags": ["legal"]})).await;
    let found = browse_page(&market, "min_loc=5000").await;
    assert_eq!(found["items"][0]["catalog_scale"]["loc"], 5000);
    let listing = get_listing(&market).await;
    assert_eq!(listing["assets"][0]["scale"]["loc"], 5000);
    assert_eq!(listing["assets"][0]["domain_tags"], json!(["legal"]));
}

/// "An asset on a listing in review or active is `asset_in_use`: it can be neither deleted nor detached from
/// its data."
#[tokio::test]
async fn asset_on_a_submitted_or_live_listing_cannot_be_detached() {
    let path = format!("codebases/{}", seeded_id("assets", "code"));
    for history in [published_history(), json!([{"event": "submitted", "at": "-P8D"}])] {
        let market = market(&history);
        let rejection = seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await;
        assert_eq!(rejection.expect_error(409), "asset_in_use");
        assert_eq!(seller_get(&market, &path).await["data"]["channel"], "github");
    }
}

/// Detaching the data of a codebase updates the scale of its listing, and deleting the codebase detaches it.
#[tokio::test]
async fn unpublished_listing_reflects_detached_and_deleted_assets() {
    let mut history = published_history();
    history.as_array_mut().unwrap().push(json!({"event": "unpublished", "at": "-P2D"}));
    let market = market(&history);
    let path = format!("codebases/{}", seeded_id("assets", "code"));
    let own =
        || async { market.get("mkt_seller", &format!("{BROWSE}/{}", seeded_id("listings", "l"))).await.ok() };
    assert_eq!(own().await["catalog_scale"]["languages"], json!(["cobol", "python"]));
    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
    assert_eq!(own().await["catalog_scale"]["languages"], json!([]));
    assert_eq!(own().await["catalog_scale"]["asset_counts"], json!({"codebase": 1, "other": 1}));
    seller_call(&market, "DELETE", &path, Value::Null).await.expect_status(204);
    assert_eq!(own().await["catalog_scale"]["asset_counts"], json!({"other": 1}));
    let life = seller_get(&market, &format!("listings/{}/history", seeded_id("listings", "l"))).await;
    assert_eq!(
        (&life["events"][0]["event_type"], &life["events"][0]["to_status"]),
        (&json!("asset_detached"), &json!("draft"))
    );
    assert_eq!(
        seller_get(&market, &format!("assets?listing_id={}", seeded_id("listings", "l"))).await["total"],
        1
    );
}

/// "Editing the text or assets of an approved listing returns its `review_status` to draft." So does other data of an asset,
/// also in the archive, from which a listing returns with its review status.
#[tokio::test]
async fn other_data_ends_the_approval() {
    for last in ["unpublished", "archived"] {
        let mut history = published_history();
        history.as_array_mut().unwrap().push(json!({"event": last, "at": "-P2D"}));
        let market = market(&history);
        let data = format!("codebases/{}/data", seeded_id("assets", "code"));
        let path = format!("listings/{}", seeded_id("listings", "l"));
        assert_eq!(seller_get(&market, &path).await["review_status"], "approved", "{last}");
        seller_call(&market, "DELETE", &data, Value::Null).await.expect_status(204);
        seller_post(&market, &data, github_link()).await;
        assert_eq!(seller_get(&market, &path).await["review_status"], "draft", "{last}");
        let history = seller_get(&market, &format!("{path}/history")).await;
        assert_eq!(history["events"][0]["event_type"], "updated", "{history}");
    }
}

/// An asset that is offered without data may get some at any time. Only a listing that is approved and not in the catalog has to be
/// reviewed again.
#[tokio::test]
async fn data_is_attached_to_assets_of_any_listing() {
    let data = format!("codebases/{}/data", seeded_id("assets", "c1"));
    let path = format!("listings/{}", seeded_id("listings", "l"));
    let submitted = json!([{"event": "submitted", "at": "-P80D"}]);
    let approved = json!([{"event": "submitted", "at": "-P80D"}, {"event": "approved", "at": "-P79D"}]);
    let cases = [(submitted, "in_review"), (published_history(), "approved"), (approved, "draft")];
    for (history, expected) in cases {
        let market = market_with(&json!({
            "assets": [codebase("c1", &json!(20))],
            "listings": [listing("l", &json!({"assets": ["c1"], "history": history}))],
        }));
        seller_post(&market, &data, github_link()).await;
        assert_eq!(seller_get(&market, &path).await["review_status"], expected);
    }
}
