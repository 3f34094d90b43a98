//! The tools: which GET operations an agent can call under which name, and what it is told of each.
//!
//! A row says nothing of parameters, shapes or rules: those are the operations' own. Words say what the documents do not:
//! when to choose the tool, and what to call next.

/// Who sees a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every team, even without a marketplace role.
    Anybody,
    /// Every team with a marketplace role.
    Everyone,
    /// Teams that sell.
    Vendors,
    /// Teams that buy.
    Buyers,
}

/// A tool.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Who sees it.
    pub audience: Audience,
    /// When to call it, and what next.
    pub words: &'static str,
    /// What it calls.
    pub calls: Calls,
    /// Words for parameters that the document's own do not fit, or that agents get wrong.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Where the ids that it takes are found; empty where it takes none.
    pub ids: &'static str,
    /// Whether teams wrote some of what it answers, rather than the platform.
    pub is_written_by_teams: bool,
}

/// What a tool calls.
#[derive(Debug)]
pub enum Calls {
    /// Nothing: it tells what is known of the key.
    Nothing,
    /// An operation.
    One(Call),
    /// One of several, by an argument.
    Choice {
        /// The argument.
        argument: &'static str,
        /// What it means.
        words: &'static str,
        /// Its value where it is left out; where there is none, it must be there.
        usual: Option<&'static str>,
        /// Its values, who may use each, and what it calls.
        of: &'static [(&'static str, Audience, Call)],
    },
}

/// A GET operation, and the list in its answer that is shown in pages.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The operation's id.
    pub operation: &'static str,
    /// The field of the answer that holds the list; nothing where the answer is one record.
    pub list: Option<&'static str>,
}

const fn whole(operation: &'static str) -> Call {
    Call { operation, list: None }
}

const fn listed(operation: &'static str, field: &'static str) -> Call {
    Call { operation, list: Some(field) }
}

/// One operation that answers a record.
const fn record(operation: &'static str) -> Calls {
    Calls::One(whole(operation))
}

/// One operation that answers a list, in this field.
const fn list(operation: &'static str, field: &'static str) -> Calls {
    Calls::One(listed(operation, field))
}

/// A row without words for parameters.
const fn row(
    name: &'static str,
    title: &'static str,
    audience: Audience,
    words: &'static str,
    calls: Calls,
) -> Row {
    Row { name, title, audience, words, calls, parameters: &[], ids: "", is_written_by_teams: true }
}

impl Row {
    const fn explaining(mut self, parameters: &'static [(&'static str, &'static str)]) -> Row {
        self.parameters = parameters;
        self
    }

    const fn with_ids(mut self, place: &'static str) -> Row {
        self.ids = place;
        self
    }

    const fn of_the_platform(mut self) -> Row {
        self.is_written_by_teams = false;
        self
    }

    /// When to call it, what next, and where its ids are found.
    pub fn description(&self) -> String {
        if self.ids.is_empty() {
            return self.words.to_owned();
        }
        format!("{} Ids: {}.", self.words, self.ids)
    }

    /// Everything that it calls, with who may.
    pub fn all(&self) -> Vec<(Audience, Call)> {
        match &self.calls {
            Calls::Nothing => Vec::new(),
            Calls::One(call) => vec![(self.audience, *call)],
            Calls::Choice { of, .. } => of.iter().map(|(_, audience, call)| (*audience, *call)).collect(),
        }
    }
}

use Audience::{Anybody, Buyers, Everyone, Vendors};

/// How the entries of filters of inventories are written.
const CONDITIONS: &str = "Conditions that all hold, each `field:operator:value`; operators `is`, `is_not`, and of `name` \
                          `contains`. Fields: `stage`, `name`, `type`, `domain`, `channel` (`not_linked`: no data), and those \
                          of each kind, which its own list names.";

/// GET operations that no tool calls, and why.
pub const LEFT_OUT: [(&str, &str); 4] = [
    ("get_asset_group", "list_asset_groups answers every group whole"),
    (
        "get_asset_window",
        "a screen of folded groups; list_asset_groups, and list_assets with group_id, say the same",
    ),
    ("get_estimation", "list_estimations answers every estimation whole"),
    (
        "get_task_qc_refresh",
        "the state of a writing that no tool can start; each task says when it was last read",
    ),
];

/// Every tool, in the order in which agents see them.
pub const TOOLS: [Row; 40] = [
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
    row(
        "list_purchases",
        "Purchases",
        Buyers,
        "The team's completed purchases, newest first, each with its listing.",
        list("list_purchases", "purchases"),
    ),
    row(
        "list_offers",
        "Offers",
        Buyers,
        "The team's bids on listings, newest first, each with its listing. `offer.status`: submitted (open), accepted, declined, \
         withdrawn or expired.",
        list("list_offers", "offers"),
    ),
    row("list_own_opportunities", "Own opportunities", Buyers, "Requests that the team itself posted, newest first, at every status.", Calls::Choice {
            argument: "kind",
            words: REQUESTS,
            usual: Some("listing"),
            of: &[
                ("listing", Buyers, listed("list_own_opportunities", "items")),
                ("project", Buyers, listed("list_own_project_opportunities", "items")),
            ],
        }),
    row("get_own_opportunity", "Own opportunity", Buyers, "One request that the team itself posted.", Calls::Choice {
            argument: "kind",
            words: REQUESTS,
            usual: Some("listing"),
            of: &[
                ("listing", Buyers, whole("get_own_opportunity")),
                ("project", Buyers, whole("get_own_project_opportunity")),
            ],
        })
    .with_ids("list_own_opportunities"),
    row(
        "list_project_bids",
        "Bids on a project",
        Buyers,
        "Vendors' bids on a request of the team for custom task work.",
        list("list_project_bids", "items"),
    )
    .with_ids("list_own_opportunities with `kind` project"),
];

/// What the requests of buyers are for.
const REQUESTS: &str = "For listings, or for custom task work.";
