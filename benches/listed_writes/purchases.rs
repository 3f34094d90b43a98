//! Purchases with credits: the work that a buyer waits for, with the ledger, the notification, and the events.

use marketplace::{
    domain::{
        ledger::Transfer,
        listings::Actor,
        money::Cents,
        purchases::{PayWith, PurchaseKind},
    },
    error::Result,
    market::{Market, Writer},
    operations::{
        self,
        access::{Buyer, Platform},
        ledger,
        purchases::{self, PurchaseInput},
        teams::TeamInput,
    },
    store,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// Credits of each buyer, one million dollars.
const CREDITS: Cents = Cents(100_000_000);

/// The purchases to make, each of another buyer or of another listing.
#[derive(Clone)]
pub struct Purchases {
    buyers: Vec<Buyer>,
    listings: Vec<Uuid>,
}

impl Purchases {
    /// Publishes all listings of a vendor, and creates enough buyers for a number of purchases.
    pub fn prepare(market: &Market, vendor: &str, count: usize) -> Purchases {
        let listings = market.write_blocking(|writer| publish_all(writer, vendor)).expect("publish listings");
        let buyers = create_buyers(market, "Buyer", count.div_ceil(listings.len()));
        Purchases { buyers, listings }
    }

    /// Returns as many purchases of the same listings by other buyers.
    pub fn repeated(&self, market: &Market) -> Purchases {
        let buyers = create_buyers(market, "Later buyer", self.buyers.len());
        Purchases { buyers, listings: self.listings.clone() }
    }

    /// Returns the body of the request for the purchase with this number.
    pub fn body(&self, number: usize) -> Value {
        let (buyer, listing) = self.parties(number);
        json!({"team_id": buyer.team().id, "listing_id": listing, "kind": "full", "pay_with": "credits"})
    }

    fn parties(&self, number: usize) -> (&Buyer, Uuid) {
        (&self.buyers[number / self.listings.len()], self.listings[number % self.listings.len()])
    }

    /// Makes the purchase with this number.
    pub fn make(&self, market: &Market, number: usize) {
        market.write_blocking(|writer| self.make_in(writer, number)).expect("the buyer has enough credits");
    }

    /// Makes the purchase with this number in a transaction.
    pub fn make_in(&self, writer: &mut Writer, number: usize) -> Result<()> {
        let (buyer, listing) = self.parties(number);
        let input =
            PurchaseInput { listing, kind: PurchaseKind::Full, asset_ids: None, pay_with: PayWith::Credits };
        purchases::create(writer, buyer, Actor::Team, &input)?;
        Ok(())
    }
}

fn publish_all(writer: &mut Writer, vendor: &str) -> Result<Vec<Uuid>> {
    let platform = Platform::of_process();
    let team = operations::teams::resolve(writer.rows, vendor)?;
    let unarchived = store::listings::list_unarchived(writer.rows, team.row_id)?;
    let ids: Vec<Uuid> = unarchived.into_iter().map(|listing| listing.id).collect();
    let vendor = platform.vendor(team)?;
    for id in &ids {
        operations::listing_lifecycle::submit(writer, &vendor, Actor::Team, *id)?;
        operations::listing_lifecycle::approve(writer, platform, Actor::Platform, *id)?;
        operations::listing_lifecycle::publish(writer, &vendor, Actor::Team, *id)?;
    }
    Ok(ids)
}

fn create_buyers(market: &Market, name: &str, count: usize) -> Vec<Buyer> {
    let create = |number| {
        let name = format!("{name} {number}");
        market.write_blocking(|writer| create_buyer(writer, &name)).expect("create a buyer")
    };
    (0..count).map(create).collect()
}

fn create_buyer(writer: &mut Writer, name: &str) -> Result<Buyer> {
    let team = TeamInput { name, is_vendor: false, is_buyer: true, tier: 1, has_accepted_nda: true };
    operations::teams::create(writer, &team)?;
    let team = operations::teams::resolve(writer.rows, name)?;
    ledger::post_transfer(writer, &Transfer::adjustment(team.row_id, CREDITS), "Bench")?;
    Platform::of_process().buyer(team)
}
