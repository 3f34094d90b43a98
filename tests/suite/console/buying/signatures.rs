//! Only signed terms are bought, and exactly these are stored.

use marketplace::{
    domain::{
        listings::DeliveryMethod,
        money::Cents,
        samples::{SampledAsset, Selection},
    },
    store::{self, listings::ListingFields},
};

use super::{
    BUYER, agreement, asset_id, bid_path, buy, buy_path, change_listing, complete, count, credits, id_of,
    made, purchases, shop,
};
use crate::harness::browser::Browser;

#[tokio::test]
async fn nothing_is_bought_without_the_signature() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let page = browser.get(&path).await;
    let unsigned = browser.submit(&page, &path, &[]).await;
    unsigned.expect(422, "Check this box to sign the agreement.");
    for quote in ["", "0", &"0".repeat(64)] {
        let other = browser.submit(&page, &path, &[("accept", "yes"), ("quote", quote)]).await;
        other.expect(409, "The price or the terms have changed");
    }
    let path = bid_path("plain");
    let page = browser.get(&format!("{path}?amount=40")).await;
    browser.submit(&page, &path, &[]).await.expect(422, "Check this box to sign the agreement.");
    let more = browser.submit(&page, &path, &[("accept", "yes"), ("amount", "41")]).await;
    more.expect(409, "The price or the terms have changed");
    assert_eq!((purchases(&market), credits(&market, "buyer")), (0, 100_000));
    assert_eq!(count(&market, "SELECT count(*) FROM offers"), 0);
}

#[tokio::test]
async fn quote_of_something_else_buys_nothing() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let sample = browser.get(&format!("{path}?scope=sample")).await;
    for changed in [("scope", "all"), ("pay_with", "invoice")] {
        let answer = browser.submit(&sample, &path, &[("accept", "yes"), changed]).await;
        answer.expect(409, "The price or the terms have changed");
    }
    assert_eq!(purchases(&market), 0);
}

/// The button at the end sends what is ticked, and buys nothing if the amounts are about something else.
#[tokio::test]
async fn selection_that_was_changed_after_the_amounts_is_not_bought() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let (first, second) = (asset_id("c1").to_string(), asset_id("c2").to_string());
    let page = browser.get(&format!("{path}?scope=selection&asset={first}")).await;
    page.expect(200, "Buy for $21.00");
    let assets = page.form(&path).into_iter().filter(|(name, _)| name == "asset");
    assert_eq!(assets.map(|(_, id)| id).collect::<Vec<_>>(), [&*first], "only the boxes state it");
    let both = [("asset", first.as_str()), ("asset", second.as_str())];
    let refused = browser.submit(&page, &path, &[&both[..], &[("accept", "yes")]].concat()).await;
    refused.expect(409, "The price or the terms have changed").expect(409, "2 selected assets");
    assert_eq!((purchases(&market), credits(&market, "buyer")), (0, 100_000));
    let none = browser.submit(&page, &path, &[("asset", ""), ("accept", "yes")]).await;
    none.expect(422, "Choose at least one asset").expect(422, "href=\"#asset\"");
    let updated = browser.submit(&page, &path, &[&both[..], &[("update", "yes")]].concat()).await;
    assert_eq!(updated.status(), 303, "{}", updated.visible());
    let shown = browser.get(updated.location()).await;
    shown.expect(200, "2 selected assets");
    let receipt = made(&browser.submit(&shown, &path, &[("accept", "yes")]).await, "bought");
    let text = agreement(&browser, &receipt).await;
    assert!(text.contains("Bought: 2 assets of the listing\n"), "{text}");
}

#[tokio::test]
async fn amount_that_was_changed_after_the_terms_is_not_bid() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = bid_path("plain");
    let page = browser.get(&format!("{path}?amount=40")).await;
    let amounts = page.form(&path).into_iter().filter(|(name, _)| name == "amount");
    assert_eq!(amounts.count(), 1, "only the field states it");
    for (typed, status, said) in [
        ("99", 409, "The price or the terms have changed"),
        ("many", 422, "Enter an amount in US dollars"),
        ("", 422, "Enter an amount in US dollars"),
        ("99999999999", 422, "Enter at most $100,000,000."),
    ] {
        let refused = browser.submit(&page, &path, &[("accept", "yes"), ("amount", typed)]).await;
        refused.expect(status, said);
        let links = refused.text.matches("href=\"#amount\"").count();
        assert_eq!(links, usize::from(status == 422), "{}", refused.visible());
    }
    let updated = browser.submit(&page, &path, &[("update", "yes"), ("amount", "39")]).await;
    assert_eq!(updated.status(), 303, "{}", updated.visible());
    browser.get(updated.location()).await.expect(200, "Bid $39.00");
    assert_eq!(count(&market, "SELECT count(*) FROM offers"), 0);
}

#[tokio::test]
async fn changed_price_or_terms_are_shown_and_signed_again() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let mut page = browser.get(&path).await;
    let changes: [fn(&mut ListingFields); 4] = [
        |fields| fields.price = Some(Cents(6_000)),
        |fields| fields.price = Some(Cents(4_000)),
        |fields| fields.terms = "For reading only.".to_owned(),
        |fields| fields.delivery = Some((DeliveryMethod::Download, 9)),
    ];
    for change in changes {
        change_listing(&market, "plain", change);
        let refused = browser.submit(&page, &path, &[("accept", "yes")]).await;
        refused.expect(409, "The price or the terms have changed");
        assert!(!refused.form(&path).iter().any(|(name, _)| name == "accept"), "it is to be signed again");
        page = refused;
    }
    page.expect(409, "$42.00").expect(409, "For reading only.");
    let receipt = made(&browser.submit(&page, &path, &[("accept", "yes")]).await, "bought");
    assert_eq!(credits(&market, "buyer"), 100_000 - 4_200);
    let text = agreement(&browser, &receipt).await;
    assert!(text.contains("Total: 42.00 USD") && text.ends_with("\n\nFor reading only.\n"), "{text}");
}

/// The page says how many files and tasks the sample has, so the vendor cannot take some away before the order arrives.
#[tokio::test]
async fn sample_that_was_changed_is_not_bought() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let (sample, whole) = (browser.get(&format!("{path}?scope=sample")).await, browser.get(&path).await);
    change_listing(&market, "plain", |fields| {
        fields.sample = vec![SampledAsset { asset_id: asset_id("c1"), selection: Selection::default() }];
    });
    let refused = browser.submit(&sample, &path, &[("accept", "yes")]).await;
    refused.expect(409, "The price or the terms have changed");
    assert_eq!((purchases(&market), credits(&market, "buyer")), (0, 100_000));
    made(&browser.submit(&refused, &path, &[("accept", "yes")]).await, "bought");
    made(&browser.submit(&whole, &path, &[("accept", "yes")]).await, "bought");
    assert_eq!(purchases(&market), 2);
}

#[tokio::test]
async fn agreement_of_an_invoice_has_what_was_signed() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let order = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    change_listing(&market, "plain", |fields| {
        fields.terms = "All rights end tomorrow.".to_owned();
        fields.price = Some(Cents(9_900));
    });
    let pending = browser.get(&order).await;
    pending.expect(200, "For training only.").expect(200, "$52.50");
    complete(&market, id_of(&order)).unwrap();
    let text = agreement(&browser, &order).await;
    assert!(text.contains("For training only.") && text.contains("Total: 52.50 USD"), "{text}");
    assert!(!text.contains("All rights end tomorrow."));
    assert_eq!(count(&market, "SELECT count(*) FROM ordered_terms"), 0, "the agreement says it");
    let stored = "SELECT count(*) FROM agreements WHERE instr(text, 'For training only.')";
    assert_eq!(count(&market, stored), 1);
}

/// Orders from before the terms were stored get the terms at the time of their completion.
#[tokio::test]
async fn order_from_before_terms_were_kept_is_completed() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let order = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    let forgotten = market.write(|writer| {
        let purchase = store::purchases::find(writer.rows, id_of(&order))?.unwrap();
        store::agreements::delete_ordered_terms(writer.rows, purchase.row_id)
    });
    forgotten.unwrap();
    browser.get(&order).await.expect(200, "For training only.");
    complete(&market, id_of(&order)).unwrap();
    let text = agreement(&browser, &order).await;
    assert!(
        text.contains("Bought: the whole listing, 4 assets\n") && text.contains("For training only."),
        "{text}"
    );
}
