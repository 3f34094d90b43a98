//! Bids: made, changed, confirmed, withdrawn, expired, and accepted.

use marketplace::{
    clock::fixture_record_id,
    domain::{listing_lifecycle::Operation, listings::Actor, money::Cents, tasks::VersionState},
    error::{Error, Result},
    market::Writer,
    operations::{listing_assets, task_changes},
    store,
    worlds::NewWorld,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    BUYER, DAY, OTHER, SELLER, agreement, asset_id, bid, bid_path, buy, buy_path, change_listing, complete,
    count, credits, id_of, link_c4, made, perform, republish_plain, shop,
};
use crate::{
    administration::tasksets::version,
    catalog::small_market::{console_key, published, small_market_with},
    harness::{TestMarket, browser::Browser, listing_lifecycle, teams},
    sales::{accept, decline, give_credits, listing_id},
};

/// Bids on `plain`, and returns the path of the bid.
async fn bid_on_plain(browser: &Browser<'_>, choices: &str) -> String {
    made(&bid(browser, "plain", choices).await, "bid_made")
}

#[track_caller]
fn refused(market: &TestMarket, offer: Uuid) {
    let error = accept(market, "seller", offer).expect_err("it is refused");
    assert!(matches!(&error, Error::Conflict(message) if message.contains("confirmed")), "{error:?}");
}

#[tokio::test]
async fn bid_is_made_changed_and_withdrawn() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let form = bid_path("plain");
    for amount in ["x", "0", "1,5", "-3"] {
        let page = browser.get(&format!("{form}?amount={amount}")).await;
        assert!(!page.text.contains("name=\"quote\""), "{amount}: {}", page.visible());
    }
    let path = bid_on_plain(&browser, "amount=40").await;
    browser.get(&path).await.expect(200, "$40.00").expect(200, "The vendor has not decided yet.");
    let page = browser.get(&format!("{form}?amount=41.50&pay_with=invoice")).await;
    page.expect(200, "Change the bid to $41.50");
    let changed = browser.submit(&page, &form, &[("accept", "yes")]).await;
    assert_eq!(made(&changed, "bid_changed"), path);
    browser.get(&path).await.expect(200, "$41.50").expect(200, "Invoice");
    browser.get("/console/bids?format=csv").await.expect(200, "Listing plain,Open,41.50,50.00,Invoice");
    let withdraw = format!("{path}/withdraw");
    let question = browser.get(&withdraw).await;
    let other = Browser::signed_in(&market, OTHER).await;
    for hidden in [&path, &withdraw] {
        other.get(hidden).await.expect(404, "This is not here");
    }
    other.post(&withdraw, &[]).await.expect(404, "This is not here");
    for _ in 0..2 {
        let withdrawn = browser.submit(&question, &withdraw, &[]).await;
        assert_eq!(made(&withdrawn, "bid_withdrawn"), path);
    }
    browser.get(&path).await.expect(200, "You withdrew this bid.");
    assert_eq!(credits(&market, "buyer"), 100_000);
    let audited = "SELECT group_concat(operation, ' ') FROM (SELECT operation FROM audit a
         JOIN sessions s ON s.uuid = a.session ORDER BY a.id)";
    let rows = crate::harness::database::connect_to_copy(market.market());
    let operations: String = rows.query_row(audited, [], |row| row.get(0)).unwrap();
    assert_eq!(operations, "make_offer change_offer withdraw_offer");
}

#[tokio::test]
async fn bid_above_the_price_is_warned_about() {
    const WARNING: &str = "Your bid is above the price of $50.00.";
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get(&format!("{}?amount=50.01", bid_path("plain"))).await;
    page.expect(200, WARNING).expect(200, "You can buy the listing now for that price.");
    page.expect(200, &format!("href=\"{}\"", buy_path("plain")));
    let page = browser.get(&format!("{}?amount=50", bid_path("plain"))).await;
    assert!(!page.text.contains("above the price"), "{}", page.visible());
}

#[tokio::test]
async fn bid_expires_and_is_declined() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    browser.get(&path).await.expect(200, "Your bid expires");
    market.clock().advance(31 * DAY);
    market.market().run_due_steps().unwrap();
    let browser = Browser::signed_in(&market, BUYER).await;
    browser.get(&path).await.expect(200, "The vendor did not decide in time.");
    let path = bid_on_plain(&browser, "amount=42").await;
    decline(&market, "seller", id_of(&path)).unwrap();
    browser.get(&path).await.expect(200, "The bid was declined.");
}

#[tokio::test]
async fn accepted_bid_leads_to_the_purchase_with_what_was_signed() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    // The price is no part of a bid.
    change_listing(&market, "plain", |fields| fields.price = Some(Cents(7_000)));
    let purchase = accept(&market, "seller", id_of(&path)).unwrap();
    let receipt = format!("/console/purchases/{purchase}");
    browser.get(&path).await.expect(200, &receipt);
    browser.get(&receipt).await.expect(200, "$42.00").expect(200, "Accepted bid, all assets");
    let text = agreement(&browser, &receipt).await;
    for part in ["at the amount of an accepted bid\n", "Total: 42.00 USD\n", "For training only.\n"] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    assert_eq!(credits(&market, "buyer"), 100_000 - 4_200);
    browser.get(&buy_path("plain")).await.expect(200, "already has a purchase of this listing");
}

#[tokio::test]
async fn bid_with_too_few_credits_waits_for_an_invoice() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get(&format!("{}?amount=4000", bid_path("dear"))).await;
    page.expect(200, "waits for the payment of an invoice");
    let path = made(&bid(&browser, "dear", "amount=4000").await, "bid_made");
    let purchase = accept(&market, "seller", id_of(&path)).unwrap();
    let receipt = format!("/console/purchases/{purchase}");
    browser.get(&receipt).await.expect(200, "waits for your payment of $4,200.00");
    complete(&market, purchase).unwrap();
    assert!(agreement(&browser, &receipt).await.contains("Payment: invoice\n"));
    assert_eq!(credits(&market, "buyer"), 100_000);
}

#[tokio::test]
async fn bid_is_not_accepted_on_other_terms_until_it_is_confirmed() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    let offer = id_of(&path);
    change_listing(&market, "plain", |fields| fields.terms = "All rights end tomorrow.".to_owned());
    refused(&market, offer);
    assert_eq!(count(&market, "SELECT count(*) FROM purchases"), 0);
    let page = browser.get(&path).await;
    page.expect(200, "What you signed has changed since");
    let form = format!("{}?amount=40.00&amp;pay_with=credits", bid_path("plain"));
    page.expect(200, &form);
    let page = browser.get(&form.replace("&amp;", "&")).await;
    page.expect(200, "All rights end tomorrow.").expect(200, "Confirm the bid of $40.00");
    let confirmed = browser.submit(&page, &bid_path("plain"), &[("accept", "yes")]).await;
    made(&confirmed, "bid_changed");
    browser.get(&path).await.expect(200, "The vendor has not decided yet.");
    let purchase = accept(&market, "seller", offer).unwrap();
    let text = agreement(&browser, &format!("/console/purchases/{purchase}")).await;
    assert!(text.ends_with("\n\nAll rights end tomorrow.\n"), "{text}");
}

#[tokio::test]
async fn bid_is_accepted_again_when_the_terms_are_as_they_were() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let offer = id_of(&bid_on_plain(&browser, "amount=40").await);
    change_listing(&market, "plain", |fields| fields.terms = "Others.".to_owned());
    refused(&market, offer);
    change_listing(&market, "plain", |fields| fields.terms = super::TERMS.to_owned());
    accept(&market, "seller", offer).unwrap();
}

/// A bid is for the assets that the listing had, not for as many others.
#[tokio::test]
async fn bid_is_not_accepted_for_other_assets() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    let listing = listing_id("plain");
    republish_plain(&market, |writer, vendor| {
        listing_assets::detach(writer, vendor, Actor::Team, listing, asset_id("c4"))?;
        let row = store::listings::find(writer.rows, listing)?.unwrap();
        listing_assets::attach_all(writer, vendor, Actor::Team, &row, &[asset_id("c2b")], false)
    });
    refused(&market, id_of(&path));
    browser.get(&path).await.expect(200, "What you signed has changed since");
}

/// A bid is for the data that the assets had, also if another change had already ended the approval.
#[tokio::test]
async fn bid_is_not_accepted_for_other_data() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    republish_plain(&market, |writer, vendor| {
        let listing = listing_id("plain");
        let row = store::listings::find(writer.rows, listing)?.unwrap();
        let mut fields = store::listings::find_fields(writer.rows, row.row_id)?;
        fields.description = "About other data.".to_owned();
        listing_lifecycle::update(writer, listing, &fields)?;
        link_c4(writer, vendor)
    });
    refused(&market, id_of(&path));
    browser.get(&path).await.expect(200, "What you signed has changed since");
}

/// Returns the path of a bid for the vendor.
fn received(path: &str) -> String {
    format!("/console/selling/bids/{}", id_of(path))
}

/// Fails unless the pages of the vendor say why a bid cannot be accepted, and offer only to decline it.
async fn expect_only_declined(seller: &Browser<'_>, path: &str, reason: &str) {
    let page = seller.get(&received(path)).await;
    page.expect(200, reason).expect(200, "Decline…");
    assert!(!page.text.contains("Accept…"), "{}", page.visible());
    let question = format!("{}/accept", received(path));
    let page = seller.get(&question).await;
    page.expect(200, "You cannot accept this bid now.").expect(200, reason);
    assert!(!page.text.contains(&format!("action=\"{question}\"")), "{}", page.visible());
    assert!(seller.post(&question, &[]).await.status() >= 400);
}

#[tokio::test]
async fn bid_on_a_listing_outside_the_catalog_can_only_be_withdrawn_or_declined() {
    let market = shop();
    let (browser, seller) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, SELLER).await);
    let path = bid_on_plain(&browser, "amount=40").await;
    let change = format!("href=\"{}\"", bid_path("plain"));
    browser.get(&path).await.expect(200, &change);
    seller.get(&received(&path)).await.expect(200, "Accept…");
    perform(&market, "plain", Operation::Unpublish);
    let page = browser.get(&path).await;
    page.expect(200, "you can only withdraw it").expect(200, "Withdraw…");
    // Neither the listing nor the form is there for the team.
    let listing = format!("/console/listings/{}", listing_id("plain"));
    assert!(!page.text.contains(&listing), "{}", page.visible());
    browser.get(&bid_path("plain")).await.expect(404, "This is not here");
    expect_only_declined(&seller, &path, "The listing is not in the catalog.").await;
    perform(&market, "plain", Operation::Publish);
    browser.get(&path).await.expect(200, &change);
    seller.get(&received(&path)).await.expect(200, "Accept…");
}

#[tokio::test]
async fn form_for_a_listing_that_has_gone_says_that_nothing_was_changed() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_path("plain");
    let page = browser.get(&format!("{path}?amount=40")).await;
    perform(&market, "plain", Operation::Unpublish);
    let gone = browser.get(&path).await;
    gone.expect(404, "This is not here");
    assert!(!gone.text.contains("Nothing was changed."), "{}", gone.visible());
    let refused = browser.submit(&page, &path, &[("accept", "yes")]).await;
    refused.expect(404, "This is not here").expect(404, "Nothing was changed.");
}

#[tokio::test]
async fn bid_of_a_team_that_has_bought_the_listing_can_only_be_withdrawn_or_declined() {
    let market = shop();
    let (browser, seller) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, SELLER).await);
    let path = bid_on_plain(&browser, "amount=40").await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    let page = browser.get(&path).await;
    page.expect(200, "Your team has bought this listing since").expect(200, &receipt);
    assert!(!page.text.contains("Change the bid"), "{}", page.visible());
    let page = browser.get(&format!("/console/listings/{}", listing_id("plain"))).await;
    page.expect(200, "Your bid of $40.00 is open. Your team has bought this listing since")
        .expect(200, &receipt);
    assert!(!page.text.contains("waits for the vendor"), "{}", page.visible());
    // The vendor does not learn that its buyer and the bidder are the same.
    expect_only_declined(&seller, &path, "The bidder can no longer buy.").await;
}

#[tokio::test]
async fn vendor_reads_that_a_bid_has_to_be_confirmed() {
    let market = shop();
    let (browser, seller) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, SELLER).await);
    let path = bid_on_plain(&browser, "amount=40").await;
    change_listing(&market, "plain", |fields| fields.terms = "Others.".to_owned());
    expect_only_declined(&seller, &path, "when the bidder has confirmed it").await;
    let listing = format!("/console/listings/{}", listing_id("plain"));
    browser
        .get(&listing)
        .await
        .expect(200, "The vendor can only accept your bid after you have confirmed it.");
    bid(&browser, "plain", "amount=40").await;
    browser.get(&listing).await.expect(200, "Your bid of $40.00 waits for the vendor");
    seller.get(&received(&path)).await.expect(200, "It waits for your answer.").expect(200, "Accept…");
}

#[tokio::test]
async fn both_sides_read_that_the_purchase_of_an_accepted_bid_was_canceled() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40&pay_with=invoice").await;
    accept(&market, "seller", id_of(&path)).unwrap();
    let seller = Browser::signed_in(&market, SELLER).await;
    let page = seller.get(&received(&path)).await;
    page.expect(200, "when the market has the payment").expect(200, "What you earn");
    market.clock().advance(15 * DAY);
    market.market().run_due_steps().unwrap();
    let (browser, seller) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, SELLER).await);
    browser.get(&path).await.expect(200, "the purchase was canceled before it was paid");
    let page = seller.get(&received(&path)).await;
    page.expect(200, "the sale was canceled before it was paid");
    assert!(!page.text.contains("when the market has the payment"), "{}", page.visible());
    assert!(!page.text.contains("What you earn"), "{}", page.visible());
}

#[tokio::test]
async fn ended_bid_leads_to_the_listing_only_if_it_takes_bids() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_on_plain(&browser, "amount=40").await;
    decline(&market, "seller", id_of(&path)).unwrap();
    browser.get(&path).await.expect(200, "The listing takes bids.").expect(200, "Open the listing");
    change_listing(&market, "plain", |fields| fields.accepts_bids = false);
    let page = browser.get(&path).await;
    page.expect(200, "The listing takes no bids now.");
    let listing = format!("href=\"/console/listings/{}\"", listing_id("plain"));
    page.expect(200, &listing);
    perform(&market, "plain", Operation::Archive);
    let page = browser.get(&path).await;
    page.expect(200, "The listing takes no bids now.").expect(200, "Listing plain");
    assert!(!page.text.contains(&listing), "{}", page.visible());
}

/// The fee of a sale is that of its acceptance, also after the market has changed its fees.
#[tokio::test]
async fn accepted_bid_states_the_fee_of_its_acceptance() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let (plain, dear) = (
        bid_on_plain(&browser, "amount=40&pay_with=invoice").await,
        made(&bid(&browser, "dear", "amount=100").await, "bid_made"),
    );
    accept(&market, "seller", id_of(&plain)).unwrap();
    let settings = vec![("fees.platform_percent".to_owned(), toml::Value::Float(20.0))];
    let new = NewWorld { source: "market".to_owned(), settings, ..NewWorld::default() };
    let copy = TestMarket::of_world(market.worlds().create(&new, None).unwrap());
    let seller = Browser::signed_in(&copy, SELLER).await;
    seller.get(&received(&plain)).await.expect(200, "−$4.00").expect(200, "$36.00");
    seller.get(&received(&dear)).await.expect(200, "−$20.00").expect(200, "$80.00");
}

/// Changes what a listing has.
type Change<'a> = &'a dyn Fn(&mut Writer) -> Result<()>;

/// A bid is for the tasks that a taskset had, and for their versions.
#[tokio::test]
async fn bid_is_not_accepted_for_other_tasks() {
    let first = json!({"created_at": "-P59D", "current_state": "live", "lifecycle_stage": "accepted"});
    let task = |key: &str| json!({"key": key, "name": key, "created_at": "-P60D", "versions": [first]});
    let market = small_market_with(
        &[published("tasks", 30, &json!({"assets": ["set"], "accepts_bids": true}))],
        &json!({
            "tasksets": [{"key": "s", "team": "seller", "name": "S", "created_at": "-P96D", "columns": [],
                "tasks": [task("one"), task("two")]}],
            "assets": [{"key": "set", "team": "seller", "sku": "taskset", "title": "Set", "created_at": "-P95D", "taskset": "s"}],
            "keys": [console_key("buyer")],
        }),
    );
    give_credits(&market, "buyer", 100_000);
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = made(&bid(&browser, "tasks", "amount=40").await, "bid_made");
    let [one, two] = ["s/one", "s/two"].map(|key| fixture_record_id("tasks", key));
    let add_version = |writer: &mut Writer| {
        let seller = teams::vendor(writer.rows, "seller");
        task_changes::add_version(writer, &seller, one, &version(VersionState::Live)).map(drop)
    };
    let delete = |writer: &mut Writer| {
        let seller = teams::vendor(writer.rows, "seller");
        task_changes::delete_task(writer, &seller, two)
    };
    let changes: [Change; 2] = [&add_version, &delete];
    for change in changes {
        market.write(change).unwrap();
        refused(&market, id_of(&path));
        browser.get(&path).await.expect(200, "What you signed has changed since");
        made(&bid(&browser, "tasks", "amount=40").await, "bid_changed");
    }
    accept(&market, "seller", id_of(&path)).unwrap();
}
