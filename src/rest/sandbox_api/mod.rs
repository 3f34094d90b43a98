//! The sandbox API: worlds, which are private copies of a market for tests. One file per resource.

mod access;
mod fault_bodies;
mod fault_checks;
mod faults;
mod repositories;
mod snapshots;
mod webhooks;
mod world_clock;
mod worlds;

use poem_openapi::OpenApi;

pub use self::{access::WorldOperator, worlds::WorldOut};
use super::route::DeclaredRoute;

/// All routes of the sandbox API, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        (worlds::WorldsApi, world_clock::WorldClockApi, snapshots::SnapshotsApi),
        (webhooks::WorldWebhooksApi, repositories::RepositoriesApi, faults::FaultsApi),
    )
}

/// The routes.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        worlds::ROUTES,
        world_clock::ROUTES,
        snapshots::ROUTES,
        webhooks::ROUTES,
        repositories::ROUTES,
        faults::ROUTES,
    ]
    .concat()
}
