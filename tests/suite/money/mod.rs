//! Money: balances, holds, credits, and withdrawals, through operations on a real database.

mod credit_requests;
mod random;
mod rules;
mod stored_balances;

use marketplace::{
    clock::fixture_record_id,
    domain::{
        collections::Collection,
        events::EventRowId,
        ledger::{PaymentSource, SaleTerms},
        listings::Actor,
        money::Cents,
        purchases::{AssetScope, PayWith, PurchaseKind, ScopeMode},
        row_ids::PurchaseRowId,
    },
    error::Result,
    operations::{
        access::Platform,
        credit_purchases,
        ledger::{self, SaleToPost},
        wallet, withdrawals,
    },
    store::{self, purchases::NewPurchase, wallet::Balances, withdrawals::Withdrawal},
    string_enum::StringEnum,
};
use serde_json::json;
use uuid::Uuid;

use crate::{
    catalog::small_market::{published, small_market_with},
    harness::{TestMarket, errors::code, teams::team as team_of},
};

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// The platform.
const PLATFORM: Platform = Platform::of_process();

/// Returns a market with a listing of the seller, and no money.
fn money_market() -> TestMarket {
    small_market_with(&[published("plain", 30, &json!({}))], &json!({}))
}

fn balances(market: &TestMarket, team: &str) -> Balances {
    let read = |reader: &marketplace::market::Reader| {
        store::wallet::balances(reader.rows, team_of(reader.rows, team).row_id)
    };
    market.read(read).unwrap()
}

fn buy_credits(market: &TestMarket, team: &str, amount: Cents) -> Result<Uuid> {
    market.write(|writer| {
        let member = PLATFORM.member(team_of(writer.rows, team))?;
        credit_purchases::create(writer, &member, Actor::Team, amount).map(|purchase| purchase.id)
    })
}

fn adjust(market: &TestMarket, team: &str, amount: Cents, description: &str) -> Result<Balances> {
    market.write(|writer| {
        let team = team_of(writer.rows, team);
        wallet::adjust(writer, PLATFORM, Actor::Platform, &team, amount, description)
            .map(|change| change.balances)
    })
}

fn convert(market: &TestMarket, team: &str, amount: Cents) -> Result<Balances> {
    market.write(|writer| {
        let vendor = PLATFORM.vendor(team_of(writer.rows, team))?;
        wallet::convert(writer, &vendor, Actor::Team, amount).map(|change| change.balances)
    })
}

fn withdraw(market: &TestMarket, team: &str, amount: Cents) -> Result<Withdrawal> {
    market.write(|writer| {
        let vendor = PLATFORM.vendor(team_of(writer.rows, team))?;
        withdrawals::create(writer, &vendor, Actor::Team, amount)
    })
}

fn mark(market: &TestMarket, id: Uuid, is_paid: bool) -> Result<Withdrawal> {
    let decide = if is_paid { withdrawals::mark_paid } else { withdrawals::mark_failed };
    market.write(|writer| decide(writer, PLATFORM, Actor::Platform, id))
}

/// Posts a completed purchase with the usual fees: 5 % for the buyer, and 10 % for the platform.
fn sell(
    market: &TestMarket,
    (vendor, buyer): (&str, &str),
    price: Cents,
    source: PaymentSource,
) -> Result<PurchaseRowId> {
    market.write(|writer| {
        let (vendor, buyer) = (team_of(writer.rows, vendor).row_id, team_of(writer.rows, buyer).row_id);
        let listing = store::listings::find(writer.rows, fixture_record_id("listings", "plain"))?.unwrap();
        let (buyer_fee, platform_fee) = (price.percent(5.0), price.percent(10.0));
        let purchase = NewPurchase {
            id: writer.new_id(Collection::Purchases),
            listing: listing.row_id,
            buyer,
            kind: PurchaseKind::Full,
            offer: None,
            scope: &AssetScope { mode: ScopeMode::All, asset_ids: Vec::new() },
            pay_with: PayWith::Invoice,
            is_exclusive: false,
            price,
            buyer_fee,
            platform_fee,
            created_at: writer.now,
        };
        let row_id = store::purchases::insert(writer.rows, &purchase)?;
        store::purchases::set_completed(writer.rows, row_id, purchase.id, writer.now)?;
        let kind = PurchaseKind::Full;
        let terms = SaleTerms { kind, buyer, vendor, price, buyer_fee, platform_fee, source };
        ledger::post_sale(writer, &SaleToPost { purchase: row_id, title: "Plain", terms })?;
        Ok(row_id)
    })
}

/// Returns the earnings of a team on hold, and those available, as its entries say.
fn earnings_by_entries(market: &TestMarket, team: &str) -> (Cents, Cents) {
    let (mut pending, mut available) = (Cents(0), Cents(0));
    let entries = market.read(|reader| {
        let team = team_of(reader.rows, team).row_id;
        Ok((reader.now, store::earnings::list_page(reader.rows, team, 1_000, 0)?))
    });
    let (now, entries) = entries.unwrap();
    for entry in entries {
        let sum = if entry.available_at > now { &mut pending } else { &mut available };
        sum.0 += entry.amount.0;
    }
    (pending, available)
}

fn refund(market: &TestMarket, purchase: PurchaseRowId) -> Result<()> {
    market.write(|writer| ledger::post_refund(writer, purchase, "Plain"))
}

/// Returns the types of the events since one, each with its time and data.
fn events_since(market: &TestMarket, after: EventRowId) -> Vec<(String, String, serde_json::Value)> {
    let read = |reader: &marketplace::market::Reader| store::events::list_after(reader.rows, after, 10_000);
    let events = market.read(read).unwrap();
    events
        .into_iter()
        .map(|event| {
            let data = serde_json::from_str(&event.data).unwrap();
            (event.event_type.as_str().to_owned(), event.occurred_at.to_string(), data)
        })
        .collect()
}

/// Returns the row ID of the newest event.
fn last_event(market: &TestMarket) -> EventRowId {
    let read =
        |reader: &marketplace::market::Reader| store::events::list_after(reader.rows, EventRowId(0), 100_000);
    market.read(read).unwrap().last().map_or(EventRowId(0), |event| event.row_id)
}
