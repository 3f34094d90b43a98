//! Tools over vendor routes.

use super::{Audience::Vendors, Calls, Row, list, record, row, whole};

/// Description of the `filter` parameter of inventory lists.
const CONDITIONS: &str = "Conditions that must all hold, as `field:operator:value`. Operators: `is`, \
                          `is_not`; `contains` for `name`. Fields: `stage`, `name`, `type`, `domain`, \
                          `channel` (`not_linked`: no data), and those in the `filter` of each kind's \
                          list.";

/// Tools for teams with the vendor role, in display order.
pub const TOOLS: [Row; 24] = [
    row(
        "list_own_listings",
        "Own listings",
        Vendors,
        "The team's own listings at every stage, with totals over all of them. Filters as in \
         browse_listings.",
        list("list_own_listings", "items"),
    )
    .explaining(&[
        ("workspace_view", ""),
        ("lifecycle_stages", "draft, review, ready, active, archived."),
        ("no_assets", "Only listings without assets."),
    ]),
    row(
        "get_own_listing",
        "Own listing",
        Vendors,
        "One of the team's own listings in full, as buyers see it or will see it.",
        record("get_own_listing"),
    )
    .with_ids("list_own_listings"),
    row(
        "get_listing_history",
        "Listing history",
        Vendors,
        "Status changes of one of the team's own listings, newest first: what changed, who did it and when.",
        list("get_listing_history", "events"),
    )
    .with_ids("list_own_listings"),
    row(
        "list_listing_assets",
        "Listing assets",
        Vendors,
        "The assets of one of the team's own listings, at most the first 1,000. `total` counts all.",
        list("list_listing_assets", "assets"),
    )
    .with_ids("list_own_listings"),
    row(
        "get_listing_qc",
        "Listing quality checks",
        Vendors,
        "The latest quality run of one of the team's own listings: each check's status. Failure reasons are \
         in the check's `message`, or in the run's `review_feedback` or `error`.",
        record("get_listing_qc"),
    )
    .with_ids("list_own_listings")
    .explaining(&[("task_rows", "`failing` omits checks of tasks that passed.")]),
    row(
        "list_qc_reports",
        "Quality reports",
        Vendors,
        "Quality runs of all the team's listings, newest first, with credits charged. `mandatory_passed` is \
         valid once `status` is completed; failed checks are in get_listing_qc.",
        list("list_qc_reports", "reports"),
    ),
    row(
        "list_sales",
        "Sales",
        Vendors,
        "The team's settled sales, newest first. `amount` is net of the platform fee; `total_earnings` \
         covers all sales, not only the page. Buyers are never disclosed.",
        list("list_sales", "sales"),
    ),
    row(
        "list_opportunities",
        "Opportunities",
        Vendors,
        "Open requests for listings that buyers published, nearest deadline first.",
        list("list_opportunities", "items"),
    )
    .explaining(&[("query", "Words in title, overview, tags and buyer name.")]),
    row(
        "get_opportunity",
        "Opportunity",
        Vendors,
        "One request for listings, published or cancelled. `metadata` has its budget and tags.",
        record("get_opportunity"),
    )
    .with_ids("list_opportunities; for projects, use get_project_opportunity"),
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
        "The team's inventory of all kinds, with counts by group and kind. For fields of one kind (lines, \
         channel, `missing`), use list_codebases, list_raw_data or list_tasks.",
        list("list_assets", "items"),
    )
    .explaining(&[
        ("sku", "Asset kind slug."),
        ("deprecated", "True: only kinds being retired; false: only the others."),
        ("attach_to", "Listing ID. Assets that it already has are not `attachable`."),
        ("filter", CONDITIONS),
        ("sort", "Default: newest first."),
    ]),
    row("get_asset", "Asset", Vendors, "One of the team's assets.", Calls::Choice {
        argument: "kind",
        words: "Use codebase, raw_data or task for fields of that kind: `missing` (what the asset lacks), \
                `locked_fields`, the price.",
        usual: Some("any"),
        of: &[
            ("any", Vendors, whole("get_asset")),
            ("codebase", Vendors, whole("get_codebase")),
            ("raw_data", Vendors, whole("get_raw_data")),
            ("task", Vendors, whole("get_task")),
        ],
    })
    .with_ids("list_assets, or the list of one kind"),
    row(
        "list_tasks",
        "Tasks",
        Vendors,
        "The team's imported tasks, with model pass rates and agent findings in `task.qc`.",
        list("list_tasks", "items"),
    )
    .explaining(&[(
        "filter",
        "As in list_assets; also `task_type`, `has_traces`, `has_qa_results`, `has_environment`, \
         `ran_on_model`, `qa_agent` (values: list_taxonomy, `task_filters`).",
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
        "Directories and files of a codebase's repository or zip; none before `analysis_status` is \
         completed.",
        record("get_codebase_structure"),
    )
    .with_ids("list_codebases"),
    row(
        "list_raw_data",
        "Raw data",
        Vendors,
        "The team's raw data archives, with `missing`.",
        list("list_raw_data", "items"),
    )
    .explaining(&[("filter", "As in list_assets.")]),
    row(
        "get_raw_data_structure",
        "Structure of raw data",
        Vendors,
        "Directories and files of a raw data archive; none before `analysis_status` is completed.",
        record("get_raw_data_structure"),
    )
    .with_ids("list_raw_data"),
    row(
        "get_asset_qc",
        "Quality checks of an asset",
        Vendors,
        "The latest quality run of a codebase or raw data asset: what each check found, and where.",
        Calls::Choice {
        argument: "kind",
        words: "The asset's kind.",
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
        "The groups of the team's inventory. Pass a group's ID to list_assets as `group_id`.",
        list("list_asset_groups", "groups"),
    ),
    row(
        "list_estimations",
        "Estimations",
        Vendors,
        "Advisory quotes for the team's repositories in full, in US cents. list_latest_estimations finds \
         them by asset.",
        list("list_estimations", "estimations"),
    )
    .explaining(&[("filter", "`field:operator:value`; fields `status`, `type`, `name`, `channel`, \
                              `inventory`.")]),
    row(
        "list_latest_estimations",
        "Latest estimations",
        Vendors,
        "The latest quote of each given asset that has one.",
        list("list_latest_estimations", "estimations"),
    )
    .with_ids("list_codebases"),
    row(
        "get_estimation_summary",
        "Estimation summary",
        Vendors,
        "The number of estimations by status, and the totals of their quotes.",
        record("get_estimation_summary"),
    ),
    row(
        "list_earnings",
        "Earnings",
        Vendors,
        "The team's earnings entries, newest first: sales, fees, refunds, withdrawals. `amount` is a signed \
         decimal string.",
        list("list_earnings", "items"),
    ),
];
