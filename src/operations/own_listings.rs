//! A vendor's own listings: pages of them, their lives, and the assets that stand on them.

use std::sync::Arc;

use marketplace_index::{Facets, Filters, Scope, Search, Start};
use uuid::Uuid;

use super::{
    access::Vendor,
    assets::{self, Deprecations},
    browse, groups, listings,
};
use crate::{
    domain::{
        asset_filters::Condition,
        assets::Kind,
        browse::SortOrder,
        inventory::Asset,
        listings::{AttachSkip, Event, LifecycleStage, WorkspaceView},
        money::Cents,
        vocabulary::Vocabulary,
    },
    error::{Code, Error, Result, Step},
    market::{Reader, Writer},
    search,
    store::{
        self,
        inventory::Query,
        listing_assets::{Attached, Candidates},
        listings::{HistoryEvent, ListingRow},
        renderings::Rendering,
    },
};

/// Assets of a listing that one answer shows at most; the rest is read from the inventory.
pub const SHOWN_ASSETS: usize = 1_000;

/// What a page is asked for.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// Words to find; blank for none.
    pub text: String,
    /// What listings must have.
    pub filters: Filters,
    /// The slice of the team's listings.
    pub view: WorkspaceView,
    /// Their stages, any of them; empty for any.
    pub stages: Vec<LifecycleStage>,
    /// Their order.
    pub sort: SortOrder,
    /// How many.
    pub limit: usize,
    /// Listings to pass over.
    pub offset: u64,
}

/// A page of a vendor's own listings.
#[derive(Clone, Debug)]
pub struct Page {
    /// The summaries' JSON, as the catalog has them.
    pub items: Vec<Vec<u8>>,
    /// Listings that match.
    pub all: u64,
    /// Values to counts: of all the team's listings, or of those that match the words.
    pub facets: Arc<Facets>,
    /// What the published ones of those cost together.
    pub listed_value: Cents,
}

/// A page of the team's own listings.
pub fn page(reader: &Reader, vendor: &Vendor, request: PageRequest) -> Result<Page> {
    let team = vendor.number().0 as u64;
    let mut filters = request.filters;
    let in_view = |stage: &LifecycleStage| request.stages.is_empty() || request.stages.contains(stage);
    let stages: Vec<LifecycleStage> = request.view.stages().iter().copied().filter(in_view).collect();
    if stages.is_empty() {
        // The view and the stages exclude each other; tiers of which there are none match nothing.
        filters.vendor_tiers = Some(Vec::new());
    } else if stages.len() < LifecycleStage::ALL.len() {
        filters.stages = stages.into_iter().map(search::stage).collect();
    }
    let search = Search {
        scope: Scope::Team(team),
        text: request.text,
        filters,
        sort: browse::index_sort(request.sort),
        start: Start::Offset(request.offset),
        limit: request.limit,
        viewer: Some(team),
        totals: true,
    };
    let answer = reader.index.search(&search)?;
    let totals = answer.totals.ok_or_else(|| Error::internal("the index was asked for totals"))?;
    Ok(Page {
        items: store::renderings::items(reader.rows, &answer.listings)?,
        all: totals.all,
        facets: totals.facets,
        listed_value: listed_value(reader, vendor, search)?,
    })
}

/// What the team's published listings cost together, or those of them that match the words.
fn listed_value(reader: &Reader, vendor: &Vendor, search: Search) -> Result<Cents> {
    if marketplace_index::is_blank(&search.text) {
        return store::listings::published_value(reader.rows, vendor.number());
    }
    let published = reader.index.published_by(vendor.number().0 as u64);
    let filters = Filters { stages: vec![search::stage(LifecycleStage::Active)], ..Filters::default() };
    let matching =
        Search { filters, start: Start::First, limit: published as usize, totals: false, ..search };
    store::listings::value(reader.rows, &reader.index.search(&matching)?.listings)
}

/// One of the team's own listings, whole.
pub fn detail(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Rendering> {
    let found = store::renderings::find(reader.rows, id)?.filter(|found| found.team == vendor.number());
    found.ok_or_else(|| Error::not_found("listing"))
}

/// What happened to one of the team's own listings, newest first.
pub fn history(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Vec<HistoryEvent>> {
    let listing = listings::own(reader.rows, vendor, id)?;
    store::listings::history(reader.rows, listing.number)
}

/// The assets of a listing: the first of them, and how many there are.
#[derive(Clone, Debug)]
pub struct Assets {
    /// The first of them, in the order in which they were attached.
    pub first: Vec<Asset>,
    /// How many there are.
    pub total: usize,
    /// Retirements, for what is shown of assets.
    pub deprecations: Deprecations,
}

/// The assets of one of the team's own listings.
pub fn assets(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Assets> {
    let listing = listings::own(rows, vendor, id)?;
    Ok(Assets {
        first: store::listing_assets::first(rows, listing.number, SHOWN_ASSETS)?,
        total: store::listings::asset_count(rows, listing.number)?,
        deprecations: store::taxonomy::deprecations(rows)?,
    })
}

/// Assets that are meant by what they have in common.
#[derive(Clone, Debug)]
pub struct Match {
    /// Only assets of kinds whose retirement was announced, or only others.
    pub deprecated: Option<bool>,
    /// Assets that are not meant.
    pub exclude_ids: Vec<Uuid>,
    /// Conditions, all of which hold.
    pub conditions: Vec<Condition>,
    /// The folder that they are in.
    pub group_id: Option<Uuid>,
    /// Their kinds; any where there is nothing.
    pub kinds: Option<Vec<Kind>>,
}

/// What attaching did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The listing's assets afterwards.
    pub assets: Assets,
    /// Assets that were added.
    pub attached: u64,
    /// Assets that were passed over, by reason, in the order of the reasons.
    pub skipped: Vec<(AttachSkip, u64)>,
}

/// Attaches assets to a listing: those of these ids, and all that match. Everything happens in the database, so that their
/// number does not matter.
pub fn attach(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    ids: &[Uuid],
    matches: Vec<Match>,
) -> Result<Outcome> {
    let listing = editable(writer, vendor, id)?;
    let deprecations = store::taxonomy::deprecations(writer.rows)?;
    let candidates = Candidates::none(writer.rows)?;
    let mut distinct = ids.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let found = candidates.add(vendor.number(), &distinct)?;
    let mut problems = Vec::new();
    for (index, one) in matches.into_iter().enumerate() {
        let way = [Step::Name("matches".to_owned()), Step::Index(index)];
        if let Some(group) = one.group_id
            && let Err(problem) = groups::referred(writer.rows, vendor.number(), group)?
        {
            problems.push(problem.within(&way));
            continue;
        }
        let query = Query {
            kinds: assets::narrowed(one.kinds, one.deprecated, &deprecations),
            group: one.group_id,
            conditions: one.conditions,
            ..Query::all(vendor.number())
        };
        candidates.add_matches(&query, &one.exclude_ids)?;
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    let closed: Vec<Kind> =
        Kind::ALL.iter().copied().filter(|kind| !assets::takes_new_listings(&deprecations, *kind)).collect();
    let done = candidates.attach(vendor.number(), listing.number, &closed)?;
    if done.added > 0 {
        listings::assets_changed(writer, &listing, Event::AssetAttached)?;
    }
    let skipped = skipped(distinct.len() as u64 - found, done);
    Ok(Outcome { assets: assets(writer.rows, vendor, id)?, attached: done.added, skipped })
}

/// Reasons that hold of any asset, in their order.
fn skipped(not_found: u64, done: Attached) -> Vec<(AttachSkip, u64)> {
    let counts = [
        (AttachSkip::NotFound, not_found),
        (AttachSkip::AlreadyAttached, done.already),
        (AttachSkip::Deprecated, done.deprecated),
        (AttachSkip::NotListable, done.not_listable),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Takes an asset off a listing.
pub fn detach(writer: &mut Writer, vendor: &Vendor, id: Uuid, asset: Uuid) -> Result<()> {
    let listing = listings::own(writer.rows, vendor, id)?;
    let asset = assets::find(writer.rows, vendor, asset, None)?;
    if !store::listing_assets::stands_on(writer.rows, listing.number, asset.number)? {
        return Err(Error::not_found("asset on the listing"));
    }
    check_editable(&listing)?;
    store::listing_assets::detach(writer.rows, listing.number, asset.number)?;
    listings::assets_changed(writer, &listing, Event::AssetDetached)
}

fn editable(writer: &Writer, vendor: &Vendor, id: Uuid) -> Result<ListingRow> {
    let listing = listings::own(writer.rows, vendor, id)?;
    check_editable(&listing)?;
    Ok(listing)
}

fn check_editable(listing: &ListingRow) -> Result<()> {
    if listing.status.takes_assets() {
        return Ok(());
    }
    let stage = listing.status.stage().word();
    let what = format!("The listing is {stage}, and its assets change only while it is draft or ready.");
    Err(Error::State(Code::ListingNotEditable, what))
}
