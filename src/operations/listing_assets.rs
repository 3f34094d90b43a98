//! The assets of a vendor's own listings: which ones a listing has, attaching, and detaching.

use uuid::Uuid;

use super::{
    access::Vendor,
    assets::{self, Deprecations},
    exclusivity, listing_changes, listings,
    references::Groups,
};
use crate::{
    domain::{
        asset_filters::AssetCondition,
        assets::Kind,
        inventory::Asset,
        listing_lifecycle::{ListingState, Operation},
        listings::{Actor, AttachSkip},
        problems::Problems,
    },
    error::{Error, LocSegment, Problem, Result},
    market::{CheckContext, Writer},
    store::{
        self,
        inventory::Query,
        listing_assets::{AttachCounts, Candidates},
        listings::ListingRow,
    },
    string_enum::StringEnum,
};

/// Maximum number of a listing's assets in one response. The others can be read from the inventory.
const MAX_SHOWN_ASSETS: usize = 1_000;

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
pub fn list(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<AttachedAssets> {
    let listing = listings::find_own(rows, vendor, id)?;
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
    let listing = problems.if_available(listings::find_own(context.rows, vendor, id))?;
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
pub fn attach(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
    matches: Vec<AssetSelector>,
) -> Result<AttachResult> {
    attach_candidates(writer, vendor, actor, listing, ids, matches, true)
}

/// Attaches assets of any kind to a listing, all or none. Every asset must be listable.
pub fn attach_all(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
) -> Result<()> {
    let result = attach_candidates(writer, vendor, actor, listing, ids, Vec::new(), false)?;
    let problem = |(reason, count): &(AttachSkip, u64)| {
        let why = match reason {
            AttachSkip::NotFound => "do not exist or belong to another team",
            AttachSkip::AlreadyAttached => "are already attached",
            AttachSkip::Deprecated => "are of a kind that accepts no new listings",
            AttachSkip::NotListable => "are incomplete; add what they lack first",
        };
        Problem::body(&["asset_ids"], "value_error", format!("Of the assets, {count} {why}."))
    };
    if result.skipped.is_empty() {
        return Ok(());
    }
    Err(Error::Invalid(result.skipped.iter().map(problem).collect()))
}

/// Attaches assets of any kind, or only codebases with linked data.
fn attach_candidates(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
    matches: Vec<AssetSelector>,
    only_linked_codebases: bool,
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
    let counts = candidates.attach(vendor.team_row_id(), listing.row_id, &closed, only_linked_codebases)?;
    if counts.attached > 0 {
        if listing.is_exclusive {
            exclusivity::check_listing(writer.rows, listing, true)?;
        }
        listing_changes::record(writer, listing, change, actor, None)?;
    }
    let skipped = skip_counts(distinct.len() as u64 - found, counts);
    let assets = list(writer.rows, vendor, listing.id)?;
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
pub fn detach(writer: &mut Writer, vendor: &Vendor, actor: Actor, id: Uuid, asset: Uuid) -> Result<()> {
    let listing = listings::find_own(writer.rows, vendor, id)?;
    let asset = assets::find(writer.rows, vendor, asset, None)?;
    if !store::listing_assets::is_attached(writer.rows, listing.row_id, asset.row_id)? {
        return Err(Error::not_found("asset on this listing"));
    }
    listing_changes::perform(writer, &listing, Operation::Detach, actor, |writer| {
        store::listing_assets::detach(writer.rows, listing.row_id, asset.row_id)
    })?;
    Ok(())
}

/// Repeats a recorded change of a listing's assets. The listing must have the assets of the end of the
/// recording already, since a recording does not say which ones changed.
pub fn replay_change(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    operation: Operation,
) -> Result<ListingState> {
    let listing = listings::find_own(writer.rows, vendor, id)?;
    listing_changes::perform(writer, &listing, operation, actor, |_| Ok(()))
}
