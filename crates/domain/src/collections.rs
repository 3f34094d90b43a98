//! The collections of records that have IDs.

use crate::string_enum::string_enum;

string_enum! {
    /// A collection of records with IDs. Each has its own counter of IDs on a deterministic clock, so a new
    /// record changes no later ID of another collection.
    Collection {
        /// Teams.
        Teams = "teams",
        /// API keys of teams and operators.
        Keys = "keys",
        /// Groups of assets.
        Groups = "groups",
        /// Assets.
        Assets = "assets",
        /// Uploads.
        Uploads = "uploads",
        /// Upload grants.
        UploadGrants = "upload_grants",
        /// Tasksets.
        Tasksets = "tasksets",
        /// Tasks.
        Tasks = "tasks",
        /// Versions of tasks.
        TaskVersions = "task_versions",
        /// Builds of task versions.
        TaskBuilds = "task_builds",
        /// Traces: runs of agents on task versions.
        TaskTraces = "task_traces",
        /// Imports of traces.
        TraceImports = "trace_imports",
        /// Refreshes of the quality of a team's task assets.
        TaskQualityRefreshes = "task_quality_refreshes",
        /// Listings.
        Listings = "listings",
        /// Quality runs.
        QualityRuns = "quality_runs",
        /// Checks of quality runs.
        QualityChecks = "quality_checks",
        /// Bids of buyers on listings.
        Offers = "offers",
        /// Purchases.
        Purchases = "purchases",
        /// Agreements that completed purchases sign.
        AgreementDocuments = "agreement_documents",
        /// Entries of the ledger.
        LedgerEntries = "ledger_entries",
        /// Purchases of credits.
        CreditPurchases = "credit_purchases",
        /// Withdrawals of earnings.
        Withdrawals = "withdrawals",
        /// Opportunities for listings.
        Opportunities = "opportunities",
        /// Project opportunities.
        ProjectOpportunities = "project_opportunities",
        /// Bids of vendors on project opportunities.
        ProjectBids = "project_bids",
        /// Estimations.
        Estimations = "estimations",
        /// Notifications.
        Notifications = "notifications",
        /// Webhooks.
        Webhooks = "webhooks",
        /// Changes of many assets at once.
        BulkChanges = "bulk_changes",
        /// HTTP requests whose caller sent no ID.
        Requests = "requests",
    }
}

impl Collection {
    /// Number of collections.
    pub const COUNT: usize = <Collection as crate::string_enum::StringEnum>::ALL.len();
}
