//! Changes of more assets than one transaction changes: they are jobs, which can be interrupted and canceled.

use std::cell::Cell;

use marketplace::operations::background;
use serde_json::json;

use super::bulk_changes::{NEW, VENDOR, create, create_draft, create_proposed, events, start};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
};

/// One more than one transaction changes.
const MANY: usize = 1_001;

/// Opens the form for an action on all assets whose name contains "wombat".
async fn form(browser: &Browser<'_>, action: &str) -> Page {
    browser.get(&format!("{NEW}?action={action}&all=1&query=wombat")).await
}

/// Starts a change of all assets whose name contains "wombat". Returns its path.
async fn begin(browser: &Browser<'_>, action: &str, fields: &[(&str, &str)]) -> String {
    let answer = browser.submit(&form(browser, action).await, NEW, fields).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    answer.location().to_owned()
}

/// Runs jobs until they ask for the `asks`th time whether they go on, as if the server had been killed then.
fn interrupt_after(market: &TestMarket, asks: usize) {
    let asked = Cell::new(0);
    background::run_pending(market.market(), &|| asked.replace(asked.get() + 1) < asks).unwrap();
}

/// Returns how many assets the events of bulk changes are about, and the largest number that one of them is about.
async fn changed_by_events(market: &TestMarket) -> (u64, u64) {
    let all = events(market, "asset.bulk_changed").await;
    let counts: Vec<u64> = all.iter().map(|event| event["count"].as_u64().unwrap()).collect();
    for event in &all {
        assert_eq!(event["asset_ids"].as_array().unwrap().len() as u64, event["count"].as_u64().unwrap());
    }
    (counts.iter().sum(), counts.into_iter().max().unwrap_or(0))
}

#[tokio::test]
async fn many_assets_are_changed_by_jobs() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat survey", MANY).await;
    let group = browser.get("/console/inventory").await;
    let group = group.text.split("data-group=\"").nth(2).unwrap()[..36].to_owned();
    let before = events(&market, "asset.updated").await.len();
    let actions = [
        ("describe", ("description", "An entry.\r\nIt has lines."), "Describe 1,001 assets"),
        ("tag", ("add_tags", "finance"), "Tag 1,001 assets"),
        ("price", ("price", "12"), "Set the price of 1,001 assets"),
        ("move", ("to_group", group.as_str()), "Move 1,001 assets"),
    ];
    for (round, (action, field, phrase)) in (1..).zip(actions) {
        form(&browser, action).await.expect(200, phrase).expect(200, "in the background");
        let path = begin(&browser, action, &[field]).await;
        let running = browser.get(&path).await;
        running.expect(200, "0 of 1,001 assets").expect(200, "<progress").expect(200, "In progress");
        market.run_background();
        browser.get(&path).await.expect(200, phrase).expect(200, "<b>1,001 ");
        assert_eq!(changed_by_events(&market).await, (round * 1_001, 100), "{action}");
    }
    assert_eq!(events(&market, "asset.updated").await.len(), before);
    let in_group = format!("/console/inventory?group={group}&query=wombat&filter=domain:is:finance");
    browser.get(&in_group).await.expect(200, "1,001 assets match");
    let found = market.get(VENDOR, "/v2/codebases?limit=1").await.ok();
    let found = &found["items"][0];
    assert_eq!(
        (&found["price_usd"].as_f64(), &found["description"], &found["domain_tags"]),
        (&Some(12.0), &json!("An entry.\nIt has lines."), &json!(["finance"]))
    );

    let path = begin(&browser, "check", &[]).await;
    market.run_background();
    let checked = browser.get(&path).await;
    checked.expect(200, "0 being checked, 1,001 skipped").expect(200, "1,001 assets: No linked data");
    checked.expect(200, "And 981 more");
    let path = begin(&browser, "delete", &[]).await;
    market.run_background();
    browser.get(&path).await.expect(200, "1,001 deleted");
    form(&browser, "delete").await.expect(200, "No assets are chosen");
    // The file of the list identifies each change.
    let file = browser.get("/console/inventory/changes?format=csv").await;
    let id = path.split('?').next().unwrap().rsplit('/').next().unwrap();
    file.expect(200, "Change,Status,Result,Started,Ended,ID\r\n").expect(200, &format!(",{id}\r\n"));
}

#[tokio::test]
async fn many_assets_are_attached_by_a_job() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create_proposed(&market, "Wombat survey", MANY).await;
    let draft = create_draft(&market).await;
    let path = begin(&browser, "attach", &[("to_listing", &draft)]).await;
    market.run_background();
    browser.get(&path).await.expect(200, "1,001 attached");
    let shown = browser.get(&format!("/console/inventory?listing={draft}")).await;
    shown.expect(200, "1,001 assets match");
    // Its fields are locked, since the API has set them.
    let path = begin(&browser, "price", &[("price", "7")]).await;
    market.run_background();
    browser.get(&path).await.expect(200, "0 changed, 1,001 skipped").expect(200, "1,001 assets: Locked");

    // The target of the change is deleted while the change waits.
    let path = begin(&browser, "attach", &[("to_listing", &draft)]).await;
    market.run_background();
    browser.get(&path).await.expect(200, "1,001 assets: On the listing already");
    let new = "/console/inventory/groups/new";
    let created = browser.submit(&browser.get(new).await, new, &[("name", "Short-lived")]).await;
    let group = created.location().split("group=").nth(1).unwrap()[..36].to_owned();
    let path = begin(&browser, "move", &[("to_group", &group)]).await;
    let delete = format!("/console/inventory/groups/{group}/delete");
    let deleted = browser.submit(&browser.get(&delete).await, &delete, &[]).await;
    assert_eq!(deleted.status(), 303, "{}", deleted.visible());
    market.run_background();
    browser.get(&path).await.expect(200, "The group or the listing does not exist any more");
}

/// The number is that which was shown, also if more assets match by then.
#[tokio::test]
async fn number_that_changed_is_shown_again() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat survey", MANY).await;
    let page = form(&browser, "delete").await;
    page.expect(200, "Delete 1,001 assets").expect(200, "cannot be undone");
    create(&market, "Wombat survey of today", 1).await;
    let refused = browser.submit(&page, NEW, &[]).await;
    refused.expect(409, "These were 1,001 assets").expect(409, "Delete 1,002 assets");
    browser.get("/console/inventory/changes").await.expect(200, "Nothing was changed yet");
    start(&browser, &refused, &[]).await.expect(200, "0 of 1,002 assets");
    market.run_background();
    form(&browser, "delete").await.expect(200, "No assets are chosen");
}

#[tokio::test]
async fn interrupted_change_continues_where_it_was() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create(&market, "Wombat survey", MANY).await;
    let path = begin(&browser, "price", &[("price", "3")]).await;
    interrupt_after(&market, 5);
    let (changed, _) = changed_by_events(&market).await;
    assert!(0 < changed && changed < 1_001, "{changed}");
    browser.get(&path).await.expect(200, &format!("<b>{changed} of 1,001 assets"));
    // One of those that are left is gone by then.
    let last = ids.last().unwrap();
    market.call(VENDOR, "DELETE", &format!("/v2/codebases/{last}"), &json!(null)).await;
    market.run_background();
    let done = browser.get(&path).await;
    done.expect(200, "1,000 changed, 1 skipped").expect(200, "1 asset: Deleted in the meantime");
    assert_eq!(changed_by_events(&market).await, (1_000, 100));
}

#[tokio::test]
async fn canceled_change_keeps_what_was_done() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat survey", MANY).await;
    let path = begin(&browser, "price", &[("price", "3")]).await;
    interrupt_after(&market, 5);
    let (changed, _) = changed_by_events(&market).await;
    assert!(0 < changed && changed < 1_001, "{changed}");
    let cancel = format!("{path}/cancel");
    let canceled = browser.submit(&browser.get(&path).await, &cancel, &[]).await;
    assert_eq!((canceled.status(), canceled.location()), (303, path.as_str()));
    let page = browser.get(&path).await;
    page.expect(200, "Canceled").expect(200, &format!("{changed} changed"));
    assert!(!page.text.contains("hx-trigger"), "an ended change is not followed");
    // It has ended, so canceling it again does nothing.
    assert_eq!(browser.post(&cancel, &[]).await.location(), path);
    market.run_background();
    assert_eq!(changed_by_events(&market).await.0, changed);
    browser.get(&path).await.expect(200, "Canceled");
}

#[tokio::test]
async fn team_has_few_changes_at_once() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create(&market, "Wombat survey", MANY).await;
    for price in ["1", "2", "3"] {
        begin(&browser, "price", &[("price", price)]).await;
    }
    let page = form(&browser, "price").await;
    let refused = browser.submit(&page, NEW, &[("price", "4")]).await;
    refused.expect(409, "Your team has 3 changes of many assets that are not done yet");
    market.run_background();
    start(&browser, &page, &[("price", "4")]).await;
    market.run_background();
    let found = market.get(VENDOR, "/v2/codebases?limit=1").await.ok();
    assert_eq!(found["items"][0]["price_usd"].as_f64(), Some(4.0));
}
