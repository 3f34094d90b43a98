//! The catalog: pages of listings, listings by ID, and listing details.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::Facets;

use super::browse_query::BrowseQuery;
use crate::{
    domain::browse::SortOrder,
    operations::{
        access::{FullCatalogViewer, ListingViewer},
        browse,
    },
    rest::{
        prelude::*,
        route::Link,
        shapes::{
            json_object::ObjectWriter,
            listing_pages::{Counts, DetailBundle, FacetCounts, detail_json},
            listings::{ListingDetail, ListingSummary},
        },
    },
    web::{
        auth::FirstPageViewer,
        served_market::{LinkBaseUrl, first_page_cache::CachedPage},
    },
};

/// Query parameters of the lookup by ID.
#[derive(Debug, Object)]
pub struct ByIdsQuery {
    /// IDs of the listings to return, at most 200.
    #[oai(default, validator(max_items = 200))]
    ids: Vec<Uuid>,
    /// Order of the listings.
    #[oai(default = "default_sort")]
    sort: EnumValue<SortOrder>,
}

fn default_sort() -> EnumValue<SortOrder> {
    EnumValue(SortOrder::Recent)
}

/// A page of the catalog.
#[derive(Debug, Object, Serialize)]
pub struct BrowsePage {
    /// The listings, in the requested order.
    pub items: Vec<ListingSummary>,
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
}

/// Published listings among the requested IDs.
#[derive(Debug, Object, Serialize)]
pub struct ListingsByIds {
    /// Published listings among the requested ones, in the requested order.
    pub listings: Vec<ListingSummary>,
}

#[routes(prefix = "/v2", tag = Catalog)]
impl BrowseApi {
    /// Browse the catalog
    ///
    /// Returns a page of published listings. The first page also returns the number of matches and the
    /// facets; pass `next_cursor` as `cursor` to read the next page. A listing must satisfy every parameter;
    /// if a parameter has several values, any of them is enough. Bounds are inclusive. Unknown values match
    /// nothing. While the catalog is locked for the team, only the first page without query and filters and
    /// in the default order is served, with `locked` true.
    #[get(
        "/listings/browse",
        RouteAttributes::read(
            Tool::Excluded("the operation browse_for_agents has the same filters, and rows with prices"),
            Contract::new(Target::None)
                .with_queries(&[
                    "limit=100",
                    "limit=1&sort=price_low",
                    "sort=price_high&owned=true",
                    "query=data&sort=recent",
                    "query=nothingatallwillevermatchthis",
                    "asset_types=bundle&asset_types=other",
                    "vendor_tiers=1&vendor_tiers=9&min_price=0.01&max_price=1e12",
                ])
                .with_misspelled("min_pice=3", "min_price"),
        )
        .with_budget(Budget::Catalog)
        .with_parameter_examples(&[
            ("query", r#""cobol ledger""#),
            ("tags", r#"["finance"]"#),
            ("tag_slugs", r#"["full-history"]"#),
            ("asset_types", r#"["codebase"]"#),
            ("languages", r#"["cobol"]"#),
            ("vendor_tiers", "[2, 3]"),
            ("min_price", "500"),
            ("max_price", "200000"),
        ]),
    )]
    async fn browse_listings(
        call: Call<FirstPageViewer>,
        query: Params<BrowseQuery>,
    ) -> JsonResult<BrowsePage> {
        let viewer = call.access.0;
        let (limit, request) = (query.0.limit, query.0.into_request());
        let market = call.served.market();
        let is_locked = !viewer.gate().is_open;
        if !request.is_plain_first_page() {
            // A later page of the unfiltered catalog follows a stored order; anything else is a search.
            let is_paging = request.is_unfiltered();
            let requester = viewer.requester();
            let page = move |reader: &Reader| {
                let page = browse::search_page(reader, &viewer, request)?;
                let totals =
                    page.totals.map(|totals| (totals.total, totals.owned, facets_json(&totals.facets)));
                Ok(page_json(&page.listings, page.next_cursor.as_deref(), limit, is_locked, totals.as_ref()))
            };
            let bytes = if is_paging {
                market.read_inline(requester, page).await?
            } else {
                market.read(requester, page).await?
            };
            return Ok(Json::from_bytes(bytes));
        }
        // The unfiltered first page is the same for all teams until the index changes, except for the counts.
        let index = market.search_index();
        let first_page = match call.served.first_pages().get(index.generation(), request.sort, limit) {
            Some(first_page) => first_page,
            None => {
                let (sort, caller) = (request.sort, viewer.clone());
                let (generation, page) = market
                    .read(caller.requester(), move |reader| {
                        let page = browse::search_page(reader, &caller, request)?;
                        Ok((reader.index.generation(), CachedPage::from_page(page, facets_json)))
                    })
                    .await?;
                call.served.first_pages().insert(generation, sort, limit, page)
            }
        };
        let owned = index.active_count(viewer.member().team_row_id().0 as u64)?;
        let totals = (first_page.listing_count, owned, &first_page.facets);
        let next_cursor = first_page.next_cursor.as_deref();
        Ok(Json::from_bytes(page_json(&first_page.items, next_cursor, limit, is_locked, Some(&totals))))
    }

    /// Get a listing
    ///
    /// Returns a listing with its prices, scale, languages, tasksets, delivery and terms. A listing that is
    /// not published is visible only to its vendor and to teams that have bought from it.
    #[get(
        "/listings/browse/{listing_id}",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "get_listing",
                    "Listing",
                    "One catalog listing in full: description, price, sample, scale, languages, \
                     tasksets, delivery, terms. Next: get_listing_quality, and get_taskset for \
                     its tasksets.",
                )
                .with_evidence("get_listing_evidence")
                .with_ids("browse_listings; for own drafts, use get_own_listing"),
            ),
            Contract::new(Target::CatalogListing).with_misspelled("listing=1", ""),
        )
        .with_budget(Budget::Catalog)
        .with_links(&[
            Link::new("/tasksets/0/id", "get_taskset", "taskset_id"),
            Link::new("/tasksets/0/id", "preview_taskset_tasks", "taskset_id"),
        ]),
    )]
    async fn get_listing(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
        link_base: LinkBaseUrl,
    ) -> JsonResult<ListingDetail> {
        let id = listing_id.0;
        let requester = call.access.requester();
        // The rendering is stored, so this takes little work for any size.
        let served = Arc::clone(&call.served);
        let render = move |reader: &Reader| {
            let (rendering, bundle) = browse::get_detail(reader, &call.access, id)?;
            let bundle = DetailBundle::new(&call.served, &link_base.0, id, bundle, reader.now);
            detail_json(&rendering, &bundle)
        };
        Ok(Json::from_bytes(served.market().read_inline(requester, render).await?))
    }

    /// List listings by ID
    ///
    /// Returns the summaries of the published listings among the given IDs. An ID that is missing from the
    /// response is stale: the listing was unpublished or deleted, or never existed.
    #[get(
        "/listings/browse/by-ids",
        RouteAttributes::read(
            Tool::Excluded("get_listings returns more of up to 20 listings"),
            Contract::new(Target::None)
                .with_queries(&[
                    "sort=recommended&ids={listings}",
                    "sort=recent&ids={listings}",
                    "sort=price_low&ids={listings}",
                    "sort=price_high&ids={listings}",
                    "ids=00000000-0000-0000-0000-000000000000",
                ])
                .with_misspelled("idss=1", "ids"),
        )
        .with_budget(Budget::Catalog)
        .with_parameter_examples(&[("ids", r#"["34f2c447-0d0a-5b97-aa77-8245b1d085a3"]"#)]),
    )]
    async fn get_listings_by_ids(
        call: Call<FullCatalogViewer>,
        query: Params<ByIdsQuery>,
    ) -> JsonResult<ListingsByIds> {
        let Params(ByIdsQuery { ids, sort }) = query;
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let items = browse::summaries_by_ids(reader, &call.access, &ids, sort.0)?;
            let mut json = ObjectWriter::with_capacity(items.len() + 16);
            json.array_field("listings", &items);
            Ok(json.finish())
        })
        .await
    }
}

/// Builds the JSON of a page from JSON that is rendered already.
pub fn page_json<T>(
    items: &[u8],
    next_cursor: Option<&str>,
    limit: u32,
    is_locked: bool,
    totals: Option<&(u64, u64, T)>,
) -> Vec<u8>
where
    T: AsRef<[u8]>,
{
    let facets = totals.map_or(&b"null"[..], |(_, _, facets)| facets.as_ref());
    let mut json = ObjectWriter::with_capacity(items.len() + facets.len() + 512);
    json.array_field("items", items);
    json.field("limit", &limit);
    json.field("counts", &totals.map(|(all, owned, _)| Counts { all: *all, owned: *owned }));
    json.raw_field("facets", facets);
    json.field("locked", &is_locked);
    // While the catalog is locked, no further page is served, so no cursor is returned.
    json.field("next_cursor", &next_cursor.filter(|_| !is_locked));
    json.finish()
}

pub fn facets_json(facets: &Facets) -> Vec<u8> {
    let facets: BTreeMap<&str, &BTreeMap<String, u64>> = facets.iter().collect();
    serde_json::to_vec(&facets).expect("facets are JSON")
}
