//! Forms for the texts and prices of a listing: a new draft, and a change. Samples and delivery can only be set by the API.

use super::prelude::*;
use crate::{operations::listing_edits, store::listings::ListingFields};

const TITLE: Input = Input::Required(&Input::Line("title", "Title", ""));
const DESCRIPTION: Input = Input::Lines("description", "Description", "Markdown works.");
const DOMAINS: Input =
    Input::Words("domain_tags", "Domains", "Their names in filters, with commas between them.");
const TAGS: Input = Input::Words("tag_slugs", "Tags", "Their names in filters, with commas between them.");
const PRICE: Input = Input::Amount("price", "Price, USD", "Leave it empty for none.");
const SAMPLE_PRICE: Input =
    Input::Amount("sample_price", "Price of the sample, USD", "Leave it empty to offer no sample.");
const BIDS: Input = Input::Tick("accepts_bids", "Buyers can bid.");
const EXCLUSIVE: Input = Input::Tick("exclusive", "It is sold once, exclusively.");
const TERMS: Input = Input::Lines("terms", "Terms", "License and conditions.");

/// How operators draft a listing for a vendor.
pub const NEW: Step = Step {
    label: "Draft a listing",
    question: "In the name of the vendor. It is a draft without assets, which nobody else sees.",
    inputs: &[inputs::TEAM, TITLE, DESCRIPTION, DOMAINS, TAGS, PRICE, SAMPLE_PRICE, BIDS, EXCLUSIVE, TERMS],
    operation: "create_listing",
    perform: |writer, operator, _, fields| {
        let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
        let mut listing = ListingFields::default();
        typed(fields)?(&mut listing);
        let id = listing_edits::create(writer, &vendor, Actor::Team, &listing, &[])?;
        Ok(Some(format!("{LISTINGS}/{id}")))
    },
    ..Step::DEFAULT
};

/// How operators change a listing for its vendor.
pub const CHANGE: Step = Step {
    name: "change",
    label: "Change the texts",
    question: "In the name of the vendor. Another title, description, domain, or tag ends the approval, and only a draft can get one. \
               The rest can be changed in the catalog, too.",
    inputs: &[TITLE, DESCRIPTION, DOMAINS, TAGS, PRICE, SAMPLE_PRICE, BIDS, EXCLUSIVE, TERMS],
    operation: "update_listing",
    perform: |writer, operator, record, fields| {
        let id = id_of(record)?;
        let vendor = operator.platform().vendor_of_listing(writer.rows, id)?;
        listing_edits::update_any(writer, &vendor, Actor::Team, id, typed(fields)?).map(|()| None)
    },
    ..Step::DEFAULT
};

/// Returns the function that sets the fields of a listing to the typed values.
fn typed(fields: &Fields) -> Result<impl FnOnce(&mut ListingFields)> {
    let (price, sample_price) = (fields.amount("price")?, fields.amount("sample_price")?);
    let (domain_tags, tag_slugs) =
        (resources::words(fields, "domain_tags"), resources::words(fields, "tag_slugs"));
    let (accepts_bids, is_exclusive) = (fields.is_checked("accepts_bids"), fields.is_checked("exclusive"));
    Ok(move |listing: &mut ListingFields| {
        let (title, description, terms) = (
            fields.text("title", &listing.title),
            fields.text("description", &listing.description),
            fields.text("terms", &listing.terms),
        );
        let (sample, delivery) = (std::mem::take(&mut listing.sample), listing.delivery);
        let available_from = listing.available_from;
        *listing = ListingFields {
            title,
            description,
            domain_tags,
            tag_slugs,
            price,
            sample_price,
            sample,
            accepts_bids,
            terms,
            delivery,
            available_from,
            is_exclusive,
        };
    })
}
