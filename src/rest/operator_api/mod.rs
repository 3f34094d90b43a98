//! The operator API: what the marketplace does beyond the APIs of teams, for operators and for tests.
//!
//! One file per resource. [`resources`] is what they have in common, [`pages`] are lists, and [`changes`] runs every
//! change with its entry in the audit.

mod audit;
mod changes;
mod keys;
mod operator_keys;
mod pages;
mod references;
mod resources;
mod routes;
mod teams;
mod webhook_deliveries;
mod webhooks;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the operator API, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        teams::TeamsApi,
        keys::KeysApi,
        operator_keys::OperatorKeysApi,
        audit::AuditApi,
        webhooks::WebhooksApi,
        webhook_deliveries::WebhookDeliveriesApi,
    )
}

/// The routes.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        teams::ROUTES,
        keys::ROUTES,
        operator_keys::ROUTES,
        audit::ROUTES,
        webhooks::ROUTES,
        webhook_deliveries::ROUTES,
    ]
    .concat()
}
