//! The page of an asset, and what is done with an asset from there.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{TestMarket, browser::Browser};

const VENDOR: &str = "mkt_demo_vendor";

/// Returns the ID of an asset in the vendor's table that a query selects.
async fn find(browser: &Browser<'_>, query: &str) -> String {
    let page = browser.get(&format!("/console/inventory?{query}")).await;
    let is_id = |text: &&str| Uuid::try_parse(text).is_ok();
    let mut ids = page.text.split("/console/inventory/").skip(1).filter_map(|rest| rest.get(..36));
    ids.find(is_id).unwrap_or_else(|| panic!("no asset: {}", page.visible())).to_owned()
}

#[tokio::test]
async fn assets_of_each_kind_have_a_page() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let inventory = browser.get("/console/inventory").await;
    let mut ids: Vec<&str> =
        inventory.text.split("/console/inventory/").skip(1).filter_map(|rest| rest.get(..36)).collect();
    ids.retain(|id| Uuid::try_parse(id).is_ok());
    ids.dedup();
    assert!(ids.len() > 3);
    for id in ids {
        let page = browser.get(&format!("/console/inventory/{id}")).await;
        page.expect(200, "Listings with this asset").expect(200, "Description");
        for run in page.text.split(&format!("/console/inventory/{id}/runs/")).skip(1) {
            let path = format!("/console/inventory/{id}/runs/{}", &run[..36]);
            browser.get(&path).await.expect(200, "Started by");
        }
        for verb in ["check", "delete", "detach", "edit"] {
            let status = browser.get(&format!("/console/inventory/{id}/{verb}")).await.status();
            assert!([200, 404].contains(&status), "{id}/{verb}: {status}");
        }
    }
}

#[tokio::test]
async fn fields_are_edited_without_locking_them() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "kind=raw_data").await;
    let path = format!("/console/inventory/{id}/edit");
    let refused = browser
        .post(&path, &[("title", " "), ("price_usd", "cheap"), ("extra_columns", "none"), ("form_key", "1")])
        .await;
    refused.expect(422, "Enter a name.").expect(422, "Enter an amount").expect(422, "a colon, and a value");
    let fields = [
        ("title", "Tide tables, revised"),
        ("description", "What the tide did."),
        ("price_usd", "$1,250.50"),
        ("notes", "Ask Ann"),
        ("extra_columns", "Ticket: AB-12"),
        ("form_key", "2"),
    ];
    let saved = browser.post(&path, &fields).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    let page = browser.get(saved.location()).await;
    page.expect(200, "Tide tables, revised")
        .expect(200, "$1,250.50")
        .expect(200, "AB-12")
        .expect(200, "Ask Ann");
    assert!(!page.text.contains("Set through the API"), "{}", page.visible());
}

#[tokio::test]
async fn fields_that_the_api_set_are_read_only() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let body = json!({"title": "Ledger", "exclusivity": "available", "commits": 7});
    let created = market.call(VENDOR, "POST", "/v2/codebases", &body).await.expect_status(201);
    let id = created["id"].as_str().unwrap();
    let path = format!("/console/inventory/{id}/edit");
    let form = browser.get(&path).await;
    form.expect(200, "Set through the API, so it is read-only here.").expect(200, "name=\"contributors\"");
    assert!(!form.text.contains("name=\"commits\""), "{}", form.visible());
    browser
        .post(&path, &[("commits", "8"), ("form_key", "1")])
        .await
        .expect(422, "can only be changed there");
    let saved = browser.post(&path, &[("contributors", "3"), ("form_key", "2")]).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    let stored = market.call(VENDOR, "GET", &format!("/v2/codebases/{id}"), &Value::Null).await.ok();
    assert_eq!((&stored["commits"], &stored["contributors"]), (&json!(7), &json!(3)));
    assert!(stored["locked_fields"].get("contributors").is_none(), "{stored}");

    browser.get(&format!("/console/inventory/{id}/check")).await.expect(200, "It has no data.");
    browser.get(&format!("/console/inventory/{id}/delete")).await.expect(200, "Delete the asset");
    let deleted = browser.post(&format!("/console/inventory/{id}/delete"), &[("form_key", "3")]).await;
    assert_eq!((deleted.status(), deleted.location()), (303, "/console/inventory?notice=asset_deleted"));
    browser.get(&format!("/console/inventory/{id}")).await.expect(404, "This is not here");
}
