//! The catalog: pages, summaries by id, and details.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::Facets;
use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use super::{browse_query::BrowseQuery, front_pages::FrontPage};
use crate::{
    domain::browse::SortOrder,
    market::Reader,
    operations::{
        access::{ListingBrowser, OpenBrowser},
        browse,
    },
    rest::{
        App,
        auth::{Access, PageBrowser},
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{
            listing_pages::{Counts, FacetCounts, detail_json},
            listings::{ListingDetail, ListingSummary},
        },
        vocabulary::Word,
    },
};

/// Which listings are asked for by their ids.
#[derive(Debug, Object)]
pub struct ByIdsQuery {
    /// Ids of listings, 200 at most.
    #[oai(default, validator(max_items = 200))]
    ids: Vec<Uuid>,
    /// The order.
    #[oai(default = "recent")]
    sort: Word<SortOrder>,
}

fn recent() -> Word<SortOrder> {
    Word(SortOrder::Recent)
}

/// A page of the catalog.
#[derive(Debug, Object, Serialize)]
pub struct BrowsePage {
    /// The listings, in order.
    pub items: Vec<ListingSummary>,
    /// Listings on a full page.
    pub limit: u32,
    /// How many listings match; on the first page only, else null.
    pub counts: Option<Counts>,
    /// Values to filter by; on the first page only, else null.
    pub facets: Option<FacetCounts>,
    /// Whether the team is behind the browse gate, so that only this first page is served.
    pub locked: bool,
    /// What the next page takes as `cursor`; null on the last page.
    pub next_cursor: Option<String>,
}

/// Listings that were asked for by their ids.
#[derive(Debug, Object, Serialize)]
pub struct ListingsByIds {
    /// Those that are published, in the order that was asked for.
    pub listings: Vec<ListingSummary>,
}

pub struct BrowseApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Catalog")]
impl BrowseApi {
    /// Browse the catalog
    ///
    /// A page of published listings. The first page also counts what matches and lists the values that filters take; go on
    /// with `next_cursor`. Values within one parameter are alternatives, parameters narrow each other, bounds are
    /// inclusive, and a value that nothing has matches nothing. In front of the browse gate only the first page without
    /// filters is served, with `locked` true.
    #[oai(path = "/listings/browse", method = "get", operation_id = "browse_listings")]
    async fn page(
        &self,
        app: Data<&Arc<App>>,
        access: Access<PageBrowser>,
        query: Params<BrowseQuery>,
    ) -> Answer<BrowsePage> {
        let browser = access.0.0;
        let (limit, request) = (query.0.limit, query.0.into_request());
        let market = app.market();
        let is_locked = !browser.gate().is_open;
        if !request.is_bare() {
            // A later page of everything is a walk along a stored order; anything else is a search.
            let is_walk = request.is_unfiltered();
            let page = move |reader: &Reader| browse::page(reader, &browser, request);
            let page = if is_walk { market.glance(page).await? } else { market.read(page).await? };
            let totals = page.totals.map(|totals| (totals.all, totals.owned, facets_json(&totals.facets)));
            return Ok(assemble(&page.items, page.next_cursor.as_deref(), limit, is_locked, totals.as_ref()));
        }
        // The first page of everything is the same for everybody until the index changes, but for the counts.
        let snapshot = market.snapshot();
        let front = match app.front_pages.get(snapshot.generation(), request.sort, limit) {
            Some(front) => front,
            None => {
                let (sort, asking) = (request.sort, browser.clone());
                let (generation, page) = market
                    .read(move |reader| {
                        Ok((reader.index.generation(), browse::page(reader, &asking, request)?))
                    })
                    .await?;
                app.front_pages.put(generation, sort, limit, FrontPage::of(page, facets_json))
            }
        };
        let owned = snapshot.published_by(browser.member().number().0 as u64);
        let totals = (front.all, owned, &front.facets);
        Ok(assemble(&front.items, front.next_cursor.as_deref(), limit, is_locked, Some(&totals)))
    }

    /// Listings by id
    ///
    /// Summaries of the listings of these ids that are published. An id that is not among the answers is stale: the
    /// listing was withdrawn or never was there.
    #[oai(path = "/listings/browse/by-ids", method = "get", operation_id = "get_listings_by_ids")]
    async fn by_ids(
        &self,
        app: Data<&Arc<App>>,
        access: Access<OpenBrowser>,
        query: Params<ByIdsQuery>,
    ) -> Answer<ListingsByIds> {
        let Params(ByIdsQuery { ids, sort }) = query;
        let items = app.market().read(move |reader| browse::by_ids(reader, &access.0, &ids, sort.0)).await?;
        Ok(Raw::new([b"{\"listings\":[", items.as_slice(), b"]}"].concat()))
    }

    /// A listing
    ///
    /// A published listing, whole: prices, scale, languages, tasksets, delivery and terms. Listings that are not published
    /// are shown to their vendor, and to teams that bought of them.
    #[oai(path = "/listings/browse/:listing_id", method = "get", operation_id = "get_listing")]
    async fn detail(
        &self,
        app: Data<&Arc<App>>,
        access: Access<ListingBrowser>,
        /// The listing's id.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingDetail> {
        let id = listing_id.0;
        let detail = app.market().glance(move |reader| browse::detail(reader, &access.0, id)).await?;
        Ok(Raw::new(detail_json(&app, &detail.rendering, id, detail.may_download)))
    }
}

/// Puts a page together from what is rendered already.
fn assemble<T>(
    items: &[u8],
    next_cursor: Option<&str>,
    limit: u32,
    is_locked: bool,
    totals: Option<&(u64, u64, T)>,
) -> Raw<BrowsePage>
where
    T: AsRef<[u8]>,
{
    let facets = totals.map_or(&b"null"[..], |(_, _, facets)| facets.as_ref());
    let counts = match totals {
        Some((all, owned, _)) => format!("{{\"all\":{all},\"owned\":{owned}}}"),
        None => "null".to_owned(),
    };
    // Behind the gate no further page is served, so none is offered. A cursor has no character that JSON escapes.
    let next = match next_cursor.filter(|_| !is_locked) {
        Some(cursor) => format!("\"{cursor}\""),
        None => "null".to_owned(),
    };
    let mut json = Vec::with_capacity(items.len() + facets.len() + 512);
    json.extend_from_slice(b"{\"items\":[");
    json.extend_from_slice(items);
    json.extend_from_slice(format!("],\"limit\":{limit},\"counts\":{counts},\"facets\":").as_bytes());
    json.extend_from_slice(facets);
    json.extend_from_slice(format!(",\"locked\":{is_locked},\"next_cursor\":{next}}}").as_bytes());
    Raw::new(json)
}

fn facets_json(facets: &Facets) -> Vec<u8> {
    let facets: BTreeMap<&str, &BTreeMap<String, u64>> = facets.iter().collect();
    serde_json::to_vec(&facets).expect("facets are JSON")
}
