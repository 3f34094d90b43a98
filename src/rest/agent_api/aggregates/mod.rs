//! Counts, sums, and medians over lists, by up to two properties.

mod catalog;
mod deals;
mod inventory;
mod output;
mod queries;
mod responses;
mod tool;

use poem_openapi::OpenApi;

use crate::rest::route::DeclaredRoute;

/// All operations.
pub fn apis() -> impl OpenApi {
    (catalog::CatalogAggregatesApi, deals::DealsAggregatesApi, inventory::InventoryAggregatesApi)
}

/// The routes, in the order in which agents see their lists.
pub fn routes() -> Vec<DeclaredRoute> {
    [&catalog::ROUTES[..], &deals::ROUTES[..], &inventory::ROUTES[..]].concat()
}
