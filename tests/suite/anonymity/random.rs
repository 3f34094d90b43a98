//! Markets of random operations: no vendor learns a buyer, even after further trades over HTTP.

use std::collections::BTreeMap;

use marketplace::domain::principals::{KeyScope, PrincipalKind};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    Hidden, console, events, is_about_opportunity, message, text_of,
    trades::{Buyer, Trades},
    without_opportunities,
};
use crate::{
    contract::cases::{RequiredAccess, cases},
    harness::TestMarket,
};

/// Number of listings that are traded.
const TRADED_LISTINGS: usize = 12;

/// Number of vendors that read all their pages, and number of records of each kind that each of them reads.
const READING_VENDORS: usize = 4;
const RECORDS: usize = 8;

/// An operator of a market.
struct Operator<'a> {
    market: &'a TestMarket,
    key: String,
}

impl Operator<'_> {
    async fn post(&self, path: &str, body: &Value) -> Value {
        self.market.call(&self.key, "POST", &format!("/operator/v1/{path}"), body).await.expect_status(201)
    }

    /// Returns the items of all pages of a list.
    async fn list(&self, path: &str) -> Vec<Value> {
        self.market.list_all(&self.key, &format!("/operator/v1/{path}")).await
    }
}

fn operator(market: &TestMarket) -> Operator<'_> {
    Operator { market, key: market.operator_key("anonymity", KeyScope::All) }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Creates a webhook for each vendor. Nothing is sent; the deliveries have what would be.
pub fn create_webhooks(market: &TestMarket) {
    block_on(async {
        let operator = operator(market);
        for team in operator.list("teams?role=vendor").await {
            let body = json!({"team_id": team["id"], "url": "http://127.0.0.1:9/vendor"});
            operator.post("webhooks", &body).await;
        }
    });
}

/// Returns the teams that have bid or bought, each with what identifies it. `secrets` are keys with the IDs of their
/// teams.
fn traders(market: &TestMarket, secrets: &[(Uuid, String)]) -> BTreeMap<Uuid, Vec<String>> {
    let path = market.market().data_dir().join("market.sqlite");
    let rows = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT uuid, name FROM teams WHERE id IN (SELECT buyer FROM offers UNION SELECT buyer FROM purchases)";
    let mut statement = rows.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row| {
        let id = Uuid::from_slice(row.get_ref(0)?.as_blob()?).expect("an ID has 16 bytes");
        Ok((id, row.get::<_, String>(1)?))
    };
    let found = statement.query_map([], read).unwrap().map(Result::unwrap);
    found
        .map(|(id, name)| {
            let keys = secrets.iter().filter(|(team, _)| *team == id).map(|(_, secret)| secret.clone());
            (id, [id.to_string(), name].into_iter().chain(keys).collect())
        })
        .collect()
}

/// Checks all that vendors get, after further trades. `secrets` are API keys with the IDs of their teams.
pub fn check_vendors_learn_no_buyer(market: &TestMarket, secrets: &[(Uuid, String)]) {
    block_on(async {
        let operator = operator(market);
        let teams = operator.list("teams?closed=false").await;
        let changed = trade(market, &operator, &teams).await;
        let traders = traders(market, secrets);
        let hidden_from = |vendor: Uuid| {
            let mut hidden = Hidden::default();
            hidden.add(
                traders.iter().filter(|(team, _)| **team != vendor).flat_map(|(_, texts)| texts.clone()),
            );
            hidden
        };
        let is_vendor = |team: &&Value| team["roles"].as_array().unwrap().contains(&json!("vendor"));
        let (mut found, mut responses, mut deliveries, mut pages) = (0, 0, 0, 0);
        let mut reading = READING_VENDORS;
        for team in teams.iter().filter(is_vendor) {
            let id: Uuid = team["id"].as_str().unwrap().parse().unwrap();
            let hidden = hidden_from(id);
            for event in events(market.market(), id) {
                hidden.assert_absent(&format!("an event of {id}"), &message(&event));
                found += 1;
            }
            if reading > 0 && !team["nda_accepted_at"].is_null() {
                reading -= 1;
                responses += check_responses(&operator, &id.to_string(), &hidden).await;
                let hidden = console::HiddenFrom::new(market, id, |is_hidden| {
                    let mut hidden = Hidden::default();
                    let others = traders.iter().filter(|(team, _)| **team != id && is_hidden(**team));
                    hidden.add(others.flat_map(|(_, texts)| texts.clone()));
                    hidden
                });
                let key = json!({"team_id": id, "name": "people", "scope": "all"});
                let key = operator.post("keys", &key).await;
                let secret = key["secret"].as_str().unwrap();
                pages += console::check_vendor(market, secret, &id.to_string(), &hidden, &[]).await.0;
            }
        }
        for webhook in operator.list("webhooks").await {
            let team: Uuid = webhook["team_id"].as_str().unwrap().parse().unwrap();
            let hidden = hidden_from(team);
            let id = webhook["id"].as_str().unwrap();
            for delivery in operator.list(&format!("webhook-deliveries?webhook_id={id}")).await {
                let text = |name: &str| delivery[name].as_str().unwrap();
                let (event_type, body) = (text("event_type"), text("body"));
                let sent: Value = serde_json::from_str(body).unwrap();
                if is_about_opportunity(event_type, &sent["data"], team) {
                    continue;
                }
                let sent = format!("{}\n{body}", text("message_id"));
                hidden.assert_absent(&format!("a webhook of {team}"), &sent);
                deliveries += 1;
            }
        }
        eprintln!(
            "{changed} trades, {found} events, {responses} responses, {pages} pages, {deliveries} webhooks"
        );
        assert!(pages > 400, "{pages}");
        assert!(changed > 0 && traders.len() > 2 && found > 100 && responses > 60 && deliveries > 100);
    });
}

/// Publishes listings that are ready, and lets buyers trade listings in the catalog. Returns how many requests changed
/// something.
async fn trade(market: &TestMarket, operator: &Operator<'_>, teams: &[Value]) -> usize {
    let trades = Trades::new(market, &operator.key);
    for listing in operator.list("listings?stage=ready").await.iter().take(TRADED_LISTINGS) {
        let path = format!("/operator/v1/listings/{}/publish", listing["id"].as_str().unwrap());
        // What is sold exclusively cannot be published.
        market.call(&operator.key, "POST", &path, &Value::Null).await;
    }
    let listings = operator.list("listings?stage=active").await;
    let is_buyer = |team: &&Value| team["roles"].as_array().unwrap().contains(&json!("buyer"));
    for buyer in teams.iter().filter(is_buyer) {
        let text = |name: &str| buyer[name].as_str().unwrap().to_owned();
        let buyer = Buyer { id: text("id"), name: text("name") };
        for listing in listings.iter().take(TRADED_LISTINGS) {
            let listing = listing["id"].as_str().unwrap();
            trades.buy(&buyer, listing).await;
            trades.bid(&buyer, listing).await;
        }
    }
    trades.accepted()
}

/// Checks the responses of the routes for vendors, and those about accounts. Opportunities are left out, because they
/// show their owner. Returns the number of responses.
async fn check_responses(operator: &Operator<'_>, team: &str, hidden: &Hidden) -> usize {
    let created = operator.post("keys", &json!({"team_id": team, "name": "reader"})).await;
    let key = created["secret"].as_str().unwrap();
    let market = operator.market;
    let ids = async |path: &str, list: &str| -> Vec<String> {
        let page = market.get(key, path).await.ok();
        let items = page[list].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).take(RECORDS).collect()
    };
    let records = [
        ("{asset_id}", ids("/v2/assets", "items").await),
        ("{listing_id}", ids("/v2/listings", "items").await),
        ("{group_id}", ids("/v2/asset-groups", "groups").await),
        ("{estimation_id}", ids("/v2/estimations", "estimations").await),
    ];
    let extra = ["get_wallet", "list_notifications"];
    let mut checked = 0;
    for row in cases().filter(|row| row.access.key_kind() == PrincipalKind::Team) {
        let is_of_vendors = row.access == RequiredAccess::Vendor || extra.contains(&row.operation);
        let operation = row.documented();
        if operation.method != "GET" || !is_of_vendors || row.operation.contains("opportunit") {
            continue;
        }
        let parameter = records.iter().find(|(name, _)| operation.path.contains(name));
        let paths = match parameter {
            Some((name, ids)) => ids.iter().map(|id| operation.path.replace(name, id)).collect(),
            None => vec![operation.path.clone()],
        };
        for path in paths {
            let mut response = market.get(key, &path).await;
            let json = without_opportunities(response.json());
            response.bytes = json.to_string().into_bytes();
            hidden.assert_absent(&format!("{path} for {team}"), &text_of(&response));
            checked += usize::from(response.status == 200);
        }
    }
    checked
}
