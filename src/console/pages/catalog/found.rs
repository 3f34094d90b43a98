//! The data of a page of the catalog: listings, numbers, and names.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::Facets;

use super::{names::Names, state::State};
use crate::{
    console::{parts::listing_view::ListingView, prelude::*},
    domain::listings::ListingRowId,
    operations::{
        access::{AuthenticatedTeam, CatalogViewer},
        browse::{self, Totals},
        listing_quality::{self, Certificate},
    },
};

/// Maximum number of chosen filters for which an empty page shows the number of matches without the filter.
const MAX_DROPS: usize = 5;

/// What a page shows.
pub struct Found {
    /// The listings.
    pub listings: Vec<ListingView>,
    /// Their certifications.
    pub certificates: BTreeMap<ListingRowId, Certificate>,
    /// The position of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// Number of listings that match.
    pub total: u64,
    /// Number of these that belong to the team.
    pub owned: u64,
    /// Number of listings with each label that match the search text.
    pub facets: Arc<Facets>,
    /// Number of listings with each label in the whole catalog.
    pub market_facets: Arc<Facets>,
    /// Names of labels.
    pub names: Names,
    /// Number of listings that match without each of the first chosen filters, if none match with all.
    pub drops: Vec<u64>,
}

/// Reads the data of a page for a team for which the catalog is not locked.
pub fn find(
    reader: &Reader,
    team: &AuthenticatedTeam,
    viewer: &CatalogViewer,
    state: &State,
) -> Result<Found> {
    let page = browse::search_listings(reader, viewer, state.request())?;
    // Only first pages have totals.
    let totals = match page.totals {
        Some(totals) => totals,
        None => totals(reader, viewer, state)?,
    };
    let renderings = browse::renderings(reader, &page.listings)?;
    let market_facets = reader.index.market_facets()?;
    Ok(Found {
        listings: renderings.iter().map(ListingView::full).collect::<Result<_>>()?,
        certificates: listing_quality::certificates(reader, &page.listings)?,
        next_cursor: page.next_cursor,
        drops: if totals.total == 0 { count_drops(reader, viewer, state)? } else { Vec::new() },
        names: Names::read(reader, team, viewer.member(), (&market_facets, &state.query))?,
        total: totals.total,
        owned: totals.owned,
        facets: totals.facets,
        market_facets,
    })
}

fn totals(reader: &Reader, viewer: &CatalogViewer, state: &State) -> Result<Totals> {
    let found = browse::search_listings(reader, viewer, state.count_request())?;
    found.totals.ok_or_else(|| Error::internal("a first page without totals"))
}

/// Returns the number of listings that match without each of the first chosen filters.
fn count_drops(reader: &Reader, viewer: &CatalogViewer, state: &State) -> Result<Vec<u64>> {
    let chips = state.chips(&Names::default());
    let without = chips.iter().take(MAX_DROPS).map(|chip| State::of(&chip.without));
    without.map(|state| Ok(totals(reader, viewer, &state)?.total)).collect()
}
