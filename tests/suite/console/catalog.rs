//! The catalog and the comparison.

use serde_json::json;

use super::BUYER;
use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{self, TestMarket, browser::Browser, csv},
    sales::listing_id,
};

/// Returns the IDs of the listings that a page offers to compare.
fn listings(page: &str) -> Vec<&str> {
    page.split("name=\"id\" value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn address_holds_the_search() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    let all = browser.get("/console/catalog").await;
    all.expect(200, "Next page").expect(200, "Recommended first").expect(200, "COBOL");
    assert_eq!(listings(&all.text).len(), 24);
    let next = all.text.split("href=\"").find(|link| link.contains("cursor=")).unwrap();
    let second = browser.get(&next.split('"').next().unwrap().replace("&amp;", "&")).await;
    second.expect(200, "First page");
    assert!(listings(&second.text).iter().all(|id| !listings(&all.text).contains(id)));

    let query = "/console/catalog?query=cobol&languages=cobol&max_price=%24200%2C000&sort=price_low";
    let found = browser.get(query).await;
    found.expect(200, "up to $200,000").expect(200, "“cobol”").expect(200, "remove");
    found.expect(
        200,
        "/v2/listings/browse?query=cobol&amp;languages=cobol&amp;max_price=200000&amp;sort=price_low",
    );
    assert!(!listings(&found.text).is_empty());
    let unreadable = browser.get("/console/catalog?min_price=cheap&max_price=5000&languages=cobol").await;
    unreadable.expect(200, "its value cannot be read").expect(200, "/v2/listings/browse?languages=cobol'");
    let old = browser.get("/console/catalog?languages=cobol&cursor=gone").await;
    assert_eq!((old.status(), old.location()), (303, "/console/catalog?languages=cobol"));
}

/// Each facet shows 48 values. The others are counted, and can be entered.
#[tokio::test]
async fn values_that_a_facet_leaves_out_can_be_entered() {
    let slugs: Vec<String> = (0..50).map(|number| format!("kelp-{number:02}")).collect();
    let domains: Vec<_> = slugs.iter().map(|slug| json!({"slug": slug, "label": slug})).collect();
    let parts = ["a", "b", "c", "d", "old"].into_iter().zip(slugs.chunks(10));
    let listings: Vec<_> = parts
        .map(|(key, slugs)| published(key, 3, &json!({"title": format!("Zorb {key}"), "domain_tags": slugs})))
        .collect();
    let keys = ["buyer", "seller"].map(console_key);
    let market = small_market_with(&listings, &json!({"domains": domains, "keys": keys}));
    for (key, path) in
        [("mkt_buyer_console", "/console/catalog"), ("mkt_seller_console", "/console/selling/listings")]
    {
        let browser = Browser::signed_in(&market, key).await;
        let page = browser.get(path).await;
        page.expect(200, "44 more").expect(200, "Another value of “Domain”");
        let boxes = page.text.matches("<input type=\"checkbox\" name=\"tags\" value=\"kelp-").count();
        let others = page.text.matches("<option value=\"kelp-").count();
        assert_eq!((boxes, others), (48, 2), "{path}");
        let found = browser.get(&format!("{path}?tags=&tags=kelp-49")).await;
        found.expect(200, "Zorb old");
        assert!(!found.text.contains("Zorb a"), "{path}");
    }
}

#[tokio::test]
async fn domain_and_tag_with_the_same_slug_have_their_own_labels() {
    let own = json!({
        "keys": [console_key("buyer")],
        "domains": [{"slug": "kelp", "label": "Seaweed"}],
        "inventory_tags": [{"slug": "kelp", "label": "Underwater", "description": "About it.", "category": "other"}],
    });
    let tagged = json!({"domain_tags": ["kelp"], "tag_slugs": ["kelp"]});
    let market = small_market_with(&[published("a", 3, &tagged)], &own);
    let browser = Browser::signed_in(&market, "mkt_buyer_console").await;
    let page = browser.get("/console/catalog?tags=kelp&tag_slugs=kelp").await;
    let label = |facet: &str| {
        let (_, rest) = page.text.split_once(&format!("name=\"{facet}\" value=\"kelp\"")).unwrap();
        rest.split("<bdi class=\"long\">").nth(1).and_then(|rest| rest.split('<').next()).unwrap()
    };
    assert_eq!((label("tags"), label("tag_slugs")), ("Seaweed", "Underwater"));
    let listing = browser.get(&format!("/console/listings/{}", listing_id("a"))).await;
    for (facet, label) in [("tags", "Seaweed"), ("tag_slugs", "Underwater")] {
        listing.expect(200, &format!("/console/catalog?{facet}=kelp\"><bdi>{label}</bdi>"));
    }
}

#[tokio::test]
async fn empty_page_says_which_filter_to_drop() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    let page = browser.get("/console/catalog?query=zzzzzz&languages=cobol").await;
    page.expect(200, "No listing has all of this").expect(200, "still none");
    let (_, drops) = page.text.split_once("Drop one of these").unwrap();
    assert!(drops.contains("/console/catalog?languages=cobol\""), "{}", page.visible());
}

#[tokio::test]
async fn card_counts_the_required_checks_as_the_page_does() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    let page = browser.get("/console/catalog?verified_only=true").await;
    let counts = regex::Regex::new(r"\d+ of \d+ required checks? passed").unwrap();
    let mut compared = 0;
    for card in page.text.split("<li class=\"card\">").skip(1) {
        let Some(count) = counts.find(card) else { continue };
        let listing = card.split("href=\"").nth(1).and_then(|link| link.split('"').next()).unwrap();
        browser.get(listing).await.expect(200, count.as_str()).expect(200, "of 3, where 3 is the highest");
        compared += 1;
    }
    assert!(compared > 3, "{compared} of {}", page.visible());
    page.expect(200, "Tier 3, the highest");
}

#[tokio::test]
async fn view_is_kept_for_the_session() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let page = browser.get("/console/catalog?languages=cobol").await;
    page.expect(200, "class=\"cards\"");
    let answer = browser.submit(&page, "/console/catalog/view", &[("view", "table")]).await;
    assert_eq!(answer.location(), "/console/catalog?languages=cobol");
    browser.get("/console/catalog").await.expect(200, "<table class=\"dense\"");
    let fields = [("view", "cards"), ("next", "//evil.example")];
    assert_eq!(browser.post("/console/catalog/view", &fields).await.location(), "/console/catalog");
}

#[tokio::test]
async fn listings_are_compared() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    let page = browser.get("/console/catalog?asset_types=codebase").await;
    let ids = listings(&page.text);
    let query = |ids: &[&str]| ids.iter().map(|id| format!("id={id}")).collect::<Vec<_>>().join("&");
    let two = browser.get(&format!("/console/compare?{}", query(&ids[..2]))).await;
    two.expect(200, "Compare 2 listings").expect(200, "Price for 1,000 lines").expect(200, "Certified");
    two.expect(200, &format!("/console/compare?id={}\"", ids[0]));
    let five = browser.get(&format!("/console/compare?{}", query(&ids[..5]))).await;
    five.expect(200, "Compare 4 listings").expect(200, "These are the first four");
    let kept = format!("/console/catalog?compare={}", ids[0]);
    let kept = browser.get(&kept).await;
    kept.expect(200, &format!("name=\"compare\" value=\"{}\"", ids[0]));
    kept.expect(200, "data-most=\"4\"").expect(200, "Choose up to four listings.");
    let next = kept.text.split("href=\"").find(|link| link.contains("rel=\"next\"")).unwrap();
    assert!(next.split('"').next().unwrap().contains(&format!("compare={}", ids[0])), "{next}");
    browser.get("/console/compare?id=x").await.expect(200, "No listings to compare");
    let gone = "/console/compare?id=00000000-0000-4000-8000-000000000000";
    browser.get(gone).await.expect(200, "No listings to compare");
}

/// Returns the IDs of the listings on all pages of the catalog from an address on.
async fn listings_of_all_pages(browser: &Browser<'_>, address: &str) -> Vec<String> {
    let (mut ids, mut address) = (Vec::new(), address.to_owned());
    loop {
        let page = browser.get(&address).await;
        assert_eq!(page.status(), 200, "{address}");
        ids.extend(listings(&page.text).into_iter().map(str::to_owned));
        let Some(next) = page.text.split("href=\"").find(|link| link.contains("rel=\"next\"")) else {
            return ids;
        };
        address = next.split('"').next().unwrap().replace("&amp;", "&");
    }
}

#[tokio::test]
async fn file_has_the_rows_of_all_pages_in_their_order() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    for query in ["", "?sort=price_low", "?query=code&asset_types=codebase&sort=recent", "?query=zzzzzz"] {
        let page = format!("/console/catalog{query}");
        let file_address = format!("{page}{}format=csv", if query.is_empty() { "?" } else { "&" });
        let ids = listings_of_all_pages(&browser, &page).await;
        if !ids.is_empty() {
            let link = format!("href=\"{}\" download", file_address.replace('&', "&amp;"));
            browser.get(&page).await.expect(200, &link);
        }
        let file = browser.get(&file_address).await;
        assert_eq!(file.response.header("content-type"), "text/csv; charset=utf-8");
        assert_eq!(file.response.header("content-disposition"), "attachment; filename=\"listings.csv\"");
        let rows = csv::rows(&file.text);
        assert_eq!((rows[0][0].as_str(), rows[0][12].as_str()), ("Title", "Address"));
        assert!(rows.iter().all(|row| row.len() == 13 && row[7] != "0" && row[8] != "0"));
        let in_file: Vec<_> = rows[1..].iter().map(|row| row[12].rsplit('/').next().unwrap()).collect();
        assert_eq!(in_file, ids, "{query}");
    }
    assert!(listings_of_all_pages(&browser, "/console/catalog").await.len() > 24, "several pages");
}

#[tokio::test]
async fn file_of_the_catalog_has_no_formulas() {
    let title = "=HYPERLINK(\"https://evil.example\", \"Prices\")";
    let fields = json!({"title": title, "price_usd": 1500, "terms": "+1\n=2"});
    let keys = json!({"keys": [console_key("buyer")]});
    let market = small_market_with(&[published("formula", 30, &fields)], &keys);
    let browser = Browser::signed_in(&market, "mkt_buyer_console").await;
    let id = listing_id("formula");
    let compare = format!("/console/compare?id={id}");
    browser.get(&compare).await.expect(200, &format!("href=\"{compare}&amp;format=csv\" download"));
    for address in ["/console/catalog?format=csv".to_owned(), format!("{compare}&format=csv")] {
        let file = browser.get(&address).await;
        let rows = csv::rows(&file.text);
        let row = rows.iter().find(|row| row[12].ends_with(&format!("/console/listings/{id}"))).unwrap();
        assert_eq!(row[0], format!("'{title}"), "{address}");
        assert_eq!((row[4].as_str(), row[9].as_str(), row[10].as_str()), ("1500.00", "No", "fixed price"));
        assert!(row.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@'])), "{row:?}");
    }
}

/// The page says which filter it leaves out; a file cannot.
#[tokio::test]
async fn file_is_refused_if_a_filter_cannot_be_read() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    let page = browser.get("/console/catalog?tags=finance&min_price=abc").await;
    page.expect(200, "A filter was left out");
    page.expect(200, "href=\"/console/catalog?tags=finance&amp;format=csv\" download");
    let file = browser.get("/console/catalog?tags=finance&min_price=abc&format=csv").await;
    file.expect(422, "Numbers look like 27000.");
    assert!(file.response.header("content-type").starts_with("text/html"));
    // The filters of own listings are the same.
    let vendor = Browser::signed_in(harness::demo(), "mkt_demo_vendor").await;
    let page = vendor.get("/console/selling/listings?min_price=abc").await;
    page.expect(200, "aria-describedby=\"unreadable\"").expect(200, "id=\"unreadable\"");
    page.expect(200, "href=\"/console/selling/listings?format=csv\" download");
    for filter in ["min_price=abc", "workspace_view=x", "lifecycle_stages=x", "review=x", "no_assets=x"] {
        vendor.get(&format!("/console/selling/listings?{filter}")).await.expect(200, "A filter was left out");
        let file = vendor.get(&format!("/console/selling/listings?{filter}&format=csv")).await;
        file.expect(422, "A value of the filter cannot be read.");
    }
}

#[tokio::test]
async fn locked_catalog_shows_titles_of_its_first_page() {
    let browser = Browser::signed_in(harness::demo(), "mkt_demo_locked").await;
    let page = browser.get("/console/catalog").await;
    page.expect(200, "still locked for your team").expect(200, "class=\"card\"");
    assert!(!page.text.contains("class=\"price\"") && listings(&page.text).is_empty());
    page.expect(200, "of 3 listings").expect(200, "href=\"/console/selling/listings\"");
    // A search says why nothing was searched, and shows no more than the page without it.
    for query in ["query=cobol", "sort=price_low", "verified_only=true", "min_price=abc", "cursor=x"] {
        let searched = browser.get(&format!("/console/catalog?{query}")).await;
        searched.expect(200, "cannot search the catalog yet").expect(200, "of 3 listings");
        searched.expect(200, "href=\"/console/selling/listings/new\"");
        let cards = |text: &str| text.split("<ul class=\"cards\">").nth(1).unwrap().to_owned();
        assert_eq!(cards(&searched.text), cards(&page.text), "{query}");
    }
    browser.get("/console/compare").await.expect(403, "still locked");

    // The file has the same, and nothing more.
    page.expect(200, "href=\"/console/catalog?format=csv\" download");
    let file = browser.get("/console/catalog?format=csv").await;
    let rows = csv::rows(file.expect(200, "Title,Vendor").text.as_str());
    assert_eq!(rows.len() - 1, page.text.matches("class=\"card\"").count());
    for row in &rows[1..] {
        assert!([2, 4, 5, 6, 9, 10, 11, 12].iter().all(|column| row[*column].is_empty()), "{row:?}");
    }
    for query in ["query=cobol", "sort=price_low", "verified_only=true", "min_price=abc"] {
        browser.get(&format!("/console/catalog?format=csv&{query}")).await.expect(403, "still locked");
    }
    browser.get("/console/compare?format=csv").await.expect(403, "still locked");
}
