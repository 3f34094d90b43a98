//! The assets of a vendor's own listings: which ones a listing has, attaching, and detaching.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{
    access::Vendor,
    assets::{self, Deprecations},
    exclusivity,
    listing_changes::{self, AllowedChange},
    listings,
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
        row_ids::AssetRowId,
    },
    error::{Error, LocSegment, MAX_NAMED, NameList, Problem, Result, name_of},
    market::{CheckContext, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        inventory::Query,
        listing_assets::{AttachCounts, Candidates, Target},
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

/// Attaches to a listing the assets with these IDs, and all codebases with linked data that match one of the filters. The work
/// happens inside the database, so any number of assets can be attached.
pub fn attach(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
    matches: Vec<AssetSelector>,
) -> Result<AttachResult> {
    let change = listing_changes::check(listing, Operation::Attach)?;
    let (rows, team) = (writer.rows, vendor.team_row_id());
    let deprecations = store::taxonomy::deprecations(rows)?;
    let candidates = Candidates::new(rows)?;
    let ids: BTreeSet<Uuid> = ids.iter().copied().collect();
    let found = candidates.add_ids(team, &ids)?;
    for selector in matches {
        let query = Query {
            kinds: assets::filter_kinds(selector.kinds, selector.deprecated, &deprecations),
            group: selector.group_id,
            conditions: selector.conditions,
            ..Query::new(team)
        };
        candidates.add_matches(&query, &selector.exclude_ids)?;
    }
    let target = target(listing, &deprecations, true);
    let counts = attach_candidates(writer, actor, (listing, change), &candidates, &target)?;
    let skipped = skip_counts(ids.len() as u64 - found, counts);
    let assets = list(writer.rows, vendor, listing.id)?;
    Ok(AttachResult { assets, attached: counts.attached, skipped })
}

/// Attaches assets to a listing, all or none. Fails with the names of those that cannot be attached, and why. With
/// `only_linked_codebases`, only codebases with linked data can be attached.
pub fn attach_all(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    listing: &ListingRow,
    ids: &[Uuid],
    only_linked_codebases: bool,
) -> Result<()> {
    let change = listing_changes::check(listing, Operation::Attach)?;
    let (rows, team) = (writer.rows, vendor.team_row_id());
    let candidates = Candidates::new(rows)?;
    let ids: BTreeSet<Uuid> = ids.iter().copied().collect();
    candidates.add_ids(team, &ids)?;
    let target = target(listing, &store::taxonomy::deprecations(rows)?, only_linked_codebases);
    let absent = candidates.absent_ids(team, &ids)?;
    check_refusals(rows, &absent, &candidates.list_refused(&target)?)?;
    attach_candidates(writer, actor, (listing, change), &candidates, &target).map(drop)
}

/// Fails if any asset cannot be attached, with a problem for each reason that names the assets.
fn check_refusals(
    rows: &store::Reader,
    absent: &NameList,
    refused: &[(AttachSkip, AssetRowId)],
) -> Result<()> {
    let mut problems = Problems::default();
    for reason in AttachSkip::ALL {
        let (named, what) = match reason {
            AttachSkip::NotFound => (absent.clone(), "do not exist, or belong to another team"),
            AttachSkip::AlreadyAttached => {
                (name_refused(rows, refused, *reason)?, "are on the listing already")
            }
            AttachSkip::Deprecated => {
                (name_refused(rows, refused, *reason)?, "are of kinds that accept no new listings")
            }
            AttachSkip::NotListable => {
                (name_refused(rows, refused, *reason)?, "cannot be listed yet. Add what they lack first")
            }
        };
        if !named.is_empty() {
            let rule = format!("These assets {what}: {named}.");
            problems.push(Problem::body(&["asset_ids"], "value_error", rule));
        }
    }
    problems.into_result()
}

/// Names the assets that were refused for a reason. For assets that cannot be listed, the name includes the missing fields.
fn name_refused(
    rows: &store::Reader,
    refused: &[(AttachSkip, AssetRowId)],
    reason: AttachSkip,
) -> Result<NameList> {
    let of_reason: Vec<AssetRowId> =
        refused.iter().filter(|(found, _)| *found == reason).map(|(_, row_id)| *row_id).collect();
    let (first, others) = of_reason.split_at(of_reason.len().min(MAX_NAMED));
    let mut named = NameList::default();
    for row_id in first {
        let asset = store::assets::find_by_row_id(rows, *row_id)?
            .ok_or_else(|| Error::internal("a candidate disappeared in its own transaction"))?;
        let name = name_of(&asset.title, asset.id);
        named.add(|| if reason == AttachSkip::NotListable { name + &what_it_lacks(&asset) } else { name });
    }
    named.add_unnamed(others.len() as u64);
    Ok(named)
}

/// Returns why an asset cannot be attached as a codebase with linked data, as the end of a clause.
fn what_it_lacks(asset: &Asset) -> String {
    let missing: Vec<&str> = asset.missing_fields().into_iter().map(StringEnum::as_str).collect();
    if !missing.is_empty() {
        format!(" lacks {}", missing.join(", "))
    } else if asset.kind == Kind::Codebase {
        " has no linked data".to_owned()
    } else {
        " is not a codebase".to_owned()
    }
}

/// Returns what assets are attached to. With `only_linked_codebases`, only codebases with linked data can be attached.
pub(super) fn target(
    listing: &ListingRow,
    deprecations: &Deprecations,
    only_linked_codebases: bool,
) -> Target {
    let kinds = Kind::ALL.iter().copied();
    let closed_kinds = kinds.filter(|kind| !assets::accepts_new_listings(deprecations, *kind)).collect();
    Target { team: listing.team, listing: listing.row_id, closed_kinds, only_linked_codebases }
}

/// Attaches the candidates that can be attached, and records the change of the listing.
pub(super) fn attach_candidates(
    writer: &mut Writer,
    actor: Actor,
    (listing, change): (&ListingRow, AllowedChange),
    candidates: &Candidates,
    target: &Target,
) -> Result<AttachCounts> {
    let counts = candidates.attach(target)?;
    if counts.attached > 0 {
        if listing.is_exclusive {
            exclusivity::check_listing(writer.rows, listing, true)?;
        }
        listing_changes::record(writer, listing, change, actor, None)?;
    }
    Ok(counts)
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
