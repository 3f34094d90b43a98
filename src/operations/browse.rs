//! Browsing of the catalog: pages of summaries, summaries by ID, and the details of one listing.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::ControlFlow,
    sync::Arc,
};

use marketplace_index::{Facets, Filters, Position, Scope, Search, Sort, Start, cursor};
use uuid::Uuid;

use super::{
    access::{CatalogViewer, FullCatalogViewer, ListingViewer, ListingVisibility},
    bundles::{self, TeamBundle},
    cursor_order,
};
use crate::{
    domain::{browse::SortOrder, listings::ListingRowId, teams::TeamRowId, time::Timestamp},
    error::{Error, Result},
    market::Reader,
    search,
    store::{self, renderings::Rendering},
};

/// Maximum number of publications of a listing that are returned, the newest.
const MAX_PUBLICATIONS: usize = 10;

/// Parameters of a page of the catalog.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// Search text; blank for no text search.
    pub text: String,
    /// Filters that all listings must match.
    pub filters: Filters,
    /// Whether to return only the caller's own listings.
    pub owned: bool,
    /// Sort order.
    pub sort: SortOrder,
    /// Maximum number of listings.
    pub limit: usize,
    /// Cursor from the previous page; `None` for the first page.
    pub cursor: Option<String>,
    /// Form of the cursors of the request and of its page.
    pub cursor_form: CursorForm,
    /// Number of listings to skip; 0 with a cursor.
    pub skip: u64,
}

/// Form of cursors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorForm {
    /// Valid whatever happens to the listings of a page.
    Full,
    /// Short enough for language models to copy. Invalid once the last listing of its page has been unpublished, or
    /// has moved in the sort order otherwise.
    Short,
}

impl PageRequest {
    /// Whether this is the first page without search text and filters, which every team may see.
    pub fn is_plain_first_page(&self) -> bool {
        self.cursor.is_none() && self.skip == 0 && self.is_unfiltered()
    }

    /// Whether all published listings match.
    pub fn is_unfiltered(&self) -> bool {
        !self.owned && self.filters.is_empty() && marketplace_index::is_blank(&self.text)
    }
}

/// A page of the catalog, with its listings as `T`.
#[derive(Clone, Debug)]
pub struct CatalogPage<T> {
    /// The listings, in the requested order.
    pub listings: T,
    /// Cursor of the next page; `None` on the last page.
    pub next_cursor: Option<String>,
    /// Totals over all pages. Only on the first page.
    pub totals: Option<Totals>,
}

/// Totals over all pages.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Number of matching listings.
    pub total: u64,
    /// Number of matching listings that belong to the caller.
    pub owned: u64,
    /// Number of matching listings per facet value.
    pub facets: Arc<Facets>,
}

/// Returns a page of the catalog: the summaries as JSON objects, separated by commas.
///
/// Costs one search of the index, and one row read per summary. A later page may also read which listings
/// have changed since the first one.
pub fn search_page(
    reader: &Reader,
    viewer: &CatalogViewer,
    request: PageRequest,
) -> Result<CatalogPage<Vec<u8>>> {
    let CatalogPage { listings, next_cursor, totals } = search_listings(reader, viewer, request)?;
    let mut summaries = Vec::with_capacity(1024 * listings.len());
    store::renderings::append_summaries(reader.rows, listings, &mut summaries)?;
    Ok(CatalogPage { listings: summaries, next_cursor, totals })
}

/// Returns the row IDs of the listings of a page of the catalog. Costs what [`search_page`] does, except for the summaries.
pub fn search_listings(
    reader: &Reader,
    viewer: &CatalogViewer,
    request: PageRequest,
) -> Result<CatalogPage<Vec<ListingRowId>>> {
    let (cursor, form) = (request.cursor.clone(), request.cursor_form);
    let sort = request.sort;
    let mut search = index_search(viewer, request)?;
    if let Some(cursor) = &cursor {
        set_start(reader, &mut search, sort, cursor, form)?;
    }
    let results = reader.index.search(&search)?;
    let encode = |next: Position| match form {
        CursorForm::Full => cursor::encode(reader.cursor_key, &next, &search),
        CursorForm::Short => cursor::encode_short(reader.cursor_key, &next, &search),
    };
    Ok(CatalogPage {
        listings: results.listings.iter().copied().map(search::listing_row_id).collect(),
        next_cursor: results.next.map(encode),
        totals: results.totals.map(|totals| Totals {
            total: totals.all,
            owned: totals.owned,
            facets: totals.facets,
        }),
    })
}

/// Returns the names of the `max` vendors with the most listings that a request matches, with the numbers of these, and the
/// number of all such vendors. Visits every match. Ignores the page of the request.
pub fn count_by_vendor(
    reader: &Reader,
    viewer: &CatalogViewer,
    request: PageRequest,
    max: usize,
) -> Result<(Vec<(String, u64)>, u64)> {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    reader.index.for_each_match(&index_search(viewer, request)?, |found| {
        *counts.entry(found.team()).or_default() += 1;
        ControlFlow::Continue(())
    })?;
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(team, count)| (Reverse(*count), *team));
    let vendors = counts.len() as u64;
    counts.truncate(max);
    let named = |(team, count)| {
        let team = store::teams::find_by_row_id(reader.rows, TeamRowId(team as i64))?;
        Ok((team.name, count))
    };
    Ok((counts.into_iter().map(named).collect::<Result<_>>()?, vendors))
}

/// Returns the stored renderings of listings that the caller may see.
pub fn renderings(reader: &Reader, listings: &[ListingRowId]) -> Result<Vec<Rendering>> {
    store::renderings::list(reader.rows, listings)
}

/// Returns the stored rendering of a listing; `None` if the team may not see it.
pub fn find_rendering(reader: &Reader, viewer: &CatalogViewer, id: Uuid) -> Result<Option<Rendering>> {
    let Some(rendering) = store::renderings::find(reader.rows, id)? else { return Ok(None) };
    let visibility = ListingVisibility {
        row_id: rendering.listing,
        vendor: rendering.team,
        catalog_status: rendering.catalog_status,
    };
    Ok(viewer.can_view(reader, &visibility)?.then_some(rendering))
}

/// Returns the search of the index for the first page of a request. Fails if the catalog is locked for the team, unless
/// it requests the first page of the unfiltered catalog.
pub(super) fn index_search(viewer: &CatalogViewer, request: PageRequest) -> Result<Search> {
    if !request.is_plain_first_page() {
        viewer.require_open()?;
    }
    let team = viewer.member().team_row_id().0 as u64;
    let mut filters = request.filters;
    if request.owned {
        filters.team = Some(team);
    }
    // A query without words filters nothing, so its pages and cursors are the same as without a query.
    let text = if marketplace_index::is_blank(&request.text) { String::new() } else { request.text };
    Ok(Search {
        scope: Scope::Market,
        text,
        filters,
        sort: to_index_sort(request.sort),
        start: if request.skip == 0 { Start::First } else { Start::Offset(request.skip) },
        ordered_as: BTreeMap::new(),
        limit: request.limit,
        viewer: Some(team),
        totals: request.cursor.is_none() && request.skip == 0,
    })
}

/// Lets a search start after the position of a cursor.
fn set_start(
    reader: &Reader,
    search: &mut Search,
    sort: SortOrder,
    cursor: &str,
    form: CursorForm,
) -> Result<()> {
    let position = match form {
        CursorForm::Full => {
            let position =
                cursor::decode(reader.cursor_key, cursor, search).map_err(|_| Error::InvalidCursor)?;
            search.ordered_as = cursor_order::sort_values_of_first_page(reader, sort, position.as_of())?;
            position
        }
        CursorForm::Short => {
            let short =
                cursor::decode_short(reader.cursor_key, cursor, search).map_err(|_| Error::InvalidCursor)?;
            search.ordered_as = cursor_order::sort_values_of_first_page(reader, sort, short.as_of)?;
            reader.index.position_of(&short, search)?.ok_or(Error::InvalidCursor)?
        }
    };
    search.start = Start::After(position);
    Ok(())
}

/// Converts a sort order to the type of the index crate, which does not depend on this crate.
pub(super) const fn to_index_sort(sort: SortOrder) -> Sort {
    match sort {
        SortOrder::Recommended => Sort::Recommended,
        SortOrder::Recent => Sort::Recent,
        SortOrder::PriceLow => Sort::PriceLow,
        SortOrder::PriceHigh => Sort::PriceHigh,
    }
}

/// Returns the summaries of the published listings among `ids`, in browse order, separated by commas. Other
/// IDs are ignored.
pub fn summaries_by_ids(
    reader: &Reader,
    _: &FullCatalogViewer,
    ids: &[Uuid],
    sort: SortOrder,
) -> Result<Vec<u8>> {
    let mut items = Vec::with_capacity(1024 * ids.len());
    store::renderings::append_published_summaries(reader.rows, ids, sort, &mut items)?;
    Ok(items)
}

/// Returns the stored rendering of a listing as the catalog shows it, and the bundle that the caller can download.
pub fn get_detail(
    reader: &Reader,
    viewer: &ListingViewer,
    id: Uuid,
) -> Result<(Rendering, Option<TeamBundle>)> {
    let viewer = viewer.for_listing(id)?;
    let rendering = find_rendering(reader, viewer, id)?.ok_or_else(|| Error::not_found("listing"))?;
    let team = viewer.member().team();
    let bundle = bundles::find_for_team(reader, team, rendering.listing, rendering.team)?;
    Ok((rendering, bundle))
}

/// Returns the latest times at which a listing was published, newest first.
pub fn publications(reader: &Reader, viewer: &ListingViewer, id: Uuid) -> Result<Vec<Timestamp>> {
    let listing = find_visible(reader, viewer, id)?;
    store::listing_history::list_publications(reader.rows, listing.row_id, MAX_PUBLICATIONS)
}

/// Returns those of these assets of a listing of which the market has no data, so that only their descriptions can be downloaded.
pub fn without_data(
    reader: &Reader,
    viewer: &ListingViewer,
    id: Uuid,
    assets: &[Uuid],
) -> Result<BTreeSet<Uuid>> {
    let listing = find_visible(reader, viewer, id)?;
    store::listing_assets::list_without_data(reader.rows, listing.row_id, assets)
}

/// Returns the listing with this ID, if the browse routes show it to the caller.
pub(super) fn find_visible(
    reader: &Reader,
    viewer: &ListingViewer,
    id: Uuid,
) -> Result<store::listings::ListingRow> {
    let viewer = viewer.for_listing(id)?;
    let listing = store::listings::find(reader.rows, id)?.ok_or_else(|| Error::not_found("listing"))?;
    let visibility = ListingVisibility {
        row_id: listing.row_id,
        vendor: listing.team,
        catalog_status: listing.status.catalog,
    };
    if viewer.can_view(reader, &visibility)? { Ok(listing) } else { Err(Error::not_found("listing")) }
}
