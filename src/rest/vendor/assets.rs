//! Assets of all kinds: a page, a window over groups, one asset, and placing one in a group.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use super::collections::{Paging, Selection, kinds};
use crate::{
    domain::{assets::Kind, stages::Stage, time::Timestamp},
    operations::{
        access::Vendor,
        assets::{self, Counted, Cut, Page, Wanted},
    },
    rest::{
        App,
        auth::Access,
        filter_entries::{Entry, OfAssets},
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::assets::AssetSummary,
        vocabulary::Word,
    },
};

/// Which assets are asked for.
#[derive(Debug, Object)]
pub struct AssetsQuery {
    /// Only assets of this kind; a kind that there is not matches nothing.
    sku: Option<String>,
    /// `true` for assets whose kind is deprecated or retired only, `false` for the others only.
    deprecated: Option<bool>,
    /// Only assets at this stage.
    stage: Option<Word<Stage>>,
    /// The listing that `attachable` counts for; assets that stand on it are not attachable.
    attach_to: Option<Uuid>,
    /// The page.
    #[oai(flatten)]
    paging: Paging,
    /// Filters and order.
    #[oai(flatten)]
    selection: Selection<Entry<OfAssets>>,
}

/// How a window is cut.
#[derive(Debug, Object)]
pub struct WindowQuery {
    /// Only assets of this kind; a kind that there is not matches nothing.
    sku: Option<String>,
    /// `true` for assets whose kind is deprecated or retired only, `false` for the others only.
    deprecated: Option<bool>,
    /// Only assets at this stage.
    stage: Option<Word<Stage>>,
    /// The listing that `attachable` counts for; assets that stand on it are not attachable.
    attach_to: Option<Uuid>,
    /// Assets at most, dealt to the groups in their order.
    #[oai(default = "usual_leaves", validator(minimum(value = "1"), maximum(value = "200")))]
    leaf_budget: u32,
    /// Groups at most.
    #[oai(default = "usual_headers", validator(minimum(value = "1"), maximum(value = "100")))]
    header_budget: u32,
    /// The last group of the window before this one.
    after_group_id: Option<Uuid>,
    /// Whether groups without a matching asset are shown.
    #[oai(default)]
    include_empty_groups: bool,
    /// Filters and order.
    #[oai(flatten)]
    selection: Selection<Entry<OfAssets>>,
}

fn usual_leaves() -> u32 {
    50
}

fn usual_headers() -> u32 {
    10
}

/// What a list has in one group.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "GroupCount")]
pub struct GroupCountOut {
    /// The group.
    pub group_id: Uuid,
    /// Assets that match.
    pub total: u64,
    /// Those of them that attaching assets to a listing would add.
    pub attachable: u64,
}

/// What a list has of one kind.
#[derive(Debug, Object, Serialize)]
pub struct SkuCount {
    /// The kind.
    pub sku: Word<Kind>,
    /// Assets that match.
    pub total: u64,
}

/// A page of a team's assets.
#[derive(Debug, Object, Serialize)]
pub struct Assets {
    /// The assets.
    pub items: Vec<AssetSummary>,
    /// What matches in each group: the default one first, then by name. Groups without any are left out.
    pub groups: Vec<GroupCountOut>,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
    /// What matches of each kind. Kinds without any are left out.
    pub skus: Vec<SkuCount>,
    /// All that match.
    pub total: u64,
}

/// A group of a window.
#[derive(Debug, Object, Serialize)]
pub struct WindowGroup {
    /// The group.
    pub group_id: Uuid,
    /// Its name.
    pub name: String,
    /// Whether it is the team's default one.
    pub is_default: bool,
    /// Assets in it that match, shown here or not.
    pub total: u64,
    /// Those of them that attaching assets to a listing would add.
    pub attachable: u64,
}

/// A window over a team's assets, by group.
#[derive(Debug, Object, Serialize)]
pub struct AssetWindow {
    /// Assets of the window's groups, one group's behind the other's. The rest of a group is read with
    /// `GET /v2/assets?group_id=…&offset=…`.
    pub items: Vec<AssetSummary>,
    /// What matches in each group: the default one first, then by name. Groups without any are left out.
    pub groups: Vec<GroupCountOut>,
    /// Whether groups come behind this window.
    pub has_more_groups: bool,
    /// The leaf budget.
    pub limit: u32,
    /// Always 0: a window goes on behind its last group.
    pub offset: i64,
    /// Groups behind this window.
    pub remaining_groups: u64,
    /// What matches of each kind. Kinds without any are left out.
    pub skus: Vec<SkuCount>,
    /// All that match.
    pub total: u64,
    /// The groups of this window, in their order.
    pub window: Vec<WindowGroup>,
}

fn summaries(page: &Page, now: Timestamp) -> Vec<AssetSummary> {
    page.items.iter().map(|asset| AssetSummary::of(asset, &page.deprecations, now)).collect()
}

fn groups(counted: &Counted) -> Vec<GroupCountOut> {
    let counts = counted.groups.iter().filter(|(_, count)| count.total > 0);
    counts
        .map(|(group, count)| GroupCountOut {
            group_id: group.id,
            total: count.total,
            attachable: count.attachable,
        })
        .collect()
}

fn skus(counted: &Counted) -> Vec<SkuCount> {
    counted.kinds().into_iter().map(|(kind, total)| SkuCount { sku: Word(kind), total }).collect()
}

pub struct AssetsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Inventory")]
impl AssetsApi {
    /// Assets
    ///
    /// A page of the team's assets of all kinds, newest first unless sorted, with counts by group and by kind of all that
    /// match.
    #[oai(path = "/assets", method = "get", operation_id = "list_assets")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<AssetsQuery>,
    ) -> Answer<Assets> {
        let asked = query.0;
        let (limit, offset) = (asked.paging.slice.limit, asked.paging.slice.offset);
        let mut query = asked.selection.query(access.0.number(), asked.stage.map(|stage| stage.0))?;
        asked.paging.narrow(&mut query);
        query.kinds = kinds(asked.sku.as_deref());
        let wanted = Wanted { query, deprecated: asked.deprecated, attach_to: asked.attach_to };
        let answer = move |reader: &crate::market::Reader| {
            let page = assets::page(reader, &access.0, wanted, limit as usize, offset.cast_unsigned())?;
            Ok(Assets {
                items: summaries(&page, reader.now),
                groups: groups(&page.counted),
                limit,
                offset,
                skus: skus(&page.counted),
                total: page.counted.total(),
            })
        };
        Ok(Raw::of(&app.market().read(answer).await?))
    }

    /// Assets by group
    ///
    /// The first assets of the first groups, for a view in which groups can be opened: assets are dealt to groups in their
    /// order until the leaf budget is spent, and at most as many groups are shown as the header budget allows. Go on with
    /// `after_group_id`.
    #[oai(path = "/assets/window", method = "get", operation_id = "get_asset_window")]
    async fn window(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<WindowQuery>,
    ) -> Answer<AssetWindow> {
        let asked = query.0;
        let mut query = asked.selection.query(access.0.number(), asked.stage.map(|stage| stage.0))?;
        query.kinds = kinds(asked.sku.as_deref());
        let wanted = Wanted { query, deprecated: asked.deprecated, attach_to: asked.attach_to };
        let cut = Cut {
            leaves: asked.leaf_budget as usize,
            headers: asked.header_budget as usize,
            after: asked.after_group_id,
            include_empty: asked.include_empty_groups,
        };
        let answer = move |reader: &crate::market::Reader| {
            let window = assets::window(reader, &access.0, wanted, cut)?;
            let counted = &window.page.counted;
            let shown = window.shown.iter().map(|place| {
                let (group, count) = &counted.groups[*place];
                WindowGroup {
                    group_id: group.id,
                    name: group.name.clone(),
                    is_default: group.is_default,
                    total: count.total,
                    attachable: count.attachable,
                }
            });
            Ok(AssetWindow {
                items: summaries(&window.page, reader.now),
                groups: groups(counted),
                has_more_groups: window.remaining > 0,
                limit: asked.leaf_budget,
                offset: 0,
                remaining_groups: window.remaining as u64,
                skus: skus(counted),
                total: counted.total(),
                window: shown.collect(),
            })
        };
        Ok(Raw::of(&app.market().read(answer).await?))
    }

    /// Asset
    ///
    /// One of the team's assets, of any kind.
    #[oai(path = "/assets/:asset_id", method = "get", operation_id = "get_asset")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetSummary> {
        let summary = app.market().glance(move |reader| {
            let (asset, deprecations) = assets::get(reader, &access.0, asset_id.0)?;
            Ok(AssetSummary::of(&asset, &deprecations, reader.now))
        });
        Ok(Raw::of(&summary.await?))
    }

    /// Place an asset in a group
    ///
    /// Moves an asset of any kind into one of the team's groups.
    #[oai(path = "/asset-groups/:group_id/assets/:asset_id", method = "put", operation_id = "place_asset")]
    async fn place(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        group_id: Path<Uuid>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<AssetSummary> {
        let summary = app.market().write(move |writer| {
            let (asset, deprecations) = assets::place(writer, &access.0, group_id.0, asset_id.0)?;
            Ok(AssetSummary::of(&asset, &deprecations, writer.now))
        });
        Ok(Raw::of(&summary.await?))
    }
}
