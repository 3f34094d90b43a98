//! A vendor's inventory: pages of assets, single assets, and what all kinds of assets have in common.
//! `asset_changes` changes their fields.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{access::Vendor, asset_events, listing_changes};
use crate::{
    domain::{
        assets::Kind,
        collections::Collection,
        events::EventData,
        inventory::Asset,
        listing_lifecycle::Operation,
        listings::{Actor, LifecycleStage, ListingStatus},
        row_ids::{AssetRowId, GroupRowId},
        taxonomy::Retirement,
    },
    error::{Error, NameList, Result, StateCode, name_of},
    market::{CheckContext, Reader, Writer},
    store::{
        self,
        groups::Group,
        inventory::{AttachableTo, GroupCount, Query},
        listings::ListingRow,
        quality_runs::RunSummary,
    },
    string_enum::StringEnum,
};

/// Announced retirements of asset kinds.
pub type Deprecations = BTreeMap<Kind, Retirement>;

/// The filter of a list of assets.
#[derive(Clone, Debug)]
pub struct AssetFilter {
    /// Conditions and sort order.
    pub query: Query,
    /// If set, only assets of deprecated kinds (`true`) or of other kinds (`false`).
    pub deprecated: Option<bool>,
    /// If set, only assets that can be attached to this listing are counted as attachable.
    pub attachable_to: Option<Uuid>,
}

/// Number of matching assets, by group.
#[derive(Clone, Debug)]
pub struct GroupCounts {
    /// All groups of the team with the counts of matching assets, including groups without any: the default
    /// group first, then by name.
    pub groups: Vec<(Group, GroupCount)>,
}

/// A page of assets.
#[derive(Clone, Debug)]
pub struct AssetPage {
    /// The assets of the page.
    pub items: Vec<Asset>,
    /// Counts over all pages.
    pub counts: GroupCounts,
    /// Deprecations of asset kinds, which are part of how an asset is shown.
    pub deprecations: Deprecations,
}

impl GroupCounts {
    /// Returns the total number of assets.
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|(_, count)| count.total).sum()
    }

    /// Returns the number of assets in the group with this ID; 0 if there is no such group.
    pub fn of_group(&self, id: Uuid) -> u64 {
        self.groups.iter().find(|(group, _)| group.id == id).map_or(0, |(_, count)| count.total)
    }

    /// Returns the number of assets by kind. Kinds without assets are absent.
    pub fn by_kind(&self) -> BTreeMap<Kind, u64> {
        let mut kinds = BTreeMap::new();
        for (kind, count) in self.groups.iter().flat_map(|(_, count)| &count.kinds) {
            *kinds.entry(*kind).or_default() += count;
        }
        kinds
    }
}

impl AssetFilter {
    /// Resolves the `deprecated` filter to a filter of asset kinds.
    pub(super) fn resolve_kinds(&mut self, deprecations: &Deprecations) {
        self.query.kinds = filter_kinds(self.query.kinds.take(), self.deprecated, deprecations);
    }

    fn count_by_group(&self, rows: &store::Reader, deprecations: &Deprecations) -> Result<GroupCounts> {
        let to = match self.attachable_to {
            None => AttachableTo::Any,
            Some(id) => match store::listings::find(rows, id)? {
                Some(listing) if listing.team == self.query.team && listing.status.is_editable() => {
                    AttachableTo::Listing(listing.row_id)
                }
                _ => AttachableTo::None,
            },
        };
        let mut counts = store::inventory::count_by_group(
            rows,
            &self.query,
            to,
            accepts_new_listings(deprecations, Kind::Codebase),
        )?;
        let groups = store::groups::list(rows, self.query.team)?;
        let count = |group: Group| {
            let count = counts.remove(&group.row_id).unwrap_or_default();
            (group, count)
        };
        Ok(GroupCounts { groups: groups.into_iter().map(count).collect() })
    }
}

/// Filters asset kinds by whether they are deprecated.
pub fn filter_kinds(
    kinds: Option<Vec<Kind>>,
    deprecated: Option<bool>,
    deprecations: &Deprecations,
) -> Option<Vec<Kind>> {
    let Some(is_deprecated) = deprecated else { return kinds };
    let kinds = kinds.unwrap_or_else(|| Kind::ALL.to_vec());
    Some(kinds.into_iter().filter(|kind| deprecations.contains_key(kind) == is_deprecated).collect())
}

/// Whether assets of this kind may still be attached to listings.
pub fn accepts_new_listings(deprecations: &Deprecations, kind: Kind) -> bool {
    deprecations.get(&kind).is_none_or(|retirement| retirement.announced.accepts_new_listings)
}

/// Returns a page of the team's assets, with counts of all matching assets.
pub fn page(
    reader: &Reader,
    _: &Vendor,
    filter: AssetFilter,
    limit: usize,
    offset: u64,
) -> Result<AssetPage> {
    let counted = filter.query.group;
    page_with_counts(reader, filter, counted, (limit, offset))
}

/// Returns a page of the team's assets in a group, or in all groups, with the counts of all groups: the group does not restrict
/// these.
pub fn page_beside_groups(
    reader: &Reader,
    _: &Vendor,
    filter: AssetFilter,
    limit: usize,
    offset: u64,
) -> Result<AssetPage> {
    page_with_counts(reader, filter, None, (limit, offset))
}

/// Returns a page with the counts of the group `counted`, or of all groups.
fn page_with_counts(
    reader: &Reader,
    mut filter: AssetFilter,
    counted: Option<Uuid>,
    (limit, offset): (usize, u64),
) -> Result<AssetPage> {
    let deprecations = store::taxonomy::deprecations(reader.rows)?;
    filter.resolve_kinds(&deprecations);
    let group = std::mem::replace(&mut filter.query.group, counted);
    let counts = filter.count_by_group(reader.rows, &deprecations)?;
    filter.query.group = group;
    let items = if group.map_or_else(|| counts.total(), |id| counts.of_group(id)) > offset {
        store::inventory::list_page(reader.rows, &filter.query, None, limit, offset)?
    } else {
        Vec::new()
    };
    Ok(AssetPage { items, counts, deprecations })
}

/// Returns the row IDs of all of the team's assets that match a filter, in its order.
pub fn matching_row_ids(reader: &Reader, _: &Vendor, mut filter: AssetFilter) -> Result<Vec<AssetRowId>> {
    filter.resolve_kinds(&store::taxonomy::deprecations(reader.rows)?);
    store::inventory::list_row_ids(reader.rows, &filter.query)
}

/// Returns the team's assets with these row IDs in their order, without those that are deleted.
pub fn list_by_row_ids(reader: &Reader, vendor: &Vendor, row_ids: &[AssetRowId]) -> Result<Vec<Asset>> {
    store::assets::list_own(reader.rows, vendor.team_row_id(), row_ids)
}

/// Returns the team's groups with the number of their assets.
pub fn count_by_group(reader: &Reader, vendor: &Vendor) -> Result<GroupCounts> {
    let query = Query::new(vendor.team_row_id());
    let all = AssetFilter { query, deprecated: None, attachable_to: None };
    all.count_by_group(reader.rows, &store::taxonomy::deprecations(reader.rows)?)
}

/// Returns the number of the team's assets that match a query.
pub fn count(reader: &Reader, _: &Vendor, query: &Query) -> Result<u64> {
    let counts = store::inventory::count_by_group(reader.rows, query, AttachableTo::None, false)?;
    Ok(counts.values().map(|count| count.total).sum())
}

/// Returns the SHA-256 digest of the upload that is linked to one of the team's assets; `None` if none is.
pub fn archive_digest(reader: &Reader, _: &Vendor, asset: &Asset) -> Result<Option<String>> {
    store::uploads::find_digest_of_asset(reader.rows, asset.row_id)
}

/// Returns the latest quality run of each of these assets of the team that has one, without completed runs of other data.
pub fn latest_runs(
    reader: &Reader,
    _: &Vendor,
    assets: &[AssetRowId],
) -> Result<BTreeMap<AssetRowId, RunSummary>> {
    store::quality_runs::summaries_of_assets(reader.rows, assets)
}

/// The bounds of a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowBounds {
    /// Maximum number of assets.
    pub max_assets: usize,
    /// Maximum number of groups.
    pub max_groups: usize,
    /// ID of the group after which the window starts; `None` for the first group.
    pub after_group: Option<Uuid>,
    /// Whether to include groups without a matching asset.
    pub include_empty_groups: bool,
}

/// A window of the grouped list: some groups, and the first assets in them.
#[derive(Clone, Debug)]
pub struct AssetWindow {
    /// The assets, and the counts of all matching assets.
    pub page: AssetPage,
    /// Indices of the groups of the window in the counted groups.
    pub group_indices: Vec<usize>,
    /// Number of groups after the window.
    pub remaining_groups: usize,
}

/// Returns a window of the team's assets. Assets are taken group by group, in the order of the groups, until
/// the limit is reached. If the group in `after` does not exist, the window is empty.
pub fn window(
    reader: &Reader,
    _: &Vendor,
    mut filter: AssetFilter,
    bounds: WindowBounds,
) -> Result<AssetWindow> {
    let deprecations = store::taxonomy::deprecations(reader.rows)?;
    filter.resolve_kinds(&deprecations);
    let counts = filter.count_by_group(reader.rows, &deprecations)?;
    let start = match bounds.after_group {
        None => 0,
        Some(id) => {
            let after = counts.groups.iter().position(|(group, _)| group.id == id);
            after.map_or(counts.groups.len(), |index| index + 1)
        }
    };
    let is_included = |index: &usize| bounds.include_empty_groups || counts.groups[*index].1.total > 0;
    let mut group_indices: Vec<usize> = (start..counts.groups.len()).filter(is_included).collect();
    let remaining_groups = group_indices.len().saturating_sub(bounds.max_groups);
    group_indices.truncate(bounds.max_groups);
    // Only groups with an asset in the window are read.
    let (mut remaining_assets, mut groups_to_read) = (bounds.max_assets as u64, Vec::new());
    for index in &group_indices {
        let (group, count) = &counts.groups[*index];
        if remaining_assets > 0 && count.total > 0 {
            groups_to_read.push(group.row_id);
        }
        remaining_assets = remaining_assets.saturating_sub(count.total);
    }
    let items = if groups_to_read.is_empty() {
        Vec::new()
    } else {
        store::inventory::list_page(reader.rows, &filter.query, Some(&groups_to_read), bounds.max_assets, 0)?
    };
    Ok(AssetWindow { page: AssetPage { items, counts, deprecations }, group_indices, remaining_groups })
}

/// Returns the team's asset with this ID. If a kind is given, the asset must be of this kind.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid, kind: Option<Kind>) -> Result<Asset> {
    let found = store::assets::find_own(rows, vendor.team_row_id(), id)?;
    let has_kind = |asset: &Asset| kind.is_none_or(|kind| asset.kind == kind);
    let what = kind.map_or("asset", StringEnum::as_str).replace('_', " ");
    found.filter(has_kind).ok_or_else(|| Error::not_found(what))
}

/// Returns the team's asset with this ID, with the deprecations that responses about assets include.
pub fn get_with_deprecations(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(Asset, Deprecations)> {
    Ok((find(reader.rows, vendor, id, None)?, store::taxonomy::deprecations(reader.rows)?))
}

/// Moves an asset to a group.
pub fn move_to_group(
    writer: &mut Writer,
    vendor: &Vendor,
    group: Uuid,
    asset: Uuid,
) -> Result<(Asset, Deprecations)> {
    let group = super::groups::find(writer.rows, vendor, group)?;
    let mut asset = find(writer.rows, vendor, asset, None)?;
    if asset.group.0 != group.row_id {
        asset.group = (group.row_id, group.id);
        store::assets::update(writer.rows, &asset)?;
        asset_events::changed(writer, asset.stage(), &asset, EventData::AssetUpdated)?;
    }
    Ok((asset, store::taxonomy::deprecations(writer.rows)?))
}

/// Returns a new, empty asset in this group. It is not stored yet.
pub fn new_asset(context: &CheckContext, vendor: &Vendor, kind: Kind, group: (GroupRowId, Uuid)) -> Asset {
    let (id, team, created_at) = (context.new_id(Collection::Assets), vendor.team_row_id(), context.now);
    Asset { id, team, group, created_at, ..Asset::empty(kind) }
}

/// Whether a listing in this state is in review or in the catalog, so that its assets can neither be deleted nor lose their data.
pub const fn keeps_assets(status: ListingStatus) -> bool {
    matches!(status.stage(), LifecycleStage::Review | LifecycleStage::Active)
}

/// Fails if the asset is on a listing that is in review or in the catalog: such an asset must not change.
pub fn check_not_in_use(rows: &store::Reader, asset: &Asset) -> Result<()> {
    let is_fixed = |listing: &ListingRow| keeps_assets(listing.status);
    let listings = store::listings::listings_with_asset(rows, asset.row_id)?;
    let fixed = listings.iter().filter(|listing| is_fixed(listing));
    let fixed: NameList = fixed.map(|listing| name_of(&listing.title, listing.id)).collect();
    if fixed.is_empty() {
        return Ok(());
    }
    let message = format!(
        "The asset is on listings that are in review or published: {fixed}. Withdraw them, or take them out of the \
         catalog first."
    );
    Err(Error::InvalidState(StateCode::AssetInUse, message))
}

/// Deletes an asset. Its data must be detached.
pub fn delete(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<()> {
    let asset = find(writer.rows, vendor, id, Some(kind))?;
    delete_silently(writer, &asset)?;
    asset_events::changed(writer, asset.stage(), &asset, EventData::AssetDeleted)
}

/// Like [`delete`], without the event, for an operation with its own event.
pub(super) fn delete_silently(writer: &mut Writer, asset: &Asset) -> Result<()> {
    if asset.data.is_some() {
        let message = "The asset has linked data. Detach the data first, with `DELETE .../data`.";
        return Err(Error::InvalidState(StateCode::DataAttached, message.to_owned()));
    }
    check_not_in_use(writer.rows, asset)?;
    for listing in store::listings::listings_with_asset(writer.rows, asset.row_id)? {
        let change = listing_changes::check(&listing, Operation::DeleteAsset)?;
        listing_changes::record(writer, &listing, change, Actor::Team, None)?;
    }
    store::assets::delete(writer.rows, asset, writer.now)
}
