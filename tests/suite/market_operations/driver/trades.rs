//! Random offers and purchases.

use marketplace::{
    domain::{
        listings::Actor,
        money::Cents,
        purchases::{PayWith, PurchaseKind},
    },
    error::Result,
    operations::{
        access::Platform,
        offers::{self, OfferInput},
        purchases::{self, PurchaseInput},
    },
    string_enum::StringEnum,
};

use super::{
    Done, Driver, buyer,
    made::{Deal, Owned},
    vendor,
};

impl Driver<'_> {
    /// Returns any listing.
    pub fn pick_listing(&mut self) -> Result<Owned> {
        let made = self.made();
        self.random_of(&made.listings)
    }

    pub fn trade_by_offer(&mut self) -> Result<Done> {
        let (bidder, pay_with) = (self.any_buyer()?, *self.random.pick(PayWith::ALL));
        let amount = Cents(1 + self.random.below(12_000) as i64);
        if self.random.percent(40) {
            let listing = self.pick_listing()?;
            let input = OfferInput { listing: listing.id, amount, pay_with };
            let id = self.write(|writer| {
                let buyer = buyer(writer.rows, bidder)?;
                offers::submit(writer, &buyer, Actor::Team, &input)
            })?;
            self.made().offers.push(Deal { id, vendor: listing.team, buyer: bidder });
            return Ok(("offer.submit", id));
        }
        let Deal { id, vendor: seller, buyer: bidder } = self.pick(|made| &made.offers)?;
        let (seller, bidder) = (self.vendor_or_other(seller)?, self.buyer_or_other(bidder)?);
        let choice = self.random.below(7);
        let purchase = self.write(|writer| match choice {
            0 => offers::withdraw(writer, &buyer(writer.rows, bidder)?, Actor::Team, id).map(|()| None),
            1 | 2 => offers::decline(writer, &vendor(writer.rows, seller)?, Actor::Team, id).map(|()| None),
            3 => {
                let (buyer, amount, pay_with) = (buyer(writer.rows, bidder)?, Some(amount), Some(pay_with));
                offers::change(writer, &buyer, Actor::Team, id, amount, pay_with).map(|()| None)
            }
            _ => offers::accept(writer, &vendor(writer.rows, seller)?, Actor::Team, id).map(Some),
        })?;
        self.made().purchases.extend(purchase);
        let names = ["offer.withdraw", "offer.decline", "offer.decline", "offer.change"];
        Ok((names.get(choice as usize).unwrap_or(&"offer.accept"), id))
    }

    pub fn trade(&mut self) -> Result<Done> {
        let platform = Platform::of_process();
        if self.random.percent(50) {
            let (bought_by, pay_with) = (self.any_buyer()?, *self.random.pick(PayWith::ALL));
            let listing = self.pick_listing()?;
            let kind = *self.random.pick(&[PurchaseKind::Full, PurchaseKind::Full, PurchaseKind::Sample]);
            let selected = [self.codebase_of(listing)?];
            let asset_ids = self.random.percent(25).then_some(selected.as_slice());
            let input = PurchaseInput { listing: listing.id, kind, asset_ids, pay_with };
            let purchase = self.write(|writer| {
                let buyer = buyer(writer.rows, bought_by)?;
                purchases::create(writer, &buyer, Actor::Team, &input)
            })?;
            self.made().purchases.push(purchase.id);
            return Ok(("purchase.create", purchase.id));
        }
        let (id, choice) = (self.pick(|made| &made.purchases)?, self.random.below(4));
        self.write(|writer| match choice {
            0 => purchases::cancel(writer, platform, Actor::Platform, id),
            1 => purchases::refund(writer, platform, Actor::Platform, id).map(|_| ()),
            _ => purchases::complete(writer, platform, Actor::Platform, id).map(|_| ()),
        })?;
        let names = ["purchase.cancel", "purchase.refund"];
        Ok((names.get(choice as usize).unwrap_or(&"purchase.complete"), id))
    }

    /// Returns any codebase of the vendor of a listing.
    fn codebase_of(&mut self, listing: Owned) -> Result<uuid::Uuid> {
        let made = self.made();
        let own = made.codebases.iter().filter(|codebase| codebase.team == listing.team);
        let ids: Vec<_> = own.map(|codebase| codebase.id).collect();
        self.random_of(&ids)
    }
}
