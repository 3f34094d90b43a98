//! A vendor's own listings: pages, details, and history. Their assets are in `listing_assets`.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::{Facets, Filters, Scope, Search, Start};
use uuid::Uuid;

use super::{
    access::{Buyer, Platform, Vendor},
    browse,
    bundles::{self, TeamBundle},
};
use crate::{
    domain::{
        browse::SortOrder,
        listings::{CatalogStatus, LifecycleStage, ListingRowId, ReviewStatus, WorkspaceView},
        money::Cents,
    },
    error::{Error, Result},
    market::Reader,
    search,
    store::{
        self, listing_history::HistoryEvent, listings::ListingRow, purchases::PurchaseLevel,
        renderings::Rendering,
    },
    string_enum::StringEnum,
};

/// Returns the listing with this ID, of any team.
pub fn find(rows: &store::Reader, _platform: Platform, id: Uuid) -> Result<ListingRow> {
    store::listings::find(rows, id)?.ok_or_else(|| Error::not_found("listing"))
}

/// Returns the listing with this ID if it belongs to the team.
pub fn find_own(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<ListingRow> {
    let found = store::listings::find(rows, id)?.filter(|listing| listing.team == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("listing"))
}

/// Returns a listing that a team may buy or bid on: one in the catalog that is not its own. One that is not in
/// the catalog does not exist for a team that may not see it.
pub fn find_on_sale(rows: &store::Reader, buyer: &Buyer, id: Uuid) -> Result<ListingRow> {
    buyer.check_is_current()?;
    let team = buyer.team_row_id();
    let listing = store::listings::find(rows, id)?.ok_or_else(|| Error::not_found("listing"))?;
    if listing.team == team {
        let message = "The listing is the team's own. A team cannot buy or bid on its own listings.";
        return Err(Error::Conflict(message.to_owned()));
    }
    if listing.status.catalog == CatalogStatus::Published {
        return Ok(listing);
    }
    if store::purchases::purchase_level(rows, team, listing.row_id)? == PurchaseLevel::Nothing {
        return Err(Error::not_found("listing"));
    }
    let message = "The listing is not in the catalog now, so you can neither buy it nor bid on it.";
    Err(Error::Conflict(message.to_owned()))
}

/// Parameters of a page of own listings.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// Search text; blank for no text search.
    pub text: String,
    /// Filters that all listings must match.
    pub filters: Filters,
    /// The workspace view, which selects listings by stage.
    pub view: WorkspaceView,
    /// Stages to include; empty for all stages of the view.
    pub stages: Vec<LifecycleStage>,
    /// Sort order.
    pub sort: SortOrder,
    /// Maximum number of listings.
    pub limit: usize,
    /// Number of listings to skip.
    pub offset: u64,
}

/// A page of a vendor's own listings, each as `T`.
#[derive(Clone, Debug)]
pub struct FoundListings<T> {
    /// The listings, in the requested order.
    pub listings: Vec<T>,
    /// Number of matching listings over all pages.
    pub total: u64,
    /// Number of listings per facet value, over all of the team's listings or those that match the search
    /// text.
    pub facets: Arc<Facets>,
    /// Sum of the prices of the published listings among those that the facets count.
    pub listed_value: Cents,
}

/// Returns a page of the team's own listings: the summaries as JSON objects, in the same form as in the catalog.
pub fn page(reader: &Reader, vendor: &Vendor, request: PageRequest) -> Result<FoundListings<Vec<u8>>> {
    find_page(reader, vendor, request, |reader, ids| store::renderings::list_summaries(reader.rows, ids))
}

/// Returns a page of the team's own listings, as `read` returns them in the given order.
pub fn find_page<T>(
    reader: &Reader,
    vendor: &Vendor,
    request: PageRequest,
    read: impl FnOnce(&Reader, &[ListingRowId]) -> Result<Vec<T>>,
) -> Result<FoundListings<T>> {
    let search = index_search(vendor, request);
    let results = reader.index.search(&search)?;
    let totals = results.totals.ok_or_else(|| Error::internal("the search returned no totals"))?;
    Ok(FoundListings {
        listings: read(reader, &row_ids(&results.listings))?,
        total: totals.all,
        facets: totals.facets,
        listed_value: listed_value(reader, vendor, search)?,
    })
}

/// Returns the search of the index for a page of the team's own listings.
pub(super) fn index_search(vendor: &Vendor, request: PageRequest) -> Search {
    let team = vendor.team_row_id().0 as u64;
    let mut filters = request.filters;
    let in_view = |stage: &LifecycleStage| request.stages.is_empty() || request.stages.contains(stage);
    let stages: Vec<LifecycleStage> = request.view.stages().iter().copied().filter(in_view).collect();
    if stages.is_empty() {
        // The view and the stages exclude each other. An empty set of tiers matches no listing.
        filters.vendor_tiers = Some(Vec::new());
    } else if stages.len() < LifecycleStage::ALL.len() {
        filters.stages = stages.into_iter().map(search::index_stage).collect();
    }
    Search {
        scope: Scope::Team(team),
        text: request.text,
        filters,
        sort: browse::to_index_sort(request.sort),
        start: Start::Offset(request.offset),
        ordered_as: BTreeMap::new(),
        limit: request.limit,
        viewer: Some(team),
        totals: true,
    }
}

/// Restricts filters to the team's own listings with one of these states of review, unless there are none.
pub fn restrict_to_reviews(
    reader: &Reader,
    vendor: &Vendor,
    statuses: &[ReviewStatus],
    filters: &mut Filters,
) -> Result<()> {
    if !statuses.is_empty() {
        let listings = store::listings::list_with_reviews(reader.rows, vendor.team_row_id(), statuses)?;
        filters.listings = Some(Arc::new(listings.into_iter().map(|listing| listing.0 as u64).collect()));
    }
    Ok(())
}

/// Returns the sum of the prices of the team's published listings, or of those that match the search text.
fn listed_value(reader: &Reader, vendor: &Vendor, search: Search) -> Result<Cents> {
    if marketplace_index::is_blank(&search.text) {
        return store::listings::published_total_price(reader.rows, vendor.team_row_id());
    }
    let published = reader.index.active_count(vendor.team_row_id().0 as u64)?;
    let filters = Filters { stages: vec![search::index_stage(LifecycleStage::Active)], ..Filters::default() };
    let matching =
        Search { filters, start: Start::First, limit: published as usize, totals: false, ..search };
    store::listings::total_price(reader.rows, &row_ids(&reader.index.search(&matching)?.listings))
}

fn row_ids(listings: &[u64]) -> Vec<ListingRowId> {
    listings.iter().copied().map(search::listing_row_id).collect()
}

/// Returns the details of one of the team's own listings, and what would be delivered of it.
pub fn get_detail(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(Rendering, Option<TeamBundle>)> {
    let found = store::renderings::find(reader.rows, id)?.filter(|found| found.team == vendor.team_row_id());
    let rendering = found.ok_or_else(|| Error::not_found("listing"))?;
    let bundle = bundles::find_for_team(reader, vendor.team(), rendering.listing, rendering.team)?;
    Ok((rendering, bundle))
}

/// Returns the history of one of the team's own listings, newest event first.
pub fn get_history(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Vec<HistoryEvent>> {
    let listing = find_own(reader.rows, vendor, id)?;
    store::listing_history::list(reader.rows, listing.row_id)
}
