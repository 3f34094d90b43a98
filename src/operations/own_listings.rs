//! A vendor's own listings as tables and pages show them. Their changes are in `listing_lifecycle` and `listing_edits`.

use std::sync::Arc;

use marketplace_index::Facets;
use uuid::Uuid;

use super::{
    access::Vendor,
    listing_lifecycle::{self, Obstacles},
    listing_quality::{self, Certificate},
    listings::{self, FoundListings, PageRequest},
    reviews,
};
use crate::{
    domain::{inventory::Asset, listings::ReviewStatus, money::Cents},
    error::Result,
    market::Reader,
    store::{
        self,
        listing_history::HistoryEvent,
        listing_quality::EvidenceCheck,
        listings::ListingRow,
        own_listings::{OwnListing, OwnListingFacts},
        reviews::Review,
    },
};

/// Number of assets on the page of a listing.
const MAX_ASSETS: usize = 20;

/// A page of a vendor's own listings.
#[derive(Clone, Debug)]
pub struct OwnListings {
    /// The listings, in the requested order.
    pub listings: Vec<OwnListing>,
    /// Number of matching listings over all pages.
    pub total: u64,
    /// Number of listings per facet value, over all of the team's listings or those that match the search text.
    pub facets: Arc<Facets>,
    /// Sum of the prices of the published listings among those that the facets count.
    pub listed_value: Cents,
}

/// Returns a page of the team's own listings, of those with one of these states of review unless there are none.
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    mut request: PageRequest,
    reviews: &[ReviewStatus],
) -> Result<OwnListings> {
    listings::restrict_to_reviews(reader, vendor, reviews, &mut request.filters)?;
    let FoundListings { listings, total, facets, listed_value } =
        listings::find_page(reader, vendor, request)?;
    Ok(OwnListings {
        listings: store::own_listings::list(reader.rows, &listings)?,
        total,
        facets,
        listed_value,
    })
}

/// One of a vendor's own listings with all that its page shows.
#[derive(Clone, Debug)]
pub struct OwnListingPage {
    /// The listing.
    pub listing: ListingRow,
    /// Its fields, times, and sales.
    pub facts: OwnListingFacts,
    /// What it lacks before it can be offered.
    pub obstacles: Obstacles,
    /// Its first assets.
    pub assets: Vec<Asset>,
    /// Number of its assets.
    pub asset_count: u64,
    /// Its certification, with the latest completed run.
    pub certificate: Certificate,
    /// The checks of the latest completed run, as buyers see them.
    pub checks: Vec<EvidenceCheck>,
    /// Its history, newest event first.
    pub history: Vec<HistoryEvent>,
    /// Rounds of its review, newest first.
    pub reviews: Vec<Review>,
}

/// Returns one of the team's own listings with all that its page shows.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<OwnListingPage> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    let row_id = listing.row_id;
    let mut certificates = listing_quality::certificates(reader, &[row_id])?;
    Ok(OwnListingPage {
        facts: store::own_listings::find_facts(reader.rows, row_id)?,
        obstacles: listing_lifecycle::find_obstacles(reader, vendor, id)?,
        assets: store::listing_assets::list_first(reader.rows, row_id, MAX_ASSETS)?,
        asset_count: store::listings::asset_count(reader.rows, row_id)? as u64,
        certificate: certificates.remove(&row_id).unwrap_or_default(),
        checks: store::listing_quality::list_evidence(reader.rows, row_id)?,
        history: store::listing_history::list(reader.rows, row_id)?,
        reviews: reviews::list(reader, vendor, id)?,
        listing,
    })
}

/// Returns one of the team's own listings, and what it lacks before it can be offered.
pub fn get_with_obstacles(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(ListingRow, Obstacles)> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    Ok((listing, listing_lifecycle::find_obstacles(reader, vendor, id)?))
}
