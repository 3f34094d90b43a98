//! The page of an asset, and what is done with an asset from there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bulk_changes::{NEW, create_draft, create_proposed, start};
use super::{BOTH, VENDOR};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
    records::demo_records,
};

/// Returns the ID of an asset in the vendor's table that a query selects.
async fn find(browser: &Browser<'_>, query: &str) -> String {
    let page = browser.get(&format!("/console/inventory?{query}")).await;
    ids(&page).into_iter().next().unwrap_or_else(|| panic!("no asset: {}", page.visible()))
}

/// Returns the IDs of the assets in a table of the inventory.
fn ids(page: &Page) -> Vec<String> {
    let rows = page.text.split("<tr data-asset=\"").skip(1);
    rows.map(|row| row.split('"').next().unwrap().to_owned()).collect()
}

fn asset_path(id: &str) -> String {
    format!("/console/inventory/{id}")
}

/// Each kind that the teams of the demo have, with what its page has, and what can be done with it.
#[tokio::test]
async fn assets_of_each_kind_have_a_page() {
    let market = TestMarket::demo();
    let mut kinds = BTreeSet::new();
    for key in [VENDOR, BOTH] {
        let browser = Browser::signed_in(&market, key).await;
        let team = demo_records().team_of(key);
        let own = demo_records().collection("assets").iter().filter(|asset| asset["team"] == team);
        for kind in own.map(|asset| asset["sku"].as_str().unwrap()).collect::<BTreeSet<_>>() {
            kinds.insert(kind);
            let table = browser.get(&format!("/console/inventory?kind={kind}")).await;
            assert!(!ids(&table).is_empty(), "{kind}");
            for id in ids(&table) {
                check_page(&browser, kind, &id).await;
            }
        }
    }
    assert!(kinds.len() >= 4, "{kinds:?}");
}

async fn check_page(browser: &Browser<'_>, kind: &str, id: &str) {
    let (has_data, is_edited) =
        (["codebase", "raw_data"].contains(&kind), ["codebase", "raw_data", "task"].contains(&kind));
    let page = browser.get(&asset_path(id)).await;
    page.expect(200, "Listings with this asset").expect(200, "Description").expect(200, "<h2");
    assert_eq!(page.text.contains(">Data</h2>"), has_data, "{kind} {id}");
    assert_eq!(page.text.contains("cannot be edited here"), !is_edited, "{kind} {id}");
    let section = match kind {
        "task" => "The task",
        "taskset" | "bundle" => "Tasksets",
        "environment" => "Capabilities",
        "robotics_dataset" => "Episodes",
        _ => "Domains",
    };
    page.expect(200, section);
    for run in page.text.split(&format!("{}/runs/", asset_path(id))).skip(1) {
        let path = format!("{}/runs/{}", asset_path(id), &run[..36]);
        browser.get(&path).await.expect(200, "Started by");
    }
    for (verb, exists) in
        [("check", has_data), ("delete", has_data), ("detach", has_data), ("edit", is_edited)]
    {
        let path = format!("{}/{verb}", asset_path(id));
        assert_eq!(browser.get(&path).await.status(), if exists { 200 } else { 404 }, "{kind} {path}");
        if !exists {
            assert_eq!(browser.post(&path, &[("title", "Mine")]).await.status(), 404, "{kind} {path}");
        }
    }
}

#[tokio::test]
async fn assets_of_other_teams_do_not_exist() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let other = Browser::signed_in(&market, BOTH).await;
    let id = find(&browser, "kind=raw_data").await;
    let before = market.get(VENDOR, &format!("/v2/raw-data/{id}")).await.ok();
    let groups = other.get("/console/inventory").await;
    let group = &groups.text.split("data-group=\"").nth(1).unwrap()[..36];
    let fields = [("title", "Mine"), ("price_usd", "1"), ("group", group)];
    for verb in ["", "/edit", "/check", "/delete", "/detach", "/move"] {
        let path = format!("{}{verb}", asset_path(&id));
        if verb != "/move" {
            assert_eq!(other.get(&path).await.status(), 404, "{path}");
        }
        if !verb.is_empty() {
            assert_eq!(other.post(&path, &fields).await.status(), 404, "{path}");
        }
    }
    assert_eq!(market.get(VENDOR, &format!("/v2/raw-data/{id}")).await.ok(), before);
}

#[tokio::test]
async fn fields_are_edited_without_locking_them() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "kind=raw_data").await;
    let path = format!("{}/edit", asset_path(&id));
    let form = browser.get(&path).await;
    // The archive has a text that describes it.
    form.expect(200, "Read from the uploaded archive, so it is read-only here.");
    assert!(!form.text.contains("name=\"description\""), "{}", form.visible());
    browser.submit(&form, &path, &[("description", "Mine")]).await.expect(422, "cannot be edited");
    let wrong = [("title", " "), ("price_usd", "cheap"), ("extra_columns", "none")];
    let refused = browser.submit(&form, &path, &wrong).await;
    refused.expect(422, "Enter a name.").expect(422, "Enter an amount").expect(422, "a colon, and a value");
    browser.submit(&form, &path, &[("price_usd", "1000000001")]).await.expect(422, "must be from 0 to");
    let fields = [
        ("title", "Tide tables, revised"),
        ("price_usd", "$1,250.50"),
        ("notes", "Ask Ann"),
        ("extra_columns", "Ticket: AB-12"),
    ];
    let saved = browser.submit(&form, &path, &fields).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    let page = browser.get(saved.location()).await;
    page.expect(200, "Tide tables, revised")
        .expect(200, "$1,250.50")
        .expect(200, "AB-12")
        .expect(200, "Ask Ann");
    assert!(!page.text.contains("Set through the API"), "{}", page.visible());
    // The form shows the saved values, and saving it again changes nothing.
    let stored = market.get(VENDOR, &format!("/v2/raw-data/{id}")).await.ok();
    let form = browser.get(&path).await;
    form.expect(200, "<title>Edit the asset · Tide tables, revised · marketplace</title>");
    let again = browser.submit(&form, &path, &[]).await;
    assert_eq!(again.status(), 303, "{}", again.visible());
    assert_eq!(market.get(VENDOR, &format!("/v2/raw-data/{id}")).await.ok(), stored);
}

/// A comma separates thousands only: 12,5 is not 125.
#[tokio::test]
async fn numbers_with_a_decimal_comma_are_refused() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    for id in ids(&browser.get("/console/inventory?kind=codebase").await) {
        let path = format!("{}/edit", asset_path(&id));
        let form = browser.get(&path).await;
        if form.text.contains("name=\"commits\"") {
            browser.submit(&form, &path, &[("commits", "12,5")]).await.expect(422, "Enter a whole number");
            let saved = browser.submit(&form, &path, &[("commits", "12,500")]).await;
            assert_eq!(saved.status(), 303, "{}", saved.visible());
            browser.get(saved.location()).await.expect(200, "12,500");
            return;
        }
    }
    panic!("no number can be edited");
}

/// A form that is sent as it was shown changes nothing, whatever the asset has.
#[tokio::test]
async fn forms_that_are_sent_unchanged_change_nothing() {
    let market = TestMarket::demo();
    for key in [VENDOR, BOTH] {
        let browser = Browser::signed_in(&market, key).await;
        let stored = async || market.get(key, "/v2/assets?limit=100").await.ok();
        let before = stored().await;
        for id in ids(&browser.get("/console/inventory").await) {
            let path = format!("{}/edit", asset_path(&id));
            let form = browser.get(&path).await;
            if form.status() != 404 {
                let saved = browser.submit(&form, &path, &[]).await;
                assert_eq!(saved.status(), 303, "{id}: {}", saved.visible());
            }
        }
        assert_eq!(stored().await, before);
    }
}

#[tokio::test]
async fn check_costs_what_was_shown_and_shows_what_it_finds() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "kind=raw_data").await;
    let path = format!("{}/check", asset_path(&id));
    let question = browser.get(&path).await;
    question.expect(200, "Check for $5.00").expect(200, "Left after it").expect(200, "$1,445.00");
    let started = browser.submit(&question, &path, &[]).await;
    assert_eq!(started.status(), 303, "{}", started.visible());
    browser.get(started.location()).await.expect(200, "The checks were started").expect(200, "hx-trigger");
    // Pressing twice starts one run, and another one cannot be started meanwhile.
    assert_eq!(browser.submit(&question, &path, &[]).await.location(), started.location());
    let next = browser.get(&path).await;
    next.expect(200, "A run is in progress").expect(200, "$1,445.00");
    assert_eq!(browser.post(&path, &[]).await.status(), 409);
    market.run_background();
    let run = browser.get(started.location().split('?').next().unwrap()).await;
    run.expect(200, "What was found").expect(200, "$5.00");
    assert!(!run.text.contains("hx-trigger"), "an ended run is not followed: {}", run.visible());
    browser.get(&asset_path(&id)).await.expect(200, "Earlier runs");
}

#[tokio::test]
async fn data_is_detached_and_an_asset_is_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "kind=raw_data").await;
    let (delete, detach) = (format!("{}/delete", asset_path(&id)), format!("{}/detach", asset_path(&id)));
    browser.get(&delete).await.expect(200, "It has data, which is deleted, too.");
    let question = browser.get(&detach).await;
    let detached = browser.submit(&question, &detach, &[]).await;
    browser
        .get(detached.location())
        .await
        .expect(200, "The data was detached")
        .expect(200, "No data is linked");
    browser.get(&format!("{}/edit", asset_path(&id))).await.expect(200, "name=\"description\"");
    browser.get(&detach).await.expect(200, "No data is linked.");
    let question = browser.get(&delete).await;
    assert!(!question.text.contains("It has data"), "{}", question.visible());
    let deleted = browser.submit(&question, &delete, &[]).await;
    assert_eq!(deleted.location(), "/console/inventory?notice=asset_deleted");
    browser.get(&asset_path(&id)).await.expect(404, "This is not here");
}

/// The API asks for the data to be detached first.
#[tokio::test]
async fn asset_is_deleted_with_its_data() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "kind=raw_data").await;
    let refused = market.call(VENDOR, "DELETE", &format!("/v2/raw-data/{id}"), &Value::Null).await;
    refused.expect_error(409);
    let delete = format!("{}/delete", asset_path(&id));
    let deleted = browser.submit(&browser.get(&delete).await, &delete, &[]).await;
    assert_eq!(deleted.location(), "/console/inventory?notice=asset_deleted");
    browser.get(&asset_path(&id)).await.expect(404, "This is not here");
}

#[tokio::test]
async fn assets_in_the_catalog_are_kept() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let id = find(&browser, "query=slidepager").await;
    for verb in ["delete", "detach"] {
        let path = format!("{}/{verb}", asset_path(&id));
        let page = browser.get(&path).await;
        page.expect(200, "take them out of the catalog, first").expect(200, "/console/selling/listings/");
        assert!(!page.text.contains(&format!("action=\"{path}\"")), "{}", page.visible());
        assert_eq!(browser.post(&path, &[]).await.status(), 409);
    }
    browser.get(&asset_path(&id)).await.expect(200, "slidepager");
}

/// An asset on a draft is deleted with its place there, as the question says.
#[tokio::test]
async fn asset_on_a_draft_leaves_it() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let assets = create_proposed(&market, "Lock gate", 2).await;
    let draft = create_draft(&market).await;
    let new = format!("{NEW}?action=attach&asset={}&asset={}", assets[0], assets[1]);
    start(&browser, &browser.get(&new).await, &[("to_listing", &draft)]).await.expect(200, "2 attached");
    let path = format!("{}/delete", asset_path(&assets[0]));
    let question = browser.get(&path).await;
    question.expect(200, "It is also taken off 1 listing").expect(200, "All of it");
    browser.submit(&question, &path, &[]).await;
    let left = browser.get(&format!("/console/inventory?listing={draft}")).await;
    assert_eq!(ids(&left), [assets[1].clone()]);
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
