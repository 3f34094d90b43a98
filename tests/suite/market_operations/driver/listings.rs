//! Random operations on listings.

use marketplace::{
    domain::{
        inventory::Asset,
        listing_lifecycle::Operation,
        listings::Actor,
        money::Cents,
        samples::{SampledAsset, Selection},
    },
    error::Result,
    operations::{access::Platform, certifications, listing_lifecycle},
    store::{self, listings::ListingFields},
};

use super::{Done, Driver, vendor};
use crate::harness::{self, listings::listing_fields};

impl Driver<'_> {
    pub fn change_listing(&mut self) -> Result<Done> {
        let listing = self.pick_listing()?;
        let id = listing.id;
        let (is_exclusive, changes_texts) = (self.random.percent(30), self.random.percent(20));
        let place = 1 + self.random.below(10) as u32;
        let title = if changes_texts { "Other title" } else { "Listing" };
        let domains = ["finance".to_owned()];
        let fields = ListingFields {
            sample_price: Some(Cents(self.random.below(3) as i64)),
            is_exclusive,
            ..sold_listing(title, &domains)
        };
        // Steps toward the catalog are chosen more often than steps out of it.
        let operation = match self.random.below(25) {
            0..=4 => Operation::Submit,
            5..=7 => Operation::Approve,
            8..=11 => Operation::Publish,
            12 | 13 => *self.random.pick(&[Operation::Unpublish, Operation::Archive]),
            14 | 15 => Operation::Restore,
            16 | 17 => *self.random.pick(&[Operation::Withdraw, Operation::RequestChanges]),
            18 => Operation::Certify,
            19 => Operation::Revoke,
            20 => Operation::Feature,
            21 | 22 => Operation::Unfeature,
            _ => Operation::UpdateTexts,
        };
        let platform = Platform::of_process();
        self.write(|writer| match operation {
            Operation::UpdateTexts => {
                let vendor = vendor(writer.rows, listing.team)?;
                let row_id = store::listings::find(writer.rows, id)?.expect("the listing exists").row_id;
                let first = store::listing_assets::list_first(writer.rows, row_id, 1)?;
                let sampled =
                    |asset: &Asset| SampledAsset { asset_id: asset.id, selection: Selection::default() };
                let sample: Vec<SampledAsset> = first.iter().map(sampled).collect();
                let fields = ListingFields { sample, ..fields };
                listing_lifecycle::update(writer, &vendor, Actor::Team, id, &fields)
            }
            Operation::Feature => listing_lifecycle::feature(writer, platform, Actor::Platform, id, place),
            Operation::Certify => certifications::certify(writer, platform, Actor::Platform, id),
            other => harness::listing_lifecycle::perform(writer, id, other),
        })?;
        Ok((name(operation), id))
    }
}

/// Returns the fields of a listing that can be sold.
pub fn sold_listing(title: &str, domains: &[String]) -> ListingFields {
    ListingFields {
        description: "D".to_owned(),
        domain_tags: domains.to_vec(),
        price: Some(Cents(9_000)),
        ..listing_fields(title)
    }
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Submit => "listing.submit",
        Operation::Withdraw => "listing.withdraw",
        Operation::Approve => "listing.approve",
        Operation::RequestChanges => "listing.request_changes",
        Operation::Publish => "listing.publish",
        Operation::Unpublish => "listing.unpublish",
        Operation::Archive => "listing.archive",
        Operation::Restore => "listing.restore",
        Operation::Certify => "listing.certify",
        Operation::Revoke => "listing.revoke",
        Operation::Feature => "listing.feature",
        Operation::Unfeature => "listing.unfeature",
        Operation::UpdateTexts => "listing.update_texts",
        other => panic!("{other:?} is not performed"),
    }
}
