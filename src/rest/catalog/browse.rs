//! The catalog: pages, summaries by id, and details.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::{Bounds, Facets, Filters};
use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use super::front_pages::FrontPage;
use crate::{
    domain::{browse::SortOrder, money},
    market::Reader,
    operations::{
        access::Browser,
        browse::{self, PageRequest},
        bundles,
    },
    rest::{
        App,
        auth::{Access, PageBrowser},
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::listings::{ListingDetail, ListingSummary},
        vocabulary::Word,
    },
};

/// Bytes in a gigabyte, as the filters by zip size mean it.
const GIGABYTE: f64 = 1e9;

/// What a page of the catalog is asked for.
#[derive(Debug, Object)]
pub struct BrowseQuery {
    /// Words to find in titles, descriptions, tags and team names. All words must match; the last also as the beginning of
    /// a word; words in double quotes only as a phrase.
    #[oai(validator(max_length = 10000))]
    query: Option<String>,
    /// Slugs of business fields, any of them.
    #[oai(default)]
    tags: Vec<String>,
    /// Slugs of inventory tags, any of them.
    #[oai(default)]
    tag_slugs: Vec<String>,
    /// Slugs of asset kinds, any of them.
    #[oai(default)]
    asset_types: Vec<String>,
    /// Only the team's own listings.
    #[oai(default)]
    owned: bool,
    /// Only listings that a quality run certified.
    #[oai(default)]
    verified_only: bool,
    /// Least buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    min_price: Option<f64>,
    /// Most buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    max_price: Option<f64>,
    /// Only listings with a bid that waits for the vendor.
    #[oai(default)]
    has_active_bids: bool,
    /// True for listings with a sample, false for those without.
    sample_available: Option<bool>,
    /// Least price of the sample in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    min_sample_price: Option<f64>,
    /// Most price of the sample in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    max_sample_price: Option<f64>,
    /// Least tier of the vendor.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    min_vendor_tier: Option<i64>,
    /// Tiers of the vendor, any of them.
    #[oai(default)]
    vendor_tiers: Vec<i64>,
    /// Least tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasks: Option<i64>,
    /// Most tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasks: Option<i64>,
    /// Least price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    min_price_per_task: Option<f64>,
    /// Most price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    max_price_per_task: Option<f64>,
    /// Least lines of code.
    #[oai(validator(minimum(value = "0")))]
    min_loc: Option<i64>,
    /// Most lines of code.
    #[oai(validator(minimum(value = "0")))]
    max_loc: Option<i64>,
    /// Least files in zips.
    #[oai(validator(minimum(value = "0")))]
    min_zip_files: Option<i64>,
    /// Most files in zips.
    #[oai(validator(minimum(value = "0")))]
    max_zip_files: Option<i64>,
    /// Least size of the zips, in units of 1,000,000,000 bytes.
    #[oai(validator(minimum(value = "0")))]
    min_zip_size_gb: Option<f64>,
    /// Most size of the zips, in units of 1,000,000,000 bytes.
    #[oai(validator(minimum(value = "0")))]
    max_zip_size_gb: Option<f64>,
    /// Least attached codebases.
    #[oai(validator(minimum(value = "0")))]
    min_codebases: Option<i64>,
    /// Most attached codebases.
    #[oai(validator(minimum(value = "0")))]
    max_codebases: Option<i64>,
    /// Least attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasksets: Option<i64>,
    /// Most attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasksets: Option<i64>,
    /// Least attached environments.
    #[oai(validator(minimum(value = "0")))]
    min_environments: Option<i64>,
    /// Most attached environments.
    #[oai(validator(minimum(value = "0")))]
    max_environments: Option<i64>,
    /// Least attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    min_robotics_datasets: Option<i64>,
    /// Most attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    max_robotics_datasets: Option<i64>,
    /// Least attached raw data zips.
    #[oai(validator(minimum(value = "0")))]
    min_raw_data: Option<i64>,
    /// Most attached raw data zips.
    #[oai(validator(minimum(value = "0")))]
    max_raw_data: Option<i64>,
    /// Slugs of languages of the codebases, any of them.
    #[oai(default)]
    languages: Vec<String>,
    /// Only listings whose code is at most 40 % JavaScript, TypeScript and Python by bytes; those without a breakdown never
    /// match.
    #[oai(default)]
    rare_languages_only: bool,
    /// Extensions of files in raw data, lowercase and without the dot, any of them.
    #[oai(default)]
    file_extensions: Vec<String>,
    /// Formats of robotics datasets, any of them: `lerobot_v3`, `lerobot_v2`, `ego_exo` or `other`.
    #[oai(default)]
    robotics_formats: Vec<String>,
    /// What environments offer to an agent, any of it.
    #[oai(default)]
    capabilities: Vec<String>,
    /// The order.
    #[oai(default = "recommended")]
    sort: Word<SortOrder>,
    /// Listings on a page.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// `next_cursor` of the page before; left out for the first page. Query, filters and sort must be the same.
    #[oai(validator(max_length = 512))]
    cursor: Option<String>,
}

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

fn recommended() -> Word<SortOrder> {
    Word(SortOrder::Recommended)
}

fn recent() -> Word<SortOrder> {
    Word(SortOrder::Recent)
}

fn usual_limit() -> u32 {
    24
}

/// How many listings match.
#[derive(Debug, Object, Serialize)]
pub struct Counts {
    /// All of them.
    pub all: u64,
    /// The team's own among them.
    pub owned: u64,
}

/// Values of the catalog with the number of listings that have them: of every published listing, or of every match where a
/// query is set, whatever the filters.
#[derive(Debug, Object, Serialize)]
pub struct FacetCounts {
    /// Slugs of business fields.
    pub tags: BTreeMap<String, u64>,
    /// Asset kinds.
    pub asset_types: BTreeMap<String, u64>,
    /// What environments offer.
    pub capabilities: BTreeMap<String, u64>,
    /// Extensions of files in raw data.
    pub file_extensions: BTreeMap<String, u64>,
    /// Languages of codebases.
    pub languages: BTreeMap<String, u64>,
    /// Stages of life; published listings are `active`.
    pub lifecycle_stages: BTreeMap<String, u64>,
    /// Formats of robotics datasets.
    pub robotics_formats: BTreeMap<String, u64>,
    /// Slugs of inventory tags.
    pub tag_slugs: BTreeMap<String, u64>,
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
                    .read(move |reader| Ok((reader.index.generation(), browse::page(reader, &asking, request)?)))
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
        access: Access<Browser>,
        query: Params<ByIdsQuery>,
    ) -> Answer<ListingsByIds> {
        access.0.open()?;
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
        access: Access<Browser>,
        /// The listing's id.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingDetail> {
        let id = listing_id.0;
        let detail = app.market().glance(move |reader| browse::detail(reader, &access.0, id)).await?;
        let (item, rest) = (&detail.rendering.item, &detail.rendering.rest);
        let base = app.base_url();
        let has_bundle = !rest.ends_with(b"\"bundle_manifest\":{}}");
        let mut json = Vec::with_capacity(item.len() + rest.len() + 512);
        json.extend_from_slice(&item[..item.len() - 1]);
        json.push(b',');
        json.extend_from_slice(&rest[1..rest.len() - 1]);
        json.extend_from_slice(format!(",\"bundle_url\":\"{base}{}\"", bundles::path(id)).as_bytes());
        json.extend_from_slice(b",\"bundle_download_url\":");
        if detail.may_download && has_bundle {
            let (market, now) = (app.market(), app.market().clock().now());
            let path = bundles::signed_path(market.blob_secret(), id, now);
            json.extend_from_slice(format!("\"{base}{path}\"}}").as_bytes());
        } else {
            json.extend_from_slice(b"null}");
        }
        Ok(Raw::new(json))
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

impl BrowseQuery {
    fn into_request(self) -> PageRequest {
        let filters = Filters {
            price: dollars(self.min_price, self.max_price),
            sample_price: dollars(self.min_sample_price, self.max_sample_price),
            price_per_task: dollars(self.min_price_per_task, self.max_price_per_task),
            vendor_tier: whole(self.min_vendor_tier, None),
            tasks: whole(self.min_tasks, self.max_tasks),
            loc: whole(self.min_loc, self.max_loc),
            zip_files: whole(self.min_zip_files, self.max_zip_files),
            zip_bytes: gigabytes(self.min_zip_size_gb, self.max_zip_size_gb),
            codebases: whole(self.min_codebases, self.max_codebases),
            tasksets: whole(self.min_tasksets, self.max_tasksets),
            environments: whole(self.min_environments, self.max_environments),
            robotics_datasets: whole(self.min_robotics_datasets, self.max_robotics_datasets),
            raw_data: whole(self.min_raw_data, self.max_raw_data),
            tags: self.tags,
            tag_slugs: self.tag_slugs,
            asset_types: self.asset_types,
            languages: self.languages,
            file_extensions: self.file_extensions,
            robotics_formats: self.robotics_formats,
            capabilities: self.capabilities,
            certified: self.verified_only,
            active_bids: self.has_active_bids,
            rare_languages: self.rare_languages_only,
            sample_available: self.sample_available,
            vendor_tiers: tiers(&self.vendor_tiers),
            ..Filters::default()
        };
        PageRequest {
            text: self.query.unwrap_or_default(),
            filters,
            owned: self.owned,
            sort: self.sort.0,
            limit: self.limit as usize,
            cursor: self.cursor,
        }
    }
}

/// Tiers below zero are tiers that nobody has.
fn tiers(tiers: &[i64]) -> Option<Vec<u64>> {
    let known = tiers.iter().filter_map(|tier| u64::try_from(*tier).ok()).collect();
    (!tiers.is_empty()).then_some(known)
}

fn whole(min: Option<i64>, max: Option<i64>) -> Bounds {
    let count = |bound: i64| u64::try_from(bound).unwrap_or_default();
    Bounds { min: min.map(count), max: max.map(count) }
}

fn dollars(min: Option<f64>, max: Option<f64>) -> Bounds {
    Bounds {
        min: min.map(|dollars| money::bound_in_cents(dollars, true)),
        max: max.map(|dollars| money::bound_in_cents(dollars, false)),
    }
}

fn gigabytes(min: Option<f64>, max: Option<f64>) -> Bounds {
    // `as` saturates, so a huge bound stays a huge bound.
    Bounds { min: min.map(|size| (size * GIGABYTE).ceil() as u64), max: max.map(|size| (size * GIGABYTE) as u64) }
}
