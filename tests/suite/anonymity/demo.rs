//! The demo market, after further trades over HTTP: every route that a vendor may read, every event in its view, and
//! every request that its webhook gets.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{domain::principals::PrincipalKind, operations::webhook_sender::WebhookSender};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{
    Hidden, console, events, message, text_of,
    trades::{Buyer, Trades},
    without_opportunities,
};
use crate::{
    contract::cases::{Case, OPERATOR, RequiredAccess, cases},
    harness::{
        TestMarket,
        browser::Browser,
        receiver::{Receiver, Reply},
        records::{self, demo_records, is_published, key},
    },
};

/// The key of a vendor.
const VENDOR: &str = "mkt_demo_vendor";

/// Number of listings of each vendor that are traded.
const LISTINGS_OF_VENDOR: usize = 2;

/// Returns the texts that identify a team: its ID, its name, and its API keys.
fn identifying_texts(team: &Value) -> Vec<String> {
    let secrets = demo_records().collection("keys").iter().filter(|key| key["team"] == team["key"]);
    let secrets = secrets.filter_map(|key| key["secret"].as_str().map(str::to_owned));
    [records::id("teams", team).to_string(), team["name"].as_str().unwrap().to_owned()]
        .into_iter()
        .chain(secrets)
        .collect()
}

fn has_role(team: &Value, role: &str) -> bool {
    records::texts(&team["roles"]).any(|found| found == role)
}

/// Returns what identifies the teams that have traded, except one.
fn hidden_from(team: &str, is_hidden: impl Fn(&Value) -> bool) -> Hidden {
    let others = others_than(team, is_hidden);
    assert!(others.len() >= 3, "the demo market must have at least 3 other buyers with purchases or offers");
    let mut hidden = Hidden::default();
    hidden.add(others.into_iter().flat_map(identifying_texts));
    hidden
}

/// Returns the teams that have traded, except one.
fn others_than(team: &str, is_hidden: impl Fn(&Value) -> bool) -> Vec<&'static Value> {
    let has_traded = |team: &&Value| {
        let of = |collection: &str| {
            demo_records().collection(collection).iter().any(|deal| deal["buyer"] == *key(team))
        };
        of("purchases") || of("offers")
    };
    let buyers = demo_records().collection("teams").iter().filter(has_traded);
    buyers.filter(|buyer| key(buyer) != team && is_hidden(buyer)).collect()
}

/// Creates a webhook for all events of each vendor, and returns how many there are. The demo's own webhooks have a
/// fixed port, so they are deleted.
async fn create_webhooks(market: &TestMarket, receiver: &Receiver) {
    let page = market.get(OPERATOR, "/operator/v1/webhooks").await.ok();
    for webhook in page["items"].as_array().unwrap() {
        let path = format!("/operator/v1/webhooks/{}", webhook["id"].as_str().unwrap());
        market.call(OPERATOR, "DELETE", &path, &Value::Null).await.expect_status(204);
    }
    for team in demo_records().collection("teams").iter().filter(|team| has_role(team, "vendor")) {
        let url = format!("{}/{}", receiver.url, key(team));
        let body = json!({"team_id": records::id("teams", team), "url": url});
        market.call(OPERATOR, "POST", "/operator/v1/webhooks", &body).await.expect_status(201);
    }
}

/// Trades the first listings of each vendor with all buyers. Returns how many requests changed something.
async fn trade(market: &TestMarket) -> usize {
    let trades = Trades::new(market, OPERATOR);
    let teams = demo_records().collection("teams");
    for vendor in teams.iter().filter(|team| has_role(team, "vendor")) {
        let listings = demo_records().collection("listings").iter();
        let listings = listings.filter(|listing| listing["team"] == vendor["key"] && is_published(listing));
        for listing in listings.take(LISTINGS_OF_VENDOR) {
            let listing = records::id("listings", listing).to_string();
            for buyer in teams.iter().filter(|team| has_role(team, "buyer")) {
                let id = records::id("teams", buyer).to_string();
                let buyer = Buyer { id, name: buyer["name"].as_str().unwrap().to_owned() };
                trades.buy(&buyer, &listing).await;
                trades.bid(&buyer, &listing).await;
            }
        }
    }
    trades.accepted()
}

/// Checks every response to the keys of vendors that reading routes return. Opportunities are left out, because they
/// show their owner. Returns the number of responses.
async fn check_responses(market: &TestMarket) -> usize {
    let (mut checked, mut hidden) = (0, BTreeMap::new());
    let of_teams = cases().filter(|row: &&Case| row.access.key_kind() == PrincipalKind::Team);
    for row in of_teams {
        if row.documented().method != "GET" || row.operation.contains("opportunit") {
            continue;
        }
        let extra = ["get_wallet", "list_notifications"];
        let is_of_vendors = row.access == RequiredAccess::Vendor || extra.contains(&row.operation);
        for (secret, path) in row.ok_requests() {
            let own = demo_records().team_of(secret);
            if !has_role(demo_records().find("teams", own), "vendor") {
                continue;
            }
            let mut response = market.get(secret, &path).await;
            let json = without_opportunities(response.json());
            response.bytes = json.to_string().into_bytes();
            // The catalog names a buyer that also sells as the vendor of its listings.
            let collect = || hidden_from(own, |buyer| is_of_vendors || !has_role(buyer, "vendor"));
            let hidden = hidden.entry((own, is_of_vendors)).or_insert_with(collect);
            hidden.assert_absent(&format!("{path} for {own}"), &text_of(&response));
            checked += 1;
        }
    }
    checked
}

/// Checks every page of the web app that vendors can open. Returns the number of answers, and the pages of which no vendor has one.
async fn check_console(market: &TestMarket, begun: &[String]) -> (usize, BTreeSet<&'static str>) {
    let mut checked = 0;
    let mut missing: Option<BTreeSet<&'static str>> = None;
    for secret in [VENDOR, "mkt_demo_both", "mkt_demo_locked"] {
        let own = demo_records().team_of(secret);
        let own_paths = if secret == VENDOR { begun } else { &[] };
        let reader = records::id("teams", demo_records().find("teams", own));
        let hidden = console::HiddenFrom::new(market, reader, |is_hidden| {
            let mut hidden = Hidden::default();
            let others = others_than(own, |buyer| is_hidden(records::id("teams", buyer)));
            hidden.add(others.into_iter().flat_map(identifying_texts));
            hidden
        });
        let (count, absent) = console::check_vendor(market, secret, own, &hidden, own_paths).await;
        checked += count;
        missing = Some(missing.map_or(absent.clone(), |missing| &missing & &absent));
    }
    (checked, missing.unwrap_or_default())
}

/// Checks every event in the views of vendors. Returns their number, and how many of them a request has caused whose ID
/// names a buyer.
fn check_events(market: &TestMarket) -> (usize, usize) {
    let (mut checked, mut caused) = (0, 0);
    for team in demo_records().collection("teams").iter().filter(|team| has_role(team, "vendor")) {
        let hidden = hidden_from(key(team), |_| true);
        for event in events(market.market(), records::id("teams", team)) {
            hidden.assert_absent(&format!("event of {}", key(team)), &message(&event));
            checked += 1;
            caused += usize::from(event.request_id.is_some_and(|id| hidden.find_in(&id).is_some()));
        }
    }
    (checked, caused)
}

/// Checks every request that the webhooks of vendors get. Returns their number.
async fn check_webhooks(market: &TestMarket, receiver: &Receiver) -> usize {
    let page = market.get(OPERATOR, "/operator/v1/webhook-deliveries?limit=1").await.ok();
    let received = receiver.wait_for(page["total"].as_u64().unwrap() as usize).await;
    let (mut ids, mut hidden): (Vec<&str>, _) = (Vec::new(), BTreeMap::new());
    for request in &received {
        let team = request.target.rsplit('/').next().unwrap();
        let head: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let head = head.join("\n");
        let hidden = hidden.entry(team).or_insert_with(|| hidden_from(team, |_| true));
        hidden.assert_absent(
            &format!("webhook of {team}"),
            &format!("{}\n{head}\n{}", request.target, request.body),
        );
        assert!(!request.body.contains("evt_") && !request.body.contains("request_id"), "{}", request.body);
        ids.push(request.header("webhook-id"));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), received.len(), "each message is sent once");
    received.len()
}

/// Creates records of a vendor that the demo lacks: an unfinished upload, a change of many assets, a group, a grant, a listing
/// in review, and one in the archive. Returns the paths of records that no list of the test leads to.
async fn begin(market: &TestMarket) -> Vec<String> {
    let browser = Browser::signed_in(market, VENDOR).await;
    let upload =
        [("kind", "raw_data"), ("title", "Tides"), ("file_name", "tides.zip"), ("size_bytes", "1000")];
    let change = [("all", "1"), ("action", "describe"), ("description", "Tides by the hour.")];
    let mut paths = Vec::new();
    for (path, fields) in [
        ("/console/inventory/add/file", &upload[..]),
        ("/console/inventory/changes/new", &change),
        ("/console/inventory/groups/new", &[("name", "Tides")]),
        ("/console/settings/grants/new", &[("title", "Scans"), ("exclusivity", "available")]),
    ] {
        let fields: Vec<_> = fields.iter().copied().chain([("form_key", path)]).collect();
        let page = browser.post(path, &fields).await;
        assert!(page.status() < 400, "{path}: {}", page.visible());
        if let Some((_, group)) = page.location().split_once("group=") {
            paths.push(format!("/inventory/groups/{}", &group[..36]));
        }
    }
    let team = records::id("teams", demo_records().find("teams", demo_records().team_of(VENDOR)));
    let list = format!("/operator/v1/listings?team_id={team}&stage=active&exclusive=false");
    let listings = market.get(OPERATOR, &list).await.ok();
    let path = |index: usize| {
        let id = listings["items"][index]["id"].as_str().unwrap_or_else(|| panic!("{listings}"));
        format!("/operator/v1/listings/{id}")
    };
    let call = async |method, path: &str, body: Value| market.call(OPERATOR, method, path, &body).await.ok();
    call("POST", &format!("{}/archive", path(0)), Value::Null).await;
    call("POST", &format!("{}/unpublish", path(1)), Value::Null).await;
    call("PATCH", &path(1), json!({"description": "Tides, and what they are good for."})).await;
    call("POST", &format!("{}/submit", path(1)), Value::Null).await;
    let listing = |index: usize| path(index).replace("/operator/v1/listings", "/selling/listings");
    paths.extend([listing(0), listing(1)]);
    paths
}

#[tokio::test(flavor = "multi_thread")]
async fn vendors_of_the_demo_never_learn_buyers() {
    let market = TestMarket::demo();
    let receiver = Receiver::start(Reply::status(204));
    create_webhooks(&market, &receiver).await;
    let _sender = WebhookSender::start(market.market(), &Handle::current()).unwrap();
    let traded = trade(&market).await;
    assert!(traded > 300, "only {traded} requests changed something");
    let sent = check_webhooks(&market, &receiver).await;
    let (responses, (events, caused)) = (check_responses(&market).await, check_events(&market));
    let begun = begin(&market).await;
    let (pages, missing) = check_console(&market, &begun).await;
    assert!(pages > 600, "{pages}");
    assert_eq!(missing, BTreeSet::new(), "no vendor has such a page");
    eprintln!("{traded} trades, {sent} webhooks, {responses} responses, {caused} of {events} events");
    assert!(responses > 2_000 && sent > 500, "{responses}, {sent}");
    assert!(events > 3_000 && caused > 300, "{events}, {caused}");
}
