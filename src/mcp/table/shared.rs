//! Tools over the routes that both sides share.

use super::{
    Audience::{Anybody, Everyone, Vendors},
    Calls, Row, list, listed, record, row, whole,
};

/// Every one, in order.
pub const TOOLS: [Row; 11] = [
    row(
        "get_current_team",
        "Current team",
        Anybody,
        "Call this first: which team the key speaks for, its roles, whether it accepted the mutual NDA, and where it stands at \
         the browse gate.",
        Calls::Nothing,
    ),
    row(
        "browse_listings",
        "Browse listings",
        Everyone,
        "Search and filter the published catalog. Values of one filter are alternatives, filters narrow each other, bounds are \
         inclusive. The first page has `counts`, and in `facets` the values that filters take, counted over everything that \
         `query` finds. Prices and certification of each are in get_listing.",
        list("browse_listings", "items"),
    )
    .explaining(&[
        ("query", "Words in titles, descriptions, tags and team names; all must match, no operators. \"Quoted\": as a phrase."),
        ("tags", "Domain slugs (see list_taxonomy)."),
        ("tag_slugs", "Inventory tag slugs (see list_taxonomy)."),
        ("asset_types", "Asset kind slugs."),
        ("min_sample_price", "US dollars."),
        ("min_price", "Buy-now price, US dollars."),
        ("min_price_per_task", "US dollars."),
        ("min_tasks", "In tasksets and bundles."),
        ("min_zip_size_gb", "1 GB = 1,000,000,000 bytes."),
        ("rare_languages_only", "At most 40 % JavaScript, TypeScript and Python."),
        ("robotics_formats", "lerobot_v3, lerobot_v2, ego_exo, other."),
        ("min_zip_files", ""),
        ("min_loc", "Lines of code."),
        ("min_codebases", ""),
        ("min_tasksets", "Bundles count, too."),
        ("min_environments", ""),
        ("min_robotics_datasets", ""),
        ("min_raw_data", "Zips."),
        ("min_vendor_tier", ""),
        ("vendor_tiers", "1 to 3."),
        ("cursor", "`next_cursor` of the page before; query, filters and sort must be the same."),
    ]),
    row(
        "get_browse_access",
        "Browse access",
        Everyone,
        "Whether the team may browse the whole catalog; how many published listings it has, and how many it needs.",
        record("get_browse_access"),
    ),
    row(
        "get_listing",
        "Listing",
        Everyone,
        "One listing of the catalog, whole: description, price, sample, scale, languages, tasksets, delivery, terms. Then \
         get_listing_quality, and get_taskset for its tasksets.",
        record("get_listing"),
    )
    .with_ids("browse_listings; of own drafts, see get_own_listing"),
    row(
        "get_listings_by_ids",
        "Listings by id",
        Everyone,
        "Summaries of up to 200 listings, to see which are still published: an id that is on no page of the answer is stale.",
        list("get_listings_by_ids", "listings"),
    )
    .explaining(&[("ids", "Listings to look up; without them nothing is found.")]),
    row(
        "get_listing_quality",
        "Quality evidence",
        Everyone,
        "Whether a listing of the catalog is certified, and which checks it passed or failed.",
        record("get_listing_quality"),
    )
    .with_ids("browse_listings"),
    row(
        "get_taskset",
        "Taskset",
        Everyone,
        "A taskset of a listing: its columns.",
        record("get_taskset"),
    )
    .with_ids("`tasksets` of get_listing, not its `assets`"),
    row(
        "preview_taskset_tasks",
        "Preview of tasks",
        Everyone,
        "The 20 newest tasks of a taskset with their versions, and in `task_stats` how models fared: by `task_version_id` \
         (`version.id`), each trace with model and reward (null: not graded). Average rewards by model.",
        record("preview_taskset_tasks"),
    )
    .with_ids("`tasksets` of get_listing, not its `assets`"),
    row("list_taxonomy", "Taxonomy", Anybody, "The words that filters take.", Calls::Choice {
        argument: "kind",
        words: "Which words: `domains` are for `tags`, `inventory_tags` for `tag_slugs`, `asset_types` for `asset_types` and \
                `sku`.",
        usual: None,
        of: &[
            ("domains", Anybody, listed("list_domains", "domains")),
            ("inventory_tags", Anybody, listed("list_inventory_tags", "inventory_tags")),
            ("content_tags", Anybody, listed("list_content_tags", "content_tags")),
            ("asset_types", Anybody, listed("list_asset_types", "asset_types")),
            ("languages", Vendors, listed("list_languages", "languages")),
            ("task_filters", Vendors, whole("get_task_qc_facets")),
        ],
    })
    .of_the_platform(),
    row(
        "get_wallet",
        "Wallet",
        Everyone,
        "The team's credits and earnings, in US dollars: `total` ever earned net of fees, `pending` held back, `available` to \
         convert or withdraw.",
        record("get_wallet"),
    ),
    row(
        "list_notifications",
        "Notifications",
        Everyone,
        "The team's messages, newest first; the hundred newest can be reached.",
        list("list_notifications", "notifications"),
    ),
];
