//! The operator API: what the marketplace does beyond the APIs of teams, for operators and for tests.
//!
//! One file per resource. [`resources`] is what they have in common, [`pages`] are lists, and [`changes`] runs every
//! change with its entry in the audit.

mod adjustments;
mod asset_types;
mod assets;
mod audit;
mod changes;
mod content_tags;
mod conversions;
mod credit_purchases;
mod domains;
mod estimations;
mod events;
mod grants;
mod inventory_tags;
mod jobs;
mod keys;
mod ledger_entries;
mod listings;
mod market;
mod notifications;
mod offers;
mod operator_keys;
mod opportunities;
mod opportunity_bodies;
mod pages;
mod part_uploads;
mod project_bids;
mod project_opportunities;
mod purchases;
mod quality_runs;
mod references;
mod resources;
mod routes;
mod task_versions;
mod tasks;
mod tasksets;
mod team_uploads;
mod teams;
mod traces;
mod wallets;
mod webhook_deliveries;
mod webhooks;
mod withdrawals;

use poem_openapi::OpenApi;

use super::route::DeclaredRoute;

/// All routes of the operator API, in the order of the document.
pub fn apis() -> impl OpenApi {
    (
        (teams::TeamsApi, keys::KeysApi, operator_keys::OperatorKeysApi, grants::GrantsApi),
        team_uploads::TeamUploadsApi,
        (listings::apis(), assets::AssetsApi, quality_runs::QualityRunsApi),
        (offers::OffersApi, purchases::PurchasesApi),
        (wallets::WalletsApi, ledger_entries::LedgerEntriesApi),
        (credit_purchases::CreditPurchasesApi, adjustments::AdjustmentsApi),
        (conversions::ConversionsApi, withdrawals::WithdrawalsApi),
        (notifications::NotificationsApi, estimations::EstimationsApi),
        (opportunities::OpportunitiesApi, project_opportunities::ProjectOpportunitiesApi),
        project_bids::ProjectBidsApi,
        (tasksets::TasksetsApi, tasks::TasksApi, task_versions::TaskVersionsApi, traces::TracesApi),
        (asset_types::AssetTypesApi, domains::DomainsApi),
        (content_tags::ContentTagsApi, inventory_tags::InventoryTagsApi),
        (webhooks::WebhooksApi, webhook_deliveries::WebhookDeliveriesApi),
        (jobs::JobsApi, market::MarketApi, events::EventsApi, audit::AuditApi),
    )
}

/// The routes.
pub fn routes() -> Vec<DeclaredRoute> {
    [
        teams::ROUTES,
        keys::ROUTES,
        operator_keys::ROUTES,
        grants::ROUTES,
        team_uploads::ROUTES,
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
        opportunities::ROUTES,
        project_opportunities::ROUTES,
        project_bids::ROUTES,
        tasksets::ROUTES,
        tasks::ROUTES,
        task_versions::ROUTES,
        traces::ROUTES,
        asset_types::ROUTES,
        domains::ROUTES,
        content_tags::ROUTES,
        inventory_tags::ROUTES,
        jobs::ROUTES,
        market::ROUTES,
        webhooks::ROUTES,
        webhook_deliveries::ROUTES,
        audit::ROUTES,
    ]
    .concat()
}
