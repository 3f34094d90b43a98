//! Teams that look for what belongs to others.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{clock::fixture_record_id, console};
use poem::http::Method;
use regex::Regex;
use serde_json::json;

use super::{BOTH, BUYER, Crawl, OPERATOR, VENDOR, console_key, crawl};
use crate::harness::{
    self, TestMarket,
    browser::{Browser, row_of},
};

/// Beginnings of paths of records that belong to one team.
const PRIVATE: [&str; 10] = [
    "/console/inventory/",
    "/console/selling/",
    "/console/requests/bids/",
    "/console/quality/",
    "/console/estimations/",
    "/console/purchases/",
    "/console/bids/",
    "/console/opportunities/",
    "/console/settings/",
    "/console/notifications/",
];

/// Paths that take bytes, which are tried with them.
const TRIED_ELSEWHERE: [&str; 1] = ["/inventory/add/uploads/{upload}/parts/{part}"];

/// Forms by their addresses, with their fields.
type Forms = BTreeMap<String, Vec<(String, String)>>;

/// Returns the addresses of private records: those of pages, and those of forms.
fn private(crawl: &Crawl) -> (BTreeSet<String>, Forms) {
    let has_id = Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-").unwrap();
    let path = |address: &String| address.split(['?', '#']).next().unwrap().to_owned();
    let is_private = |address: &&String| {
        PRIVATE.iter().any(|prefix| address.starts_with(prefix)) && has_id.is_match(&path(address))
            || address.starts_with("/console/wallet/credit-purchases/")
    };
    let pages = crawl.addresses.iter().chain(crawl.pages.keys()).filter(is_private).map(path);
    // Vendors are led to opportunities of others.
    let is_own = |path: &String| {
        let opened = crawl.pages.get(&path.split('/').take(4).collect::<Vec<_>>().join("/"));
        !path.starts_with("/console/opportunities/")
            || opened.is_some_and(|page| page.text.contains("What you can do"))
    };
    let pages: BTreeSet<String> = pages.filter(is_own).collect();
    let actions = crawl.actions.iter().filter(|(action, _)| is_private(action) && is_own(action));
    let actions = actions.map(|(action, fields)| (action.clone(), fields.clone()));
    (pages, actions.collect())
}

/// Number of records of each kind whose other pages and forms are tried, too.
const PER_KIND: usize = 3;

/// Adds the pages and forms below those of records, to which nothing leads now, such as the button that cancels what has ended.
fn add_below(pages: &mut BTreeSet<String>, actions: &mut Forms) {
    let known: Vec<String> = pages.iter().cloned().collect();
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    for address in known {
        let Some(record) = row_of(&address) else { continue };
        let count = tried.entry(record.path).or_default();
        *count += 1;
        if *count > PER_KIND {
            continue;
        }
        let segments: Vec<&str> = record.path.split('/').collect();
        for row in console::pages() {
            let others: Vec<&str> = row.path.split('/').collect();
            let is_same =
                |(one, other): (&&str, &&str)| one == other || one.starts_with('{') && other.starts_with('{');
            let is_below = others.len() > segments.len() && segments.iter().zip(&others).all(is_same);
            let rest = others.get(segments.len()..).unwrap_or_default();
            if !is_below || rest.iter().any(|segment| segment.starts_with('{')) {
                continue;
            }
            let below = format!("{address}/{}", rest.join("/"));
            if row.is_shown {
                pages.insert(below.clone());
            }
            if row.has_form {
                actions.entry(below).or_default();
            }
        }
    }
}

/// Plans an upload, and changes an asset with others, so that there are records of both.
async fn begin(browser: &Browser<'_>) {
    let file = [
        ("form_key", "upload"),
        ("kind", "codebase"),
        ("title", "Tide gauges"),
        ("exclusivity", "available"),
        ("file_name", "gauges.zip"),
        ("size_bytes", "1000"),
    ];
    let planned = browser.post("/console/inventory/add/file", &file).await;
    assert_eq!(planned.status(), 303, "{}", planned.visible());
    let change = [("form_key", "change"), ("all", "1"), ("action", "price"), ("price", "90000")];
    let changed = browser.post("/console/inventory/changes/new", &change).await;
    assert_eq!(changed.status(), 303, "{}", changed.visible());
}

#[tokio::test]
async fn records_of_other_teams_are_nowhere() {
    let market = harness::complete_demo();
    let mut covered = BTreeSet::new();
    let buyer = console_key(&market, "Copperline AI").await;
    let (vendor, both) = (
        console_key(&market, "Orchard Evals").await,
        console_key(&market, "Delphi Systems Integration").await,
    );
    let (buyer, vendor, both) = (buyer.as_str(), vendor.as_str(), both.as_str());
    for (owner, others) in [
        (BUYER, [BOTH, buyer, VENDOR]),
        (buyer, [BOTH, BUYER, VENDOR]),
        (BOTH, [both, BUYER, VENDOR]),
        (VENDOR, [BOTH, vendor, BUYER]),
        (both, [BOTH, BUYER, OPERATOR]),
    ] {
        let browser = Browser::signed_in(&market, owner).await;
        if owner == VENDOR {
            begin(&browser).await;
        }
        let (mut pages, mut actions) = private(&crawl(&browser).await);
        add_below(&mut pages, &mut actions);
        // There is a link only if the download is ready.
        let receipts = pages
            .iter()
            .filter(|path| row_of(path).is_some_and(|row| row.path == "/purchases/{purchase_id}"));
        let files: Vec<String> =
            receipts.flat_map(|path| ["sha256", "proof"].map(|file| format!("{path}/{file}"))).collect();
        pages.extend(files);
        for other in others {
            let stranger = Browser::signed_in(&market, other).await;
            for address in &pages {
                let mut page = stranger.get(address).await;
                // Vendors are led from the address of the buyer's page to their own.
                if page.location().starts_with("/console/requests/") {
                    page = stranger.get(page.location()).await;
                    assert!(!page.text.contains(&format!("{address}/")), "{other} sees forms of {address}");
                    assert!([200, 403, 404].contains(&page.status()), "{other} is led from {address}");
                    covered.insert(row_of(address).map_or("", |row| row.path));
                    continue;
                }
                // Vendors read published opportunities, but see nothing that is the buyer's.
                let is_read_by_vendors = page.status() == 200
                    && page.text.contains("In the buyer")
                    && !page.text.contains("What you can do")
                    && !page.text.contains(&format!("{address}/"));
                assert!(
                    [403, 404, 405].contains(&page.status()) || is_read_by_vendors,
                    "{other} opens {address}: {}",
                    page.status()
                );
                covered.insert(row_of(address).map_or("", |row| row.path));
            }
            for (address, fields) in &actions {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                let page = stranger.post(address, &fields).await;
                assert!(
                    [403, 404, 405].contains(&page.status()),
                    "{other} sends {address}: {}",
                    page.status()
                );
                covered.insert(row_of(address).map_or("", |row| row.path));
            }
        }
    }
    let missing: Vec<_> = console::pages()
        .into_iter()
        .map(|row| row.path)
        .filter(|path| {
            path.contains('{') && PRIVATE.iter().any(|prefix| format!("/console{path}").starts_with(prefix))
        })
        .filter(|path| !covered.contains(path) && !TRIED_ELSEWHERE.contains(path))
        .collect();
    assert!(missing.is_empty(), "not tried: {missing:?}");
}

/// Name of a team that only buys, and that no text of the demo market names.
const UNKNOWN: &str = "Zebrawood Holdings";

/// A listing that it bids on, and one that it buys.
const LISTINGS: [&str; 2] = ["lumen-tollgate", "lumen-freight-fifteen"];

/// Makes a new team bid and buy. It has no opportunities, since these would name it. Returns the IDs of the team and of its
/// records.
async fn trade(market: &TestMarket) -> Vec<String> {
    let secret = "mkt_test_zebrawood";
    market.seed_json(&json!({
        "teams": [{
            "key": "zebrawood", "name": UNKNOWN, "roles": ["buyer"], "tier": 1, "created_at": "-P9D", "nda_accepted_at": "-P8D",
        }],
        "keys": [{
            "key": "k", "team": "zebrawood", "name": "k", "scope": "all", "secret": secret, "created_at": "-P8D",
        }],
        "ledger_entries": [{
            "key": "e", "team": "zebrawood", "entry_type": "adjustment", "amount_usd": 500_000, "description": "Wire",
            "created_at": "-P7D",
        }],
    }));
    let browser = Browser::signed_in(market, secret).await;
    let [bid, buy] = LISTINGS.map(|key| fixture_record_id("listings", key));
    let send = async |path: String, fields: &[(&str, &str)]| {
        let page = browser.get(&path).await;
        let action = path.split('?').next().unwrap();
        let answer = browser.submit(&page, action, fields).await;
        assert_eq!(answer.status(), 303, "{path}: {}", answer.visible());
    };
    send(format!("/console/listings/{bid}/bid?amount=900&pay_with=credits"), &[("accept", "yes")]).await;
    send(format!("/console/listings/{buy}/buy"), &[("accept", "yes")]).await;
    market.run_background();
    let mut ids = Vec::new();
    for list in ["/console/purchases", "/console/bids"] {
        let page = browser.get(list).await;
        let (_, id) =
            page.text.split_once(&format!("href=\"{list}/")).unwrap_or_else(|| panic!("{}", page.visible()));
        ids.push(id[..36].to_owned());
    }
    ids.push(fixture_record_id("teams", "zebrawood").to_string());
    ids
}

#[tokio::test]
async fn vendors_and_other_buyers_learn_nothing_of_a_buyer() {
    let market = TestMarket::demo();
    let ids = trade(&market).await;
    let team = ids.last().unwrap();
    for key in [VENDOR, BOTH, BUYER, "mkt_demo_locked"] {
        let browser = Browser::signed_in(&market, key).await;
        let seen = crawl(&browser).await;
        if key == VENDOR {
            let notifications = &seen.pages["/console/notifications"];
            notifications.expect(200, "Bid received");
        }
        let check = |address: &str, text: &str| {
            assert!(
                !text.contains("Zebrawood") && !text.contains(team),
                "{key} reads the buyer on {address}"
            );
            let is_record = ids.iter().any(|id| text.contains(id.as_str()));
            assert!(!is_record || key == VENDOR, "{key} reads a record of another buyer on {address}");
        };
        let mut paths = BTreeSet::new();
        for (address, page) in &seen.pages {
            check(address, &page.text);
            paths.insert(address.split('?').next().unwrap());
        }
        for path in paths {
            check(path, &browser.get(&format!("{path}?format=csv")).await.text);
        }
    }
}

#[tokio::test]
async fn form_is_carried_out_once_for_its_team_page_and_content() {
    let market = TestMarket::demo();
    let browser = Browser::signed_in(&market, BUYER).await;
    let other = Browser::signed_in(&market, &console_key(&market, "Copperline AI").await).await;
    let count = async |browser: &Browser<'_>| {
        let file = browser.get("/console/wallet/credit-purchases?format=csv").await;
        file.text.lines().count()
    };
    let (before, before_other) = (count(&browser).await, count(&other).await);
    let path = "/console/wallet/buy-credits";
    for _ in 0..2 {
        assert_eq!(browser.post(path, &[("form_key", "same"), ("amount", "10")]).await.status(), 303);
    }
    assert_eq!(count(&browser).await, before + 1, "sent twice, done once");
    let changed = browser.post(path, &[("form_key", "same"), ("amount", "99")]).await;
    assert!(changed.status() >= 400, "the same key with another amount: {}", changed.status());
    assert_eq!(count(&browser).await, before + 1);
    assert_eq!(other.post(path, &[("form_key", "same"), ("amount", "10")]).await.status(), 303);
    assert_eq!(count(&other).await, before_other + 1, "another team");
    let page = "/console/settings/keys/new";
    let created = browser.post(page, &[("form_key", "same"), ("name", "x"), ("scope", "api")]).await;
    created.expect(200, "Copy it now");
    for key in ["", &"k".repeat(65), "ä", "a b"] {
        assert_eq!(browser.post(path, &[("form_key", key), ("amount", "10")]).await.status(), 303, "{key:?}");
    }
}

#[tokio::test]
async fn closed_team_is_signed_out() {
    let market = TestMarket::demo();
    let secret = console_key(&market, "Saltmarsh Research Group").await;
    let browser = Browser::signed_in(&market, &secret).await;
    assert_eq!(browser.get("/console/catalog").await.status(), 200);
    let path = format!("/operator/v1/teams/{}/close", fixture_record_id("teams", "saltmarsh-research"));
    let closed = market.call(OPERATOR, "POST", &path, &serde_json::Value::Null).await;
    assert_eq!(closed.status, 200, "{}", String::from_utf8_lossy(&closed.bytes));
    for path in ["/console", "/console/catalog", "/console/purchases"] {
        let page = browser.get(path).await;
        assert!(page.location().starts_with("/console/sign-in"), "{path}: {}", page.status());
    }
    let answer = browser.post("/console/wallet/buy-credits", &[("amount", "10")]).await;
    assert!(answer.location().starts_with("/console/sign-in"), "{}", answer.location());
    assert_eq!(Browser::new(&market).sign_in(&secret).await.status(), 422);
}

#[tokio::test]
async fn head_tells_no_more_than_get() {
    let browser = Browser::signed_in(harness::demo(), BOTH).await;
    for path in
        ["/console/catalog", "/console/purchases?format=csv", "/console/nowhere", "/console/purchases/x"]
    {
        let (get, head) =
            (browser.get(path).await, browser.send(Method::HEAD, path, &[], String::new()).await);
        assert_eq!(
            (get.status(), get.response.header("content-type")),
            (head.status(), head.response.header("content-type"))
        );
    }
}
