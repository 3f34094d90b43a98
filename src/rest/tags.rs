//! Tags that group the operations in the OpenAPI documents.

/// Tags that group the operations in the OpenAPI documents.
#[derive(poem_openapi::Tags)]
#[oai(rename_all = "snake_case")]
pub enum Tag {
    /// Published listings: browse pages, filters, facets, details, quality evidence, and previews.
    Catalog,
    /// The taxonomy of the catalog: domains, tags, and asset types.
    Taxonomy,
    /// The team's wallet and notifications.
    Account,
    /// The buyer's purchases and offers.
    Deals,
    /// Requests for data that buyers publish, and vendors' bids on them.
    Opportunities,
    /// Non-binding price estimations for a vendor's data sources.
    Estimations,
    /// The vendor's own listings in every lifecycle stage.
    Listings,
    /// The vendor's assets of all types and the groups that contain them.
    Inventory,
    /// Code repositories with their history.
    Codebases,
    /// Zip archives of data files.
    RawData,
    /// Zip archives that are uploaded in parts: by a vendor under an upload grant, or by an operator for a team.
    Uploads,
    /// Task versions, each imported from one of the team's tasksets.
    Tasks,
    /// Teams of the marketplace: their names, roles, tiers, and how they are paid.
    Teams,
    /// API keys of teams and operators, and upload grants.
    Keys,
    /// Purchases, offers, and what belongs to them, of all teams.
    Sales,
    /// Wallets, the ledger, and what moves money.
    Money,
    /// Quality runs of assets and listings.
    Quality,
    /// Tasksets with their tasks, versions, builds, and traces.
    Tasksets,
    /// What happened: events, the audit, and webhooks.
    Events,
    /// The marketplace itself: settings, facts, health, and jobs.
    Market,
    /// Worlds for tests, their clocks, and snapshots of them.
    Worlds,
}
