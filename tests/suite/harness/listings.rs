//! The fields of listings that tests write directly.

use marketplace::{domain::money::Cents, store::listings::ListingFields};

/// Returns the fields of a listing with this title.
pub fn listing_fields(title: &str) -> ListingFields<'_> {
    ListingFields {
        title,
        description: "Much of it.",
        domain_tags: &[],
        tag_slugs: &[],
        price: Some(Cents(500)),
        sample_price: None,
        sample: &[],
        accepts_bids: true,
        terms: "",
        delivery: None,
        available_from: None,
        is_exclusive: false,
    }
}
