//! Browsing the catalog: pages of summaries, summaries by id, and one listing whole.

use std::sync::Arc;

use marketplace_index::{Facets, Filters, Scope, Search, Sort, Start, cursor};
use uuid::Uuid;

use super::access::{Browser, ListingBrowser, OpenBrowser, Seen};
use crate::{
    domain::browse::SortOrder,
    error::{Error, Result},
    market::Reader,
    store::{self, deals::Bought, renderings::Rendering},
};

/// What a page is asked for.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// Words to find; blank for none.
    pub text: String,
    /// What listings must have.
    pub filters: Filters,
    /// Whether only the caller's own listings are wanted.
    pub owned: bool,
    /// Their order.
    pub sort: SortOrder,
    /// How many.
    pub limit: usize,
    /// The cursor of the previous page; absent on the first.
    pub cursor: Option<String>,
}

impl PageRequest {
    /// Whether this is the first page of everything: what a team in front of the gate may see.
    pub fn is_bare(&self) -> bool {
        self.cursor.is_none() && self.is_unfiltered()
    }

    /// Whether every published listing matches.
    pub fn is_unfiltered(&self) -> bool {
        !self.owned && self.filters.is_empty() && marketplace_index::is_blank(&self.text)
    }
}

/// A page of summaries.
#[derive(Clone, Debug)]
pub struct Page {
    /// The summaries' JSON, separated by commas.
    pub items: Vec<u8>,
    /// The cursor of the next page, where there is one.
    pub next_cursor: Option<String>,
    /// What only the first page says.
    pub totals: Option<Totals>,
}

/// What the first page says of all pages.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Listings that match.
    pub all: u64,
    /// The caller's own among them.
    pub owned: u64,
    /// Values to counts.
    pub facets: Arc<Facets>,
}

/// A page of the catalog.
///
/// One search of the index, and one row read for each summary.
pub fn page(reader: &Reader, browser: &Browser, request: PageRequest) -> Result<Page> {
    if !request.is_bare() {
        browser.open()?;
    }
    let viewer = browser.member().number().0 as u64;
    let mut filters = request.filters;
    if request.owned {
        filters.team = Some(viewer);
    }
    let mut search = Search {
        scope: Scope::Market,
        text: request.text,
        filters,
        sort: index_sort(request.sort),
        start: Start::First,
        limit: request.limit,
        viewer: Some(viewer),
        totals: request.cursor.is_none(),
    };
    if let Some(cursor) = &request.cursor {
        let position =
            cursor::decode(reader.cursor_key, cursor, &search).map_err(|_| Error::InvalidCursor)?;
        search.start = Start::After(position);
    }
    let answer = reader.index.search(&search)?;
    let mut items = Vec::with_capacity(1024 * answer.listings.len());
    store::renderings::append_items(reader.rows, answer.listings.iter().copied(), &mut items)?;
    Ok(Page {
        items,
        next_cursor: answer.next.map(|next| cursor::encode(reader.cursor_key, &next, &search)),
        totals: answer.totals.map(|totals| Totals {
            all: totals.all,
            owned: totals.owned,
            facets: totals.facets,
        }),
    })
}

/// The index's word for an order. It has its own, since it knows nothing of this crate.
pub(super) const fn index_sort(sort: SortOrder) -> Sort {
    match sort {
        SortOrder::Recommended => Sort::Recommended,
        SortOrder::Recent => Sort::Recent,
        SortOrder::PriceLow => Sort::PriceLow,
        SortOrder::PriceHigh => Sort::PriceHigh,
    }
}

/// Summaries of the published listings among `ids`, in browse order, separated by commas. Ids that are stale are left out.
pub fn by_ids(reader: &Reader, _: &OpenBrowser, ids: &[Uuid], sort: SortOrder) -> Result<Vec<u8>> {
    let mut items = Vec::with_capacity(1024 * ids.len());
    store::renderings::append_published(reader.rows, ids, sort, &mut items)?;
    Ok(items)
}

/// One listing, whole.
#[derive(Debug)]
pub struct Detail {
    /// What is rendered of it.
    pub rendering: Rendering,
    /// Whether the caller may download its bundle: its owner, and teams that bought all of it.
    pub may_download: bool,
}

/// One listing as the catalog shows it.
pub fn detail(reader: &Reader, browser: &ListingBrowser, id: Uuid) -> Result<Detail> {
    let browser = browser.at(id)?;
    let rendering = store::renderings::find(reader.rows, id)?.ok_or_else(|| Error::not_found("listing"))?;
    let me = browser.member().number();
    let bought = store::deals::bought(reader.rows, me, rendering.listing)?;
    let seen =
        Seen { number: rendering.listing, team: rendering.team, catalog_status: rendering.catalog_status };
    if !browser.may_see(reader, &seen)? {
        return Err(Error::not_found("listing"));
    }
    Ok(Detail { may_download: rendering.team == me || bought == Bought::Everything, rendering })
}

/// The listing of this id, if the browse routes show it to the caller.
pub(super) fn visible(
    reader: &Reader,
    browser: &ListingBrowser,
    id: Uuid,
) -> Result<store::listings::ListingRow> {
    let browser = browser.at(id)?;
    let listing = store::listings::find(reader.rows, id)?.ok_or_else(|| Error::not_found("listing"))?;
    let seen = Seen { number: listing.number, team: listing.team, catalog_status: listing.status.catalog };
    if browser.may_see(reader, &seen)? { Ok(listing) } else { Err(Error::not_found("listing")) }
}
