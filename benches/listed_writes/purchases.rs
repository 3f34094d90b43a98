//! Purchases with credits: what a buyer waits for, with the ledger, the notification, and the events.

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
use uuid::Uuid;

/// Credits of each buyer, one million dollars.
const CREDITS: Cents = Cents(100_000_000);

/// The purchases to make, each of another buyer or of another listing.
pub struct Purchases {
    buyers: Vec<Buyer>,
    listings: Vec<Uuid>,
}

impl Purchases {
    /// Publishes all listings of a vendor, and creates enough buyers for a number of purchases.
    pub fn prepare(market: &Market, vendor: &str, count: usize) -> Purchases {
        let listings = market.write_blocking(|writer| publish_all(writer, vendor)).expect("publish listings");
        let buyers = (0..count.div_ceil(listings.len())).map(|number| {
            market.write_blocking(|writer| create_buyer(writer, number)).expect("create a buyer")
        });
        Purchases { buyers: buyers.collect(), listings }
    }

    /// Makes the purchase with this number.
    pub fn make(&self, market: &Market, number: usize) {
        let (buyer, listing) =
            (&self.buyers[number / self.listings.len()], self.listings[number % self.listings.len()]);
        let input =
            PurchaseInput { listing, kind: PurchaseKind::Full, asset_ids: None, pay_with: PayWith::Credits };
        market
            .write_blocking(|writer| purchases::create(writer, buyer, Actor::Team, &input))
            .expect("the buyer has enough credits");
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

fn create_buyer(writer: &mut Writer, number: usize) -> Result<Buyer> {
    let name = format!("Buyer {number}");
    let team = TeamInput { name: &name, is_vendor: false, is_buyer: true, tier: 1, has_accepted_nda: true };
    operations::teams::create(writer, &team)?;
    let team = operations::teams::resolve(writer.rows, &name)?;
    ledger::post_transfer(writer, &Transfer::adjustment(team.row_id, CREDITS), "Bench")?;
    Platform::of_process().buyer(team)
}
