//! A vendor's own listings.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::asset_matches::{AssetMatch, parse_matches, valid_ids};
use crate::{
    domain::{
        browse::SortOrder,
        listings::{Actor, AttachSkip, Event, LifecycleStage, WorkspaceView},
        time::Timestamp,
    },
    operations::{
        access::Vendor,
        own_listings::{self, AttachedAssets, PageRequest},
    },
    rest::{
        app::App,
        auth::Access,
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        json_object::ObjectWriter,
        listing_filters::ListingFilters,
        params::{NoParams, Params},
        problem::ApiError,
        request_body::{Body, Checked},
        shapes::{
            UtcTime,
            assets::AssetSummary,
            listing_pages::{self, Counts, FacetCounts, OwnListingSummary, detail_json, remove_team_name},
            listings::ListingDetail,
        },
    },
    store::listing_history::HistoryEvent,
    string_enum::StringEnum,
};

/// Query parameters of the list of a vendor's own listings.
#[derive(Debug, Object)]
pub struct OwnListingsQuery {
    /// Only listings in these lifecycle stages: `drafts` (draft), `submitted` (review, ready), `live`
    /// (active), `archived` or `all`.
    #[oai(default = "default_view")]
    workspace_view: EnumValue<WorkspaceView>,
    /// Lifecycle stages. A listing matches if it is in any of them.
    #[oai(default)]
    lifecycle_stages: Vec<EnumValue<LifecycleStage>>,
    /// Filters that the catalog takes, too.
    #[oai(flatten)]
    common: ListingFilters,
    /// Only listings without attached assets.
    #[oai(default)]
    no_assets: bool,
    /// Order of the listings.
    #[oai(default = "default_sort")]
    sort: EnumValue<SortOrder>,
    /// Maximum number of listings to return.
    #[oai(default = "listing_pages::default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// Number of listings to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    offset: i64,
}

fn default_view() -> EnumValue<WorkspaceView> {
    EnumValue(WorkspaceView::All)
}

fn default_sort() -> EnumValue<SortOrder> {
    EnumValue(SortOrder::Recent)
}

/// Totals over all listings of the team, or over the matches of `query` if it is set; filters do not affect
/// them.
#[derive(Debug, Object, Serialize)]
pub struct ListingsSummary {
    /// Number of published listings.
    pub active: u64,
    /// Number of listings in review.
    pub in_review: u64,
    /// Number of drafts, including listings that were sent back for changes or rejected.
    pub drafts: u64,
    /// Sum of the buy-now prices of the published listings, in US dollars.
    pub listed_value: f64,
}

/// A page of a vendor's own listings.
#[derive(Debug, Object, Serialize)]
pub struct OwnListings {
    /// The listings, in the requested order.
    pub items: Vec<OwnListingSummary>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Number of listings that match, on all pages.
    pub counts: Counts,
    /// Values to filter by, with counts over all listings of the team, or over the matches of `query` if it
    /// is set.
    pub facets: FacetCounts,
    /// Totals over the same listings as the facets.
    pub summary: ListingsSummary,
}

/// An event in the life of a listing.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "HistoryEvent")]
pub struct HistoryEventOut {
    /// Type of the event.
    pub event_type: EnumValue<Event>,
    /// Who caused the event: the vendor team, a person of the platform, or the server itself.
    pub actor: EnumValue<Actor>,
    /// Time of the event.
    pub occurred_at: UtcTime,
    /// Lifecycle stage before the event; null for the creation of the listing.
    pub from_status: Option<EnumValue<LifecycleStage>>,
    /// Lifecycle stage after the event.
    pub to_status: EnumValue<LifecycleStage>,
}

impl From<HistoryEvent> for HistoryEventOut {
    fn from(event: HistoryEvent) -> HistoryEventOut {
        HistoryEventOut {
            event_type: EnumValue(event.event),
            actor: EnumValue(event.actor),
            occurred_at: event.occurred_at.into(),
            from_status: event.from.map(EnumValue),
            to_status: EnumValue(event.to),
        }
    }
}

/// The history of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingHistory {
    /// Events in the life of the listing, newest first.
    pub events: Vec<HistoryEventOut>,
}

/// The assets of one of the team's own listings.
#[derive(Debug, Object, Serialize)]
pub struct ListingAssets {
    /// The first 1,000 assets, in the order in which they were attached; `GET /v2/assets?listing_id=…`
    /// returns all of them.
    #[oai(validator(max_items = 1000))]
    pub assets: Vec<AssetSummary>,
    /// Number of all assets of the listing.
    pub total: u64,
}

/// The assets to attach: those in `asset_ids`, plus all that `matches` selects. If both are empty, nothing is
/// attached.
#[derive(Debug, Object)]
pub struct AssetAttachment {
    /// IDs of assets to attach.
    #[oai(default, validator(max_items = 1000))]
    asset_ids: Vec<Checked<Uuid>>,
    /// Selections of assets to attach, without a limit on the number of assets that they select.
    #[oai(default, validator(max_items = 20))]
    matches: Vec<Checked<AssetMatch>>,
}

/// Number of assets that were not attached for one reason.
#[derive(Debug, Object, Serialize)]
pub struct SkippedAssets {
    /// Reason for not attaching the assets.
    pub reason: EnumValue<AttachSkip>,
    /// Number of assets.
    pub count: u64,
}

/// Result of attaching assets to a listing.
#[derive(Debug, Object, Serialize)]
pub struct AssetAttachmentOut {
    /// The first 1,000 assets of the listing; `GET /v2/assets?listing_id=…` returns all of them.
    #[oai(validator(max_items = 1000))]
    pub assets: Vec<AssetSummary>,
    /// Number of assets that the listing has now.
    pub total: u64,
    /// Number of assets that were attached by this request.
    pub attached: u64,
    /// Number of assets that were not attached, by reason.
    pub skipped: Vec<SkippedAssets>,
}

fn asset_summaries(assets: &AttachedAssets, now: Timestamp) -> Vec<AssetSummary> {
    assets.first.iter().map(|asset| AssetSummary::new(asset, &assets.deprecations, now)).collect()
}

pub struct ListingsApi;

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::api::Tag::Listings")]
impl ListingsApi {
    /// List own listings
    ///
    /// Returns a page of the team's own listings in every lifecycle stage, with facets and totals. Filters
    /// work as in `GET /v2/listings/browse`.
    #[oai(path = "/listings", method = "get", operation_id = "list_own_listings")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<OwnListingsQuery>,
    ) -> JsonResult<OwnListings> {
        let params = query.0;
        let (limit, offset) = (params.limit, params.offset);
        let text = params.common.query.clone().unwrap_or_default();
        let request = PageRequest {
            text,
            filters: marketplace_index::Filters {
                no_assets: params.no_assets,
                ..params.common.into_filters()
            },
            view: params.workspace_view.0,
            stages: params.lifecycle_stages.iter().map(|stage| stage.0).collect(),
            sort: params.sort.0,
            limit: limit as usize,
            offset: offset.cast_unsigned(),
        };
        Json::read_bytes(&app, access.0.requester(), move |reader| {
            let page = own_listings::page(reader, &access.0, request)?;
            let facets: BTreeMap<&str, &BTreeMap<String, u64>> = page.facets.iter().collect();
            let stages = facets.get("lifecycle_stages").copied();
            let count_in =
                |stage: LifecycleStage| stages.and_then(|stages| stages.get(stage.as_str())).copied();
            let items: Vec<Vec<u8>> =
                page.items.iter().map(|item| remove_team_name(item)).collect::<Result<_, _>>()?;
            let items = items.join(&b',');
            let mut json = ObjectWriter::with_capacity(items.len() + 4_096);
            json.array_field("items", &items);
            json.field("counts", &Counts { all: page.total, owned: page.total });
            json.field("facets", &facets);
            json.field("limit", &limit);
            json.field("offset", &offset);
            json.field(
                "summary",
                &json!(ListingsSummary {
                    active: count_in(LifecycleStage::Active).unwrap_or_default(),
                    in_review: count_in(LifecycleStage::Review).unwrap_or_default(),
                    drafts: count_in(LifecycleStage::Draft).unwrap_or_default(),
                    listed_value: page.listed_value.dollars(),
                }),
            );
            Ok(json.finish())
        })
        .await
    }

    /// Get an own listing
    ///
    /// Returns one of the team's own listings in any lifecycle stage, with the same fields as the catalog.
    #[oai(path = "/listings/:listing_id", method = "get", operation_id = "get_own_listing")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<ListingDetail> {
        let id = listing_id.0;
        Json::read_bytes(&app, access.0.requester(), move |reader| {
            detail_json(&own_listings::get_detail(reader, &access.0, id)?)
        })
        .await
    }

    /// Get the history of a listing
    ///
    /// Returns the events in the life of one of the team's own listings, newest first.
    #[oai(path = "/listings/:listing_id/history", method = "get", operation_id = "get_listing_history")]
    async fn get_history(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<ListingHistory> {
        Json::read(&app, access.0.requester(), move |reader| {
            let events = own_listings::get_history(reader, &access.0, listing_id.0)?;
            Ok(ListingHistory { events: events.into_iter().map(HistoryEventOut::from).collect() })
        })
        .await
    }

    /// List the assets of a listing
    ///
    /// Returns the assets of one of the team's own listings, at most 1,000 of them.
    #[oai(path = "/listings/:listing_id/assets", method = "get", operation_id = "list_listing_assets")]
    async fn list_assets(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> JsonResult<ListingAssets> {
        Json::read(&app, access.0.requester(), move |reader| {
            let assets = own_listings::list_assets(reader.rows, &access.0, listing_id.0)?;
            Ok(ListingAssets { assets: asset_summaries(&assets, reader.now), total: assets.total as u64 })
        })
        .await
    }

    /// Attach assets
    ///
    /// Attaches codebases with linked data to one of the team's own listings, by ID or by their properties.
    /// The listing must be in the stage `draft` or `ready`. Assets that cannot be attached are skipped and
    /// counted by reason. Attaching an asset ends the listing's certification.
    #[oai(path = "/listings/:listing_id/assets", method = "post", operation_id = "attach_listing_assets")]
    async fn attach_assets(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
        idempotent: Idempotent,
        body: Body<AssetAttachment>,
    ) -> JsonResult<AssetAttachmentOut, 201> {
        let AssetAttachment { asset_ids, matches } = body.value;
        idempotent
            .write(&app, access.0, body.source, move |writer, vendor, mut problems| {
                let matches = parse_matches(matches, &mut problems)?;
                let (id, asset_ids) = (listing_id.0, valid_ids(asset_ids));
                let actor = Actor::Team;
                let outcome =
                    own_listings::attach_assets(writer, vendor, actor, id, &asset_ids, matches, problems)?;
                Ok(AssetAttachmentOut {
                    assets: asset_summaries(&outcome.assets, writer.now),
                    total: outcome.assets.total as u64,
                    attached: outcome.attached,
                    skipped: outcome
                        .skipped
                        .iter()
                        .map(|(reason, count)| SkippedAssets { reason: EnumValue(*reason), count: *count })
                        .collect(),
                })
            })
            .await
    }

    /// Detach an asset
    ///
    /// Removes an asset from one of the team's own listings; the asset itself is kept. The listing must be in
    /// the stage `draft` or `ready`. Detaching an asset ends the listing's certification.
    #[oai(
        path = "/listings/:listing_id/assets/:asset_id",
        method = "delete",
        operation_id = "detach_listing_asset"
    )]
    async fn detach_asset(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        /// ID of the asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<NoContent, ApiError> {
        app.market()
            .write_freeing(access.0.requester(), move |writer| {
                own_listings::detach_asset(writer, &access.0, Actor::Team, listing_id.0, asset_id.0)
            })
            .await?;
        Ok(NoContent)
    }
}
