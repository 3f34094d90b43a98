//! Buying and bidding in the web app: payments, signatures, and stored agreements.

mod bids;
mod purchases;
mod random;
mod signatures;

use data_encoding::HEXLOWER;
use marketplace::{
    domain::{assets::RepositoryChannel, listing_lifecycle::Operation, listings::Actor},
    error::Result,
    market::Writer,
    operations::{
        access::{Platform, Vendor},
        codebases::{self, LinkRequest},
        purchases as operations_of_purchases,
    },
    store::{self, listings::ListingFields, purchases::PurchaseRow},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        TestMarket,
        browser::{Browser, Page},
        database, listing_lifecycle, teams,
    },
    sales::{DAY, asset_id, codebase, give_credits, listing_id},
};

const BUYER: &str = "mkt_buyer_console";
const OTHER: &str = "mkt_other_console";
const SELLER: &str = "mkt_seller_console";

/// The license of the listing `plain`.
const TERMS: &str = "For training only.\nNo <b>copies</b>.";

/// Returns a market in which the seller offers `plain` (four codebases for $50, the sample for $2), `free` (its sample costs
/// nothing), `dear` (for $5,000), and `single` (exclusively, for $80). The buyers have $1,000 of credits each, and keys for the
/// console.
pub(super) fn shop() -> TestMarket {
    let code = |key: &str, price: Value| codebase(key, &price);
    let plain = json!({"assets": ["c1", "c2", "c3", "c4"], "sample_price_usd": 2, "accepts_bids": true, "terms": TERMS});
    let market = small_market_with(
        &[
            published("plain", 30, &plain),
            published("free", 30, &json!({"assets": ["c1"], "price_usd": 30, "sample_price_usd": 0})),
            published("dear", 30, &json!({"assets": ["c2"], "price_usd": 5000, "accepts_bids": true})),
            published("single", 30, &json!({"assets": ["c5"], "price_usd": 80, "exclusive": true})),
        ],
        &json!({
            "assets": [
                code("c1", json!(20)), code("c2", json!(12.5)), code("c3", Value::Null), code("c4", json!(45)),
                code("c5", Value::Null), code("c2b", json!(1)),
            ],
            "keys": [console_key("buyer"), console_key("other"), console_key("seller")],
        }),
    );
    for team in ["buyer", "other"] {
        give_credits(&market, team, 100_000);
    }
    market
}

/// Returns the address of the page on which a listing is bought.
fn buy_path(listing: &str) -> String {
    format!("/console/listings/{}/buy", listing_id(listing))
}

fn bid_path(listing: &str) -> String {
    format!("/console/listings/{}/bid", listing_id(listing))
}

/// Opens the page of a listing with these choices, signs, and sends the form.
async fn buy(browser: &Browser<'_>, listing: &str, choices: &str) -> Page {
    let path = buy_path(listing);
    let page = browser.get(&format!("{path}?{choices}")).await;
    browser.submit(&page, &path, &[("accept", "yes")]).await
}

async fn bid(browser: &Browser<'_>, listing: &str, choices: &str) -> Page {
    let path = bid_path(listing);
    let page = browser.get(&format!("{path}?{choices}")).await;
    browser.submit(&page, &path, &[("accept", "yes")]).await
}

/// Returns the path of the record that a form led to, after it was carried out.
#[track_caller]
fn made(answer: &Page, notice: &str) -> String {
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    let (path, said) = answer.location().split_once("?notice=").expect("a notice");
    assert_eq!(said, notice);
    path.to_owned()
}

/// Returns the ID at the end of a path.
fn id_of(path: &str) -> Uuid {
    path.rsplit('/').next().unwrap().parse().unwrap()
}

/// Returns the credits of a team, in cents.
fn credits(market: &TestMarket, team: &str) -> i64 {
    let balances =
        market.read(|reader| store::wallet::balances(reader.rows, teams::team(reader.rows, team).row_id));
    balances.unwrap().credits.0
}

/// Changes the fields of a listing, as its vendor.
fn change_listing(market: &TestMarket, listing: &str, change: impl FnOnce(&mut ListingFields)) {
    let id = listing_id(listing);
    let changed = market.write(|writer| {
        let row = store::listings::find(writer.rows, id)?.unwrap();
        let mut fields = store::listings::find_fields(writer.rows, row.row_id)?;
        change(&mut fields);
        listing_lifecycle::update(writer, id, &fields)
    });
    changed.unwrap();
}

/// Performs an operation on a listing, as its usual actor.
fn perform(market: &TestMarket, listing: &str, operation: Operation) {
    market.write(|writer| listing_lifecycle::perform(writer, listing_id(listing), operation)).unwrap();
}

/// Takes `plain` out of the catalog, changes something of it, and publishes it after another review.
fn republish_plain(market: &TestMarket, change: impl FnOnce(&mut Writer, &Vendor) -> Result<()>) {
    // A listing with a price of a sample but no sample is not reviewed again.
    change_listing(market, "plain", |fields| fields.sample_price = None);
    let listing = listing_id("plain");
    let published = market.write(|writer| {
        listing_lifecycle::perform(writer, listing, Operation::Unpublish)?;
        let vendor = teams::vendor(writer.rows, "seller");
        change(writer, &vendor)?;
        for operation in [Operation::Submit, Operation::Approve, Operation::Publish] {
            listing_lifecycle::perform(writer, listing, operation)?;
        }
        Ok(())
    });
    published.unwrap();
}

/// Links a repository to the codebase `c4`.
fn link_c4(writer: &mut Writer, vendor: &Vendor) -> Result<()> {
    let link = LinkRequest { channel: RepositoryChannel::Github, repo_full_name: "acme/ledger".to_owned() };
    codebases::attach_repository(writer, vendor, asset_id("c4"), &link).map(drop)
}

/// An operation of the platform on a purchase.
type Decision<T> = fn(&mut Writer, Platform, Actor, Uuid) -> Result<T>;

fn decide<T>(market: &TestMarket, purchase: Uuid, decision: Decision<T>) -> Result<T> {
    market.write(|writer| decision(writer, Platform::of_process(), Actor::Platform, purchase))
}

fn complete(market: &TestMarket, purchase: Uuid) -> Result<PurchaseRow> {
    decide(market, purchase, operations_of_purchases::complete)
}

/// Returns the text of the agreement of a purchase, after checking that the receipt states its digest.
async fn agreement(browser: &Browser<'_>, purchase: &str) -> String {
    let file = browser.get(&format!("{purchase}/agreement")).await;
    assert_eq!(file.status(), 200, "{}", file.text);
    let digest = HEXLOWER.encode(&Sha256::digest(&file.response.bytes));
    browser.get(purchase).await.expect(200, &digest);
    file.text
}

/// Returns the number of rows that a statement counts.
fn count(market: &TestMarket, sql: &str) -> i64 {
    let rows = database::connect_to_copy(market.market());
    rows.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn purchases(market: &TestMarket) -> i64 {
    count(market, "SELECT count(*) FROM purchases")
}
