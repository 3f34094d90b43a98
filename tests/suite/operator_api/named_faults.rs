//! Messages name what is at fault: the first few things of a list, and how many more there are.

use marketplace::clock::fixture_record_id;
use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    OPERATOR, asset_id, listing_id, offer, patch, post, purchase, sales_market, team_id,
};
use crate::harness::{TestMarket, TestResponse};

/// Number of assets without a description: more than a message names.
const LACKING: usize = 7;

/// Returns the messages of an error, in their order.
fn messages(response: &TestResponse) -> Vec<String> {
    let json = response.json();
    let text = |message: &Value| message.as_str().unwrap().to_owned();
    match json["detail"].as_array() {
        Some(problems) => problems.iter().map(|problem| text(&problem["msg"])).collect(),
        None => vec![text(&json["error"]["message"])],
    }
}

/// Returns an asset as messages name it.
fn named(title: &str, key: &str) -> String {
    format!("\"{title}\" ({})", asset_id(key))
}

/// Returns the names of the first assets that lack fields, each with `after`, and how many more there are.
fn lacking(after: &str) -> String {
    let names: Vec<String> =
        (1..=5).map(|number| named(&format!("Scans {number}"), &format!("s{number}")) + after).collect();
    format!("{}; and {} more", names.join("; "), LACKING - 5)
}

/// Returns a market with sales, and with assets in a group that cannot be listed.
fn market_with_faults() -> TestMarket {
    let market = sales_market();
    let scans = (1..=LACKING).map(|number| {
        json!({"key": format!("s{number}"), "team": "seller", "sku": "raw_data", "title": format!("Scans {number}"),
            "group": "archive", "created_at": "-P9D", "raw_data": {}})
    });
    market.seed_json(&json!({
        "groups": [{"key": "archive", "team": "seller", "name": "Archive", "created_at": "-P9D"}],
        "assets": scans.collect::<Vec<_>>(),
    }));
    market
}

#[tokio::test]
async fn assets_that_cannot_be_attached_are_named_with_what_they_lack() {
    const LACKS: &str = " lacks description, domain_tags, price_usd";
    let market = market_with_faults();
    let attach = format!("listings/{}/attach", listing_id("hidden"));
    let all: Vec<Uuid> = (1..=LACKING).map(|number| asset_id(&format!("s{number}"))).collect();
    let mut with_others = json!(all);
    with_others.as_array_mut().unwrap().extend([json!(Uuid::nil()), json!(asset_id("hidden-files"))]);
    let one = format!(
        "These assets cannot be listed yet. Add what they lack first: {}{LACKS}.",
        named("Scans 1", "s1")
    );
    for (path, body, expected) in [
        (attach.as_str(), json!({"asset_ids": [all[0]]}), vec![one.clone()]),
        (
            "listings",
            json!({"team_id": team_id("seller"), "title": "T", "asset_ids": [asset_id("c1"), all[0]]}),
            vec![one],
        ),
        (
            attach.as_str(),
            json!({"asset_ids": with_others}),
            vec![
                format!("These assets do not exist, or belong to another team: {}.", Uuid::nil()),
                format!("These assets are on the listing already: {}.", named("Files", "hidden-files")),
                format!("These assets cannot be listed yet. Add what they lack first: {}.", lacking(LACKS)),
            ],
        ),
    ] {
        let refused = post(&market, path, &body).await;
        assert_eq!((refused.status, messages(&refused)), (422, expected), "{body}");
    }
}

#[tokio::test]
async fn what_is_in_the_way_of_an_operation_is_named() {
    let market = market_with_faults();
    let bought = post(&market, "purchases", &purchase("buyer", "plain", "credits")).await.expect_status(201);
    post(&market, "purchases", &purchase("other", "only", "credits")).await.expect_status(201);
    let offered =
        post(&market, "offers", &offer("both", "plain", "5.00", "credits")).await.expect_status(201);
    let run =
        post(&market, "quality-runs", &json!({"listing_id": listing_id("files")})).await.expect_status(201);
    let listing = |key: &str| format!("listings/{}", listing_id(key));
    let codes = format!("{}; {}", named("Code c1", "c1"), named("Code c2", "c2"));
    let files = named("Files", "files-files");
    for (method, path, body, expected) in [
        (
            "POST",
            "purchases".to_owned(),
            purchase("buyer", "plain", "credits"),
            format!(
                "The team already has a purchase of this listing that is pending or completed: {}.",
                bought["id"].as_str().unwrap()
            ),
        ),
        (
            "POST",
            "offers".to_owned(),
            offer("both", "plain", "6.00", "credits"),
            format!(
                "The team already has a submitted offer on this listing, {}. Change or withdraw that one.",
                offered["id"].as_str().unwrap()
            ),
        ),
        (
            "POST",
            "quality-runs".to_owned(),
            json!({"listing_id": listing_id("files")}),
            format!(
                "The quality run {} is still in progress. Wait until it ends, then start another one.",
                run["id"].as_str().unwrap()
            ),
        ),
        (
            "PATCH",
            listing("plain"),
            json!({"exclusive": true}),
            format!(
                "These codebases, or others of your team with the same data, were sold already, so they cannot be sold \
                 exclusively: {codes}. Detach them, or do not sell the listing exclusively."
            ),
        ),
        (
            "PATCH",
            listing("files"),
            json!({"exclusive": true}),
            format!(
                "Only codebases can be sold exclusively. Detach these assets, or do not sell the listing exclusively: \
                 {files}."
            ),
        ),
        (
            "POST",
            listing("only") + "/restore",
            Value::Null,
            format!(
                "These assets, or others of your team with the same data, were sold exclusively, so the listing cannot be \
                 offered: {}. Detach them first.",
                named("Code c3", "c3")
            ),
        ),
        (
            "PATCH",
            listing("plain"),
            json!({"sample": [{"asset_id": asset_id("c1"), "paths": ["src/a.c", "../b", "/c"]}]}),
            "Each path must name a file or a directory of the data, from its root and without `..`, in 1 to 4096 \
             bytes. These do not: \"../b\"; \"/c\"."
                .to_owned(),
        ),
    ] {
        let refused = if method == "PATCH" {
            patch(&market, &path, &body).await
        } else {
            post(&market, &path, &body).await
        };
        assert!((400..500).contains(&refused.status), "{path}: {}", refused.json());
        assert_eq!(messages(&refused), [expected], "{path}");
    }
}

#[tokio::test]
async fn vendor_is_told_what_its_records_are_used_for() {
    let market = market_with_faults();
    let group = fixture_record_id("groups", "archive");
    let column = "c".repeat(1_001);
    for (method, path, body, expected) in [
        (
            "DELETE",
            format!("asset-groups/{group}"),
            Value::Null,
            format!("The group has assets: {}. Move them to another group first.", lacking("")),
        ),
        (
            "DELETE",
            format!("raw-data/{}", asset_id("files-files")),
            Value::Null,
            format!(
                "The asset is on listings that are in review or published: \"Listing files\" ({}). Withdraw them, \
                 or take them out of the catalog first.",
                listing_id("files")
            ),
        ),
        (
            "PATCH",
            format!("raw-data/{}", asset_id("s1")),
            json!({"group_id": Uuid::nil()}),
            format!("Your team has no group {}. `GET /v2/asset-groups` lists its groups.", Uuid::nil()),
        ),
        (
            "PATCH",
            format!("raw-data/{}", asset_id("s1")),
            json!({"extra_columns": {&column: 1}}),
            format!("The name of the column \"{}…\" must have at most 1000 characters.", &column[..100]),
        ),
    ] {
        let refused = market.call("mkt_seller", method, &format!("/v2/{path}"), &body).await;
        assert!((400..500).contains(&refused.status), "{path}: {}", refused.json());
        assert_eq!(messages(&refused), [expected], "{path}");
    }
    let read = market.get(OPERATOR, &format!("/operator/v1/assets/{}", asset_id("s1"))).await;
    assert_eq!(read.ok()["title"], "Scans 1", "nothing was changed");
}
