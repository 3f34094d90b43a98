//! Paths of pages of operators below [`PREFIX`](crate::console::address::PREFIX), and which lists belong together.

use crate::console::prelude::*;

/// Labels and paths of lists that belong together.
type Tabs = &'static [(&'static str, &'static str)];

/// Path of the figures.
pub const FIGURES: &str = "/operator/figures";

/// Path of the teams.
pub const TEAMS: &str = "/operator/teams";

/// Path of the keys of teams.
pub const KEYS: &str = "/operator/keys";

/// Path of the keys of operators.
pub const OPERATOR_KEYS: &str = "/operator/operator-keys";

/// Path of the upload grants.
pub const GRANTS: &str = "/operator/grants";

/// Path of the listings of all teams.
pub const LISTINGS: &str = paths::OPERATOR_LISTINGS;

/// Path of the queue of listings in review.
pub const REVIEW: &str = "/operator/review";

/// Path of the assets of all teams.
pub const ASSETS: &str = "/operator/assets";

/// Path of the quality runs.
pub const RUNS: &str = "/operator/quality-runs";

/// Path of the estimations.
pub const ESTIMATIONS: &str = "/operator/estimations";

/// Path of the uploads in progress.
pub const UPLOADS: &str = "/operator/uploads";

/// Path of the tasksets.
pub const TASKSETS: &str = "/operator/tasksets";

/// Path of the tasks.
pub const TASKS: &str = "/operator/tasks";

/// Path of the versions of tasks.
pub const VERSIONS: &str = "/operator/task-versions";

/// Path of the builds of versions.
pub const BUILDS: &str = "/operator/task-builds";

/// Path of the imports of traces.
pub const TRACE_IMPORTS: &str = "/operator/trace-imports";

/// Path of the opportunities for listings.
pub const OPPORTUNITIES: &str = "/operator/opportunities";

/// Path of the opportunities for projects.
pub const PROJECTS: &str = "/operator/project-opportunities";

/// Path of the bids on projects.
pub const PROJECT_BIDS: &str = "/operator/project-bids";

/// Path of the kinds of assets.
pub const ASSET_TYPES: &str = "/operator/asset-types";

/// Path of the domains.
pub const DOMAINS: &str = "/operator/domains";

/// Path of the content tags.
pub const CONTENT_TAGS: &str = "/operator/content-tags";

/// Path of the inventory tags.
pub const INVENTORY_TAGS: &str = "/operator/inventory-tags";

/// The lists about teams and who may do what.
pub const TEAM_TABS: Tabs = &[
    ("Teams", TEAMS),
    ("Keys of teams", KEYS),
    ("Keys of operators", OPERATOR_KEYS),
    ("Upload grants", GRANTS),
    ("Uploads in progress", UPLOADS),
];

/// The lists about what is offered.
pub const LISTING_TABS: Tabs = &[
    ("Listings", LISTINGS),
    ("Assets", ASSETS),
    ("Quality runs", RUNS),
    ("Tasksets", TASKSETS),
    ("Estimations", ESTIMATIONS),
];

/// The lists about tasks.
pub const TASK_TABS: Tabs = &[
    ("Tasksets", TASKSETS),
    ("Tasks", TASKS),
    ("Versions", VERSIONS),
    ("Builds", BUILDS),
    ("Imports of traces", TRACE_IMPORTS),
];

/// The lists about what is looked for.
pub const OPPORTUNITY_TABS: Tabs =
    &[("Opportunities", OPPORTUNITIES), ("Projects", PROJECTS), ("Project bids", PROJECT_BIDS)];

/// The lists of the taxonomy.
pub const TAXONOMY_TABS: Tabs = &[
    ("Kinds of assets", ASSET_TYPES),
    ("Domains", DOMAINS),
    ("Content tags", CONTENT_TAGS),
    ("Inventory tags", INVENTORY_TAGS),
];

/// Path of the announcement and maintenance.
pub const ANNOUNCEMENTS: &str = paths::OPERATOR_ANNOUNCEMENTS;

/// Path of the webhooks.
pub const WEBHOOKS: &str = "/operator/webhooks";

/// Path of the deliveries to webhooks.
pub const DELIVERIES: &str = "/operator/webhook-deliveries";

/// The lists about what is sent to webhooks.
pub const WEBHOOK_TABS: Tabs = &[("Webhooks", WEBHOOKS), ("Deliveries", DELIVERIES)];

/// Name of the field with the text of a search. Every page of operators has this field at its top.
pub const SEARCHED: &str = "query";

/// Returns the path of the search for an ID or a slug. It opens the page of the record if only one is found.
pub fn search_for(id: &str) -> String {
    Query::default().with(SEARCHED, id).at(paths::OPERATOR_SEARCH)
}
