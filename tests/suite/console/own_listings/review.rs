//! What changed since the last approval, and the rounds of a review.

use marketplace::{
    domain::{listing_lifecycle::Operation, listings::ListingRowId},
    operations::access::Platform,
    operations::reviews::{self, Since},
};
use serde_json::json;

use super::{SELLER, asset_id, decide, done, draft, edited, market, market_with, row};
use crate::{
    harness::{TestMarket, browser::Browser, database},
    sales::listing_id,
};

async fn approve(market: &TestMarket, seller: &Browser<'_>) {
    done(seller, &draft(), "submit", "listing_submitted").await;
    decide(market, listing_id("draft"), Operation::Approve, None);
}

/// Detaches the data of an asset, or deletes it, on the pages of the asset.
async fn change_asset(seller: &Browser<'_>, asset: &str, verb: &str) {
    let path = format!("/console/inventory/{}/{verb}", asset_id(asset));
    let page = seller.get(&path).await;
    let answer = seller.submit(&page, &path, &[]).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
}

#[tokio::test]
async fn all_changes_since_the_approval_are_shown() {
    let market =
        market_with(&json!({"assets": ["c1", "c2", "c3"], "description": "Of nine harbors.\nIn May."}));
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    let changes = format!("{path}/changes");
    seller.get(&changes).await.expect(200, "There is no approval to compare with");
    let offer = "What changed since the last approval";
    assert!(!seller.get(&path).await.text.contains(offer));
    approve(&market, &seller).await;
    seller.get(&path).await.expect(200, offer);
    seller.get(&changes).await.expect(200, "Nothing has changed.").expect(200, "round 1 of the review");
    // The price can change without another review.
    edited(&seller, &path, &[("price", "60")]).await;
    let page = seller.get(&changes).await;
    page.expect(200, "<del class=\"long\"><bdi>$50.00</bdi></del>").expect(200, "<bdi>$60.00</bdi>");
    assert!(!page.text.contains("Assets added") && !page.text.contains("changed-description"));

    edited(&seller, &path, &[("title", "Tides <2>"), ("description", "Of ten harbors.\r\nIn May.")]).await;
    let detach = format!("{path}/assets/detach");
    for gone in ["c2", "c3"] {
        seller.post(&detach, &[("asset", &asset_id(gone).to_string())]).await;
    }
    change_asset(&seller, "c1", "detach").await;
    change_asset(&seller, "c3", "delete").await;
    let added = [("scope", "chosen"), ("asset", &*asset_id("c4").to_string())];
    seller.post(&format!("{path}/assets"), &added).await.expect(200, "1 asset was attached");
    let page = seller.get(&changes).await;
    page.expect(200, "<del>nine</del>").expect(200, "<ins>ten</ins>").expect(200, "Tides &lt;2&gt;");
    page.expect(200, "Assets added: 1").expect(200, "Code c4");
    page.expect(200, "Assets removed: 2").expect(200, "Code c2").expect(200, "Code c3");
    page.expect(200, "Assets changed: 1").expect(200, "c0ffeec0ffee");

    approve(&market, &seller).await;
    seller.get(&changes).await.expect(200, "Nothing has changed.").expect(200, "round 2 of the review");
}

/// Sending back is not an approval: the vendor's page compares with the last approval, the platform can compare with the last
/// decision.
#[tokio::test]
async fn round_that_was_sent_back_is_no_approval() {
    let market = market();
    let (seller, path, listing) = (Browser::signed_in(&market, SELLER).await, draft(), listing_id("draft"));
    approve(&market, &seller).await;
    edited(&seller, &path, &[("title", "Second")]).await;
    done(&seller, &path, "submit", "listing_submitted").await;
    decide(&market, listing, Operation::RequestChanges, Some("Call it third."));
    seller
        .get(&format!("{path}/edit"))
        .await
        .expect(200, "The reviewer writes:")
        .expect(200, "Call it third.");
    edited(&seller, &path, &[("title", "Third")]).await;
    let page = seller.get(&format!("{path}/changes")).await;
    page.expect(200, "round 1 of the review").expect(200, "<bdi>Listing draft</bdi>").expect(200, "Third");
    assert!(!page.text.contains("<bdi>Second</bdi>"), "{}", page.visible());
    let since = |since| {
        let read =
            market.read(|reader| reviews::changes_of_any(reader, Platform::of_process(), listing, since));
        let found = read.unwrap().unwrap();
        (found.since.number, found.before.title)
    };
    assert_eq!(since(Since::Approval), (1, "Listing draft".to_owned()));
    assert_eq!(since(Since::Decision), (2, "Second".to_owned()));
    let rounds = seller.get(&format!("{path}/reviews")).await;
    let order =
        ["Changes requested", "Call it third.", "Round 2: submitted", "Approved", "Round 1: submitted"];
    let positions: Vec<usize> = order.iter().map(|text| rounds.text.rfind(text).unwrap()).collect();
    assert!(positions.is_sorted(), "{order:?} are at {positions:?}");
}

/// A vendor can submit and withdraw as often as it likes: what was submitted is kept of the last withdrawn round only.
#[tokio::test]
async fn withdrawn_rounds_take_no_space() {
    let market = market();
    let (seller, path, listing) = (Browser::signed_in(&market, SELLER).await, draft(), listing_id("draft"));
    approve(&market, &seller).await;
    edited(&seller, &path, &[("title", "Second")]).await;
    for _ in 0..5 {
        done(&seller, &path, "submit", "listing_submitted").await;
        done(&seller, &path, "withdraw", "listing_withdrawn").await;
        market.clock().advance(super::MINUTE);
    }
    let ListingRowId(row_id) = row(&market, listing).row_id;
    let kept = |sql: &str| -> i64 {
        database::connect_to_copy(market.market()).query_row(sql, [row_id], |row| row.get(0)).unwrap()
    };
    assert_eq!(kept("SELECT count(*) FROM reviews WHERE listing = ?1"), 6);
    assert!(kept("SELECT count(*) FROM reviews WHERE listing = ?1 AND snapshot IS NOT NULL") <= 3);
    assert!(
        kept("SELECT count(*) FROM review_assets a JOIN reviews r ON r.id = a.review WHERE r.listing = ?1")
            <= 6
    );
    seller.get(&format!("{path}/changes")).await.expect(200, "round 1 of the review");
    seller.get(&format!("{path}/reviews")).await.expect(200, "Round 6: submitted with 2 assets");
}

/// The identities of two rounds differ exactly if their submitted contents differ.
#[tokio::test]
async fn digest_of_a_round_is_that_of_what_was_submitted() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    let listing = listing_id("draft");
    let digest = || {
        let rounds =
            market.read(|reader| reviews::list_of_any(reader, Platform::of_process(), listing)).unwrap();
        rounds[0].sha256.clone()
    };
    let mut digests = Vec::new();
    for title in ["First", "Second", "First"] {
        edited(&seller, &path, &[("title", title)]).await;
        done(&seller, &path, "submit", "listing_submitted").await;
        digests.push(digest());
        done(&seller, &path, "withdraw", "listing_withdrawn").await;
    }
    assert_eq!(digests[0], digests[2]);
    assert_ne!(digests[0], digests[1]);
    change_asset(&seller, "c1", "detach").await;
    market
        .write(|writer| crate::harness::listing_lifecycle::perform(writer, listing, Operation::Submit))
        .unwrap();
    assert_ne!(digest(), digests[2], "other data");
}

/// A listing that was sent back before any approval has nothing to compare with.
#[tokio::test]
async fn changes_are_offered_after_an_approval_only() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    done(&seller, &path, "submit", "listing_submitted").await;
    decide(&market, listing_id("draft"), Operation::RequestChanges, Some("Say more."));
    for page in [path.clone(), format!("{path}/reviews")] {
        let page = seller.get(&page).await;
        page.expect(200, "Say more.");
        assert!(!page.text.contains(&format!("{path}/changes")), "{}", page.visible());
    }
}
