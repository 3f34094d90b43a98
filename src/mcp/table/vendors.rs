//! Tools over vendor routes.

use super::{Audience::Vendors, ToolEntry, ToolOperations, entry, record_call, single_list, single_record};

/// Description of the `filter` parameter of inventory lists.
const FILTER_DESCRIPTION: &str = "Conditions that must all hold, as `field:operator:value`. Operators: `is`, \
                          `is_not`; `contains` for `name`. Fields: `stage`, `name`, `type`, `domain`, \
                          `channel` (`not_linked`: no data), and those in the `filter` of each kind's \
                          list.";

/// Tools for teams with the vendor role, in display order.
pub const TOOLS: [ToolEntry; 24] = [
    entry(
        "list_own_listings",
        "Own listings",
        Vendors,
        "The team's own listings at every stage, with totals over all of them. Filters as in \
         browse_listings.",
        single_list("list_own_listings", "items"),
    )
    .with_parameters(&[
        ("workspace_view", ""),
        ("lifecycle_stages", "draft, review, ready, active, archived."),
        ("no_assets", "Only listings without assets."),
    ]),
    entry(
        "get_own_listing",
        "Own listing",
        Vendors,
        "One of the team's own listings in full, as buyers see it or will see it.",
        single_record("get_own_listing"),
    )
    .with_ids("list_own_listings"),
    entry(
        "get_listing_history",
        "Listing history",
        Vendors,
        "Status changes of one of the team's own listings, newest first: what changed, who did it and when.",
        single_list("get_listing_history", "events"),
    )
    .with_ids("list_own_listings"),
    entry(
        "list_listing_assets",
        "Listing assets",
        Vendors,
        "The assets of one of the team's own listings, at most the first 1,000. `total` counts all.",
        single_list("list_listing_assets", "assets"),
    )
    .with_ids("list_own_listings"),
    entry(
        "get_listing_qc",
        "Listing quality checks",
        Vendors,
        "The latest quality run of one of the team's own listings: each check's status. Failure reasons are \
         in the check's `message`, or in the run's `review_feedback` or `error`.",
        single_record("get_listing_qc"),
    )
    .with_ids("list_own_listings")
    .with_parameters(&[("task_rows", "`failing` omits checks of tasks that passed.")]),
    entry(
        "list_qc_reports",
        "Quality reports",
        Vendors,
        "All quality runs of the team, newest first, with credits charged; `listing_id` is null if the run checks \
         an asset. `mandatory_passed` is valid once `status` is completed; failed checks are in get_listing_qc.",
        single_list("list_qc_reports", "reports"),
    ),
    entry(
        "list_sales",
        "Sales",
        Vendors,
        "The team's settled sales, newest first. `amount` is net of the platform fee; `total_earnings` \
         covers all sales, not only the page. Buyers are never disclosed.",
        single_list("list_sales", "sales"),
    ),
    entry(
        "list_opportunities",
        "Opportunities",
        Vendors,
        "Open requests for listings that buyers published, nearest deadline first.",
        single_list("list_opportunities", "items"),
    )
    .with_parameters(&[("query", "Words in title, overview, tags and buyer name.")]),
    entry(
        "get_opportunity",
        "Opportunity",
        Vendors,
        "One request for listings, published or cancelled. `metadata` has its budget and tags.",
        single_record("get_opportunity"),
    )
    .with_ids("list_opportunities; for projects, use get_project_opportunity"),
    entry(
        "get_project_opportunity",
        "Project opportunity",
        Vendors,
        "One request for custom task work, published or cancelled.",
        single_record("get_project_opportunity"),
    )
    .with_ids("list_own_project_bids and list_notifications"),
    entry(
        "list_own_project_bids",
        "Own project bids",
        Vendors,
        "The team's own bids on custom task work, newest first.",
        single_list("list_own_project_bids", "items"),
    ),
    entry(
        "list_assets",
        "Assets",
        Vendors,
        "The team's inventory of all kinds, with counts by group and kind. For fields of one kind (lines, \
         channel, `missing`), use list_codebases, list_raw_data or list_tasks.",
        single_list("list_assets", "items"),
    )
    .with_parameters(&[
        ("sku", "Asset kind slug."),
        ("deprecated", "True: only kinds being retired; false: only the others."),
        ("attach_to", "Listing ID. Assets that it already has are not `attachable`."),
        ("filter", FILTER_DESCRIPTION),
        ("sort", "Default: newest first."),
    ]),
    entry("get_asset", "Asset", Vendors, "One of the team's assets.", ToolOperations::Choice {
        argument: "kind",
        description: "Use codebase, raw_data or task for fields of that kind: `missing` (what the asset lacks), \
                `locked_fields`, the price.",
        default: Some("any"),
        options: &[
            ("any", Vendors, record_call("get_asset")),
            ("codebase", Vendors, record_call("get_codebase")),
            ("raw_data", Vendors, record_call("get_raw_data")),
            ("task", Vendors, record_call("get_task")),
        ],
    })
    .with_ids("list_assets, or the list of one kind"),
    entry(
        "list_tasks",
        "Tasks",
        Vendors,
        "The team's imported tasks, with model pass rates and agent findings in `task.qc`.",
        single_list("list_tasks", "items"),
    )
    .with_parameters(&[(
        "filter",
        "As in list_assets; also `task_type`, `has_traces`, `has_qa_results`, `has_environment`, \
         `ran_on_model`, `qa_agent` (values: list_taxonomy, `task_filters`).",
    )]),
    entry(
        "list_codebases",
        "Codebases",
        Vendors,
        "The team's codebases, with lines, commits, contributors, `missing` and `locked_fields`.",
        single_list("list_codebases", "items"),
    )
    .with_parameters(&[("filter", "As in list_assets; also `exclusivity`, `private_data`.")]),
    entry(
        "get_codebase_structure",
        "Structure of a codebase",
        Vendors,
        "Directories and files of a codebase's repository or zip; none before `analysis_status` is \
         completed.",
        single_record("get_codebase_structure"),
    )
    .with_ids("list_codebases"),
    entry(
        "list_raw_data",
        "Raw data",
        Vendors,
        "The team's raw data archives, with `missing`.",
        single_list("list_raw_data", "items"),
    )
    .with_parameters(&[("filter", "As in list_assets.")]),
    entry(
        "get_raw_data_structure",
        "Structure of raw data",
        Vendors,
        "Directories and files of a raw data archive; none before `analysis_status` is completed.",
        single_record("get_raw_data_structure"),
    )
    .with_ids("list_raw_data"),
    entry(
        "get_asset_qc",
        "Quality checks of an asset",
        Vendors,
        "The latest quality run of a codebase or raw data asset: what each check found, and where.",
        ToolOperations::Choice {
        argument: "kind",
        description: "The asset's kind.",
        default: None,
        options: &[
            ("codebase", Vendors, record_call("get_codebase_qc")),
            ("raw_data", Vendors, record_call("get_raw_data_qc")),
        ],
    })
    .with_ids("list_codebases and list_raw_data"),
    entry(
        "list_asset_groups",
        "Groups of assets",
        Vendors,
        "The groups of the team's inventory. Pass a group's ID to list_assets as `group_id`.",
        single_list("list_asset_groups", "groups"),
    ),
    entry(
        "list_estimations",
        "Estimations",
        Vendors,
        "Advisory quotes for the team's repositories in full, in US cents. list_latest_estimations finds \
         them by asset.",
        single_list("list_estimations", "estimations"),
    )
    .with_parameters(&[("filter", "`field:operator:value`; fields `status`, `type`, `name`, `channel`, \
                              `inventory`.")]),
    entry(
        "list_latest_estimations",
        "Latest estimations",
        Vendors,
        "The latest quote of each given asset that has one.",
        single_list("list_latest_estimations", "estimations"),
    )
    .with_ids("list_codebases"),
    entry(
        "get_estimation_summary",
        "Estimation summary",
        Vendors,
        "The number of estimations by status, and the totals of their quotes.",
        single_record("get_estimation_summary"),
    ),
    entry(
        "list_earnings",
        "Earnings",
        Vendors,
        "The team's earnings entries, newest first: sales, fees, refunds, withdrawals. `amount` is a signed \
         decimal string.",
        single_list("list_earnings", "items"),
    ),
];
