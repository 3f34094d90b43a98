//! Counts, sums, and medians over lists, by up to two properties.

mod listings;
mod loaded_records;
mod requests;
mod stored_records;

pub use listings::{of_catalog, of_own_listings};
pub use loaded_records::{
    TaxonomyKind, of_asset_groups, of_estimations, of_latest_estimations, of_listing_history,
    of_opportunities, of_taxonomy,
};
pub use requests::{Aggregates, Request};
pub use stored_records::{of_assets, of_buyer, of_listing_assets, of_member, of_vendor};

/// Returns the names of what the lists that this module reads can be grouped by, and of their numbers, by the tool of the list.
#[cfg(test)]
pub fn known_names() -> Vec<(&'static str, [Vec<&'static str>; 2])> {
    [listings::known_names().to_vec(), loaded_records::known_names().to_vec()].concat()
}
