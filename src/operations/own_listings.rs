//! A vendor's own listings as tables and pages show them. Their changes are in `listing_lifecycle` and `listing_edits`.

use uuid::Uuid;

use super::{
    access::Vendor,
    listing_lifecycle::{self, Obstacles},
    listing_quality::{self, Certificate},
    listings::{self, FoundListings, PageRequest},
    notifications, quality_runs, reviews,
    samples::{self, SampleContent},
    selections,
};
use crate::{
    domain::{
        inventory::Asset,
        listings::{ListingRowId, ReviewStatus},
        money::Cents,
    },
    error::Result,
    market::{CheckContext, Reader},
    store::{
        self,
        listing_history::HistoryEvent,
        listing_quality::EvidenceCheck,
        listings::ListingRow,
        notifications::Notification,
        own_listings::{OwnListing, OwnListingFacts},
        quality_runs::RunRow,
        reviews::Review,
    },
};

/// Number of assets on the page of a listing.
const MAX_ASSETS: usize = 20;

/// Number of notifications on the page of a listing, and of its quality runs that they can be about.
const MAX_NOTIFICATIONS: u32 = 10;

/// Returns a page of the team's own listings, of those with one of these states of review unless there are none.
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    mut request: PageRequest,
    reviews: &[ReviewStatus],
) -> Result<FoundListings<OwnListing>> {
    listings::restrict_to_reviews(reader, vendor, reviews, &mut request.filters)?;
    let read = |reader: &Reader, ids: &[ListingRowId]| store::own_listings::list(reader.rows, ids);
    listings::find_page(reader, vendor, request, read)
}

/// One of a vendor's own listings with all that its page shows.
#[derive(Clone, Debug)]
pub struct OwnListingPage {
    /// The listing.
    pub listing: ListingRow,
    /// Its fields, times, and sales.
    pub facts: OwnListingFacts,
    /// Labels of its domains.
    pub domains: Vec<String>,
    /// Labels of its inventory tags.
    pub tags: Vec<String>,
    /// What it lacks before it can be offered.
    pub obstacles: Obstacles,
    /// Its first assets.
    pub assets: Vec<Asset>,
    /// Number of its assets.
    pub asset_count: u64,
    /// What all its assets cost if a buyer selects them one by one; `None` if that is not possible.
    pub price_of_all: Option<Cents>,
    /// Its certification, with the latest completed run.
    pub certificate: Certificate,
    /// The checks of the latest completed run, as buyers see them.
    pub checks: Vec<EvidenceCheck>,
    /// Its history, newest event first.
    pub history: Vec<HistoryEvent>,
    /// Rounds of its review, newest first.
    pub reviews: Vec<Review>,
    /// Whether there is an approval that its changes can be compared with.
    pub has_approval: bool,
    /// What its sample has.
    pub sample: Vec<SampleContent>,
    /// Its latest run, whatever became of it.
    pub latest_run: Option<RunRow>,
    /// What a run costs now.
    pub run_price: Cents,
    /// The credits of the team.
    pub credits: Cents,
    /// The newest notifications about it and its quality runs.
    pub notifications: Vec<Notification>,
}

/// Returns one of the team's own listings with all that its page shows.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<OwnListingPage> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    let row_id = listing.row_id;
    let mut certificates = listing_quality::certificates(reader, &[row_id])?;
    let mut about = store::quality_runs::ids_of_listing(reader.rows, row_id, MAX_NOTIFICATIONS)?;
    about.push(id);
    let facts = store::own_listings::find_facts(reader.rows, row_id)?;
    let domains = store::taxonomy::domains(reader.rows)?;
    let tags = store::taxonomy::inventory_tags(reader.rows)?;
    Ok(OwnListingPage {
        domains: labels(&facts.fields.domain_tags, &domains, |domain| (&domain.slug, &domain.label)),
        tags: labels(&facts.fields.tag_slugs, &tags, |tag| (&tag.slug, &tag.label)),
        obstacles: listing_lifecycle::find_obstacles(reader.rows, vendor, id)?,
        assets: store::listing_assets::list_first(reader.rows, row_id, MAX_ASSETS)?,
        asset_count: store::listings::asset_count(reader.rows, row_id)? as u64,
        price_of_all: selections::price_of_all(reader.rows, &listing)?,
        certificate: certificates.remove(&row_id).unwrap_or_default(),
        checks: store::listing_quality::list_evidence(reader.rows, row_id)?,
        history: store::listing_history::list(reader.rows, row_id)?,
        reviews: reviews::list(reader, vendor, id)?,
        has_approval: reviews::has_approval(reader.rows, row_id)?,
        sample: samples::contents(reader, vendor, &facts.fields.sample)?,
        latest_run: store::quality_runs::find_latest_of_listing(reader.rows, row_id)?,
        run_price: quality_runs::price(reader.settings),
        credits: store::wallet::balances(reader.rows, vendor.team_row_id())?.credits,
        facts,
        notifications: notifications::list_about(reader, vendor, &about, MAX_NOTIFICATIONS as usize)?,
        listing,
    })
}

/// Returns the labels of slugs, or the slugs that the market no longer has.
fn labels<T>(slugs: &[String], known: &[T], names: impl Fn(&T) -> (&String, &String)) -> Vec<String> {
    let label = |slug: &String| {
        let found = known.iter().map(&names).find(|(known, _)| *known == slug);
        found.map_or(slug, |(_, label)| label).clone()
    };
    slugs.iter().map(label).collect()
}

/// One of a vendor's own listings with what a page says before a step of it.
#[derive(Clone, Debug)]
pub struct StepFacts {
    /// The listing.
    pub listing: ListingRow,
    /// What it lacks before it can be offered.
    pub obstacles: Obstacles,
    /// What a quality run costs, such as that of a submission.
    pub run_price: Cents,
    /// The credits of the team.
    pub credits: Cents,
    /// What all its assets cost if a buyer selects them one by one; `None` if that is not possible.
    pub price_of_all: Option<Cents>,
}

/// Returns one of the team's own listings with what a page says before a step of it.
pub fn find_for_step(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<StepFacts> {
    let listing = listings::find_own(context.rows, vendor, id)?;
    Ok(StepFacts {
        price_of_all: selections::price_of_all(context.rows, &listing)?,
        listing,
        obstacles: listing_lifecycle::find_obstacles(context.rows, vendor, id)?,
        run_price: quality_runs::price(context.settings),
        credits: store::wallet::balances(context.rows, vendor.team_row_id())?.credits,
    })
}
