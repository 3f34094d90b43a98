//! Changes between opening a page and sending its form: somebody else changes the record, signs in to the same browser, or the
//! session ends.

use marketplace::{
    domain::{listings::Actor, money::Cents, purchases::PayWith},
    operations::offers,
};
use poem::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{BUYER, OPERATOR, VENDOR};
use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        self, TestMarket,
        browser::{Browser, Page},
        teams,
    },
    sales::{bid, listing_id},
};

const OTHER_VENDOR: &str = "mkt_demo_both";
const SELLER: &str = "mkt_seller_console";

const CHANGED: &str = "This was changed after you opened the page";

const NEW_LISTING: &str = "/console/selling/listings/new";

/// Returns the value of a field in the form of a page that is sent to the page's own path.
async fn value(browser: &Browser<'_>, path: &str, field: &str) -> String {
    let form = browser.get(path).await.form(path);
    let found = form.into_iter().find(|(name, _)| name == field);
    found.unwrap_or_else(|| panic!("{path} has no field {field}")).1
}

/// Saves a form twice that was opened twice before. The second one is refused, keeps what was typed, and says what was saved
/// meanwhile; sent again, it is saved.
async fn save_twice(browser: &Browser<'_>, path: &str, field: &str) {
    let (first, second) = (browser.get(path).await, browser.get(path).await);
    let saved = browser.submit(&first, path, &[(field, "By the first")]).await;
    assert_eq!(saved.status(), 303, "{path}: {}", saved.visible());
    // Sent twice, it is carried out once, and not taken for a change of somebody else.
    assert_eq!(browser.submit(&first, path, &[(field, "By the first")]).await.location(), saved.location());
    let refused = browser.submit(&second, path, &[(field, "By the second")]).await;
    refused.expect(409, CHANGED).expect(409, "It says now: ").expect(409, "By the first");
    assert_eq!(value(browser, path, field).await, "By the first", "{path}");
    let again = browser.submit(&refused, path, &[]).await;
    assert_eq!(again.status(), 303, "{path}: {}", again.visible());
    assert_eq!(value(browser, path, field).await, "By the second", "{path}");
}

/// Returns the ID that a response has.
fn id(response: &Value) -> String {
    response["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn forms_of_teams_undo_no_changes() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    let body = json!({"title": "Ledger", "exclusivity": "available"});
    let asset = id(&market.call(VENDOR, "POST", "/v2/codebases", &body).await.expect_status(201));
    save_twice(&vendor, &format!("/console/inventory/{asset}/edit"), "description").await;
    let body = json!({"name": "Boats"});
    let group = id(&market.call(VENDOR, "POST", "/v2/asset-groups", &body).await.expect_status(201));
    save_twice(&vendor, &format!("/console/inventory/groups/{group}"), "name").await;
    let buyer = Browser::signed_in(&market, BUYER).await;
    save_twice(&buyer, &format!("{}/edit", draft(&buyer).await), "description").await;
}

/// Writes a draft of an opportunity, and returns the path of its page.
async fn draft(buyer: &Browser<'_>) -> String {
    let form = "/console/opportunities/new?kind=listing_request";
    let page = buyer.get(form).await;
    let written = buyer.submit(&page, form, &[("title", "Tide tables")]).await;
    written.location().split('?').next().unwrap().to_owned()
}

#[tokio::test]
async fn forms_of_operators_undo_no_changes() {
    let market = TestMarket::demo();
    let operator = Browser::signed_in(&market, OPERATOR).await;
    save_twice(&operator, "/console/operator/announcements/change", "text").await;
    let draft = draft(&Browser::signed_in(&market, BUYER).await).await;
    let draft = draft.rsplit('/').next().unwrap();
    save_twice(&operator, &format!("/console/operator/opportunities/{draft}/change"), "description").await;
    let listings = market.get(OPERATOR, "/operator/v1/listings").await.ok();
    let listings = listings.as_object().unwrap().values().find_map(Value::as_array).unwrap();
    for listing in listings {
        let path = format!("/console/operator/listings/{}/change", id(listing));
        if operator.get(&path).await.text.contains("name=\"terms\"") {
            return save_twice(&operator, &path, "terms").await;
        }
    }
    panic!("no listing can be changed");
}

/// A form that was refused for another reason is still about what it showed at first.
#[tokio::test]
async fn refused_form_remembers_what_it_showed() {
    let market = TestMarket::demo();
    let vendor = Browser::signed_in(&market, VENDOR).await;
    let body = json!({"name": "Boats"});
    let group = id(&market.call(VENDOR, "POST", "/v2/asset-groups", &body).await.expect_status(201));
    let path = format!("/console/inventory/groups/{group}");
    let (first, second) = (vendor.get(&path).await, vendor.get(&path).await);
    assert_eq!(vendor.submit(&first, &path, &[("name", "Ships")]).await.status(), 303);
    let refused = vendor.submit(&second, &path, &[("name", "")]).await;
    refused.expect(422, "Enter a name");
    vendor.submit(&refused, &path, &[("name", "Rafts")]).await.expect(409, CHANGED).expect(409, "Ships");
}

fn market_with_bids() -> TestMarket {
    small_market_with(
        &[published("l0", 30, &json!({"accepts_bids": true}))],
        &json!({"keys": [console_key("seller")]}),
    )
}

fn change_bid(market: &TestMarket, bid: Uuid, cents: i64) {
    let changed = market.write(|writer| {
        let buyer = teams::buyer(writer.rows, "buyer");
        offers::change(writer, &buyer, Actor::Team, bid, Some(Cents(cents)), None)
    });
    changed.unwrap();
}

/// A bid is accepted at the amount that the page states, or not at all.
#[tokio::test]
async fn accepted_bid_is_the_one_that_the_page_states() {
    let market = market_with_bids();
    let seller = Browser::signed_in(&market, SELLER).await;
    let bid = bid(&market, "buyer", listing_id("l0"), 2_000_000, PayWith::Invoice).unwrap();
    for verb in ["accept", "decline"] {
        let path = format!("/console/selling/bids/{bid}/{verb}");
        change_bid(&market, bid, 2_000_000);
        let question = seller.get(&path).await;
        question.expect(200, "bid of $20,000.00");
        change_bid(&market, bid, 100);
        let refused: Page = seller.submit(&question, &path, &[]).await;
        refused.expect(409, CHANGED).expect(409, "bid of $1.00");
        seller.get(&format!("/console/selling/bids/{bid}")).await.expect(200, &path);
    }
    let path = format!("/console/selling/bids/{bid}/accept");
    let question = seller.get(&path).await;
    assert_eq!(seller.submit(&question, &path, &[]).await.status(), 303);
}

/// The page of an operator states the amount of a bid, too.
#[tokio::test]
async fn operators_accept_the_bid_that_they_read() {
    let market = TestMarket::demo();
    let operator = Browser::signed_in(&market, OPERATOR).await;
    let bids = market.get(OPERATOR, "/operator/v1/offers?status=submitted").await.ok();
    let bids = bids.as_object().unwrap().values().find_map(Value::as_array).unwrap();
    let bid = id(bids.first().expect("the demo market has a bid that waits"));
    let (accept, change) =
        (format!("/console/operator/bids/{bid}/accept"), format!("/console/operator/bids/{bid}/change"));
    let question = operator.get(&accept).await;
    question.expect(200, "Amount, USD");
    let form = operator.get(&change).await;
    assert_eq!(operator.submit(&form, &change, &[("amount", "123.45")]).await.status(), 303);
    operator.submit(&question, &accept, &[]).await.expect(409, CHANGED).expect(409, "$123.45");
}

/// The form of one team does nothing for the team that signs in to the same browser later.
#[tokio::test]
async fn form_belongs_to_the_team_that_opened_it() {
    let market = TestMarket::demo();
    let mut browser = Browser::signed_in(&market, VENDOR).await;
    let form = browser.get(NEW_LISTING).await;
    let columns = browser.get("/console/inventory").await;
    assert_eq!(browser.sign_in(OTHER_VENDOR).await.status(), 303);
    let typed = [("title", "Whose listing is it")];
    browser
        .submit(&form, NEW_LISTING, &typed)
        .await
        .expect(409, "You are now signed in as ")
        .expect(409, "somebody else had opened this form. Nothing was saved.");
    let list = browser.get("/console/selling/listings").await;
    assert!(!list.text.contains(typed[0].1), "{}", list.visible());
    browser.submit(&columns, "/console/inventory/columns", &[]).await.expect(409, "Nothing was saved.");
    // It still works for its own team, and only once.
    assert_eq!(browser.sign_in(VENDOR).await.status(), 303);
    let saved = browser.submit(&form, NEW_LISTING, &typed).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    assert_eq!(browser.submit(&form, NEW_LISTING, &typed).await.location(), saved.location());
}

/// A script that asks for a part of a page is led to the page for signing in, and does not get it as the part.
#[tokio::test]
async fn scripts_leave_a_page_whose_session_has_ended() {
    let market = harness::demo();
    let stranger = Browser::new(market);
    let path = "/console/catalog?query=tides";
    let answer = stranger.send(Method::GET, path, &[("hx-request", "true")], String::new()).await;
    assert_eq!((answer.status(), answer.text.as_str()), (204, ""));
    let address = answer.response.header("hx-redirect");
    assert_eq!(address, "/console/sign-in?next=%2Fcatalog%3Fquery%3Dtides");
    assert_eq!(stranger.get(path).await.location(), address);
}

/// A path that only receives forms is shown as such, and signing in never leads there.
#[tokio::test]
async fn paths_of_forms_are_no_pages() {
    let market = harness::demo();
    let vendor = Browser::signed_in(market, VENDOR).await;
    let path = "/console/inventory/columns";
    let page = vendor.send(Method::GET, path, &[("accept", "text/html")], String::new()).await;
    page.expect(405, "This is not a page").expect(405, "Status 405");
    assert_eq!(page.response.header("allow"), "POST");
    assert!(page.response.header("content-type").starts_with("text/html"));
    let unsaved = Browser::new(market).post(path, &[]).await;
    assert_eq!(unsaved.status(), 303);
    assert!(!unsaved.location().contains("next="), "{}", unsaved.location());
}
