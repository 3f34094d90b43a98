//! What is bought, at which price, once, and what the receipt says.

use data_encoding::HEXLOWER;
use marketplace::{
    domain::{assets::Kind, listing_lifecycle::Operation, listings::DeliveryMethod},
    operations::{access::Platform, linked_data, purchases as operations_of_purchases, teams},
};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    BUYER, DAY, OTHER, SELLER, TERMS, agreement, asset_id, bid_path, buy, buy_path, change_listing, complete,
    count, credits, decide, id_of, link_c4, made, perform, purchases, republish_plain, shop,
};
use crate::{
    catalog::small_market::published,
    harness::{archives::unzip, browser::Browser},
    sales::listing_id,
};

#[tokio::test]
async fn listing_is_bought_with_credits_at_the_amounts_that_were_shown() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get(&buy_path("plain")).await;
    for text in [
        "$50.00",
        "$2.50",
        "$52.50",
        "$1,000.00",
        "$947.50",
        "For training only.",
        "No &lt;b&gt;copies&lt;/b&gt;.",
    ] {
        page.expect(200, text);
    }
    let form = page;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    assert_eq!(credits(&market, "buyer"), 100_000 - 5_250);
    let page = browser.get(&receipt).await;
    for text in ["Buyer house", "Seller house", "$50.00", "$2.50", "$52.50", "Completed", "Listing plain"] {
        page.expect(200, text);
    }
    let text = agreement(&browser, &receipt).await;
    let purchase = id_of(&receipt);
    for line in [
        format!("Purchase: {purchase}\n"),
        "Buyer: Buyer house\nVendor: Seller house\nListing: Listing plain\n".to_owned(),
        "Bought: the whole listing, 4 assets\nSale: not exclusive\n".to_owned(),
        "Price: 50.00 USD\nBuyer fee: 2.50 USD\nTotal: 52.50 USD\nPayment: credits\n".to_owned(),
        format!("Terms of the vendor:\n\n{TERMS}\n"),
    ] {
        assert!(text.contains(&line), "{line:?} in {text}");
    }
    browser.get(&buy_path("plain")).await.expect(200, "Your team already has a purchase of this listing");
    let page = browser.get(&format!("/console/listings/{}", listing_id("plain"))).await;
    assert_eq!(page.text.matches("aria-disabled=\"true\"").count(), 2, "{}", page.visible());
    assert_eq!(page.text.matches("Your team has bought this listing.").count(), 1, "{}", page.visible());
    // A form that was open meanwhile is refused in the same words.
    let late = browser.submit(&form, &buy_path("plain"), &[("accept", "yes"), ("form_key", "late")]).await;
    late.expect(409, "Your team already has a purchase of this listing");
    assert!(!late.text.contains("The team "), "{}", late.visible());
    let file = browser.get("/console/wallet/entries?format=csv").await;
    file.expect(200, &format!("-52.50,947.50,{purchase},"));
}

/// The pages say it before and after the purchase, and how the vendor delivers instead.
#[tokio::test]
async fn only_the_description_of_an_asset_without_data_is_delivered() {
    const BY_VENDOR: &str = "The vendor delivers the data by invitation to a repository, within 7 days.";
    let market = shop();
    let deliver = |method| {
        change_listing(&market, "plain", move |fields| fields.delivery = Some((method, 7)));
    };
    deliver(DeliveryMethod::RepositoryTransfer);
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get(&format!("/console/listings/{}", listing_id("plain"))).await;
    page.expect(200, "Description only: the market has no data of this asset.").expect(200, BY_VENDOR);
    for path in [buy_path("plain"), format!("{}?amount=40", bid_path("plain"))] {
        let page = browser.get(&path).await;
        page.expect(200, "the market has no data of 4 of the 4 assets.").expect(200, BY_VENDOR);
    }
    let page = browser.get(&format!("{}?scope=selection", buy_path("plain"))).await;
    page.expect(200, "Code c1, codebase, $20.00, description only");
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    market.run_background_on_a_thread().await;
    // The agreement says how it is delivered, whatever the listing says later.
    deliver(DeliveryMethod::Download);
    let page = browser.get(&receipt).await;
    page.expect(200, "Description only: the market has no data of this asset.").expect(200, BY_VENDOR);
    page.expect(200, "Download the descriptions").expect(200, "What you bought");
}

#[tokio::test]
async fn sample_and_selection_cost_their_own_prices() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let sample = made(&buy(&browser, "plain", "scope=sample").await, "bought");
    assert_eq!(credits(&market, "buyer"), 100_000 - 210);
    assert!(agreement(&browser, &sample).await.contains("Bought: a sample of the listing\n"));
    let offered = browser.get(&format!("{}?scope=sample", buy_path("free"))).await;
    offered.expect(200, "Get the free sample</button>");
    let free = made(&buy(&browser, "free", "scope=sample&pay_with=invoice").await, "bought");
    let page = browser.get(&format!("/console/listings/{}", listing_id("free"))).await;
    page.expect(200, "Your team has this sample.");
    browser.get(&free).await.expect(200, "Completed").expect(200, "$0.00");
    let (first, second) = (asset_id("c1"), asset_id("c2"));
    let choice = format!("scope=selection&asset={first}&asset={second}");
    let selection = made(&buy(&browser, "plain", &choice).await, "bought");
    // 20 + 12.50, and 5 % of it: 1.625 is rounded to a cent.
    let paid = 100_000 - 210 - credits(&market, "buyer");
    assert!((3_412..=3_413).contains(&paid), "{paid}");
    let text = agreement(&browser, &selection).await;
    let ids = format!("Bought: 2 assets of the listing\nAsset ID: {first}\nAsset ID: {second}\n");
    assert!(text.contains(&ids), "{text}");
    let page = browser.get(&selection).await;
    page.expect(200, "Code c1").expect(200, "Code c2");
    assert!(!page.text.contains("Code c4"), "{}", page.visible());
}

#[tokio::test]
async fn selection_is_of_assets_with_prices_and_costs_at_most_the_whole() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    browser.get(&format!("{path}?scope=selection")).await.expect(200, "Choose at least one asset");
    let without_price = asset_id("c3");
    let page = browser.get(&format!("{path}?scope=selection&asset={without_price}")).await;
    assert!(!page.text.contains("name=\"quote\""), "{}", page.visible());
    let all = ["c1", "c2", "c4"].map(|key| format!("&asset={}", asset_id(key))).concat();
    browser.get(&format!("{path}?scope=selection{all}")).await.expect(200, "$52.50");
    let page = browser.get(&format!("{}?scope=selection&asset={}", buy_path("single"), asset_id("c5"))).await;
    page.expect(200, "only sold as a whole");
    assert_eq!(purchases(&market), 0);
}

#[tokio::test]
async fn pressing_twice_buys_once() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let page = browser.get(&path).await;
    let first = browser.submit(&page, &path, &[("accept", "yes")]).await;
    let second = browser.submit(&page, &path, &[("accept", "yes")]).await;
    assert_eq!(made(&first, "bought"), made(&second, "bought"));
    assert_eq!((purchases(&market), credits(&market, "buyer")), (1, 100_000 - 5_250));
    assert_eq!(count(&market, "SELECT count(*) FROM audit WHERE operation = 'buy_listing'"), 1);
}

#[tokio::test]
async fn pressing_twice_at_the_same_time_buys_once() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let page = browser.get(&path).await;
    let press = || browser.submit(&page, &path, &[("accept", "yes")]);
    let (a, b, c) = tokio::join!(press(), press(), press());
    let done: Vec<_> = [&a, &b, &c].into_iter().filter(|answer| answer.status() == 303).collect();
    assert!(!done.is_empty());
    for answer in &done {
        assert_eq!(made(answer, "bought"), made(done[0], "bought"));
    }
    assert!([&a, &b, &c].iter().all(|answer| [303, 409].contains(&answer.status())));
    assert_eq!((purchases(&market), credits(&market, "buyer")), (1, 100_000 - 5_250));
}

#[tokio::test]
async fn two_tabs_buy_once() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("plain");
    let (one, two) = (browser.get(&path).await, browser.get(&path).await);
    let (one, two) = tokio::join!(
        browser.submit(&one, &path, &[("accept", "yes")]),
        browser.submit(&two, &path, &[("accept", "yes")])
    );
    let mut statuses = [one.status(), two.status()];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409]);
    assert_eq!((purchases(&market), credits(&market, "buyer")), (1, 100_000 - 5_250));
}

#[tokio::test]
async fn too_few_credits_show_the_gap() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let path = buy_path("dear");
    // 5,250.00 - 1,000.00
    let page = browser.get(&path).await;
    page.expect(200, "$4,250.00").expect(200, "Request credits");
    assert!(!page.text.contains("name=\"quote\""), "{}", page.visible());
    // A form of a page from before the credits were spent.
    let page = browser.get(&format!("{path}?pay_with=invoice")).await;
    let refused = browser.submit(&page, &path, &[("accept", "yes"), ("pay_with", "credits")]).await;
    refused.expect(409, "$4,250.00");
    assert_eq!((purchases(&market), credits(&market, "buyer")), (0, 100_000));
}

#[tokio::test]
async fn invoice_is_completed_canceled_and_refunded_by_the_market() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let order = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    let pending = browser.get(&order).await;
    pending.expect(200, "waits for your payment of $52.50").expect(200, "For training only.");
    pending.expect(200, "sends the invoice");
    pending.expect(200, "Order on marketplace, not paid yet").expect(200, "What you ordered");
    assert!(!pending.text.contains("Receipt"), "{}", pending.visible());
    browser.get(&format!("{order}/agreement")).await.expect(404, "This is not here");
    browser.get(&format!("{order}/sha256")).await.expect(409, "not ready");
    complete(&market, id_of(&order)).unwrap();
    browser.get(&order).await.expect(200, "Completed").expect(200, "Print the receipt");
    assert!(agreement(&browser, &order).await.contains("Payment: invoice\n"));
    assert_eq!(credits(&market, "buyer"), 100_000, "an invoice is paid elsewhere");
    decide(&market, id_of(&order), operations_of_purchases::refund).unwrap();
    let refunded = browser.get(&order).await;
    refunded.expect(200, "Your right to use the data has ended").expect(200, "Agreement");
    agreement(&browser, &order).await;

    let again = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    decide(&market, id_of(&again), operations_of_purchases::cancel).unwrap();
    let canceled = browser.get(&again).await;
    canceled
        .expect(200, "was canceled")
        .expect(200, "Nothing was charged.")
        .expect(200, "What you had ordered");
    assert!(!canceled.text.contains("Receipt"), "{}", canceled.visible());
    let late = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    market.clock().advance(14 * DAY);
    market.market().run_due_steps().unwrap();
    browser.get(&late).await.expect(200, "was canceled");
    let paid = made(&buy(&browser, "plain", "").await, "bought");
    decide(&market, id_of(&paid), operations_of_purchases::refund).unwrap();
    assert_eq!(credits(&market, "buyer"), 100_000, "all of it is given back, with the fee");
}

#[tokio::test]
async fn receipt_lists_the_files_with_digests_that_can_be_checked() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    market.run_background_on_a_thread().await;
    let page = browser.get(&receipt).await;
    page.expect(200, "What you bought").expect(200, "sha256sum --check");
    page.expect(200, "7 files: 4 of the assets, 3 that describe them");
    let (id, listing) = (id_of(&receipt), listing_id("plain"));
    page.expect(200, &format!("Purchase no. <span class=\"mono long\">{id}</span>"));
    page.expect(200, &format!("verify-bundle {listing}.zip --keys marketplace-keys.json</code>"));
    page.expect(200, "download=\"marketplace-keys.json\"").expect(200, "Agreement ID");
    page.expect(200, "ID of your team").expect(200, "Salt (a secret)");
    let digests = browser.get(&format!("{receipt}/sha256")).await;
    assert_eq!(digests.status(), 200);
    let lines: Vec<(&str, &str)> =
        digests.text.lines().map(|line| line.split_once("  ").expect("digest and path")).collect();
    assert_eq!(lines.len(), 7, "four files, and three that describe them");
    let download = page.text.split("href=\"").find(|link| link.contains("/bundle")).expect("a download");
    let link = download.split('"').next().unwrap().replace("&amp;", "&");
    let archive = browser.get(link.strip_prefix("http://market.test").unwrap_or(&link)).await;
    assert_eq!(archive.status(), 200, "{link}");
    let files = unzip(&archive.response.bytes);
    assert_eq!(files.len(), lines.len());
    for (digest, path) in lines {
        let bytes = files.get(path).expect("a delivered file");
        assert_eq!(HEXLOWER.encode(&Sha256::digest(bytes)), digest, "{path}");
        page.expect(200, digest);
    }
}

#[tokio::test]
async fn receipt_has_the_names_at_the_time_of_the_purchase() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    let ordered = made(&buy(&browser, "dear", "pay_with=invoice").await, "ordered");
    for name in ["Seller house", "Buyer house"] {
        let new = format!("New {name}");
        market.write(|writer| teams::rename(writer, Platform::of_process(), name, &new)).unwrap();
    }
    for path in [receipt, ordered] {
        let page = browser.get(&path).await;
        for name in ["Seller house", "Buyer house"] {
            page.expect(200, &format!("<bdi>{name}</bdi>"));
        }
    }
}

#[tokio::test]
async fn list_has_the_titles_of_the_receipts() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let bought = made(&buy(&browser, "plain", "").await, "bought");
    let ordered = made(&buy(&browser, "dear", "pay_with=invoice").await, "ordered");
    for listing in ["plain", "dear"] {
        perform(&market, listing, Operation::Unpublish);
        change_listing(&market, listing, |fields| fields.title = format!("Another {listing}"));
    }
    for (receipt, title) in [(&bought, "Listing plain"), (&ordered, "Listing dear")] {
        browser.get(receipt).await.expect(200, &format!("<bdi>{title}</bdi>"));
        for format in ["", "&format=csv"] {
            let list = |text: &str| format!("/console/purchases?text={text}{format}");
            browser.get(&list("listing")).await.expect(200, title);
            let other = browser.get(&list("another")).await;
            let id = id_of(receipt).to_string();
            assert!(other.status() == 200 && !other.text.contains(&id), "{}", other.visible());
        }
    }
}

#[tokio::test]
async fn receipt_has_the_proof_of_the_log_within_an_hour() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    market.run_background_on_a_thread().await;
    let link = format!("href=\"{receipt}/proof\"");
    let page = browser.get(&receipt).await;
    page.expect(200, "available within an hour");
    assert!(!page.text.contains(&link));
    browser.get(&format!("{receipt}/proof")).await.expect(503, "is being prepared");
    market.clock().advance(DAY / 24);
    market.run_background_on_a_thread().await;
    let proof = format!(" --proof proof-{}.json</code>", id_of(&receipt));
    browser.get(&receipt).await.expect(200, &link).expect(200, &proof);
    browser.get(&format!("{receipt}/proof")).await.expect(200, "urn:x-marketplace:log:");
}

#[tokio::test]
async fn records_of_another_team_are_not_found() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    let other = Browser::signed_in(&market, OTHER).await;
    for part in ["", "/agreement", "/attestation", "/proof", "/sha256"] {
        other.get(&format!("{receipt}{part}")).await.expect(404, "This is not here");
    }
    other.post(&format!("{receipt}/prepare"), &[]).await.expect(404, "This is not here");
    other.get("/console/purchases").await.expect(200, "No purchases yet");
    let vendor = Browser::signed_in(&market, "mkt_seller_console").await;
    let page = vendor.get(&receipt).await;
    assert_ne!(page.status(), 200);
    assert!(!page.text.contains("Buyer house"), "{}", page.visible());
}

#[tokio::test]
async fn purchases_are_listed_filtered_and_exported() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "plain", "").await, "bought");
    buy(&browser, "free", "pay_with=invoice").await;
    let list = browser.get("/console/purchases").await;
    list.expect(200, "Listing plain").expect(200, "Listing free");
    let pending = browser.get("/console/purchases?status=pending").await;
    pending.expect(200, "Listing free");
    assert!(!pending.text.contains("Listing plain"));
    let file = browser.get("/console/purchases?format=csv&status=completed").await;
    file.expect(200, "Listing plain,All assets,Completed,50.00,2.50,52.50,2026-03-01T");
    assert_eq!(file.text.trim_end().lines().count(), 2);
    let id = receipt.rsplit('/').next().unwrap();
    assert!(file.text.ends_with(&format!(",{id}\r\n")) && !list.visible().contains(id), "{}", file.text);
    assert!(file.response.header("content-disposition").contains("purchases"));
}

#[tokio::test]
async fn exclusive_listing_is_bought_once() {
    let market = shop();
    let (buyer, other) = (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, OTHER).await);
    let path = buy_path("single");
    let page = other.get(&path).await;
    page.expect(200, "This is an exclusive sale");
    let receipt = made(&buy(&buyer, "single", "").await, "bought");
    assert!(agreement(&buyer, &receipt).await.contains("Sale: exclusive\n"));
    let late = other.submit(&page, &path, &[("accept", "yes")]).await;
    assert!([404, 409].contains(&late.status()), "{}", late.visible());
    assert_eq!(credits(&market, "other"), 100_000);
    assert_eq!(other.get(&path).await.status(), 404, "{}", listing_id("single"));
}

#[tokio::test]
async fn purchases_are_audited_with_their_session() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    buy(&browser, "plain", "").await;
    let audited = "SELECT count(*) FROM audit a JOIN sessions s ON s.uuid = a.session AND s.key = a.key
         JOIN teams t ON t.id = a.team
         WHERE a.operation = 'buy_listing' AND a.subject_kind = 'listing' AND t.name = 'Buyer house'";
    assert_eq!(count(&market, audited), 1);
}

/// Nothing is bought with a page that was made before an asset got other data.
#[tokio::test]
async fn page_does_not_buy_other_data() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let form = browser.get(&buy_path("plain")).await;
    republish_plain(&market, link_c4);
    let answer = browser.submit(&form, &buy_path("plain"), &[("accept", "yes")]).await;
    answer.expect(409, "The price or the terms have changed");
    assert_eq!(purchases(&market), 0);
}

/// An order ends with the data that was ordered.
#[tokio::test]
async fn order_is_canceled_when_its_data_is_detached() {
    let market = shop();
    republish_plain(&market, link_c4);
    let browser = Browser::signed_in(&market, BUYER).await;
    let ordered = made(&buy(&browser, "plain", "pay_with=invoice").await, "ordered");
    republish_plain(&market, |writer, vendor| {
        linked_data::detach(writer, vendor, asset_id("c4"), Kind::Codebase)?;
        link_c4(writer, vendor)
    });
    assert!(complete(&market, id_of(&ordered)).is_err(), "other data was ordered");
    browser.get(&ordered).await.expect(200, "Canceled");
    assert_eq!(credits(&market, "buyer"), 100_000);
}

/// An order that another sale has made impossible is not to be paid.
#[tokio::test]
async fn receipt_warns_of_paying_for_what_cannot_be_completed() {
    let market = shop();
    market.seed_json(&json!({
        "listings": [published("twin", 9, &json!({"assets": ["c5"], "price_usd": 30}))],
    }));
    let (browser, other) =
        (Browser::signed_in(&market, BUYER).await, Browser::signed_in(&market, OTHER).await);
    let receipt = made(&buy(&browser, "single", "pay_with=invoice").await, "ordered");
    browser.get(&receipt).await.expect(200, "waits for your payment of $84.00");
    // Its codebase is no longer exclusive.
    made(&buy(&other, "twin", "").await, "bought");
    let page = browser.get(&receipt).await;
    page.expect(200, "Do not pay for this purchase").expect(200, "because of another sale of its assets");
    assert!(!page.text.contains("waits for your payment"), "{}", page.visible());
    assert!(complete(&market, id_of(&receipt)).is_err());
    let seller = Browser::signed_in(&market, SELLER).await;
    let page = seller.get(&format!("/console/selling/listings/{}", listing_id("single"))).await;
    page.expect(200, "can neither buy it nor bid on it").expect(200, "were sold already");
}

/// A receipt leads to the listing only if the team can see it.
#[tokio::test]
async fn receipt_does_not_link_a_listing_that_is_gone() {
    let market = shop();
    let browser = Browser::signed_in(&market, BUYER).await;
    let receipt = made(&buy(&browser, "dear", "pay_with=invoice").await, "ordered");
    let listing = format!("href=\"/console/listings/{}\"", listing_id("dear"));
    browser.get(&receipt).await.expect(200, &listing);
    perform(&market, "dear", Operation::Archive);
    let page = browser.get(&receipt).await;
    assert!(!page.text.contains(&listing), "{}", page.visible());
    complete(&market, id_of(&receipt)).unwrap();
    browser.get(&receipt).await.expect(200, &listing);
}
