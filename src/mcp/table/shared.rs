//! Tools over routes that the vendor API and the buyer API share.

use super::{
    Audience::{AllTeams, TeamsWithRole, Vendors},
    ToolEntry, ToolOperations, entry, list_call, record_call, single_list, single_record,
};

/// Tools for vendors and buyers, in display order.
pub const TOOLS: [ToolEntry; 11] = [
    entry(
        "get_current_team",
        "Current team",
        AllTeams,
        "Call this first. Returns the key's team, its roles, whether it accepted the mutual NDA, and its \
         browse gate status.",
        ToolOperations::None,
    ),
    entry(
        "browse_listings",
        "Browse listings",
        TeamsWithRole,
        "Search and filter the published catalog. Values of one filter are alternatives; different filters \
         combine with AND; bounds are inclusive. The first page has `counts`, and in `facets` the values \
         that filters take, counted over all matches of `query`. Prices and certification are in \
         get_listing.",
        single_list("browse_listings", "items"),
    )
    .with_parameters(&[
        ("query", "Words in titles, descriptions, tags and team names; all must match, no operators. Use \
                   \"quotes\" for phrases."),
        ("tags", "Domain slugs (see list_taxonomy)."),
        ("tag_slugs", "Inventory tag slugs (see list_taxonomy)."),
        ("asset_types", "Asset kind slugs."),
        ("min_sample_price", "US dollars."),
        ("min_price", "Buy-now price, US dollars."),
        ("min_price_per_task", "US dollars."),
        ("min_tasks", "In tasksets and bundles."),
        ("min_zip_size_gb", "1 GB = 1,000,000,000 bytes."),
        ("rare_languages_only", "At most 40% JavaScript, TypeScript and Python."),
        ("robotics_formats", "lerobot_v3, lerobot_v2, ego_exo, other."),
        ("min_zip_files", ""),
        ("min_loc", "Lines of code."),
        ("min_codebases", ""),
        ("min_tasksets", "Includes bundles."),
        ("min_environments", ""),
        ("min_robotics_datasets", ""),
        ("min_raw_data", "Zips."),
        ("min_vendor_tier", ""),
        ("vendor_tiers", "1 to 3."),
        ("cursor", "`next_cursor` of the previous page; query, filters and sort must be unchanged."),
    ]),
    entry(
        "get_browse_access",
        "Browse access",
        TeamsWithRole,
        "Whether the team may browse the whole catalog, how many published listings it has, and how many it \
         needs.",
        single_record("get_browse_access"),
    ),
    entry(
        "get_listing",
        "Listing",
        TeamsWithRole,
        "One catalog listing in full: description, price, sample, scale, languages, tasksets, delivery, \
         terms. Next: get_listing_quality, and get_taskset for its tasksets.",
        single_record("get_listing"),
    )
    .with_ids("browse_listings; for own drafts, use get_own_listing"),
    entry(
        "get_listings_by_ids",
        "Listings by ID",
        TeamsWithRole,
        "Summaries of up to 200 listings, to see which are still published: an ID that no page returns is \
         stale.",
        single_list("get_listings_by_ids", "listings"),
    )
    .with_parameters(&[("ids", "IDs to look up; if omitted, the result is empty.")]),
    entry(
        "get_listing_quality",
        "Quality evidence",
        TeamsWithRole,
        "Whether a catalog listing is certified, and which checks it passed or failed.",
        single_record("get_listing_quality"),
    )
    .with_ids("browse_listings"),
    entry(
        "get_taskset",
        "Taskset",
        TeamsWithRole,
        "The columns of a listing's taskset.",
        single_record("get_taskset"),
    )
    .with_ids("`tasksets` of get_listing, not its `assets`"),
    entry(
        "preview_taskset_tasks",
        "Preview of tasks",
        TeamsWithRole,
        "The 20 newest tasks of a taskset with their versions. `task_stats` has model results by \
         `task_version_id` (`version.id`): each trace with model and reward (null: not graded). Average the \
         rewards by model.",
        single_record("preview_taskset_tasks"),
    )
    .with_ids("`tasksets` of get_listing, not its `assets`"),
    entry("list_taxonomy", "Taxonomy", AllTeams, "The slugs and values that filters take.", ToolOperations::Choice {
        argument: "kind",
        description: "`domains` are for `tags`, `inventory_tags` for `tag_slugs`, `asset_types` for `asset_types` \
                and `sku`.",
        default: None,
        options: &[
            ("domains", AllTeams, list_call("list_domains", "domains")),
            ("inventory_tags", AllTeams, list_call("list_inventory_tags", "inventory_tags")),
            ("content_tags", AllTeams, list_call("list_content_tags", "content_tags")),
            ("asset_types", AllTeams, list_call("list_asset_types", "asset_types")),
            ("languages", Vendors, list_call("list_languages", "languages")),
            ("task_filters", Vendors, record_call("get_task_qc_facets")),
        ],
    })
    .without_team_text(),
    entry(
        "get_wallet",
        "Wallet",
        TeamsWithRole,
        "The team's credits and earnings, in US dollars: `total` ever earned net of fees, `pending` on hold, \
         `available` to convert or withdraw.",
        single_record("get_wallet"),
    ),
    entry(
        "list_notifications",
        "Notifications",
        TeamsWithRole,
        "The team's notifications, newest first; only the newest 100 are available.",
        single_list("list_notifications", "notifications"),
    ),
];
