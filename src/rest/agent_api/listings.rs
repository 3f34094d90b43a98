//! Listings of the catalog: pages with all that agents select, and several listings by ID.

use super::{
    filters::AgentCatalogFilters,
    rows::{self, AgentListing, SelectedFields},
};
use crate::{
    domain::browse::SortOrder,
    operations::{
        access::FullCatalogViewer,
        browse::{self, PageRequest},
    },
    rest::{
        catalog::browse::{facets_json, page_json},
        prelude::*,
        shapes::{
            assets::ASSET_KINDS,
            json_object::{ObjectWriter, RawObject},
            listing_pages::{Counts, FacetCounts},
        },
    },
    store::renderings::Rendering,
    web::auth::AgentFirstPageViewer,
};

/// Field of a page with the vendors whose listings match, and the maximum number of these.
const VENDORS: &str = "vendors";
const MAX_VENDORS: usize = 20;

/// Maximum number of listings in one request by ID.
const MAX_IDS: usize = 20;

/// Query parameters of a page.
#[derive(Debug, Object)]
pub struct AgentBrowseQuery {
    /// Conditions that listings meet.
    #[oai(flatten)]
    filters: AgentCatalogFilters,
    /// Order of the listings. `recommended` puts certified listings first, then newer ones.
    #[oai(default = "default_sort")]
    sort: EnumValue<SortOrder>,
    /// Maximum number of listings on the page.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// `next_cursor`, with all other arguments unchanged.
    #[oai(validator(max_length = 512))]
    cursor: Option<String>,
    /// Number of listings to skip, instead of a cursor.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    offset: i64,
    /// Names of the selected fields; empty for all.
    #[oai(default, validator(max_items = 64))]
    fields: Vec<String>,
}

fn default_sort() -> EnumValue<SortOrder> {
    EnumValue(SortOrder::Recommended)
}

const fn default_limit() -> u32 {
    20
}

/// Query parameters of a request by ID.
#[derive(Debug, Object)]
pub struct ListingsQuery {
    /// Listing IDs, at most 20.
    #[oai(validator(min_items = 1, max_items = 20))]
    ids: Vec<Uuid>,
    /// Names of the selected fields; empty for all.
    #[oai(default, validator(max_items = 64))]
    fields: Vec<String>,
}

/// A page of the catalog.
#[derive(Debug, Object, Serialize)]
pub struct AgentBrowsePage {
    /// The listings, in the requested order.
    pub items: Vec<AgentListing>,
    /// Maximum number of listings on a page, as requested.
    pub limit: u32,
    /// Number of listings that match, on all pages; null except on the first page.
    pub counts: Option<Counts>,
    /// Values to filter by, with counts; null except on the first page.
    pub facets: Option<FacetCounts>,
    /// Whether the catalog is locked for the team, so that it can read only this unfiltered first page.
    pub locked: bool,
    /// Value of `cursor` for the next page; null on the last page, and while the catalog is locked.
    pub next_cursor: Option<String>,
    /// The vendors with the most matches on all pages, at most 20; absent unless it is selected, and except on the first page.
    pub vendors: Vec<VendorMatches>,
    /// Number of all vendors with matches; absent without `vendors`.
    pub vendor_count: u64,
}

/// How many listings of a vendor match.
#[derive(Debug, Object, Serialize)]
pub struct VendorMatches {
    /// Name of the vendor team.
    pub team_name: String,
    /// Number of its listings that match.
    pub listings: u64,
}

/// Listings by ID.
#[derive(Debug, Object, Serialize)]
pub struct AgentListings {
    /// The listings that the team may see, in the requested order.
    pub listings: Vec<AgentListing>,
    /// The other IDs.
    pub missing: Vec<Uuid>,
}

#[routes(prefix = "/agents/v1", tag = Catalog)]
impl ListingsApi {
    /// Browse the catalog
    ///
    /// Returns a page of published listings with the selected fields of their details. While the catalog is locked for the
    /// team, they have only the fields of the summary.
    #[get(
        "/listings",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Catalog,
                    "browse_listings",
                    "Browse listings",
                    "Search and filter the published catalog. Values of one filter are \
                     alternatives; different filters combine with AND; bounds are inclusive. The \
                     first page has `counts`, and in `facets` the values that filters take, \
                     counted over all matches of `query`. `fields` can also add the `vendors` with most matches. For \
                     other counts, or medians, use aggregate.",
                )
                .with_values(&[
                    ("asset_types", ASSET_KINDS),
                    ("robotics_formats", &["lerobot_v3", "lerobot_v2", "ego_exo", "other"]),
                    ("vendor_tiers", &["1", "2", "3"]),
                ])
                .with_row(&[
                    "id",
                    "title",
                    "team_name",
                    "vendor_tier",
                    "asset_types",
                    "price",
                    "sample_price",
                    "platform_quality_certified",
                    "evidence",
                    "counts",
                    "facets.asset_types",
                    "facets.capabilities",
                    "facets.file_extensions",
                    "facets.languages",
                    "facets.tags",
                ])
                .with_parameters(&[
                    ("query", "Words in titles, descriptions, tags and team names; all must match, no \
                               operators. Use \"quotes\" for phrases."),
                    ("tags", "Domain slugs (see list_taxonomy)."),
                    ("tag_slugs", "Inventory tag slugs (see list_taxonomy)."),
                    ("asset_types", "Asset kinds."),
                    ("languages", "Language slugs."),
                    ("min_sample_price", "Lower bound."),
                    ("max_sample_price", "Upper bound."),
                    ("min_price", "Lower bound."),
                    ("max_price", "Upper bound."),
                    ("min_price_per_task", "Lower bound."),
                    ("max_price_per_task", "Upper bound."),
                    ("min_tasks", "Lower bound."),
                    ("max_tasks", "Upper bound."),
                    ("min_zip_size_gb", "Minimum zip size in 10^9 bytes."),
                    ("max_zip_size_gb", "Maximum zip size in 10^9 bytes."),
                    ("rare_languages_only", "At most 40% JavaScript, TypeScript and Python."),
                    ("robotics_formats", "Formats of robotics datasets."),
                    ("min_tasksets", "Lower bound."),
                    ("max_tasksets", "Upper bound."),
                    ("min_codebases", "Lower bound."),
                    ("max_codebases", "Upper bound."),
                    ("min_environments", "Lower bound."),
                    ("max_environments", "Upper bound."),
                    ("min_robotics_datasets", "Lower bound."),
                    ("max_robotics_datasets", "Upper bound."),
                    ("min_zip_files", "Minimum files in zips."),
                    ("max_zip_files", "Maximum files in zips."),
                    ("has_active_bids", "Only with a submitted bid."),
                    ("owned", "Only the team's own."),
                    ("verified_only", "Only certified listings."),
                    ("sample_available", "With (true) or without a sample."),
                    ("capabilities", "Capabilities of environments."),
                    ("file_extensions", "File extensions in raw data."),
                    ("min_raw_data", "Minimum number of zips."),
                    ("max_raw_data", "Maximum number of zips."),
                    ("vendor_tiers", "Vendor tiers."),
                ]),
                "items",
            ),
            Contract::new(Target::None),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn browse_for_agents(
        call: Call<AgentFirstPageViewer>,
        query: Params<AgentBrowseQuery>,
    ) -> JsonResult<AgentBrowsePage> {
        let AgentBrowseQuery { filters, sort, limit, cursor, offset, fields } = query.0;
        let viewer = call.access.0;
        let fields = SelectedFields::new(fields);
        let is_locked = !viewer.gate().is_open;
        Json::read_bytes(&call.served, viewer.requester(), move |reader| {
            let request = PageRequest {
                sort: sort.0,
                limit: limit as usize,
                // A cursor is exact, so it counts if both are given.
                skip: if cursor.is_some() { 0 } else { offset.cast_unsigned() },
                cursor,
                ..filters.into_request(reader)?
            };
            let is_first_page = request.cursor.is_none() && request.skip == 0;
            let vendors = if fields.names(VENDORS) && is_first_page && !is_locked {
                Some(browse::count_by_vendor(reader, &viewer, request.clone(), MAX_VENDORS)?)
            } else {
                None
            };
            let found = browse::search_listings(reader, &viewer, request)?;
            let renderings = browse::renderings(reader, &found.listings)?;
            // While the gate is closed, the page has the same content as over HTTP: details must not be read.
            let items = if is_locked {
                rows::summaries_json(&renderings)
            } else {
                rows::rows_json(reader, &renderings, &fields)?
            };
            let totals = found.totals.map(|totals| (totals.total, totals.owned, facets_json(&totals.facets)));
            let page = page_json(&items, found.next_cursor.as_deref(), limit, is_locked, totals.as_ref());
            let Some((vendors, vendor_count)) = vendors else { return Ok(page) };
            let mut json = ObjectWriter::with_capacity(page.len() + 2_048);
            json.fields(&RawObject::parse(&page)?);
            let matches = |(team_name, listings)| VendorMatches { team_name, listings };
            json.field(VENDORS, &vendors.into_iter().map(matches).collect::<Vec<_>>());
            json.field("vendor_count", &vendor_count);
            Ok(json.finish())
        })
        .await
    }

    /// Get several listings
    ///
    /// Returns the listings with these IDs that the team may see, with the selected fields of their details.
    #[get(
        "/listings/by-ids",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Catalog,
                    "get_listings",
                    "Listings by ID",
                    "Up to 20 catalog listings in one call, to compare prices, samples, scale, quality evidence, and bids. \
                     `missing` has the IDs that are not, or no longer, published.",
                )
                .with_row(&[
                    "id",
                    "title",
                    "team_name",
                    "vendor_tier",
                    "asset_types",
                    "price",
                    "price_per_task",
                    "sample_price",
                    "catalog_scale.loc",
                    "catalog_scale.task_count",
                    "catalog_scale.zip_size_bytes",
                    "accepts_bids",
                    "active_bid_count",
                    "platform_quality_certified",
                    "evidence",
                    "missing",
                ])
                .with_fields_of("get_listing")
                .with_ids("browse_listings, list_purchases, list_offers"),
                "listings",
            ),
            Contract::new(Target::None),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn get_listings(
        call: Call<FullCatalogViewer>,
        query: Params<ListingsQuery>,
    ) -> JsonResult<AgentListings> {
        let ListingsQuery { mut ids, fields } = query.0;
        let mut seen = std::collections::HashSet::with_capacity(MAX_IDS);
        ids.retain(|id| seen.insert(*id));
        let fields = SelectedFields::new(fields);
        Json::read_bytes(&call.served, call.access.requester(), move |reader: &Reader| {
            let (mut found, mut missing): (Vec<Rendering>, Vec<Uuid>) = (Vec::new(), Vec::new());
            for id in ids {
                match browse::find_rendering(reader, call.access.viewer(), id)? {
                    Some(rendering) => found.push(rendering),
                    None => missing.push(id),
                }
            }
            let listings = rows::rows_json(reader, &found, &fields)?;
            let mut json = ObjectWriter::with_capacity(listings.len() + 1_024);
            json.array_field("listings", &listings);
            json.field("missing", &missing);
            Ok(json.finish())
        })
        .await
    }
}
