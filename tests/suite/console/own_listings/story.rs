//! A listing from an empty draft to the catalog and back, by all of its steps.

use marketplace::domain::listing_lifecycle::Operation;
use uuid::Uuid;

use super::{BUYER, LISTINGS, Menu, SELLER, commits_of, decide, done, edit, edited, market, path_of, row};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page},
    listing_lifecycle,
};

/// The most commits of a step.
const MAX_COMMITS: u64 = 2;

/// Writes a draft that has nothing but a title. Returns its path.
async fn write_draft(seller: &Browser<'_>) -> String {
    let new = format!("{LISTINGS}/new");
    seller.get(LISTINGS).await.expect(200, &new);
    let page = seller.get(&new).await;
    let answer = seller.submit(&page, &new, &[("title", "Tide models")]).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    let again = seller.submit(&page, &new, &[("title", "Tide models")]).await;
    assert_eq!(again.location(), answer.location(), "a form that is sent twice makes one listing");
    let page = seller.get(answer.location()).await;
    page.expect(200, "The draft was saved").expect(200, "It is a draft, which only your team sees");
    for missing in ["A description", "A price", "At least one asset"] {
        page.expect(200, &format!("<span class=\"out\">Missing: </span>{missing}"));
    }
    page.expect(200, "<span class=\"out\">Done: </span>A title");
    answer.location().split('?').next().unwrap().to_owned()
}

/// Submits a draft that lacks nearly everything.
async fn submit_too_early(seller: &Browser<'_>, listing: &str) {
    let menu = Menu::of(&seller.get(listing).await, listing);
    assert_eq!(menu.reason("Submit for review"), "Something is missing: see what submitting needs.");
    let path = format!("{listing}/submit");
    let required = ["Description is required", "Price is required", "Assets is required"];
    let page = seller.get(&path).await;
    let answer = seller.post(&path, &[]).await;
    for what in required {
        page.expect(200, what);
        answer.expect(409, what);
    }
    answer.expect(409, "Nothing was changed.");
    assert!(!answer.text.contains("title</code>") && !answer.text.contains('`'), "{}", answer.visible());
}

async fn attach_all(seller: &Browser<'_>, listing: &str, query: &str) -> Page {
    let path = format!("{listing}/assets?query={query}");
    seller.post(&path, &[("scope", "all"), ("confirmed", "yes"), ("form_key", query)]).await
}

/// Whether the catalog has the listing, as the buyer sees it.
async fn is_found(buyer: &Browser<'_>, listing: Uuid) -> bool {
    let page = buyer.get("/console/catalog?query=tide+models").await;
    assert_eq!(page.status(), 200, "{}", page.visible());
    let status = buyer.get(&format!("/console/listings/{listing}")).await.status();
    let is_listed = page.text.contains(&format!("/console/listings/{listing}"));
    assert_eq!(is_listed, status == 200, "{status}");
    is_listed
}

/// Submits the listing, has changes requested, and submits it again.
async fn reviewed(market: &TestMarket, seller: &Browser<'_>, listing: Uuid) {
    let path = path_of(listing);
    seller.get(&format!("{path}/submit")).await.expect(200, "Cost of the run").expect(200, "$1,000.00");
    let (commits, page) = commits_of(market, done(seller, &path, "submit", "listing_submitted")).await;
    assert!(commits <= MAX_COMMITS, "{commits}");
    page.expect(200, "The market reviews it.").expect(200, "Round 1: submitted with 4 assets");
    let note = "Say <b>which</b> harbors.\nAnd the years.";
    decide(market, listing, Operation::RequestChanges, Some(note));
    let page = seller.get(&path).await;
    page.expect(200, "The market asks for changes").expect(200, "Say &lt;b&gt;which&lt;/b&gt; harbors.");
    page.expect(200, "Notifications about this").expect(200, "needs changes.");
    edited(seller, &path, &[("description", "Of **nine** harbors.")]).await;
    let page = done(seller, &path, "submit", "listing_submitted").await;
    page.expect(200, "Round 2: submitted with 4 assets").expect(200, "All 2 rounds, with the notes");
    let rounds = seller.get(&format!("{path}/reviews")).await;
    rounds
        .expect(200, "Say &lt;b&gt;which&lt;/b&gt; harbors.")
        .expect(200, "The market has not decided yet.");
    let before = market.market().commit_count();
    decide(market, listing, Operation::Approve, None);
    assert!(market.market().commit_count() - before <= MAX_COMMITS);
    seller.get(&format!("{path}/reviews")).await.expect(200, "Say &lt;b&gt;which&lt;/b&gt; harbors.");
    seller.get(&format!("{path}/changes")).await.expect(200, "Nothing has changed.");
}

/// In the catalog, texts and assets cannot be changed, but prices can.
async fn change_in_the_catalog(seller: &Browser<'_>, path: &str) {
    let page = seller.get(&format!("{path}/edit")).await;
    page.expect(200, "Take it out of the catalog first");
    assert!(!page.text.contains("name=\"title\""), "{}", page.visible());
    let refused =
        edit(seller, path, &[("texts", "yes"), ("title", "Tides"), ("description", "Typed before.")]).await;
    refused.expect(409, "so nothing was saved").expect(409, "Typed before.");
    edited(seller, path, &[("price", "$1,450.50")]).await;
    let page = seller.get(path).await;
    page.expect(200, "Tide models").expect(200, "$1,450.50").expect(200, "Buyers find it in the catalog");
    let assets = seller.get(&format!("{path}/assets")).await;
    assets.expect(200, "Take it out of the catalog first");
    let (detach, asset) = (format!("{path}/assets/detach"), super::asset_id("c1").to_string());
    seller.post(&detach, &[("asset", &asset)]).await.expect(409, "");
    attach_all(seller, path, "files").await.expect(409, "so nothing was saved");
    let menu = Menu::of(&page, path);
    assert_eq!(menu.reason("Attach or detach assets"), "It is live. Take it out of the catalog first.");
    assert_eq!(menu.reason("Publish"), "It is in the catalog already.");
}

#[tokio::test]
async fn listing_goes_from_an_empty_draft_to_the_catalog_and_back() {
    let market = market();
    let (seller, buyer) =
        (Browser::signed_in(&market, SELLER).await, Browser::signed_in(&market, BUYER).await);
    let path = write_draft(&seller).await;
    let listing: Uuid = path.rsplit('/').next().unwrap().parse().unwrap();
    submit_too_early(&seller, &path).await;
    let values = [("description", "Of harbors."), ("price", "1,400"), ("accepts_bids", "yes")];
    edited(&seller, &path, &values).await;
    attach_all(&seller, &path, "Code").await.expect(200, "4 assets were attached, 1 skipped");
    let page = seller.get(&path).await;
    page.expect(200, "It has all that it needs");
    reviewed(&market, &seller, listing).await;

    market.clock().advance(super::MINUTE);
    assert!(!is_found(&buyer, listing).await);
    seller.get(&format!("{path}/publish")).await.expect(200, "for $1,400.00, or make bids.");
    edited(&seller, &path, &[("price", "")]).await;
    seller.get(&format!("{path}/publish")).await.expect(200, "and can make bids, but not buy it");
    edited(&seller, &path, &[("price", "1,400")]).await;
    let page = done(&seller, &path, "publish", "listing_published").await;
    page.expect(200, "Open it in the catalog");
    assert!(is_found(&buyer, listing).await, "at once");
    change_in_the_catalog(&seller, &path).await;

    market.clock().advance(super::MINUTE);
    let bid = format!("/console/listings/{listing}/bid");
    let page = buyer.get(&format!("{bid}?amount=1000")).await;
    let made = buyer.submit(&page, &bid, &[("accept", "yes")]).await;
    let offer = made.location().split('?').next().unwrap().to_owned();
    seller.get(&path).await.expect(200, "1 bid waits");
    seller.get(&format!("{path}/unpublish")).await.expect(200, "1 bid waits");
    seller.get(&format!("{path}/archive")).await.expect(200, "1 bid that waits is declined");
    buyer.get(&offer).await.expect(200, "The vendor has not decided yet.");
    done(&seller, &path, "archive", "listing_archived").await.expect(200, "It is put away.");
    assert!(!is_found(&buyer, listing).await, "at once");
    buyer.get(&offer).await.expect(200, "The bid was declined.");
    let menu = Menu::of(&seller.get(&path).await, &path);
    assert_eq!(menu.offered, ["restore"]);
    assert_eq!(menu.reason("Publish"), "It is archived. Restore it first.");

    market.clock().advance(super::MINUTE);
    done(&seller, &path, "restore", "listing_restored").await.expect(200, "Publish it, so that");
    assert!(!is_found(&buyer, listing).await);
    done(&seller, &path, "publish", "listing_published").await;
    assert!(is_found(&buyer, listing).await);
    done(&seller, &path, "unpublish", "listing_unpublished").await;
    assert!(!is_found(&buyer, listing).await);
    seller.get(&format!("{path}/archive")).await.expect(200, "No bids wait, so none are declined.");
    let history = seller.get(&path).await;
    for event in ["Created", "Assets attached", "Changes requested", "Taken out of the catalog", "Restored"] {
        history.expect(200, event);
    }
}

/// A listing in review stays as it is until its vendor withdraws it.
#[tokio::test]
async fn withdrawn_listing_can_be_changed_again() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, super::draft());
    let listing = crate::sales::listing_id("draft");
    done(&seller, &path, "submit", "listing_submitted").await;
    seller.get(&format!("{path}/edit")).await.expect(200, "Withdraw it from review first");
    let kept = [("texts", "yes"), ("title", "Tides"), ("description", "Typed before.")];
    seller.post(&format!("{path}/edit"), &kept).await.expect(409, "Typed before.");
    seller.get(&format!("{path}/assets")).await.expect(200, "Withdraw it from review first");
    attach_all(&seller, &path, "files").await.expect(409, "so nothing was saved");
    seller.get(&format!("{path}/withdraw")).await.expect(200, "you get the cost back");
    let credits = || super::credits(&market);
    let before = credits();
    done(&seller, &path, "withdraw", "listing_withdrawn").await.expect(200, "submit it for review");
    assert!(credits() > before, "the run had not begun");
    edited(&seller, &path, &[("title", "Tides")]).await;
    assert_eq!(row(&market, listing).title, "Tides");
    seller.get(&format!("{path}/reviews")).await.expect(200, "Withdrawn by your team");
    // A listing that was rejected cannot be submitted again.
    done(&seller, &path, "submit", "listing_submitted").await;
    decide(&market, listing, Operation::Reject, Some("Not <i>here</i>."));
    let page = seller.get(&path).await;
    page.expect(200, "Not &lt;i&gt;here&lt;/i&gt;.");
    assert!(Menu::of(&page, &path).reason("Submit for review").contains("Make a new listing"));
    market.write(|writer| listing_lifecycle::perform(writer, listing, Operation::Archive)).unwrap();
    seller.get(&path).await.expect(200, "It is put away.");
}
