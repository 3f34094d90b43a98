//! Counts, sums, and medians over lists, by up to two properties: one operation, which each list of a table has.

mod filters;
mod list;
mod lists;
mod operation;
mod output;
mod tool;

use poem_openapi::OpenApi;

use crate::rest::route::DeclaredRoute;

/// The operation of each list.
pub fn apis() -> impl OpenApi {
    operation::AggregatesApi
}

/// The routes, in the order in which agents see their lists.
pub fn routes() -> Vec<DeclaredRoute> {
    let mut routes = Vec::new();
    lists::visit_all(&mut routes);
    routes
}
