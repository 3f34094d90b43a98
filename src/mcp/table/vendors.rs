//! Tools over the routes of vendors.

use super::{Audience::Vendors, Calls, Row, list, record, row, whole};

/// How the entries of filters of inventories are written.
const CONDITIONS: &str = "Conditions that all hold, each `field:operator:value`; operators `is`, `is_not`, and of `name` \
                          `contains`. Fields: `stage`, `name`, `type`, `domain`, `channel` (`not_linked`: no data), and those \
                          of each kind, which its own list names.";

/// Every one, in order.
pub const TOOLS: [Row; 24] = [
    row(
        "list_own_listings",
        "Own listings",
        Vendors,
        "The team's own listings at every stage, with figures over all of them. Filters as in browse_listings.",
        list("list_own_listings", "items"),
    )
    .explaining(&[
        ("workspace_view", ""),
        ("lifecycle_stages", "draft, review, ready, active, archived."),
        ("no_assets", "Only those that nothing is attached to."),
    ]),
    row(
        "get_own_listing",
        "Own listing",
        Vendors,
        "One of the team's own listings, whole, as buyers see it or will see it.",
        record("get_own_listing"),
    )
    .with_ids("list_own_listings"),
    row(
        "get_listing_history",
        "Listing history",
        Vendors,
        "What happened to one of the team's own listings, newest first: each change of status, who made it and when.",
        list("get_listing_history", "events"),
    )
    .with_ids("list_own_listings"),
    row(
        "list_listing_assets",
        "Listing assets",
        Vendors,
        "The assets that stand on one of the team's own listings; of many, the first thousand. `total` counts all.",
        list("list_listing_assets", "assets"),
    )
    .with_ids("list_own_listings"),
    row(
        "get_listing_qc",
        "Listing quality checks",
        Vendors,
        "The latest quality run of one of the team's own listings: the status of each check, and why it failed in its \
         `message`, or in `review_feedback` or `error` of the run.",
        record("get_listing_qc"),
    )
    .with_ids("list_own_listings")
    .explaining(&[("task_rows", "`failing` leaves out the checks of tasks that passed.")]),
    row(
        "list_qc_reports",
        "Quality reports",
        Vendors,
        "Quality runs of all the team's listings, newest first, with the credits charged. `mandatory_passed` counts once \
         `status` is completed; which checks failed is in get_listing_qc.",
        list("list_qc_reports", "reports"),
    ),
    row(
        "list_sales",
        "Sales",
        Vendors,
        "The team's settled sales, newest first. `amount` is net of the platform's fee, and `total_earnings` is of all sales, \
         not of the page. Buyers are never told.",
        list("list_sales", "sales"),
    ),
    row(
        "list_opportunities",
        "Opportunities",
        Vendors,
        "What buyers look for and have published: open requests for listings, the next deadline first.",
        list("list_opportunities", "items"),
    )
    .explaining(&[("query", "Words in title, overview, tags and the buyer's name.")]),
    row(
        "get_opportunity",
        "Opportunity",
        Vendors,
        "One request for listings, published or cancelled; its budget and tags are in `metadata`.",
        record("get_opportunity"),
    )
    .with_ids("list_opportunities; those of projects go to get_project_opportunity"),
    row(
        "get_project_opportunity",
        "Project opportunity",
        Vendors,
        "One request for custom task work, published or cancelled.",
        record("get_project_opportunity"),
    )
    .with_ids("list_own_project_bids and list_notifications"),
    row(
        "list_own_project_bids",
        "Own project bids",
        Vendors,
        "The team's own bids on custom task work, newest first.",
        list("list_own_project_bids", "items"),
    ),
    row(
        "list_assets",
        "Assets",
        Vendors,
        "The team's inventory of all kinds, with counts by group and kind. For what one kind alone has (lines, channel, \
         `missing`), use list_codebases, list_raw_data or list_tasks.",
        list("list_assets", "items"),
    )
    .explaining(&[
        ("sku", "An asset kind's slug."),
        ("deprecated", "True: only kinds that retire; false: only those that stay."),
        ("attach_to", "A listing's id: what it holds already is not `attachable`."),
        ("filter", CONDITIONS),
        ("sort", "Instead of newest first."),
    ]),
    row("get_asset", "Asset", Vendors, "One of the team's assets.", Calls::Choice {
        argument: "kind",
        words: "For a codebase, raw data or a task, to see what only that kind has: `missing` (what keeps it incomplete), \
                `locked_fields`, the price.",
        usual: Some("any"),
        of: &[
            ("any", Vendors, whole("get_asset")),
            ("codebase", Vendors, whole("get_codebase")),
            ("raw_data", Vendors, whole("get_raw_data")),
            ("task", Vendors, whole("get_task")),
        ],
    })
    .with_ids("list_assets, and those of one kind"),
    row(
        "list_tasks",
        "Tasks",
        Vendors,
        "The team's imported tasks, with pass rates of models and findings of agents in `task.qc`.",
        list("list_tasks", "items"),
    )
    .explaining(&[(
        "filter",
        "As in list_assets; also `task_type`, `has_traces`, `has_qa_results`, `has_environment`, `ran_on_model`, `qa_agent` \
         (values: list_taxonomy, `task_filters`).",
    )]),
    row(
        "list_codebases",
        "Codebases",
        Vendors,
        "The team's codebases, with lines, commits, contributors, `missing` and `locked_fields`.",
        list("list_codebases", "items"),
    )
    .explaining(&[("filter", "As in list_assets; also `exclusivity`, `private_data`.")]),
    row(
        "get_codebase_structure",
        "Structure of a codebase",
        Vendors,
        "The folders and files of the repository or zip behind a codebase; none before `analysis_status` is completed.",
        record("get_codebase_structure"),
    )
    .with_ids("list_codebases"),
    row(
        "list_raw_data",
        "Raw data",
        Vendors,
        "The team's archives of raw data, with `missing`.",
        list("list_raw_data", "items"),
    )
    .explaining(&[("filter", "As in list_assets.")]),
    row(
        "get_raw_data_structure",
        "Structure of raw data",
        Vendors,
        "The folders and files of an archive of raw data; none before `analysis_status` is completed.",
        record("get_raw_data_structure"),
    )
    .with_ids("list_raw_data"),
    row(
        "get_asset_qc",
        "Quality checks of an asset",
        Vendors,
        "The latest quality run of a codebase or of raw data: what each check found, and where.",
        Calls::Choice {
        argument: "kind",
        words: "What the asset is.",
        usual: None,
        of: &[
            ("codebase", Vendors, whole("get_codebase_qc")),
            ("raw_data", Vendors, whole("get_raw_data_qc")),
        ],
    })
    .with_ids("list_codebases and list_raw_data"),
    row(
        "list_asset_groups",
        "Groups of assets",
        Vendors,
        "The folders of the team's inventory; list_assets takes their ids as `group_id`.",
        list("list_asset_groups", "groups"),
    ),
    row(
        "list_estimations",
        "Estimations",
        Vendors,
        "Advisory quotes for the team's repositories, in US cents, whole; list_latest_estimations finds them by asset.",
        list("list_estimations", "estimations"),
    )
    .explaining(&[("filter", "`field:operator:value`; fields `status`, `type`, `name`, `channel`, `inventory`.")]),
    row(
        "list_latest_estimations",
        "Latest estimations",
        Vendors,
        "The latest quote of each of these assets that has one.",
        list("list_latest_estimations", "estimations"),
    )
    .with_ids("list_codebases"),
    row(
        "get_estimation_summary",
        "Estimations in figures",
        Vendors,
        "How many estimations stand where, and what their quotes come to.",
        record("get_estimation_summary"),
    ),
    row(
        "list_earnings",
        "Earnings",
        Vendors,
        "Entries of the team's earnings, newest first: sales, fees, refunds, withdrawals. `amount` is text, with its sign.",
        list("list_earnings", "items"),
    ),
];
