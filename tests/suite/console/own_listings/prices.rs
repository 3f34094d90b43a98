//! What the prices of single assets mean for the listing: warnings where it is cheaper in parts, and where a change is live.

use marketplace::domain::{listing_lifecycle::Operation, principals::KeyScope};
use serde_json::json;

use super::{BUYER, SELLER, asset_id, decide, done, draft, edit, edited, market_with};
use crate::{harness::browser::Browser, sales::listing_id};

const WARNING: &str = "Buyers can get everything for";

/// Everything for less than the price of the listing is warned about wherever one sets or offers it.
#[tokio::test]
async fn listing_that_is_cheaper_in_parts_is_warned_about() {
    let market = market_with(&json!({"assets": ["c1", "c2"]}));
    let seller = Browser::signed_in(&market, SELLER).await;
    for page in ["", "/edit", "/submit"] {
        let page = seller.get(&format!("{}{page}", draft())).await;
        page.expect(200, "Buyers can get everything for $40.00 instead of $50.00");
        super::check_markup(&page);
    }
    let is_warned = async |changes: &[(&str, &str)]| {
        let page = seller.get(&format!("{}/edit", draft())).await;
        let typed = [&[("preview", "yes")], changes].concat();
        seller.submit(&page, &format!("{}/edit", draft()), &typed).await.text.contains(WARNING)
    };
    assert!(is_warned(&[("price", "40.01")]).await && !is_warned(&[("price", "40")]).await);
    edited(&seller, &draft(), &[("price", "40")]).await;
    assert!(!seller.get(&draft()).await.text.contains(WARNING));
    edited(&seller, &draft(), &[("price", "50")]).await;
    done(&seller, &draft(), "submit", "listing_submitted").await;
    decide(&market, listing_id("draft"), Operation::Approve, None);
    seller.get(&format!("{}/publish", draft())).await.expect(200, WARNING);
    done(&seller, &draft(), "publish", "listing_published").await.expect(200, WARNING);
}

/// A sample that costs more than the listing is not refused.
#[tokio::test]
async fn sample_that_costs_more_than_the_listing_is_remarked_on() {
    const REMARK: &str = "The sample costs more than the listing.";
    for (price, is_dear) in [(50.01, true), (50.0, false)] {
        let submitted = json!([{"event": "submitted", "at": "-P3D"}]);
        let market = market_with(&json!({"assets": ["c1"], "sample_price_usd": price}));
        let seller = Browser::signed_in(&market, SELLER).await;
        for page in ["", "/edit"] {
            let page = seller.get(&format!("{}{page}", draft())).await;
            assert_eq!(page.text.contains(REMARK), is_dear, "{price}: {}", page.visible());
        }
        let market = market_with(&json!({"assets": ["c1"], "sample_price_usd": price, "history": submitted}));
        let key = market.operator_key("Ada", KeyScope::All);
        let operator = Browser::signed_in(&market, &key).await;
        let page = operator.get(&format!("/console/operator/review/{}", listing_id("draft"))).await;
        page.expect(200, "As buyers see it");
        assert_eq!(page.text.contains(REMARK), is_dear, "{price}: {}", page.visible());
    }
}

/// A change of prices says which listings have the assets, and that live ones change at once.
#[tokio::test]
async fn prices_of_assets_on_live_listings_are_not_changed_silently() {
    let market = market_with(&json!({"assets": ["c1"]}));
    let seller = Browser::signed_in(&market, SELLER).await;
    let new = "/console/inventory/changes/new";
    let address = format!("{new}?action=price&asset={}&asset={}", asset_id("c1"), asset_id("c2"));
    let review = async || {
        let page = seller.get(&address).await;
        seller.submit(&page, new, &[("price", "7"), ("review", "yes")]).await
    };
    let page = review().await;
    page.expect(200, "Listing draft").expect(200, "2 assets change");
    assert!(!page.text.contains("live listing"), "{}", page.visible());
    done(&seller, &draft(), "submit", "listing_submitted").await;
    decide(&market, listing_id("draft"), Operation::Approve, None);
    done(&seller, &draft(), "publish", "listing_published").await;
    let page = review().await;
    page.expect(200, "1 of the chosen assets is on a live listing")
        .expect(200, "Buyers see the new prices at once");
    super::check_markup(&page);
    let form = seller.get(&format!("/console/inventory/{}/edit", asset_id("c1"))).await;
    form.expect(200, "It is on 1 live listing").expect(200, "Listing draft");
    let form = seller.get(&format!("/console/inventory/{}/edit", asset_id("c2"))).await;
    assert!(!form.text.contains("It is on"), "{}", form.visible());
}

/// There is nothing to choose among one asset.
#[tokio::test]
async fn buyers_choose_among_several_assets_only() {
    let market = market_with(&json!({"assets": ["c1"]}));
    let (seller, buyer) =
        (Browser::signed_in(&market, SELLER).await, Browser::signed_in(&market, BUYER).await);
    let listing = format!("/console/listings/{}", listing_id("draft"));
    for is_offered in [false, true] {
        done(&seller, &draft(), "submit", "listing_submitted").await;
        decide(&market, listing_id("draft"), Operation::Approve, None);
        done(&seller, &draft(), "publish", "listing_published").await;
        let page = buyer.get(&listing).await;
        assert_eq!(page.text.contains("choose some"), is_offered, "{}", page.visible());
        let page = buyer.get(&format!("{listing}/buy")).await;
        assert_eq!(page.text.contains("Selected assets"), is_offered, "{}", page.visible());
        if !is_offered {
            done(&seller, &draft(), "unpublish", "listing_unpublished").await;
            let attach = [("scope", "chosen"), ("asset", &*asset_id("c3").to_string()), ("form_key", "a")];
            seller.post(&format!("{}/assets", draft()), &attach).await.expect(200, "1 asset was attached");
        }
    }
}

/// A reviewer who asks for changes is answered by an edit first.
#[tokio::test]
async fn listing_with_requested_changes_is_edited_first() {
    let market = market_with(&json!({"assets": ["c1", "c2"]}));
    let seller = Browser::signed_in(&market, SELLER).await;
    done(&seller, &draft(), "submit", "listing_submitted").await;
    decide(&market, listing_id("draft"), Operation::RequestChanges, Some("Name the source."));
    let page = seller.get(&draft()).await;
    page.expect(200, &format!("<a class=\"button full primary\" href=\"{}/edit\">", draft()));
    assert_eq!(edit(&seller, &draft(), &[("delivery_method", "download")]).await.status(), 303);
    seller.get(&draft()).await.expect(200, "At once, as a download");
}
