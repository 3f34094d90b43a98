//! The start of a vendor: nothing when all is well, one line for each thing that waits, the most urgent first, and what buyers
//! ask for.

use marketplace::{
    domain::{
        assets::Kind, listing_lifecycle::Operation, listings::Actor, opportunities::OpportunityKind,
        purchases::PayWith, time::Timestamp,
    },
    operations::{
        access::Platform,
        asset_types::{self, DeprecationInput},
        opportunities, project_bids, teams,
    },
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    catalog::small_market::{console_key, listing, published, seed_market, small_market_with},
    harness::{
        NOW, TestMarket,
        browser::{Browser, Page, replace_tags},
        listing_lifecycle,
        patterns::pattern,
    },
    opportunities::{create, fields, perform, project_bids as bids},
    sales::{DAY, bid, codebase, give_credits, listing_id},
};

const VENDOR: &str = "mkt_seller_console";
const BOTH: &str = "mkt_both_console";

/// Returns an asset of the seller that lacks nothing, and keys for the console.
fn records() -> Value {
    let files = json!({"key": "files", "team": "seller", "sku": "raw_data", "title": "Tide gauges", "description": "D",
        "domain_tags": ["finance"], "price_usd": 5, "created_at": "-P95D", "raw_data": {}});
    json!({"assets": [files], "keys": [console_key("seller"), console_key("both")]})
}

/// Returns a market in which nothing waits for the seller, who has the published listing `plain`.
fn tidy_market() -> TestMarket {
    let plain = published("plain", 30, &json!({"assets": ["files"], "accepts_bids": true}));
    let market = TestMarket::with_settings(|settings| {
        settings.browse_gate.required_published = 0;
        // The seller has no credits.
        settings.quality.credits_per_run = 0.0;
    });
    seed_market(&market, &[plain], &records());
    give_credits(&market, "buyer", 100_000);
    set_payout(&market, Some("IBAN"));
    market
}

/// Sets, or deletes, how the market pays the seller.
fn set_payout(market: &TestMarket, text: Option<&str>) {
    let set =
        market.write(|writer| teams::set_payout_setup(writer, Platform::of_process(), "Seller house", text));
    set.unwrap();
}

/// Returns what the start says needs the vendor: the address and the text of each line.
fn needs(page: &Page) -> Vec<(String, String)> {
    let list = pattern(r#"(?s)<ul class="todo">(.*?)</ul>"#);
    let Some(list) = list.captures(&page.text) else { return Vec::new() };
    let line = pattern(r#"(?s)<li>.*?<a [^>]*href="([^"]*)".*?</li>"#);
    let text = |html: &str| replace_tags(html, " ").split_whitespace().collect::<Vec<_>>().join(" ");
    line.captures_iter(&list[1]).map(|line| (line[1].replace("&amp;", "&"), text(&line[0]))).collect()
}

#[tokio::test]
async fn start_is_empty_when_all_is_well() {
    let market = tidy_market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    assert_eq!(browser.get("/console").await.location(), "/console/selling");
    let page = browser.get("/console/selling").await;
    page.expect(200, "All is well").expect(200, "Nothing needs you now.").expect(200, "1 live listing");
    assert_eq!(needs(&page), []);
    for absent in ["The way to the whole catalog", "Asked for"] {
        assert!(!page.text.contains(absent), "{absent}: {}", page.visible());
    }
    let newcomer = Browser::signed_in(&market, BOTH).await;
    newcomer.get("/console/selling").await.expect(200, "Start with your first assets");
}

/// An asset that nobody can find is a line; the page of the asset begins a listing with it.
#[tokio::test]
async fn complete_asset_on_no_listing_is_put_on_one() {
    let market = tidy_market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let mut ledger = codebase("ledger", &json!(20));
    ledger["title"] = json!("Ledger");
    ledger["codebase"]["data"] = json!({"channel": "github", "repo_full_name": "acme/ledger", "attached_at": "-P3D",
        "archive_status": "completed", "analysis_status": "completed", "commit_sha": "c0ffee".repeat(6) + "c0ff"});
    market.seed_json(&json!({"assets": [ledger]}));
    let found = needs(&browser.get("/console/selling").await);
    assert!(found.len() == 1 && found[0].1.contains("Ledger is on no listing"), "{found:?}");
    let asset = browser.get(&found[0].0).await;
    let new = "/console/selling/listings/new";
    let address = format!("{new}?asset={}", found[0].0.rsplit('/').next().unwrap());
    asset.expect(200, &format!("href=\"{address}\""));
    let form = browser.get(&address).await;
    form.expect(200, "The listing gets the asset").expect(200, "value=\"Ledger\"");
    let saved = browser.submit(&form, new, &[("price", "30")]).await;
    assert_eq!(saved.status(), 303, "{}", saved.visible());
    browser.get(saved.location()).await.expect(200, "<bdi>Ledger</bdi>");
    assert_eq!(needs(&browser.get("/console/selling").await), []);
    let others = browser.get(&format!("{new}?asset={}", Uuid::from_u128(7))).await;
    assert_eq!(others.status(), 404);
}

/// The page of an asset says first why it has no data, and copies it again.
#[tokio::test]
async fn failed_copy_is_tried_again() {
    let market = tidy_market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    fail_copy(&market);
    let path = needs(&browser.get("/console/selling").await)[0].0.clone();
    let page = browser.get(&path).await;
    let position = |text: &str| page.text.find(text).unwrap_or_else(|| panic!("{text}: {}", page.visible()));
    assert!(position("The deploy key was rejected.") < position("id=\"fields\""));
    assert!(!page.text.contains("Public"), "{}", page.visible());
    let retry = format!("{path}/retry");
    let again = browser.submit(&page, &retry, &[]).await;
    assert_eq!(again.location(), format!("{path}?notice=repository_linked"), "{}", again.visible());
    let page = browser.get(&path).await;
    page.expect(200, "acme/ledger");
    assert!(!page.text.contains("The deploy key was rejected."), "{}", page.visible());
    assert_eq!(browser.post(&retry, &[]).await.status(), 409);
}

#[tokio::test]
async fn way_through_the_browse_gate_is_shown_until_its_end() {
    for (count, is_shown) in [(1, true), (3, false)] {
        let market = TestMarket::with_settings(|settings| settings.browse_gate.required_published = 3);
        let listings: Vec<Value> = (0..count)
            .map(|number| published(&format!("l{number}"), 30, &json!({"assets": ["files"]})))
            .collect();
        seed_market(&market, &listings, &records());
        let browser = Browser::signed_in(&market, VENDOR).await;
        let page = browser.get("/console/selling").await;
        assert_eq!(page.text.contains("1 of 3 listings is published"), is_shown, "{}", page.visible());
        assert_eq!(page.text.contains("The way to the whole catalog"), is_shown);
        // Until then, the preview of a listing leads nowhere that is locked.
        let preview = browser.get(&format!("/console/listings/{}", listing_id("l0"))).await;
        preview.expect(200, "This is your own listing.");
        assert_eq!(preview.text.contains("/console/compare?id="), !is_shown, "{}", preview.visible());
    }
}

/// Something that makes a line on the start: its name, what happens, and the address and the text of the line. Addresses end
/// before the first ID.
type Cause = (&'static str, fn(&TestMarket), &'static str, &'static str);

/// The causes in the order in which the start has their lines.
const CAUSES: [Cause; 10] = [
    ("bid", receive_bid, "/console/selling/bids/", "Bid of $40 for Listing plain Answer by 31 Mar 2026"),
    (
        "copy",
        fail_copy,
        "/console/inventory/",
        "Ledger : no data Copying failed: The deploy key was rejected.",
    ),
    (
        "delivery",
        accept_project_bid,
        "/console/requests/bids/",
        "Deliver for Maps Your bid was accepted. Deliver 30 tasks by 15 Mar 2026",
    ),
    (
        "approved",
        approve,
        "/console/selling/listings/",
        "Listing ready is approved Publish it when you are ready",
    ),
    (
        "changes",
        request_changes,
        "/console/selling/listings/",
        "Listing back : changes requested Replace the names.",
    ),
    (
        "run",
        fail_run,
        "/console/selling/listings/",
        "Listing plain : checks A required check did not pass: A license is stated",
    ),
    ("upload", |_| {}, "/console/inventory/add/uploads/", "Upload of letters.zip It is not complete."),
    (
        "kind",
        deprecate,
        "/console/inventory?kind=raw_data",
        "Raw data archives retire on 30 May 2026 You have",
    ),
    (
        "payout",
        |market| set_payout(market, None),
        "/console/settings/payout",
        "State how the market pays your team Until then, earnings cannot be withdrawn",
    ),
    (
        "incomplete",
        add_incomplete,
        "/console/inventory?stage=incomplete",
        "1 asset is incomplete It lacks what a listing needs",
    ),
];

fn fail_copy(market: &TestMarket) {
    let mut ledger = codebase("ledger", &json!(20));
    ledger["title"] = json!("Ledger");
    ledger["codebase"]["data"] = json!({"channel": "github", "repo_full_name": "acme/ledger", "attached_at": "-P3D",
        "archive_status": "failed", "analysis_status": "skipped", "archive_error": "The deploy key was rejected."});
    market.seed_json(&json!({"assets": [ledger]}));
}

fn accept_project_bid(market: &TestMarket) {
    let project = create(market, 1, OpportunityKind::Project, &fields("Maps")).unwrap();
    perform(market, opportunities::publish, project, OpportunityKind::Project).unwrap();
    bids::submit(market, "seller", 1, project).unwrap();
    bids::as_buyer(market, "buyer", 1, project_bids::accept).unwrap();
    // Otherwise the project is asked for, too.
    perform(market, opportunities::close, project, OpportunityKind::Project).unwrap();
}

fn receive_bid(market: &TestMarket) {
    bid(market, "buyer", listing_id("plain"), 4_000, PayWith::Credits).unwrap();
}

fn reviewed(market: &TestMarket, key: &str, decision: Operation, note: Option<&str>) {
    let history = json!([{"event": "submitted", "at": "-P8D"}]);
    market.seed_json(&json!({"listings": [listing(key, &json!({"assets": ["files"], "history": history}))]}));
    let decided = market.write(|writer| {
        listing_lifecycle::perform_as(writer, listing_id(key), decision, Actor::Platform, note)
    });
    decided.unwrap();
}

fn approve(market: &TestMarket) {
    reviewed(market, "ready", Operation::Approve, None);
}

fn request_changes(market: &TestMarket) {
    reviewed(market, "back", Operation::RequestChanges, Some("Replace the names."));
}

fn fail_run(market: &TestMarket) {
    let check = json!({"check": "license_found", "label": "A license is stated", "kind": "automated", "mandatory": true,
        "status": "failed"});
    let run = json!({"key": "run", "listing": "plain", "status": "completed", "triggered_by": "team",
        "started_at": "-P2D", "completed_at": "-P1D", "checks": [check]});
    market.seed_json(&json!({"quality_runs": [run]}));
}

fn deprecate(market: &TestMarket) {
    let input = DeprecationInput {
        retires_at: Timestamp::parse(NOW).unwrap().plus_days(90),
        accepts_new_listings: true,
        message: "Use another kind.",
    };
    let deprecated =
        market.write(|writer| asset_types::deprecate(writer, Platform::of_process(), Kind::RawData, &input));
    deprecated.unwrap();
}

fn add_incomplete(market: &TestMarket) {
    market.seed_json(&json!({"assets": [codebase("half", &Value::Null)]}));
}

/// Begins an upload, and leaves it for two hours.
async fn leave_upload(market: &TestMarket, browser: &Browser<'_>) {
    let fields = [
        ("form_key", "upload"),
        ("kind", "raw_data"),
        ("title", "Letters"),
        ("file_name", "letters.zip"),
        ("size_bytes", "31"),
        ("modified_ms", "1700000000000"),
    ];
    let planned = browser.post("/console/inventory/add/file", &fields).await;
    assert_eq!(planned.status(), 303, "{}", planned.visible());
    assert_eq!(needs(&browser.get("/console/selling").await), [], "it is not late yet");
    market.clock().advance(2 * DAY / 24);
}

/// Asserts that the address of a line is the expected one up to its ID, and leads to a page.
async fn check_line(browser: &Browser<'_>, cause: &Cause, line: &(String, String)) {
    let (name, _, address, text) = cause;
    let (found, shown) = line;
    let id = found.strip_prefix(address).unwrap_or_else(|| panic!("{name}: {line:?}"));
    assert!(id.is_empty() || Uuid::try_parse(id).is_ok(), "{name}: {found}");
    assert!(shown.contains(text), "{name}: {text:?} is not in {shown:?}");
    let page = browser.open(found).await;
    assert_eq!(page.status(), 200, "{name}: {found}");
}

#[tokio::test]
async fn each_thing_that_waits_is_one_line_with_its_page() {
    for cause in CAUSES {
        let market = tidy_market();
        let browser = Browser::signed_in(&market, VENDOR).await;
        if cause.0 == "upload" {
            leave_upload(&market, &browser).await;
        }
        (cause.1)(&market);
        let page = browser.get("/console/selling").await;
        let needs = needs(&page);
        assert_eq!(needs.len(), 1, "{}: {needs:?}", cause.0);
        check_line(&browser, &cause, &needs[0]).await;
        page.expect(200, "1 thing needs you.");
    }
}

#[tokio::test]
async fn all_that_waits_stands_in_the_order_of_its_urgency() {
    let market = tidy_market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    leave_upload(&market, &browser).await;
    for (_, happen, ..) in CAUSES {
        happen(&market);
    }
    let page = browser.get("/console/selling").await;
    page.expect(200, "10 things need you.");
    let found = needs(&page);
    assert_eq!(found.len(), CAUSES.len(), "{found:?}");
    for (cause, line) in CAUSES.iter().zip(&found) {
        check_line(&browser, cause, line).await;
    }
    // What is late stands before everything else.
    market.clock().advance(20 * DAY);
    let found = needs(&browser.get("/console/selling").await);
    assert!(
        found[0].0.starts_with("/console/requests/bids/") && found[1].0.starts_with("/console/selling/bids/"),
        "{found:?}"
    );
}

/// More than ten of a kind are a link to their list.
#[tokio::test]
async fn many_of_a_kind_end_in_a_link_to_all() {
    let listings: Vec<Value> = (0..12)
        .map(|number| {
            let history = json!([{"event": "submitted", "at": "-P8D"}, {"event": "approved", "at": "-P7D"}]);
            listing(&format!("l{number}"), &json!({"assets": ["files"], "history": history}))
        })
        .collect();
    let market = small_market_with(&listings, &records());
    let browser = Browser::signed_in(&market, VENDOR).await;
    let found = needs(&browser.get("/console/selling").await);
    assert_eq!(found.len(), 11);
    assert_eq!(found[10].0, "/console/selling/listings");
}

#[tokio::test]
async fn start_shows_what_buyers_ask_for_and_what_fits() {
    let market = tidy_market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let publish = |number: u128, title: &str, accepted: Vec<Kind>, tags: &[&str]| {
        let mut wanted = fields(title);
        wanted.accepted_asset_types = accepted;
        wanted.metadata.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let id = create(&market, number, OpportunityKind::Listing, &wanted).unwrap();
        perform(&market, opportunities::publish, id, OpportunityKind::Listing).unwrap();
        id
    };
    publish(1, "The oldest", vec![Kind::RawData], &[]);
    publish(2, "Code", vec![Kind::Codebase], &[]);
    let ledgers = publish(3, "Ledgers", vec![Kind::RawData], &["Finance"]);
    publish(4, "Anything", Vec::new(), &[]);
    let page = browser.get("/console/selling").await;
    let asked = page.text.split("id=\"asked\"").nth(1).expect("a section").split("</ul>").next().unwrap();
    for text in
        ["Anything", "Ledgers", "Code", "you have nothing that fits yet", "Buyer house", "10 days left"]
    {
        assert!(asked.contains(text), "{text} is not in {asked}");
    }
    assert!(!asked.contains("The oldest"), "three are shown");
    assert!(asked.contains(&format!("/console/requests/{ledgers}")));
    assert_eq!(asked.matches("<bdi>Listing plain</bdi> fits").count(), 2, "{asked}");
    browser.get(&format!("/console/requests/{ledgers}")).await.expect(200, "Listing plain");
}

#[tokio::test]
async fn navigation_of_a_vendor_begins_with_its_start() {
    let market = tidy_market();
    let labels = async |key: &str, side: &str| -> Vec<String> {
        let browser = Browser::signed_in(&market, key).await;
        if !side.is_empty() {
            assert_eq!(browser.post("/console/side", &[("side", side)]).await.status(), 303);
        }
        let page = browser.get("/console/settings").await;
        let side = page.text.split("<nav class=\"side").nth(1).unwrap().split("</nav>").next().unwrap();
        let link = pattern("<a [^>]*>([A-Za-z]+)");
        link.captures_iter(side).map(|link| link[1].to_owned()).collect()
    };
    let selling = [
        "Start",
        "Inventory",
        "Listings",
        "Bids",
        "Sales",
        "Earnings",
        "Requests",
        "Estimations",
        "Quality",
        "Notifications",
        "Settings",
        "Catalog",
        "Wallet",
    ];
    assert_eq!(labels(VENDOR, "").await, selling);
    assert_eq!(labels(BOTH, "vendor").await, selling);
    assert_eq!(
        labels(BOTH, "buyer").await,
        ["Catalog", "Purchases", "Bids", "Opportunities", "Wallet", "Notifications", "Settings"]
    );
}
