//! What a vendor does with what it sells: its start, bids, sales, earnings, and how it is paid.

use crate::{
    harness::{TestMarket, browser::Browser},
    sales::DAY,
};

const VENDOR: &str = "mkt_demo_vendor";

/// Names of the teams that buy in the demo.
const BUYERS: [&str; 2] = ["Aurora Frontier", "Copperline"];

/// Returns the first address on a page that begins with this one and goes on with an ID.
fn first_address(text: &str, start: &str) -> String {
    let (_, rest) = text.split_once(&format!("\"{start}/")).unwrap_or_else(|| panic!("no {start}: {text}"));
    format!("{start}/{}", rest.split(['"', '?']).next().unwrap())
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
        ("/console/selling/sales?kind=sample&since=2025-01-01", "Sales"),
        ("/console/selling/earnings", "Earnings by month"),
        ("/console/selling/withdrawals", "Withdrawals"),
        ("/console/selling/bids?format=csv", "Listing,Status,\"Bid, USD\""),
        ("/console/selling/sales?format=csv", "Listing,Kind,Status"),
    ] {
        let page = browser.get(path).await;
        page.expect(200, expected);
        for buyer in BUYERS {
            // The start can show a request of a buyer who published it under its name, but no bid and no sale.
            assert!(!page.text.contains(buyer), "{path}: {buyer}");
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
    browser.get(&bid).await.expect(200, "What it yields").expect(200, "You earn, USD");
    let decline = format!("{bid}/decline");
    let question = browser.get(&decline).await;
    question.expect(200, "You can no longer accept this bid");
    let answer = browser.submit(&question, &decline, &[]).await;
    assert_eq!(answer.location(), format!("{bid}?notice=offer_declined"));
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
    let answer = browser.submit(&page, setup, &[("payout_setup", "IBAN DE00 0000")]).await;
    assert_eq!(answer.location(), "/console/settings/payout?notice=payout_saved");
    let page = browser.get(setup).await;
    page.expect(200, "Stated");
    assert!(!page.text.contains("DE00"), "{}", page.visible());
    let notifications = browser.get("/console/notifications").await;
    notifications.expect(200, "Payout details changed");
    assert!(!notifications.text.contains("DE00"));
    browser.get(withdraw).await.expect(200, "For safety");
    browser.post(withdraw, &[("amount", "10")]).await.expect(409, "can be requested again");
    market.clock().advance(3 * DAY);
    let page = browser.get(withdraw).await;
    let answer = browser.submit(&page, withdraw, &[("amount", "10")]).await;
    assert_eq!(answer.location(), "/console/selling/withdrawals?notice=withdrawal_requested");
    browser.get("/console/selling/withdrawals").await.expect(200, "$10.00");
}

#[tokio::test]
async fn earnings_become_credits() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let path = "/console/selling/earnings/convert";
    let page = browser.get(path).await;
    browser.submit(&page, path, &[("amount", "900000000")]).await.expect(409, "more than the available");
    let answer = browser.submit(&page, path, &[("amount", "25.50")]).await;
    assert_eq!(answer.location(), "/console/selling/earnings?notice=earnings_converted");
    browser.get("/console/wallet/entries").await.expect(200, "+$25.50");
}
