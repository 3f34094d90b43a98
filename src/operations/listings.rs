//! A vendor's own listings: pages, details, history, and attached assets.

use std::{collections::BTreeMap, sync::Arc};

use marketplace_index::{Facets, Filters, Scope, Search, Start};
use uuid::Uuid;

use super::{
    access::Vendor,
    assets::{self, Deprecations},
    browse, listing_changes,
    references::Groups,
};
use crate::{
    domain::{
        asset_filters::AssetCondition,
        assets::Kind,
        browse::SortOrder,
        inventory::Asset,
        listing_lifecycle::{ListingState, Operation},
        listings::{Actor, AttachSkip, LifecycleStage, ListingRowId, WorkspaceView},
        money::Cents,
        problems::Problems,
    },
    error::{Error, LocSegment, Result},
    market::{CheckContext, Reader, Writer},
    search,
    store::{
        self,
        inventory::Query,
        listing_assets::{AttachCounts, Candidates},
        listing_history::HistoryEvent,
        listings::ListingRow,
        renderings::Rendering,
    },
    string_enum::StringEnum,
};

/// Maximum number of a listing's assets in one response. The others can be read from the inventory.
const MAX_SHOWN_ASSETS: usize = 1_000;

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

/// A page of a vendor's own listings.
#[derive(Clone, Debug)]
pub struct OwnListingPage {
    /// The summaries as JSON objects, in the same form as in the catalog.
    pub items: Vec<Vec<u8>>,
    /// Number of matching listings over all pages.
    pub total: u64,
    /// Number of listings per facet value, over all of the team's listings or those that match the search
    /// text.
    pub facets: Arc<Facets>,
    /// Sum of the prices of the published listings among those that the facets count.
    pub listed_value: Cents,
}

/// Returns a page of the team's own listings.
pub fn page(reader: &Reader, vendor: &Vendor, request: PageRequest) -> Result<OwnListingPage> {
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
    let search = Search {
        scope: Scope::Team(team),
        text: request.text,
        filters,
        sort: browse::to_index_sort(request.sort),
        start: Start::Offset(request.offset),
        ordered_as: BTreeMap::new(),
        limit: request.limit,
        viewer: Some(team),
        totals: true,
    };
    let results = reader.index.search(&search)?;
    let totals = results.totals.ok_or_else(|| Error::internal("the search returned no totals"))?;
    Ok(OwnListingPage {
        items: store::renderings::list_summaries(reader.rows, &row_ids(&results.listings))?,
        total: totals.all,
        facets: totals.facets,
        listed_value: listed_value(reader, vendor, search)?,
    })
}

/// Returns the sum of the prices of the team's published listings, or of those that match the search text.
fn listed_value(reader: &Reader, vendor: &Vendor, search: Search) -> Result<Cents> {
    if marketplace_index::is_blank(&search.text) {
        return store::listings::published_total_price(reader.rows, vendor.team_row_id());
    }
    let published = reader.index.active_count(vendor.team_row_id().0 as u64);
    let filters = Filters { stages: vec![search::index_stage(LifecycleStage::Active)], ..Filters::default() };
    let matching =
        Search { filters, start: Start::First, limit: published as usize, totals: false, ..search };
    store::listings::total_price(reader.rows, &row_ids(&reader.index.search(&matching)?.listings))
}

fn row_ids(listings: &[u64]) -> Vec<ListingRowId> {
    listings.iter().copied().map(search::listing_row_id).collect()
}

/// Returns the details of one of the team's own listings.
pub fn get_detail(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Rendering> {
    let found = store::renderings::find(reader.rows, id)?.filter(|found| found.team == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("listing"))
}

/// Returns the history of one of the team's own listings, newest event first.
pub fn get_history(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Vec<HistoryEvent>> {
    let listing = listing_changes::find_own(reader.rows, vendor, id)?;
    store::listing_history::list(reader.rows, listing.row_id)
}

/// The assets of a listing.
#[derive(Clone, Debug)]
pub struct AttachedAssets {
    /// The first assets, in the order in which they were attached.
    pub first: Vec<Asset>,
    /// Total number of assets.
    pub total: usize,
    /// Deprecations of asset kinds, which responses about assets include.
    pub deprecations: Deprecations,
}

/// Returns the assets of one of the team's own listings.
pub fn list_assets(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<AttachedAssets> {
    let listing = listing_changes::find_own(rows, vendor, id)?;
    Ok(AttachedAssets {
        first: store::listing_assets::list_first(rows, listing.row_id, MAX_SHOWN_ASSETS)?,
        total: store::listings::asset_count(rows, listing.row_id)?,
        deprecations: store::taxonomy::deprecations(rows)?,
    })
}

/// A filter that selects assets to attach.
#[derive(Clone, Debug, Default)]
pub struct AssetSelector {
    /// If set, only assets of deprecated kinds (`true`) or of other kinds (`false`).
    pub deprecated: Option<bool>,
    /// IDs of assets to exclude.
    pub exclude_ids: Vec<Uuid>,
    /// Conditions, all of which must hold.
    pub conditions: Vec<AssetCondition>,
    /// ID of the group that the assets are in; `None` for all groups.
    pub group_id: Option<Uuid>,
    /// Kinds of the assets; `None` for all kinds.
    pub kinds: Option<Vec<Kind>>,
}

/// Result of attaching assets.
#[derive(Clone, Debug)]
pub struct AttachResult {
    /// The assets of the listing after the operation.
    pub assets: AttachedAssets,
    /// Number of assets that were attached.
    pub attached: u64,
    /// Number of assets that were skipped, by reason, in the order of the reasons.
    pub skipped: Vec<(AttachSkip, u64)>,
}

/// Returns the listing to attach assets to. Fails with all problems. `problems` has those with the body so
/// far.
pub fn check_attachment(
    context: &CheckContext,
    vendor: &Vendor,
    id: Uuid,
    matches: &[AssetSelector],
    mut problems: Problems,
) -> Result<ListingRow> {
    let listing = problems.if_available(listing_changes::find_own(context.rows, vendor, id))?;
    let groups = Groups::read(context, vendor, matches.iter().filter_map(|selector| selector.group_id))?;
    for (index, selector) in matches.iter().enumerate() {
        if let Some(Err(problem)) = selector.group_id.map(|group| groups.find(group)) {
            let path = [LocSegment::Name("matches".to_owned()), LocSegment::Index(index)];
            problems.push(problem.nested_in(&path));
        }
    }
    problems.into_result_of(listing)
}

/// Attaches assets to a listing: those with these IDs, and all that match one of the filters. The work
/// happens inside the database, so any number of assets can be attached.
pub fn attach_assets(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
    matches: Vec<AssetSelector>,
) -> Result<AttachResult> {
    let change = listing_changes::check(listing, Operation::Attach)?;
    let deprecations = store::taxonomy::deprecations(writer.rows)?;
    let candidates = Candidates::new(writer.rows)?;
    let mut distinct = ids.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let found = candidates.add_ids(vendor.team_row_id(), &distinct)?;
    for selector in matches {
        let query = Query {
            kinds: assets::filter_kinds(selector.kinds, selector.deprecated, &deprecations),
            group: selector.group_id,
            conditions: selector.conditions,
            ..Query::new(vendor.team_row_id())
        };
        candidates.add_matches(&query, &selector.exclude_ids)?;
    }
    let closed: Vec<Kind> = Kind::ALL
        .iter()
        .copied()
        .filter(|kind| !assets::accepts_new_listings(&deprecations, *kind))
        .collect();
    let counts = candidates.attach(vendor.team_row_id(), listing.row_id, &closed)?;
    if counts.attached > 0 {
        listing_changes::record(writer, listing, change, actor, None)?;
    }
    let skipped = skip_counts(distinct.len() as u64 - found, counts);
    let assets = list_assets(writer.rows, vendor, listing.id)?;
    Ok(AttachResult { assets, attached: counts.attached, skipped })
}

/// Returns the reasons for which any asset was skipped, in their order.
fn skip_counts(not_found: u64, done: AttachCounts) -> Vec<(AttachSkip, u64)> {
    let counts = [
        (AttachSkip::NotFound, not_found),
        (AttachSkip::AlreadyAttached, done.already_attached),
        (AttachSkip::Deprecated, done.deprecated),
        (AttachSkip::NotListable, done.not_listable),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Detaches an asset from a listing.
pub fn detach_asset(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid, asset: Uuid) -> Result<()> {
    let listing = listing_changes::find_own(writer.rows, vendor, id)?;
    let asset = assets::find(writer.rows, vendor, asset, None)?;
    if !store::listing_assets::is_attached(writer.rows, listing.row_id, asset.row_id)? {
        return Err(Error::not_found("asset on this listing"));
    }
    listing_changes::perform(writer, &listing, Operation::Detach, actor, |writer, _| {
        store::listing_assets::detach(writer.rows, listing.row_id, asset.row_id)
    })?;
    Ok(())
}

/// Repeats a recorded change of a listing's assets. The listing must have the assets of the end of the
/// recording already, since a recording does not say which ones changed.
pub fn replay_asset_change(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    operation: Operation,
) -> Result<ListingState> {
    let listing = listing_changes::find_own(writer.rows, vendor, id)?;
    listing_changes::perform(writer, &listing, operation, actor, |_, _| Ok(()))
}
