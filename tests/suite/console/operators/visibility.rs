//! Why buyers do not see a listing, whether a team may search, and what leads on from the page of a record.

use super::records::{OPERATOR, key_of, list};
use crate::harness::{self, TestMarket, browser::Browser};

/// The page of each listing says why buyers do not see it, if they do not.
#[tokio::test]
async fn listings_say_why_buyers_do_not_see_them() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let mut seen = std::collections::BTreeSet::new();
    for listing in list(market, "/operator/v1/listings", &[]).await {
        let state = (listing["stage"].as_str().unwrap(), listing["review_status"].as_str().unwrap());
        let text = match state {
            ("active", _) => "",
            ("archived", _) => "it was archived",
            ("review", _) => "it was submitted",
            ("ready", _) => "Buyers do not see it",
            (_, "changes_requested") => "the market requested changes",
            (_, "rejected") => "the market rejected it",
            _ => "it is a draft",
        };
        // A few of each state are enough.
        if !seen.insert(format!("{state:?}")) {
            continue;
        }
        let page = browser.get(&format!("/console/operator/listings/{}", key_of(&listing))).await;
        let says = page.visible().contains("Buyers do not see it");
        assert_eq!(says, !text.is_empty(), "{state:?}: {}", page.visible());
        page.expect(200, text);
    }
    assert!(seen.len() > 4, "{seen:?}");
}

/// A restored listing says that it was restored, and when, instead of that it was approved.
#[tokio::test]
async fn restored_listings_say_so() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let listings = list(&market, "/operator/v1/listings", &[]).await;
    let active = listings.iter().find(|listing| listing["stage"] == "active").expect("a published listing");
    let id = key_of(active);
    let page = format!("/console/operator/listings/{id}");
    let call = async |verb: &str| {
        let path = format!("/operator/v1/listings/{id}/{verb}");
        market.call(OPERATOR, "POST", &path, &serde_json::Value::Null).await.ok();
    };
    call("archive").await;
    browser.get(&page).await.expect(200, "It has to be restored first.").expect(200, "/restore\"");
    call("restore").await;
    let shown = browser.get(&page).await;
    shown.expect(200, "it was restored from the archive").expect(200, "and is not published");
    shown.expect(200, "Publish it");
}

/// A vendor with too few listings in the catalog cannot search it, which hides none of its own.
#[tokio::test]
async fn teams_say_whether_they_may_search() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let (mut open, mut locked) = (0, 0);
    for team in list(market, "/operator/v1/teams", &[]).await {
        let page = browser.get(&format!("/console/operator/teams/{}", key_of(&team))).await;
        page.expect(200, "Its search of the catalog");
        let adjust = format!("/operator/adjustments/new?team_id={}", key_of(&team));
        assert_eq!(page.text.contains(&adjust), team["closed_at"].is_null(), "{team}");
        let is_vendor_only = team["roles"] == serde_json::json!(["vendor"]);
        let is_locked = page.visible().contains("Locked: it has");
        assert!(is_vendor_only || !is_locked, "{team}");
        open += usize::from(!is_locked);
        locked += usize::from(is_locked);
    }
    assert!(open > 2 && locked > 0, "{open} {locked}");
}

/// From a record, one gets to what was done with it, and to its events.
#[tokio::test]
async fn records_lead_to_their_audit_and_events() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let body = serde_json::json!({"name": "Audited Ltd", "roles": ["buyer"]});
    let made = market.call(OPERATOR, "POST", "/operator/v1/teams", &body).await;
    let id = made.expect_status(201)["id"].as_str().unwrap().to_owned();
    let page = browser.get(&format!("/console/operator/teams/{id}")).await;
    let audit = format!("/console/operator/audit?subject_id={id}");
    let events = format!("/console/operator/events?subject={id}");
    page.expect(200, &audit).expect(200, &events);
    let audited = browser.get(&audit).await;
    audited.expect(200, "Create team").expect(200, "Audited Ltd");
    assert!(
        audited.text.contains(&format!("href=\"/console/operator/teams/{id}\"")),
        "{}",
        audited.visible()
    );
    browser.get(&events).await.expect(200, "Team: created");
    browser
        .get("/console/operator/events?subject=nothing")
        .await
        .expect(200, "No event that is kept matches");
    let closed = browser.get("/console/operator/audit?operation=close_team").await;
    closed.expect(200, "Close team");
}
