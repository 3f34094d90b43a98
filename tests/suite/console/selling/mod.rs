//! Pages about a vendor's sales: the start page, bids, sales, earnings, and the payout setup.

mod deals;
mod start;

use marketplace::{
    console,
    domain::purchases::{PayWith, PurchaseKind},
    store::records::{
        Filters,
        pages::{Start, TeamPageRequest},
        team_lists::{TeamRecord, sales::TeamSale},
    },
};
use serde_json::json;

use super::{OPERATOR, VENDOR};
use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        TestMarket,
        browser::Browser,
        records::{demo_records, id},
        teams,
    },
    sales::{DAY, buy, complete, listing_id},
};

/// Names of the teams that buy in the demo.
const BUYERS: [&str; 2] = ["Aurora Frontier", "Copperline"];

/// Returns the first address on a page that begins with this one and goes on with an ID.
fn first_address(text: &str, start: &str) -> String {
    let (_, rest) = text.split_once(&format!("\"{start}/")).unwrap_or_else(|| panic!("no {start}: {text}"));
    format!("{start}/{}", rest.split(['"', '?']).next().unwrap())
}

#[tokio::test]
async fn sales_are_filtered_by_days_in_utc_only() {
    let browser = Browser::signed_in(crate::harness::demo(), VENDOR).await;
    let path = "/console/selling/sales";
    let page = browser.get(&format!("{path}?sold_from=2025-01-01&sold_until=2026-12-31")).await;
    page.expect(200, "Sold from the day (UTC)").expect(200, "Sold until the day (UTC)");
    assert_eq!(page.text.matches("type=\"date\"").count(), 2, "{}", page.visible());
    for query in ["sold_from=27+Feb+2026", "sold_from=2026-02-30", "sold_from=2026-02-30&format=csv"] {
        let refused = browser.get(&format!("{path}?{query}")).await;
        refused.expect(422, "There is no day “").expect(422, "id=\"sold_from-p\"");
        assert!(!refused.text.contains("<tbody"), "{query}: {}", refused.visible());
    }
}

/// Invoices need not be paid in the order of the purchases.
#[tokio::test]
async fn sales_are_in_the_order_of_their_payments() {
    let keys = ["a", "b", "c", "d"];
    let market = small_market_with(
        &keys.map(|key| published(key, 30, &json!({}))),
        &json!({"keys": [console_key("seller")]}),
    );
    let [a, b, c, d] = keys
        .map(|key| buy(&market, "buyer", listing_id(key), PurchaseKind::Full, PayWith::Invoice).unwrap().id);
    for (purchase, micros) in [(c, 1_000_000), (a, 1_000_000), (b, 0), (d, 0)] {
        complete(&market, purchase).unwrap();
        market.clock().advance(micros);
    }
    let browser = Browser::signed_in(&market, "mkt_seller_console").await;
    let file = browser.get("/console/selling/sales?format=csv").await;
    let titles: Vec<&str> =
        file.text.trim_end().lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(titles, ["Listing d", "Listing b", "Listing a", "Listing c"]);
    let page = |start| {
        let request = TeamPageRequest { start, limit: 2, counts: false };
        let found = market.read(|reader| {
            let team = teams::team(reader.rows, "seller").row_id;
            TeamSale::LIST.page::<TeamSale>(reader.rows, team, reader.now, &Filters::default(), request)
        });
        let found = found.unwrap();
        (found.rows.iter().map(|sale| sale.id).collect::<Vec<_>>(), found.previous, found.next)
    };
    let (first, none, next) = page(Start::Newest);
    assert_eq!((first, none), (vec![d, b], None));
    let (second, previous, none) = page(next.unwrap());
    assert_eq!((second, none), (vec![a, c], None));
    let (first, none, next) = page(previous.unwrap());
    assert_eq!((first, none), (vec![d, b], None));
    assert_eq!(page(next.unwrap()).0, [a, c]);
}

#[tokio::test]
async fn start_and_lists_of_a_vendor_name_no_buyer() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    assert_eq!(browser.get("/console").await.location(), "/console/selling");
    for (path, expected) in [
        ("/console/selling", "Needs you"),
        ("/console/selling", "Listed value"),
        ("/console/selling/bids", "Bids on your listings"),
        ("/console/selling/sales", "Available from"),
        ("/console/selling/sales?kind=sample&sold_from=2025-01-01", "Sales"),
        ("/console/selling/earnings", "Earnings by month"),
        ("/console/selling/withdrawals", "Withdrawals"),
        ("/console/selling/bids?format=csv", "Listing,Status,\"Bid, USD\""),
        ("/console/selling/sales?format=csv", "Listing,\"Earnings, USD\",Status"),
    ] {
        let page = browser.get(path).await;
        page.expect(200, expected);
        // The start shows requests of buyers, who published them under their names.
        let (before, rest) = page.text.split_once("id=\"asked\"").unwrap_or((&page.text, ""));
        let after = rest.split_once("</section>").map_or("", |(_, after)| after);
        for buyer in BUYERS {
            assert!(!before.contains(buyer) && !after.contains(buyer), "{path}: {buyer}");
        }
    }
    let sales = browser.get("/console/selling/sales").await;
    let sale = browser.get(&first_address(&sales.text, "/console/selling/sales")).await;
    sale.expect(200, "Sold through").expect(200, "Fee of the market");
    assert!(BUYERS.iter().all(|buyer| !sale.text.contains(buyer)), "{}", sale.visible());
}

#[tokio::test]
async fn bid_is_declined_or_accepted_once() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let list = browser.get("/console/selling/bids?status=submitted").await;
    let bid = first_address(&list.text, "/console/selling/bids");
    browser.get(&bid).await.expect(200, "What you earn").expect(200, "You earn, USD");
    let decline = format!("{bid}/decline");
    let question = browser.get(&decline).await;
    question.expect(200, "You can no longer accept this bid");
    let accept = format!("{bid}/accept");
    let late = browser.get(&accept).await;
    let answer = browser.submit(&question, &decline, &[]).await;
    assert_eq!(answer.location(), format!("{bid}?notice=offer_declined"));
    let refused = browser.submit(&late, &accept, &[]).await;
    refused.expect(409, "The bid is declined, so you cannot accept it.");
    browser.get(&decline).await.expect(200, "can no longer be answered");
    let list = browser.get("/console/selling/bids?status=submitted").await;
    let bid = first_address(&list.text, "/console/selling/bids");
    let accept = format!("{bid}/accept");
    let question = browser.get(&accept).await;
    let answer = browser.submit(&question, &accept, &[]).await;
    assert_eq!(answer.location(), format!("{bid}?notice=offer_accepted"), "{}", answer.visible());
    browser.get(&bid).await.expect(200, "You accepted this bid");
    let buyer = Browser::signed_in(&market, "mkt_demo_buyer").await;
    buyer.get(&bid).await.expect(403, "This page is for other teams");
    let other = Browser::signed_in(&market, "mkt_demo_both").await;
    other.get(&bid).await.expect(404, "This is not here");
}

#[tokio::test]
async fn payout_setup_is_never_shown_and_withdrawals_wait_after_a_change() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let (setup, withdraw) = ("/console/settings/payout", "/console/selling/earnings/withdraw");
    browser.get(withdraw).await.expect(200, "does not know how to pay");
    browser.post(withdraw, &[("amount", "10")]).await.expect(409, "does not know how to pay");
    let page = browser.get(setup).await;
    browser.submit(&page, setup, &[("payout_setup", "")]).await.expect(422, "State how");
    // It is shown once before it is saved, and stored nowhere until then.
    let review = browser.submit(&page, setup, &[("payout_setup", "IBAN DE00 0000")]).await;
    review.expect(200, "It is not saved yet.").expect(200, "<bdi>IBAN DE00 0000</bdi>");
    let unsaved = browser.get(setup).await;
    unsaved.expect(200, "Not stated yet");
    assert!(!unsaved.text.contains("DE00"), "{}", unsaved.visible());
    let again = browser.submit(&review, setup, &[("again", "yes")]).await;
    again.expect(200, "IBAN DE00 0000</textarea>").expect(200, "Review the payout details");
    let answer = browser.submit(&review, setup, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), "/console/settings/payout?notice=payout_saved");
    let changed_at = market.clock().now().0;
    let page = browser.get(setup).await;
    page.expect(200, "Stated");
    assert!(!page.text.contains("DE00"), "{}", page.visible());
    let notifications = browser.get("/console/notifications").await;
    notifications.expect(200, "Payout details changed");
    assert!(!notifications.text.contains("DE00"));
    browser.get(withdraw).await.expect(200, "For safety").expect(200, "released until then.");
    let page = browser.get("/console/selling/earnings").await;
    assert!(page.visible().contains("Possible again from 4 Mar 2026 on."), "{}", page.visible());
    browser.post(withdraw, &[("amount", "10")]).await.expect(409, "can be requested again");
    let refused = browser.post(withdraw, &[("amount", "10")]).await;
    refused.expect(409, "For safety, withdrawals can be requested again from 4 March 2026, 09:00 UTC on.");
    // Operators are not held up, and only they read the text.
    let team = id("teams", demo_records().find("teams", "lumen-codeworks"));
    let body = json!({"team_id": team, "amount": "5.00"});
    let requested = market.call(OPERATOR, "POST", "/operator/v1/withdrawals", &body).await.expect_status(201);
    assert_eq!(requested["payout_setup"], "IBAN DE00 0000");
    let known = market.get(OPERATOR, &format!("/operator/v1/teams/{team}")).await.ok();
    assert_eq!(known["payout_setup"], "IBAN DE00 0000");
    no_page_shows(&market, &browser, "DE00").await;
    let passed = market.clock().now().0 - changed_at;
    market.clock().advance(3 * DAY - 1 - passed);
    browser.post(withdraw, &[("amount", "10")]).await.expect(409, "can be requested again");
    market.clock().advance(1);
    let page = browser.get(withdraw).await;
    // Nothing happens before it is confirmed, and then it happens once.
    let review = browser.submit(&page, withdraw, &[("amount", "10")]).await;
    review.expect(200, "Withdraw $10.00?").expect(200, "−$10.00").expect(200, "After it, USD");
    browser.get("/console/selling/withdrawals").await.expect(200, "$5.00");
    assert!(!browser.get("/console/selling/withdrawals").await.text.contains("$10.00"));
    browser.submit(&review, withdraw, &[("again", "yes")]).await.expect(200, "value=\"10.00\"");
    browser.submit(&review, withdraw, &[("confirmed", "yes")]).await;
    let answer = browser.submit(&review, withdraw, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), "/console/selling/withdrawals?notice=withdrawal_requested");
    let list = browser.get("/console/selling/withdrawals?format=csv").await;
    assert_eq!(list.text.matches(",10.00,").count(), 1, "{}", list.text);
}

/// Somebody who takes over an account of the team does not get earlier requested withdrawals.
#[tokio::test]
async fn withdrawal_is_paid_as_was_stated_when_it_was_requested() {
    let market = TestMarket::demo();
    let team = id("teams", demo_records().find("teams", "lumen-codeworks"));
    let (path, operator) =
        (format!("/operator/v1/teams/{team}"), Browser::signed_in(&market, OPERATOR).await);
    let mut withdrawals = Vec::new();
    for setup in [json!(null), json!("IBAN DE00 HONEST"), json!("IBAN XX99 THIEF")] {
        market.call(OPERATOR, "PATCH", &path, &json!({"payout_setup": setup})).await.ok();
        let body = json!({"team_id": team, "amount": "5.00"});
        let requested = market.call(OPERATOR, "POST", "/operator/v1/withdrawals", &body).await;
        withdrawals.push((requested.expect_status(201), setup));
    }
    for ((withdrawal, setup), (shown, not_shown)) in withdrawals.iter().zip([
        ("It was not stated how this withdrawal is paid.", "IBAN"),
        ("The vendor has changed how it is paid since it requested this.", "THIEF"),
        ("IBAN XX99 THIEF", "has changed how"),
    ]) {
        let id = withdrawal["id"].as_str().unwrap();
        let known = market.get(OPERATOR, &format!("/operator/v1/withdrawals/{id}")).await.ok();
        assert_eq!(known["payout_setup"], *setup);
        for page in ["", "/paid"] {
            let page = operator.get(&format!("/console/operator/withdrawals/{id}{page}")).await;
            page.expect(200, shown);
            assert!(!page.text.contains(not_shown), "{}", page.visible());
        }
    }
}

/// Asserts that no page of the team, and nothing that its keys read, has a text.
async fn no_page_shows(market: &TestMarket, browser: &Browser<'_>, text: &str) {
    let pages = console::pages().into_iter().filter(|row| row.is_shown && !row.path.contains('{'));
    for row in pages {
        let page = browser.open(&format!("/console{}", row.path)).await;
        assert!(!page.text.contains(text), "{}: {}", row.path, page.visible());
        market.clock().advance(1_000_000);
    }
    for path in ["/v2/vendor/notifications", "/v2/wallet", "/v2/wallet/earnings"] {
        let answer = market.get(VENDOR, path).await.ok().to_string();
        assert!(!answer.contains(text), "{path}: {answer}");
    }
}

/// A change by an operator notifies the team, and holds it up as well; the same text again is none.
#[tokio::test]
async fn operator_changes_how_a_team_is_paid() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let team = id("teams", demo_records().find("teams", "lumen-codeworks"));
    let path = format!("/operator/v1/teams/{team}");
    let told = async || {
        let page = browser.get("/console/notifications?type=payout_setup_changed").await;
        page.text.matches("How the market pays your team was changed.").count()
    };
    for expected in [1, 1] {
        market.call(OPERATOR, "PATCH", &path, &json!({"payout_setup": "IBAN XX11"})).await.ok();
        assert_eq!(told().await, expected);
        market.clock().advance(DAY);
    }
    browser.get("/console/selling/earnings/withdraw").await.expect(200, "For safety");
    assert_eq!(browser.open_notification("Payout").await, "/console/settings/payout");
    market.clock().advance(2 * DAY);
    browser.get("/console/selling/earnings/withdraw").await.expect(200, "Review the withdrawal");
    // Another text delays withdrawals again, and the delay restarts with each change.
    let setup = browser.get("/console/settings/payout").await;
    let answer = browser
        .submit(&setup, "/console/settings/payout", &[("payout_setup", "IBAN XX11"), ("confirmed", "yes")])
        .await;
    assert_eq!(answer.status(), 303);
    assert_eq!(told().await, 2, "the team does not learn whether it guessed the text");
    browser.get("/console/selling/earnings/withdraw").await.expect(200, "For safety");
}

#[tokio::test]
async fn earnings_become_credits() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let path = "/console/selling/earnings/convert";
    let page = browser.get(path).await;
    browser.submit(&page, path, &[("amount", "900000000")]).await.expect(409, "more than the available");
    let review = browser.submit(&page, path, &[("amount", "25.50")]).await;
    review
        .expect(200, "Convert $25.50 into credits")
        .expect(200, "Earnings, available")
        .expect(200, "−$25.50");
    let answer = browser.submit(&review, path, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), "/console/selling/earnings?notice=earnings_converted");
    browser.get("/console/wallet/entries").await.expect(200, "+$25.50");
}
