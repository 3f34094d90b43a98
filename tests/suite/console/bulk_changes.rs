//! Changes of many assets at once: at once or by a job, with what is skipped and why.

use serde_json::{Value, json};

use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
};

const VENDOR: &str = "mkt_demo_vendor";
const NEW: &str = "/console/inventory/changes/new";

/// Creates codebases, whose prices are locked by the API if there is one. Returns their IDs.
async fn create(market: &TestMarket, title: &str, count: usize, price: Option<u32>) -> Vec<String> {
    let mut ids = Vec::new();
    for first in (0..count).step_by(500) {
        let row = |number| {
            let mut row = json!({"title": format!("{title} {number}"), "exclusivity": "available"});
            if let Some(price) = price {
                row["price_usd"] = json!(price);
            }
            row
        };
        let rows: Vec<Value> = (first..count.min(first + 500)).map(row).collect();
        let created = market
            .call(VENDOR, "POST", "/v2/codebases/batch", &json!({"items": rows}))
            .await
            .expect_status(201);
        let items = created["items"].as_array().unwrap();
        ids.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
    }
    ids
}

/// Returns the address of the form for an action on these assets.
fn address(action: &str, ids: &[String]) -> String {
    let assets: Vec<String> = ids.iter().map(|id| format!("&asset={id}")).collect();
    format!("{NEW}?action={action}{}", assets.concat())
}

/// Sends a form, and opens the page of the change.
async fn start(browser: &Browser<'_>, page: &Page, changes: &[(&str, &str)]) -> Page {
    let answer = browser.submit(page, NEW, changes).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    browser.get(answer.location()).await
}

#[tokio::test]
async fn locked_values_are_skipped_and_named() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let free = create(&market, "Tide gauge", 4, None).await;
    let locked = create(&market, "Priced gauge", 2, Some(100)).await;
    let all = [free.clone(), locked.clone()].concat();
    let page = browser.get(&address("price", &all)).await;
    page.expect(200, "Set the price of 6 assets");
    browser.submit(&page, NEW, &[("price", "x")]).await.expect(422, "Enter an amount");
    let result = start(&browser, &page, &[("price", "$1,450.50")]).await;
    result.expect(200, "4 changed, 2 skipped").expect(200, "Locked").expect(200, "Priced gauge 1");
    let price = |asset: Value| asset["price_usd"].as_f64();
    assert_eq!(price(market.get(VENDOR, &format!("/v2/codebases/{}", free[0])).await.ok()), Some(1450.5));
    let untouched = market.get(VENDOR, &format!("/v2/codebases/{}", locked[0])).await.ok();
    assert_eq!(price(untouched), Some(100.0));
    // The console creates no locks of the API, so it can change the price again.
    let again = browser.get(&address("price", &free)).await;
    start(&browser, &again, &[("price", "$1,450.50")]).await.expect(200, "It was so already");
    start(&browser, &browser.get(&address("price", &free)).await, &[("clear", "yes")])
        .await
        .expect(200, "4 changed");
    browser.get("/console/inventory/changes").await.expect(200, "Set the price of 6 assets");
}

#[tokio::test]
async fn pressing_twice_changes_once() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 2, None).await;
    let page = browser.get(&address("tag", &ids)).await;
    browser.submit(&page, NEW, &[]).await.expect(422, "Choose at least one tag");
    let tags = [("add_tags", "finance")];
    let first = browser.submit(&page, NEW, &tags).await;
    let second = browser.submit(&page, NEW, &tags).await;
    assert_eq!((first.status(), first.location()), (second.status(), second.location()));
    browser.get(first.location()).await.expect(200, "2 changed");
}

#[tokio::test]
async fn many_assets_are_changed_by_a_job() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat survey", 1_200, None).await;
    let address = format!("{NEW}?action=describe&all=1&query=wombat+survey");
    let page = browser.get(&address).await;
    page.expect(200, "Describe 1,200 assets");
    let running = start(&browser, &page, &[("description", "An entry.\r\nIt has lines.")]).await;
    running.expect(200, "0 of 1,200 assets").expect(200, "<progress");
    market.run_background();
    let path = {
        let list = browser.get("/console/inventory/changes").await;
        let (_, after) = list.text.split_once("href=\"/console/inventory/changes/").unwrap();
        format!("/console/inventory/changes/{}", after.split('"').next().unwrap())
    };
    browser.get(&path).await.expect(200, "1,200 changed");

    let page = browser.get(&format!("{NEW}?action=delete&all=1&query=wombat+survey")).await;
    page.expect(200, "Delete 1,200 assets").expect(200, "cannot be undone");
    // The number is that which was shown.
    create(&market, "Wombat survey of today", 1, None).await;
    let refused = browser.submit(&page, NEW, &[]).await;
    refused.expect(409, "These were 1200 assets").expect(409, "Delete 1,201 assets");
    let running = start(&browser, &refused, &[]).await;
    let (before, _) = running.text.split_once("/cancel\"").expect("a button that cancels");
    let cancel = format!("{}/cancel", before.rsplit('"').next().unwrap());
    let change = browser.submit(&running, &cancel, &[]).await.location().to_owned();
    browser.get(&change).await.expect(200, "Canceled");
    market.run_background();
    let page = browser.get(&format!("{NEW}?action=delete&all=1&query=wombat+survey")).await;
    page.expect(200, "Delete 1,201 assets");
    start(&browser, &page, &[]).await;
    market.run_background();
    browser
        .get(&format!("{NEW}?action=delete&all=1&query=wombat+survey"))
        .await
        .expect(200, "No assets are chosen");
}

#[tokio::test]
async fn assets_in_the_catalog_are_not_deleted() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let before = market.get(VENDOR, "/v2/codebases?limit=1").await.ok()["total"].as_u64().unwrap();
    let page = browser.get(&format!("{NEW}?action=delete&all=1")).await;
    start(&browser, &page, &[]).await.expect(200, "On a listing that is in review or published");
    let after = market.get(VENDOR, "/v2/codebases?limit=1").await.ok()["total"].as_u64().unwrap();
    assert!(0 < after && after < before, "{before} {after}");
}

#[tokio::test]
async fn another_team_sees_no_change() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Buoy", 1, None).await;
    let page = browser.get(&address("price", &ids)).await;
    let answer = browser.submit(&page, NEW, &[("price", "5")]).await;
    let other = Browser::signed_in(&market, "mkt_demo_both").await;
    assert_eq!(other.get(answer.location()).await.status(), 404);
    let cancel = format!("{}/cancel", answer.location());
    assert_eq!(other.post(&cancel, &[]).await.status(), 404);
    other.get(&address("price", &ids)).await.expect(200, "No assets are chosen");
    other
        .post(NEW, &[("action", "price"), ("asset", &ids[0]), ("price", "5")])
        .await
        .expect(409, "None of these assets exists");
}
