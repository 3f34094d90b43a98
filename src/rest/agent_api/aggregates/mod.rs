//! Counts, sums, and medians over lists, by up to two properties.

mod catalog;
mod deals;
mod inventory;
mod output;
mod queries;
mod responses;
mod tool;

/// The handlers of all operations.
pub type Apis = (catalog::CatalogAggregatesApi, deals::DealsAggregatesApi, inventory::InventoryAggregatesApi);
