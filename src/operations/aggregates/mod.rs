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

/// Returns the names of what the lists can be grouped by, and of their numbers.
#[cfg(test)]
pub fn known_names() -> [std::collections::BTreeSet<&'static str>; 2] {
    use crate::store::aggregates::{ASSET_NUMBERS, ASSET_PROPERTIES, RECORD_LISTS};

    let lists = RECORD_LISTS;
    let properties = lists.iter().flat_map(|list| list.properties).chain(ASSET_PROPERTIES);
    let numbers = lists.iter().flat_map(|list| list.numbers).chain(ASSET_NUMBERS);
    let of_records =
        [properties.map(|property| property.name).collect(), numbers.map(|number| number.name).collect()];
    let mut names: [std::collections::BTreeSet<&'static str>; 2] = of_records;
    for more in [listings::known_names(), loaded_records::known_names()] {
        for (names, more) in names.iter_mut().zip(more) {
            names.extend(more);
        }
    }
    names
}
