//! Attaching assets of the inventory by search, and detaching them.

use marketplace::store;
use serde_json::json;
use uuid::Uuid;

use super::{SELLER, asset_id, draft, market, market_and, market_with, row};
use crate::{
    console::{
        VENDOR,
        bulk_changes::{create_draft, create_proposed},
    },
    harness::{
        TestMarket,
        browser::{Browser, Page},
    },
    sales::{codebase, listing_id},
};

fn attached(market: &TestMarket) -> Vec<Uuid> {
    let listing = row(market, listing_id("draft")).row_id;
    let assets = market.read(|reader| store::listing_assets::list_first(reader.rows, listing, 100)).unwrap();
    assets.iter().map(|asset| asset.id).collect()
}

/// The stage counts linked data, also if the market could not copy it.
#[tokio::test]
async fn asset_whose_data_was_not_copied_is_shown_without_data() {
    let mut record = codebase("broken", &json!(20));
    record["codebase"]["data"] = json!({
        "channel": "github", "repo_full_name": "acme/y", "archive_status": "failed", "analysis_status": "skipped",
        "attached_at": "-P5D", "archive_error": "The repository was not found.",
    });
    let market = market_and(&[record]);
    let seller = Browser::signed_in(&market, SELLER).await;
    for path in ["/console/inventory".to_owned(), format!("{}/assets", draft())] {
        seller.get(&format!("{path}?query=broken")).await.expect(200, "Complete, without data");
        let page = seller.get(&format!("{path}?query=c1")).await;
        page.expect(200, "Complete");
        assert!(!page.text.contains("Complete, without data"), "{path}: {}", page.visible());
    }
}

#[tokio::test]
async fn search_attaches_what_can_be_attached_and_says_why_not_the_rest() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, format!("{}/assets", draft()));
    let found = seller.get(&format!("{path}?query=code")).await;
    found.expect(200, "5 assets match").expect(200, "Attach all 5 that match…");
    found.expect(200, "Attached already").expect(200, "Lacks commits");
    let choices = found.text.matches("name=\"asset\" value=").count() - attached(&market).len();
    assert_eq!(choices, 2, "c3 and c4 can be chosen: {}", found.visible());
    let form = format!("{path}?query=code");
    let chosen = asset_id("c3").to_string();
    let answer = seller.submit(&found, &form, &[("scope", "chosen"), ("asset", &chosen)]).await;
    answer.expect(200, "1 asset was attached");
    assert_eq!(attached(&market), [asset_id("c1"), asset_id("c2"), asset_id("c3")]);
    // The same form once more, as after a reload, says the same, and does nothing.
    let again = seller.submit(&found, &form, &[("scope", "chosen"), ("asset", &chosen)]).await;
    again.expect(200, "1 asset was attached");

    // Before all are attached, the numbers and the reasons are shown, and nothing happens.
    let asked = seller.post(&form, &[("scope", "all"), ("form_key", "all")]).await;
    asked
        .expect(200, "5 assets match")
        .expect(200, "1 can be attached, 4 cannot")
        .expect(200, "Attach 1 asset");
    asked.expect(200, "3 assets are attached already").expect(200, "(commits)");
    super::check_markup(&asked);
    assert_eq!(attached(&market).len(), 3);
    let answer = seller.submit(&asked, &form, &[]).await;
    answer.expect(200, "1 asset was attached, 4 skipped").expect(200, "3 assets are attached already");
    answer.expect(200, "1 asset lacks something").expect(200, "Code lacking").expect(200, "(commits)");
    assert_eq!(attached(&market).len(), 4);
    let none = seller.post(&form, &[("scope", "all"), ("form_key", "more")]).await;
    none.expect(200, "0 can be attached, 5 cannot");
    assert!(!none.text.contains("Attach 0"), "{}", none.visible());
    let answer = seller.submit(&none, &form, &[]).await;
    answer.expect(200, "Nothing was attached, 5 skipped");

    // Of another kind, by the filter as text.
    let filter = format!("{path}?kind=raw_data&filter=name%3Acontains%3Anotes");
    seller.get(&filter).await.expect(200, "1 asset matches");
    seller
        .post(&filter, &[("scope", "all"), ("confirmed", "yes"), ("form_key", "notes")])
        .await
        .expect(200, "1 asset was attached");
    assert_eq!(attached(&market).len(), 5);
}

/// Returns the values of the form with the candidates and their query, as the button `Next` of their table sends them.
fn sent_by_next(page: &Page, path: &str, chosen: &[&str]) -> String {
    let button = "<button name=\"from\" value=\"50\" formmethod=\"get\"";
    page.expect(200, &format!("{button} formaction=\"{path}#attach\">Next</button>"));
    let fields = page.form(&format!("{path}?query=wombat&amp;sort=name&amp;direction=asc"));
    let chosen = chosen.iter().map(|id| ("asset".to_owned(), (*id).to_owned()));
    let next = [("from".to_owned(), "50".to_owned())].into_iter().chain(chosen).chain(fields);
    form_urlencoded::Serializer::new(String::new()).extend_pairs(next).finish()
}

/// Assets that are chosen stay chosen on other pages of the table, without a script, and are attached together.
#[tokio::test]
async fn assets_of_several_pages_are_attached_together() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let ids = create_proposed(&market, "Wombat", 60).await;
    let path = format!("/console/selling/listings/{}/assets", create_draft(&market).await);
    let query = "query=wombat&sort=name&direction=asc";
    let first = browser.get(&format!("{path}?{query}")).await;
    first.expect(200, "Choose assets:").expect(200, "60 assets match");
    let here = |page: &Page| -> Vec<String> {
        let boxes = page.text.split("type=\"checkbox\" name=\"asset\" value=\"").skip(1);
        boxes.map(|rest| rest[..36].to_owned()).collect()
    };
    let on_first = here(&first);
    assert_eq!(on_first.len(), 50, "{}", first.visible());

    let (one, two) = (on_first[0].as_str(), on_first[1].as_str());
    let sent = browser.get(&format!("{path}?{}", sent_by_next(&first, &path, &[one, two]))).await;
    // The address that one returns to and sends has neither the key of the form nor who opened it.
    assert_eq!(
        sent.location(),
        format!("{path}?asset={one}&asset={two}&query=wombat&sort=name&direction=asc&from=50")
    );
    let second = browser.get(sent.location()).await;
    second.expect(200, "2 assets of other pages chosen").expect(200, "Choose none");
    super::check_markup(&second);
    // A search keeps it, and so does the page without a search.
    let elsewhere = format!("asset={}&amp;asset={}", one.min(two), one.max(two));
    second.expect(200, &format!("href=\"{path}?{elsewhere}#attach\">Show all<"));
    let (_, search) = second.text.split_once("aria-label=\"Search your inventory\">").expect("a search");
    let search = search.split("</form>").next().unwrap();
    assert_eq!(search.matches("type=\"hidden\" name=\"asset\"").count(), 2, "{search}");
    let on_second = here(&second);
    assert_eq!(on_second.len(), 10, "{}", second.visible());
    assert!(on_second.iter().all(|id| ids.contains(id) && !on_first.contains(id)), "{on_second:?}");

    let form = format!("{path}?{query}");
    let chosen = [one, two, on_second[0].as_str()].map(|id| ("asset", id));
    let sent = [&[("scope", "all")][..], &chosen].concat();
    let asked = browser.post(&form, &sent).await;
    let back = chosen.map(|(_, id)| format!("asset={id}")).join("&amp;");
    asked
        .expect(200, "60 can be attached")
        .expect(200, &format!("{}&amp;{back}#attach", form.replace('&', "&amp;")));
    let mut all = second.form(&form.replace('&', "&amp;"));
    all.extend(
        [("scope", "chosen"), ("asset", &*on_second[0])].map(|(name, value)| (name.into(), value.into())),
    );
    let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let attached = browser.post(&form, &all).await;
    attached.expect(200, "3 assets were attached").expect(200, "Choose assets:");
}

/// What is searched for and chosen stays so when an asset is detached, and on other pages of what is attached.
#[tokio::test]
async fn assets_stay_chosen_beside_what_is_attached() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, VENDOR).await;
    create_proposed(&market, "Wombat", 60).await;
    let path = format!("/console/selling/listings/{}/assets", create_draft(&market).await);
    let all = [("scope", "all"), ("confirmed", "yes"), ("form_key", "all")];
    browser.post(&format!("{path}?query=wombat"), &all).await.expect(200, "60 assets were attached");

    let id = create_proposed(&market, "Numbat", 1).await.remove(0);
    let page = browser.get(&format!("{path}?query=numbat&asset={id}")).await;
    page.expect(200, &format!("value=\"{id}\" checked"));
    // Links and not buttons, of which Enter would press the first one of the form.
    let next = format!("{path}?query=numbat&amp;asset={id}&amp;attached_from=50#attached");
    page.expect(200, &format!("<a class=\"button\" href=\"{next}\">Next</a>"));
    let detached = browser.submit(&page, &format!("{path}/detach"), &[]).await;
    assert_eq!(detached.location(), format!("{path}?query=numbat&asset={id}&notice=detached"));
    for other in ["/wallet", "//evil.example", "/selling/listings"] {
        let page = browser.get(&path).await;
        let detached = browser.submit(&page, &format!("{path}/detach"), &[("next", other)]).await;
        assert_eq!(detached.location(), format!("{path}?notice=detached"), "{other}");
    }
}

#[tokio::test]
async fn mistakes_attach_nothing() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, format!("{}/assets", draft()));
    let before = attached(&market);
    seller.post(&path, &[]).await.expect(422, "Choose at least one asset");
    seller.post(&path, &[("asset", "x"), ("scope", "chosen")]).await.expect(422, "Choose at least one asset");
    // A filter that cannot be read never stands for everything.
    let broken = format!("{path}?filter=price%3Ais");
    seller.get(&broken).await.expect(200, "href=\"#filter\"");
    let answer = seller.post(&broken, &[("scope", "all")]).await;
    assert_eq!(answer.status(), 422, "{}", answer.visible());
    // Assets of others, and those that do not exist, look the same.
    let unknown = [("asset", &*Uuid::from_u128(7).to_string()), ("scope", "chosen")];
    seller.post(&path, &unknown).await.expect(200, "1 asset is not in your inventory");
    seller.get(&format!("{path}?query=nothing+like+it")).await.expect(200, "Nothing matches");
    assert_eq!(attached(&market), before);
}

#[tokio::test]
async fn asset_is_detached_once() {
    let market = market();
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    let detach = format!("{path}/assets/detach");
    let asset = asset_id("c1").to_string();
    seller.get(&format!("{path}/assets")).await.expect(200, &format!("value=\"{asset}\""));
    let fields = [("asset", asset.as_str()), ("form_key", "1")];
    for _ in 0..2 {
        let answer = seller.post(&detach, &fields).await;
        assert_eq!(answer.location(), format!("{path}/assets?notice=detached"), "{}", answer.visible());
    }
    assert_eq!(attached(&market), [asset_id("c2")]);
    assert_eq!(seller.post(&detach, &[("asset", &asset)]).await.status(), 404);
    assert_eq!(seller.post(&detach, &[("asset", "x")]).await.status(), 404);
    seller.get(&format!("{path}?notice=detached")).await.expect(200, "It stays in your inventory.");
}

/// Refusals of exclusive listings are in the words of the pages.
#[tokio::test]
async fn exclusive_listing_takes_only_codebases_that_can_be_sold_once() {
    let market = market_with(&json!({"assets": ["c1", "plain-files"]}));
    let (seller, path) = (Browser::signed_in(&market, SELLER).await, draft());
    let refused = super::edit(&seller, &path, &[("exclusive", "yes")]).await;
    refused.expect(409, "Only codebases can be sold exclusively");
    refused.expect(409, "do not sell the listing exclusively").expect(409, "value=\"yes\" checked");
    assert!(
        !refused.visible().contains('`') && !refused.visible().contains("to false"),
        "{}",
        refused.visible()
    );
    let files = asset_id("plain-files").to_string();
    seller.post(&format!("{path}/assets/detach"), &[("asset", &files)]).await;
    super::edited(&seller, &path, &[("exclusive", "yes")]).await;
    let all = format!("{path}/assets?kind=raw_data");
    let answer = seller.post(&all, &[("scope", "all"), ("confirmed", "yes"), ("form_key", "notes")]).await;
    answer.expect(409, "Only codebases can be sold exclusively");
    assert_eq!(attached(&market), [asset_id("c1")]);
}
