//! The fields of listings that tests write directly.

use marketplace::{domain::money::Cents, store::listings::ListingFields};

/// Returns the fields of a listing with this title.
pub fn listing_fields(title: &str) -> ListingFields {
    ListingFields {
        title: title.to_owned(),
        description: "Much of it.".to_owned(),
        price: Some(Cents(500)),
        accepts_bids: true,
        ..ListingFields::default()
    }
}
