//! Evidence of listings whose assets have changed since the quality run.

use marketplace::{
    domain::listings::Actor,
    operations::{self, access::Platform, listing_assets, review_cases::RequiredChecks},
    store,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    quality_runs::market,
    seller_market::{seeded_id, seller_call, seller_get},
};
use crate::harness::{TestMarket, teams};

fn listing() -> Uuid {
    seeded_id("listings", "a").parse().unwrap()
}

/// Runs the checks of the listing and all its assets.
fn check(market: &TestMarket) {
    market
        .market()
        .write_blocking(|writer| {
            operations::listing_lifecycle::start_run(writer, Platform::of_process(), listing())
        })
        .unwrap();
    market.run_background();
    // What follows is later.
    market.clock().advance(1);
}

/// Returns the number of checks of assets, and of those of the whole listing, that buyers see. A reviewer is told if some are
/// left out.
async fn evidence(market: &TestMarket) -> (usize, usize) {
    let evidence = seller_get(market, &format!("listings/browse/{}/quality", listing())).await;
    let checks = evidence["checks"].as_array().unwrap();
    let of_assets = checks.iter().filter(|check| !check["asset_type"].is_null()).count();
    let of_listing = checks.len() - of_assets;
    let required = market.market().read_blocking(|reader| {
        operations::review_cases::required_checks(reader, Platform::of_process(), listing())
    });
    assert_eq!(required.unwrap() == RequiredChecks::OtherData, of_listing == 0);
    (of_assets, of_listing)
}

/// Assets that are no longer on the listing have no checks on it, and the checks of the whole listing are about all its assets.
#[tokio::test]
async fn checks_of_other_assets_are_no_evidence() {
    let raw_data = |key: &str| {
        json!({"key": key, "team": "seller", "sku": "raw_data", "title": key, "description": "D", "domain_tags": ["finance"],
            "price_usd": 9, "created_at": "-P9D", "raw_data": {}})
    };
    let market = market(&json!({
        "assets": [raw_data("first"), raw_data("second"), raw_data("third")],
        "listings": [{"key": "a", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D",
            "assets": ["first", "second"]}],
    }));
    check(&market);
    assert_eq!(evidence(&market).await, (2, 1));
    let path = format!("listings/{}/assets/{}", listing(), seeded_id("assets", "second"));
    seller_call(&market, "DELETE", &path, Value::Null).await.expect_status(204);
    assert_eq!(evidence(&market).await, (1, 0));
    check(&market);
    assert_eq!(evidence(&market).await, (1, 1));
    let third: Uuid = seeded_id("assets", "third").parse().unwrap();
    let attached = market.market().write_blocking(|writer| {
        let seller = teams::vendor(writer.rows, "seller");
        let listing = store::listings::find(writer.rows, listing())?.unwrap();
        listing_assets::attach_all(writer, &seller, Actor::Team, &listing, &[third], false)
    });
    attached.unwrap();
    assert_eq!(evidence(&market).await, (1, 0));
}
