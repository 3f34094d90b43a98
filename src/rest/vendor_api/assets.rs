//! Assets of all kinds: a page, a window grouped by inventory group, one asset, and moving an asset to a
//! group.

use super::asset_queries::{FilterAndSort, PageFilter, parse_kinds};
use crate::{
    domain::{assets::Kind, stages::Stage, time::Timestamp},
    error::Result,
    operations::assets::{self, AssetFilter, AssetPage, GroupCounts, WindowBounds},
    rest::{
        arguments::filter_entries::{AssetFilterGrammar, AssetFilters, FilterEntry},
        prelude::*,
        route::{Link, MultiTool},
        shapes::{assets::AssetSummary, limit_offset::LimitOffset},
        vendor_api::asset_queries::ASSET_LIST_QUERIES,
    },
};

/// Query parameters that select assets of all kinds.
#[derive(Debug, Object)]
pub struct AssetConditions {
    /// Only assets of this kind. Unknown kinds match nothing.
    sku: Option<String>,
    /// `true` returns only assets of deprecated or retired kinds, `false` only assets of other kinds.
    deprecated: Option<bool>,
    /// Only assets in this stage.
    stage: Option<EnumValue<Stage>>,
    /// ID of a listing of the team. `attachable` then counts assets for this listing; assets already on it do
    /// not count.
    attach_to: Option<Uuid>,
}

impl AssetConditions {
    /// Creates the filter of a list of the team's assets.
    pub fn into_filter<G: AssetFilterGrammar>(
        self,
        vendor: &Vendor,
        selection: FilterAndSort<FilterEntry<G>>,
    ) -> Result<AssetFilter> {
        let mut query = selection.into_query(vendor.team_row_id(), self.stage.map(|stage| stage.0))?;
        query.kinds = parse_kinds(self.sku.as_deref());
        Ok(AssetFilter { query, deprecated: self.deprecated, attachable_to: self.attach_to })
    }
}

/// Query parameters of the list of assets.
#[derive(Debug, Object)]
pub struct AssetsQuery {
    /// Properties of the assets.
    #[oai(flatten)]
    scope: AssetConditions,
    /// IDs, group, limit and offset.
    #[oai(flatten)]
    paging: PageFilter,
    /// Filters and order.
    #[oai(flatten)]
    selection: FilterAndSort<FilterEntry<AssetFilters>>,
}

/// Query parameters of the asset window.
#[derive(Debug, Object)]
pub struct WindowQuery {
    /// Properties of the assets.
    #[oai(flatten)]
    scope: AssetConditions,
    /// Maximum number of assets in the window. Groups are filled in order until it is used up.
    #[oai(default = "default_leaf_budget", validator(minimum(value = "1"), maximum(value = "200")))]
    leaf_budget: u32,
    /// Maximum number of groups in the window.
    #[oai(default = "default_header_budget", validator(minimum(value = "1"), maximum(value = "100")))]
    header_budget: u32,
    /// ID of the last group of the previous window; omit it for the first window.
    after_group_id: Option<Uuid>,
    /// Whether to include groups without a matching asset.
    #[oai(default)]
    include_empty_groups: bool,
    /// Filters and order.
    #[oai(flatten)]
    selection: FilterAndSort<FilterEntry<AssetFilters>>,
}

fn default_leaf_budget() -> u32 {
    50
}

fn default_header_budget() -> u32 {
    10
}

/// Number of matching assets in one group.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "GroupCount")]
pub struct GroupCountOut {
    /// ID of the group.
    pub group_id: Uuid,
    /// Number of matching assets in the group.
    pub total: u64,
    /// Number of matching assets that can be attached to a listing.
    pub attachable: u64,
}

/// Number of matching assets of one kind.
#[derive(Debug, Object, Serialize)]
pub struct SkuCount {
    /// Kind of the assets.
    pub sku: EnumValue<Kind>,
    /// Number of matching assets of the kind.
    pub total: u64,
}

/// A page of a team's assets.
#[derive(Debug, Object, Serialize)]
pub struct Assets {
    /// The assets, in the requested order.
    pub items: Vec<AssetSummary>,
    /// Matches by group, on all pages: the default group first, then by name. Groups without a match are
    /// omitted.
    pub groups: Vec<GroupCountOut>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Matches by kind, on all pages. Kinds without a match are omitted.
    pub skus: Vec<SkuCount>,
    /// Number of assets that match, on all pages.
    pub total: u64,
}

/// A group in an asset window.
#[derive(Debug, Object, Serialize)]
pub struct WindowGroup {
    /// ID of the group.
    pub group_id: Uuid,
    /// Name of the group.
    pub name: String,
    /// Whether this is the team's default group.
    pub is_default: bool,
    /// Number of matching assets in the group, whether in the window or not.
    pub total: u64,
    /// Number of matching assets that can be attached to a listing.
    pub attachable: u64,
}

/// A window over a team's assets: some groups, with the first matching assets in them.
#[derive(Debug, Object, Serialize)]
pub struct AssetWindow {
    /// Assets of the groups in the window, group by group. Read the rest of a group with
    /// `GET /v2/assets?group_id=…&offset=…`.
    pub items: Vec<AssetSummary>,
    /// Matches by group, in all groups: the default group first, then by name. Groups without a match are
    /// omitted.
    pub groups: Vec<GroupCountOut>,
    /// Whether more groups follow this window.
    pub has_more_groups: bool,
    /// The requested `leaf_budget`.
    pub limit: u32,
    /// Always 0; windows continue with `after_group_id`.
    pub offset: i64,
    /// Number of groups that follow this window.
    pub remaining_groups: u64,
    /// Matches by kind, in all groups. Kinds without a match are omitted.
    pub skus: Vec<SkuCount>,
    /// Number of assets that match, in all groups.
    pub total: u64,
    /// The groups in the window, in order.
    pub window: Vec<WindowGroup>,
}

fn asset_summaries(page: &AssetPage, now: Timestamp) -> Vec<AssetSummary> {
    page.items.iter().map(|asset| AssetSummary::new(asset, &page.deprecations, now)).collect()
}

/// Returns the numbers of matching assets of the groups that have any.
pub fn group_counts(counts: &GroupCounts) -> Vec<GroupCountOut> {
    let non_empty = counts.groups.iter().filter(|(_, count)| count.total > 0);
    non_empty
        .map(|(group, count)| GroupCountOut {
            group_id: group.id,
            total: count.total,
            attachable: count.attachable,
        })
        .collect()
}

/// Returns the numbers of matching assets of the kinds that have any.
pub fn sku_counts(counts: &GroupCounts) -> Vec<SkuCount> {
    counts.by_kind().into_iter().map(|(kind, total)| SkuCount { sku: EnumValue(kind), total }).collect()
}

/// The tool for the operations that `kind` selects.
pub static GET_ASSET_TOOL: MultiTool = MultiTool {
    text: ToolText::new(Toolset::Assets, "get_asset", "Asset", "One of the team's assets.")
        .with_evidence("get_asset_evidence")
        .with_ids("list_assets, or the list of one kind"),
    argument: "kind",
    description: "Use codebase, raw_data or task for fields of that kind: `missing` (what the \
                 asset lacks), `locked_fields`, the price.",
    default: Some("any"),
    filters: None,
    choice_values: &[],
};

#[routes(prefix = "/v2", tag = Inventory)]
impl AssetsApi {
    /// List assets
    ///
    /// Returns a page of the team's assets of all kinds, newest first unless sorted, and the number of
    /// matches by group and by kind.
    #[get(
        "/assets",
        RouteAttributes::read(
            Tool::Excluded("the operation list_assets_for_agents has more filters and fields"),
            Contract::new(Target::None)
                .with_queries(ASSET_LIST_QUERIES)
                .with_misspelled("atach_to=x", "attach_to")
                .with_pages("limit=1", "limit=200", 6),
        ),
    )]
    async fn list_assets(call: Call<Vendor>, query: Params<AssetsQuery>) -> JsonResult<Assets> {
        let AssetsQuery { scope, paging, selection } = query.0;
        let LimitOffset { limit, offset } = paging.page;
        let mut filter = scope.into_filter(&call.access, selection)?;
        paging.ids.apply_to(&mut filter.query);
        let requester = call.access.requester();
        Json::read(&call.served, requester, move |reader| {
            let page = assets::page(reader, &call.access, filter, limit as usize, offset.cast_unsigned())?;
            Ok(Assets {
                items: asset_summaries(&page, reader.now),
                groups: group_counts(&page.counts),
                limit,
                offset,
                skus: sku_counts(&page.counts),
                total: page.counts.total(),
            })
        })
        .await
    }

    /// List assets by group
    ///
    /// Returns the first groups with the first assets in them, for a view of groups that can be expanded.
    /// Groups are filled with assets in order until `leaf_budget` is used up; at most `header_budget` groups
    /// are returned. To continue, pass the last group's ID as `after_group_id`.
    #[get(
        "/assets/window",
        RouteAttributes::read(
            Tool::Excluded("a screen of collapsed groups; list_asset_groups, and list_assets with \
                            group_id, return the same data"),
            Contract::new(Target::None)
                .with_queries(&[
                    "leaf_budget=1&header_budget=2",
                    "include_empty_groups=true",
                    "sku=codebase&deprecated=false",
                ])
                .with_misspelled("leaf_buget=3", "leaf_budget")
                .with_pages("leaf_budget=1", "leaf_budget=200", 6),
        ),
    )]
    async fn get_asset_window(call: Call<Vendor>, query: Params<WindowQuery>) -> JsonResult<AssetWindow> {
        let params = query.0;
        let filter = params.scope.into_filter(&call.access, params.selection)?;
        let budgets = WindowBounds {
            max_assets: params.leaf_budget as usize,
            max_groups: params.header_budget as usize,
            after_group: params.after_group_id,
            include_empty_groups: params.include_empty_groups,
        };
        let requester = call.access.requester();
        Json::read(&call.served, requester, move |reader| {
            let window = assets::window(reader, &call.access, filter, budgets)?;
            let counts = &window.page.counts;
            let groups = window.group_indices.iter().map(|index| {
                let (group, count) = &counts.groups[*index];
                WindowGroup {
                    group_id: group.id,
                    name: group.name.clone(),
                    is_default: group.is_default,
                    total: count.total,
                    attachable: count.attachable,
                }
            });
            Ok(AssetWindow {
                items: asset_summaries(&window.page, reader.now),
                groups: group_counts(counts),
                has_more_groups: window.remaining_groups > 0,
                limit: params.leaf_budget,
                offset: 0,
                remaining_groups: window.remaining_groups as u64,
                skus: sku_counts(counts),
                total: counts.total(),
                window: groups.collect(),
            })
        })
        .await
    }

    /// Get an asset
    ///
    /// Returns one of the team's assets of any kind.
    #[get(
        "/assets/{asset_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_ASSET_TOOL, value: "any", list: None },
            Contract::new(Target::OwnAsset),
        )
        .with_links(&[Link::new("/group_id", "place_asset", "group_id")]),
    )]
    async fn get_asset(call: Call<Vendor>, asset_id: Path<Uuid>) -> JsonResult<AssetSummary> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let (asset, deprecations) = assets::get_with_deprecations(reader, &call.access, asset_id.0)?;
            Ok(AssetSummary::new(&asset, &deprecations, reader.now))
        })
        .await
    }

    /// Move an asset to a group
    ///
    /// Moves an asset of any kind to one of the team's groups. Has no effect if the asset is in the group
    /// already.
    #[put(
        "/asset-groups/{group_id}/assets/{asset_id}",
        RouteAttributes::change(Contract::new(Target::OwnGroupAndAsset))
    )]
    async fn place_asset(
        call: Call<Vendor>,
        group_id: Path<Uuid>,
        asset_id: Path<Uuid>,
    ) -> JsonResult<AssetSummary> {
        Json::write(&call.served, call.access.requester(), move |writer| {
            let (asset, deprecations) = assets::move_to_group(writer, &call.access, group_id.0, asset_id.0)?;
            Ok(AssetSummary::new(&asset, &deprecations, writer.now))
        })
        .await
    }
}
