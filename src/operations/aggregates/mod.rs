//! Counts, sums, and medians over lists, by up to two properties.

mod listings;
mod loaded_records;
mod requests;
mod stored_records;

pub use listings::{catalog_names, of_catalog, of_own_listings, own_listing_names};
pub use loaded_records::{
    ASSET_GROUPS, ESTIMATIONS, HISTORY_EVENTS, OPPORTUNITIES, TERMS, TaxonomyKind, of_asset_groups,
    of_estimations, of_latest_estimations, of_listing_history, of_opportunities, of_taxonomy,
};
pub use requests::{Aggregates, Names, Request};
pub use stored_records::{of_assets, of_listing_assets, of_records};
