//! The search of operators: only the identity or the name of a record leads to it.

use marketplace::{console::ResourceInfo, domain::principals::KeyScope};
use serde_json::{Value, json};

use super::{
    records::{Found, OPERATOR, key_of, list},
    resources,
};
use crate::harness::{
    self, TestMarket, backups,
    browser::{Browser, Page},
};

const SEARCH: &str = "/console/operator/search";

/// Resources whose records are found as those of another one: with the ID of an entry of the ledger, or of a team.
const FOUND_AS_OTHERS: &[(&str, &str)] = &[
    ("/operator/adjustments", "/operator/ledger"),
    ("/operator/conversions", "/operator/ledger"),
    ("/operator/wallets", "/operator/teams"),
];

fn address(text: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("query", text).finish();
    format!("{SEARCH}?{query}")
}

async fn search(browser: &Browser<'_>, text: &str) -> Page {
    browser.get(&address(text)).await
}

/// Whether a search leads to a page at once, or shows a link to it.
fn leads_to(page: &Page, path: &str) -> bool {
    (page.status() == 303 && page.location() == path) || page.text.contains(&format!("href=\"{path}\""))
}

/// Returns the path of the page to which the identity of a record of a resource leads.
fn page_of(info: &ResourceInfo, key: &str) -> String {
    let other = FOUND_AS_OTHERS.iter().find(|(list, _)| *list == info.list);
    format!("/console{}/{key}", other.map_or(info.list, |(_, list)| list))
}

/// Whether records are identified by slugs, which are found by their beginnings, too.
fn is_named(info: &ResourceInfo) -> bool {
    ["asset-types", "domains", "content-tags", "inventory-tags"].iter().any(|list| info.list.ends_with(list))
}

/// Each record is found by its ID, which opens its page at once.
#[tokio::test]
async fn records_of_each_kind_are_found_by_their_identities() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let resources = resources();
    let records = Found::all(market, &resources).await;
    let mut found = 0;
    for info in resources.iter().filter(|info| !is_named(info)) {
        for record in records.of(info).iter().take(3) {
            let key = key_of(record);
            let page = search(&browser, &key).await;
            let path = page_of(info, &key);
            assert!(leads_to(&page, &path), "{path}: {} {}", page.location(), page.visible());
            let is_id = key.len() == 36;
            assert!(!is_id || page.status() == 303, "{path}: {}", page.visible());
            if is_id {
                let start = search(&browser, &key[..8]).await;
                assert!(leads_to(&start, &path), "{}: {}", &key[..8], start.visible());
                let plain = key.replace('-', "").to_uppercase();
                assert_eq!(search(&browser, &plain).await.location(), path);
            }
            found += 1;
        }
    }
    assert!(found > 40, "{found}");
}

/// The beginning of a name or a title, also in lowercase.
#[tokio::test]
async fn records_are_found_by_the_beginnings_of_their_names() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let resources = resources();
    let all = Found::all(market, &resources).await;
    let mut count = 0;
    for (list_path, field) in [
        ("teams", "name"),
        ("keys", "name"),
        ("operator-keys", "name"),
        ("grants", "title"),
        ("listings", "title"),
        ("assets", "title"),
        ("tasksets", "name"),
        ("tasks", "name"),
        ("opportunities", "title"),
        ("project-opportunities", "title"),
        ("webhooks", "url"),
    ] {
        let info = resources.iter().find(|info| info.list == format!("/operator/{list_path}")).unwrap();
        let records = all.of(info);
        let named = records.iter().filter_map(|record| Some((key_of(record), record[field].as_str()?)));
        for (key, name) in named.filter(|(_, name)| name.len() > 3).take(4) {
            let path = page_of(info, &key);
            for text in [name.to_owned(), name.to_lowercase()] {
                let text: String = text.chars().take(200).collect();
                // Records of the same name can be more than a page shows.
                let found = browser.get(&format!("{}&kind={}", address(&text), info.subject)).await;
                assert!(leads_to(&found, &path), "{text}: {}", found.visible());
                let start = text.chars().take(4).collect::<String>();
                let found = browser.get(&format!("{}&kind={}", address(&start), info.subject)).await;
                assert!(leads_to(&found, &path), "{start}: {}", found.visible());
            }
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
}

#[tokio::test]
async fn listings_of_the_catalog_are_found_by_words() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let listings = list(market, "/operator/v1/listings", &[("stage".to_owned(), "active".to_owned())]).await;
    for listing in listings.iter().take(5) {
        let words: Vec<&str> = listing["title"].as_str().unwrap().split_whitespace().collect();
        let text = words[1..].join(" ");
        let page = search(&browser, &text).await;
        let path = format!("/console/operator/listings/{}", key_of(listing));
        assert!(leads_to(&page, &path), "{text}: {}", page.visible());
    }
}

/// Words in any order and anywhere in names find listings in all stages, teams, and the addresses of webhooks.
#[tokio::test]
async fn records_are_found_by_words_within_their_names() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let mut count = 0;
    for (below, kind, field) in
        [("listings", "listing", "title"), ("teams", "team", "name"), ("webhooks", "webhook", "url")]
    {
        for record in list(market, &format!("/operator/v1/{below}"), &[]).await.iter().take(12) {
            let name = record[field].as_str().unwrap();
            let mut words: Vec<String> =
                name.split([' ', '/']).filter(|word| word.len() > 2).map(str::to_uppercase).collect();
            words.reverse();
            if words.is_empty() {
                continue;
            }
            let page = browser.get(&format!("{}&kind={kind}", address(&words.join(" ")))).await;
            let path = format!("/console/operator/{below}/{}", key_of(record));
            assert!(leads_to(&page, &path), "{words:?}: {}", page.visible());
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

#[tokio::test]
async fn search_for_an_email_address_says_that_there_are_none() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    search(&browser, "somebody@example.com").await.expect(200, "The market stores no email addresses.");
    let other = search(&browser, "somebody at example").await;
    assert!(!other.text.contains("email addresses"), "{}", other.visible());
}

/// A request is found with the entry of the audit and the events that it made, which lead on.
#[tokio::test]
async fn what_a_request_did_is_found_by_its_id() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let body = json!({"name": "Sought Ltd", "roles": ["buyer"]});
    let headers = [("x-request-id", "sought-17")];
    let created = market.call_with(OPERATOR, "POST", "/operator/v1/teams", &body, &headers).await;
    let team = created.expect_status(201)["id"].as_str().unwrap().to_owned();
    let page = search(&browser, "sought-17").await;
    page.expect(200, "Create team").expect(200, "Team: created");
    let linked = |below: &str| {
        let rest = page.text.split(&format!("href=\"/console/operator/{below}/")).nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let entry = browser.get(&format!("/console/operator/audit/{}", linked("audit"))).await;
    entry.expect(200, &format!("href=\"/console/operator/teams/{team}\""));
    entry.expect(200, "/console/operator/search?query=sought-17");
    let event = linked("events");
    let detail = browser.get(&format!("/console/operator/events/{event}")).await;
    detail.expect(200, &format!("/console/operator/search?query={team}"));
    assert_eq!(search(&browser, &event).await.location(), format!("/console/operator/events/{event}"));
    assert_eq!(search(&browser, &team).await.location(), format!("/console/operator/teams/{team}"));
}

/// Ten of each kind are shown, and all of one.
#[tokio::test]
async fn many_of_a_kind_are_shown_on_a_page_of_their_own() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    for number in 0..12 {
        backups::create_team(market.market(), &format!("Zyx {number:03}"));
    }
    let rows = |page: &Page| page.text.matches("<th scope=\"row\"").count();
    let some = search(&browser, "zyx").await;
    some.expect(200, "Show more");
    assert_eq!(rows(&some), 10);
    let all = browser.get(&format!("{}&kind=team", address("zyx"))).await;
    assert_eq!((all.status(), rows(&all)), (200, 12));
    assert!(!all.text.contains("Show more"));
    assert_eq!(rows(&browser.get(&format!("{}&kind=listing", address("zyx"))).await), 0);
    search(&browser, "Zyx 007").await.expect(303, "");
}

/// A complete name opens its record, and not those that only mention it.
#[tokio::test]
async fn exact_name_leads_there_at_once() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    let page = search(&browser, "lumen codeworks").await;
    assert!(page.location().starts_with("/console/operator/teams/"), "{}", page.visible());
    let all = browser.get(&format!("{}&kind=listing", address("lumen codeworks"))).await;
    all.expect(200, "/console/operator/listings/");
}

/// Special characters are neither SQL nor patterns nor markup.
#[tokio::test]
async fn texts_of_attackers_find_nothing() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    for text in [
        "' OR zzq=zzq --",
        "zzq'; DROP TABLE zzqs; --",
        "%",
        "_",
        "%_%_%",
        "\"",
        "<script>alert(1)</script>",
        "\u{202e}gnp",
        "\u{10ffff}",
        "zz\0zz",
        "zz* AND (zz",
        "zzq:\"zzq",
        "zz\\",
        "-zz",
        "../../zz",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff",
        "9223372036854775807",
        "-9223372036854775808",
        "evt_9999999999999999",
    ] {
        let page = search(&browser, text).await;
        assert!(page.status() == 200 && page.text.contains("Nothing found"), "{text:?}: {}", page.visible());
        assert!(!page.text.contains("<script>alert"), "{text}");
    }
    for (text, expected) in [
        ("", "What are you looking for?"),
        ("  ", "What are you looking for?"),
        (&"ä".repeat(201), "This is too long"),
    ] {
        search(&browser, text).await.expect(200, expected);
    }
    search(&browser, "A").await.expect(200, "<table");
}

/// A key that somebody pastes is neither searched for nor shown again.
#[tokio::test]
async fn keys_are_not_searched_for() {
    let browser = Browser::signed_in(harness::demo(), OPERATOR).await;
    for key in [OPERATOR, "mkt_demo_buyer", " mkt_op_Zm9vYmFy"] {
        let page = search(&browser, key).await;
        page.expect(200, "This is a key");
        assert!(!page.text.contains(key.trim()), "{key}");
    }
}

#[tokio::test]
async fn each_page_of_operators_has_the_search_and_no_other() {
    let market = TestMarket::demo();
    let reader = market.operator_key("reader", KeyScope::Read);
    for key in [OPERATOR, &reader] {
        let browser = Browser::signed_in(&market, key).await;
        for path in ["/console/operator", SEARCH, "/console/operator/teams", "/console/settings/sessions"] {
            let page = browser.get(path).await;
            page.expect(200, &format!("action=\"{SEARCH}\""));
        }
        search(&browser, "Lumen Codeworks").await.expect(303, "");
    }
    for key in ["mkt_demo_buyer", "mkt_demo_no_role"] {
        let team = Browser::signed_in(&market, key).await;
        assert!(!team.open("/console").await.text.contains(SEARCH), "{key}");
        team.get(SEARCH).await.expect(403, "This page is for operators");
    }
}

/// Each search executes few statements, whatever the text is.
#[tokio::test]
async fn searches_execute_few_statements() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, OPERATOR).await;
    let id = list(&market, "/operator/v1/purchases", &[]).await.first().map(key_of).unwrap();
    for text in ["a", "data", "12345678", &id, &id[..8], "evt_0000000000000001", "nothing at all"] {
        let least = browser.count_statements(&address(text)).await;
        assert!(least <= 12, "{text}: {least}");
    }
}

/// Slugs and labels of the taxonomy are found by their beginnings.
#[tokio::test]
async fn taxonomy_is_found_by_slugs_and_labels() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    for info in resources().iter().filter(|info| is_named(info)) {
        let records = list(market, info.list_api, &[]).await;
        assert!(!records.is_empty(), "{}", info.list);
        for record in records.iter().take(3) {
            let path = page_of(info, &key_of(record));
            for text in [key_of(record), record["label"].as_str().unwrap().to_uppercase()] {
                let page = search(&browser, &text).await;
                assert!(leads_to(&page, &path), "{text}: {}", page.visible());
            }
        }
    }
}

#[tokio::test]
async fn worlds_are_found_by_their_names() {
    let market = harness::demo();
    let browser = Browser::signed_in(market, OPERATOR).await;
    let worlds: Value = market.get(OPERATOR, "/sandbox/v1/worlds").await.ok();
    let name = worlds["items"][0]["name"].as_str().expect("a world").to_owned();
    let page = search(&browser, &name.to_uppercase()).await;
    assert!(leads_to(&page, &format!("/console/operator/worlds/{name}")), "{}", page.visible());
}
