//! The operator API: the operations beyond the APIs of teams, for operators and for tests.
//!
//! One file per resource, or for several that are alike: both kinds of opportunities, both kinds of keys, the parts of the
//! taxonomy, and changes that only concern wallets. [`resources`] has the common parts, [`pages`] are lists, and [`changes`]
//! runs every change with its entry in the audit.

mod announcements;
mod asset_types;
mod assets;
mod audit;
mod changes;
mod credit_purchases;
mod estimations;
mod events;
mod grants;
mod jobs;
mod keys;
mod ledger_entries;
mod listings;
mod maintenance;
mod market;
mod notifications;
mod offers;
mod opportunities;
mod opportunity_bodies;
mod pages;
mod part_uploads;
mod payments;
mod prelude;
mod project_bids;
mod purchases;
mod quality_runs;
mod references;
mod resources;
mod routes;
mod task_versions;
mod tasks;
mod tasksets;
mod taxonomy;
mod team_uploads;
mod teams;
mod traces;
mod wallets;
mod webhook_deliveries;
mod webhooks;
mod withdrawals;

/// The handlers of all routes of the operator API.
pub type Apis = (
    (teams::TeamsApi, keys::KeysApi, keys::OperatorKeysApi, grants::GrantsApi),
    team_uploads::TeamUploadsApi,
    (listings::Apis, assets::AssetsApi, quality_runs::QualityRunsApi),
    (offers::OffersApi, purchases::PurchasesApi),
    (wallets::WalletsApi, ledger_entries::LedgerEntriesApi),
    (credit_purchases::CreditPurchasesApi, wallets::AdjustmentsApi),
    (wallets::ConversionsApi, withdrawals::WithdrawalsApi),
    (notifications::NotificationsApi, estimations::EstimationsApi, events::EventsApi),
    (opportunities::OpportunitiesApi, opportunities::ProjectOpportunitiesApi),
    (project_bids::ProjectBidsApi, tasksets::TasksetsApi, tasks::TasksApi),
    (task_versions::TaskVersionsApi, traces::TracesApi, asset_types::AssetTypesApi, taxonomy::DomainsApi),
    (
        (taxonomy::ContentTagsApi, taxonomy::InventoryTagsApi),
        (jobs::JobsApi, market::MarketApi, announcements::AnnouncementsApi, maintenance::MaintenanceApi),
        (webhooks::WebhooksApi, webhook_deliveries::WebhookDeliveriesApi, audit::AuditApi),
    ),
);
