//! The rules of a sale: offers, purchases, refunds, and exclusive listings. They are tested through operations, and
//! what teams see of them through the API.

mod costs;
mod events;
mod exclusivity;
mod offers;
mod purchases;
mod random;
mod refunds;

use marketplace::{
    clock::fixture_record_id,
    domain::{
        events::EventRowId,
        ledger::Transfer,
        listings::Actor,
        money::Cents,
        purchases::{PayWith, PurchaseKind},
    },
    error::Result,
    operations::{
        access::Platform,
        ledger,
        offers::{self as offer_operations, OfferInput},
        purchases::{self as purchase_operations, PurchaseInput},
    },
    store::{self, purchases::PurchaseRow},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    catalog::small_market::{published, small_market_with},
    harness::{
        TestMarket,
        errors::code,
        teams::{buyer, team as team_of, vendor},
    },
};

/// Microseconds per day.
pub const DAY: i64 = 86_400_000_000;

/// Returns the ID of a seeded listing.
pub fn listing_id(key: &str) -> Uuid {
    fixture_record_id("listings", key)
}

/// Returns the ID of a seeded asset.
pub fn asset_id(key: &str) -> Uuid {
    fixture_record_id("assets", key)
}

/// Returns a codebase of the seller with this asking price.
pub fn codebase(key: &str, price_usd: &Value) -> Value {
    let mut record = json!({
        "key": key, "team": "seller", "sku": "codebase", "title": format!("Code {key}"), "description": "D",
        "domain_tags": ["finance"], "created_at": "-P95D",
        "codebase": {
            "exclusivity": "available", "lines_of_code": 9, "commits": 2, "contributors": 1, "merged_prs": 0,
            "history_start": "2020-01-01", "history_end": "2021-01-01", "ci_on_prs": false,
        },
    });
    if !price_usd.is_null() {
        record["price_usd"] = price_usd.clone();
    }
    record
}

/// Returns a market in which the seller offers `plain` (four codebases for $50, the sample for $2), `shared` (one
/// of them for $30), and `files` (raw data for $50, no bids). Its credits and those of the buyers are $1,000 each.
pub fn sales_market() -> TestMarket {
    let code = |key: &str, price: Value| codebase(key, &price);
    let assets = json!([
        code("c1", json!(20)),
        code("c2", json!(12.5)),
        code("c3", Value::Null),
        code("c4", json!(45))
    ]);
    let market = small_market_with(
        &[
            published(
                "plain",
                30,
                &json!({"assets": ["c1", "c2", "c3", "c4"], "sample_price_usd": 2, "accepts_bids": true}),
            ),
            published("shared", 30, &json!({"assets": ["c1"], "price_usd": 30, "accepts_bids": true})),
            published("files", 30, &json!({})),
        ],
        &json!({"assets": assets}),
    );
    for team in ["seller", "both", "buyer", "other"] {
        give_credits(&market, team, 100_000);
    }
    market
}

pub fn give_credits(market: &TestMarket, team: &str, cents: i64) {
    let given = market.write(|writer| {
        let team = team_of(writer.rows, team).row_id;
        ledger::post_transfer(writer, &Transfer::adjustment(team, Cents(cents)), "Gift")
    });
    given.unwrap();
}

pub fn bid(market: &TestMarket, team: &str, listing: Uuid, cents: i64, pay_with: PayWith) -> Result<Uuid> {
    let input = OfferInput { listing, amount: Cents(cents), pay_with };
    market.write(|writer| {
        let buyer = buyer(writer.rows, team);
        offer_operations::submit(writer, &buyer, Actor::Team, &input)
    })
}

fn withdraw(market: &TestMarket, team: &str, offer: Uuid) -> Result<()> {
    market.write(|writer| {
        let buyer = buyer(writer.rows, team);
        offer_operations::withdraw(writer, &buyer, Actor::Team, offer)
    })
}

pub fn accept(market: &TestMarket, team: &str, offer: Uuid) -> Result<Uuid> {
    market.write(|writer| {
        let vendor = vendor(writer.rows, team);
        offer_operations::accept(writer, &vendor, Actor::Team, offer)
    })
}

pub fn decline(market: &TestMarket, team: &str, offer: Uuid) -> Result<()> {
    market.write(|writer| {
        let vendor = vendor(writer.rows, team);
        offer_operations::decline(writer, &vendor, Actor::Team, offer)
    })
}

pub fn buy(
    market: &TestMarket,
    team: &str,
    listing: Uuid,
    kind: PurchaseKind,
    pay_with: PayWith,
) -> Result<PurchaseRow> {
    buy_assets(market, team, listing, kind, None, pay_with)
}

fn buy_assets(
    market: &TestMarket,
    team: &str,
    listing: Uuid,
    kind: PurchaseKind,
    asset_ids: Option<&[Uuid]>,
    pay_with: PayWith,
) -> Result<PurchaseRow> {
    let input = PurchaseInput { listing, kind, asset_ids, pay_with };
    market.write(|writer| {
        let buyer = buyer(writer.rows, team);
        purchase_operations::create(writer, &buyer, Actor::Team, &input)
    })
}

pub fn complete(market: &TestMarket, purchase: Uuid) -> Result<PurchaseRow> {
    let platform = Platform::of_process();
    market.write(|writer| purchase_operations::complete(writer, platform, Actor::Platform, purchase))
}

fn cancel(market: &TestMarket, purchase: Uuid) -> Result<()> {
    let platform = Platform::of_process();
    market.write(|writer| purchase_operations::cancel(writer, platform, Actor::Platform, purchase))
}

fn refund(market: &TestMarket, purchase: Uuid) -> Result<PurchaseRow> {
    let platform = Platform::of_process();
    market.write(|writer| purchase_operations::refund(writer, platform, Actor::Platform, purchase))
}

/// Performs an operation on a listing, as its usual actor.
fn change_listing(
    market: &TestMarket,
    listing: Uuid,
    operation: marketplace::domain::listing_lifecycle::Operation,
) -> Result<()> {
    market.write(|writer| crate::harness::listing_lifecycle::perform(writer, listing, operation).map(|_| ()))
}

/// Returns the credits of a team, in cents.
fn credits(market: &TestMarket, team: &str) -> i64 {
    let balances =
        market.read(|reader| store::wallet::balances(reader.rows, team_of(reader.rows, team).row_id));
    balances.unwrap().credits.0
}

/// Returns the types and the data of the events since one, each with the key of the team whose view it is.
fn events_since(market: &TestMarket, after: EventRowId) -> Vec<(String, String, Value)> {
    use marketplace::string_enum::StringEnum;
    let events = market.read(|reader| store::events::list_after(reader.rows, after, 10_000)).unwrap();
    let key_of = |id: Uuid| {
        let keys = ["seller", "both", "buyer", "other"];
        keys.into_iter().find(|key| fixture_record_id("teams", key) == id).unwrap_or("?").to_owned()
    };
    events
        .into_iter()
        .map(|event| {
            let team = event.team.map_or_else(String::new, key_of);
            (event.event_type.as_str().to_owned(), team, serde_json::from_str(&event.data).unwrap())
        })
        .collect()
}

/// Returns the row ID of the newest event.
fn last_event(market: &TestMarket) -> EventRowId {
    let events = market.read(|reader| store::events::list_after(reader.rows, EventRowId(0), 100_000));
    events.unwrap().last().map_or(EventRowId(0), |event| event.row_id)
}

/// Returns the types and the messages of a team's notifications, newest first.
async fn notifications(market: &TestMarket, team: &str) -> Vec<(String, String)> {
    let feed = market.get(&format!("mkt_{team}"), "/v2/vendor/notifications").await.ok();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = feed["notifications"].as_array().unwrap().iter();
    items.map(|item| (text(&item["type"]), text(&item["message"]))).collect()
}

/// Returns the purchases that a team sees, newest first.
async fn own_purchases(market: &TestMarket, team: &str) -> Vec<Value> {
    let page = market.get(&format!("mkt_{team}"), "/v2/listings/browse/purchases").await.ok();
    page["purchases"].as_array().unwrap().clone()
}

/// Returns the statuses of the offers that a team sees, newest first.
async fn own_offers(market: &TestMarket, team: &str) -> Vec<Value> {
    let page = market.get(&format!("mkt_{team}"), "/v2/listings/browse/offers").await.ok();
    page["offers"].as_array().unwrap().iter().map(|entry| entry["offer"].clone()).collect()
}

/// Returns the sales that the seller sees.
async fn sales(market: &TestMarket) -> Value {
    market.get("mkt_seller", "/v2/listings/sales").await.ok()
}

/// Returns the number of active bids that the catalog shows.
async fn active_bids(market: &TestMarket, listing: Uuid) -> u64 {
    let detail = market.get("mkt_seller", &format!("/v2/listings/{listing}")).await.ok();
    detail["active_bid_count"].as_u64().unwrap()
}
