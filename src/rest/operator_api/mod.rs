//! The operator API: what the marketplace does beyond the APIs of teams, for operators and for tests.
//!
//! One file per resource. [`resources`] is what they have in common, [`pages`] are lists, and [`changes`] runs every
//! change with its entry in the audit.

mod adjustments;
mod assets;
mod audit;
mod changes;
mod conversions;
mod credit_purchases;
mod estimations;
mod events;
mod grants;
mod keys;
mod ledger_entries;
mod listings;
mod notifications;
mod offers;
mod operator_keys;
mod pages;
mod purchases;
mod quality_runs;
mod references;
mod resources;
mod routes;
mod teams;
mod wallets;
mod withdrawals;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the operator API, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        (teams::TeamsApi, keys::KeysApi, operator_keys::OperatorKeysApi, grants::GrantsApi),
        (listings::apis(), assets::AssetsApi, quality_runs::QualityRunsApi),
        (offers::OffersApi, purchases::PurchasesApi),
        (wallets::WalletsApi, ledger_entries::LedgerEntriesApi),
        (credit_purchases::CreditPurchasesApi, adjustments::AdjustmentsApi),
        (conversions::ConversionsApi, withdrawals::WithdrawalsApi),
        (notifications::NotificationsApi, estimations::EstimationsApi),
        events::EventsApi,
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
        offers::ROUTES,
        purchases::ROUTES,
        wallets::ROUTES,
        ledger_entries::ROUTES,
        credit_purchases::ROUTES,
        adjustments::ROUTES,
        conversions::ROUTES,
        withdrawals::ROUTES,
        notifications::ROUTES,
        estimations::ROUTES,
        events::ROUTES,
        audit::ROUTES,
    ]
    .concat()
}
