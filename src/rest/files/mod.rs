//! Transfers of files: uploads, bundles with their descriptions and attestations, and the files of worlds.

mod admission;
mod attestations;
mod blobs;
mod bundles;
mod croissant;
pub mod world_transfers;

use poem::Route;

/// Adds the routes of uploads, bundles, descriptions, and attestations.
pub fn add_routes(routes: Route) -> Route {
    let routes = bundles::add_routes(blobs::add_routes(routes));
    attestations::add_routes(croissant::add_routes(routes))
}
