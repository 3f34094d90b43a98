//! The operator API: what the marketplace does beyond the APIs of teams, for operators and for tests.
//!
//! One file per resource. [`resources`] is what they have in common, [`pages`] are lists, and [`changes`] runs every
//! change with its entry in the audit.

mod assets;
mod audit;
mod changes;
mod grants;
mod keys;
mod listings;
mod operator_keys;
mod pages;
mod quality_runs;
mod references;
mod resources;
mod routes;
mod teams;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the operator API, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        (teams::TeamsApi, keys::KeysApi, operator_keys::OperatorKeysApi, grants::GrantsApi),
        listings::apis(),
        (assets::AssetsApi, quality_runs::QualityRunsApi),
        audit::AuditApi,
    )
}

/// The routes.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        teams::ROUTES,
        keys::ROUTES,
        operator_keys::ROUTES,
        grants::ROUTES,
        &listings::routes(),
        assets::ROUTES,
        quality_runs::ROUTES,
        audit::ROUTES,
    ]
    .concat()
}
