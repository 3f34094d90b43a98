//! A vendor's own listings.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::collections::kinds;
use crate::{
    domain::{
        browse::SortOrder,
        listings::{Actor, AttachSkip, Event, LifecycleStage, WorkspaceView},
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::{Error, Problem, Step},
    operations::{
        access::Vendor,
        own_listings::{self, Assets, Match, PageRequest},
    },
    rest::{
        App,
        auth::Access,
        bodies::Body,
        filter_entries::{self, Entry, OfAssets},
        listing_filters::ListingFilters,
        once::Once,
        params::{NoParams, Params},
        problem::Failure,
        raw::{Answer, Empty, Raw},
        shapes::{
            UtcTime,
            assets::AssetSummary,
            listing_pages::{Counts, FacetCounts, OwnListingSummary, detail_json, without_team_name},
            listings::ListingDetail,
        },
        vocabulary::Word,
    },
    store::listings::HistoryEvent,
};

/// Query parameters of the list of a vendor's own listings.
#[derive(Debug, Object)]
pub struct OwnListingsQuery {
    /// Only listings in these lifecycle stages: `drafts` (draft), `submitted` (review, ready), `live` (active),
    /// `archived` or `all`.
    #[oai(default = "all")]
    workspace_view: Word<WorkspaceView>,
    /// Lifecycle stages. A listing matches if it is in any of them.
    #[oai(default)]
    lifecycle_stages: Vec<Word<LifecycleStage>>,
    /// Filters that the catalog takes, too.
    #[oai(flatten)]
    common: ListingFilters,
    /// Only listings without attached assets.
    #[oai(default)]
    no_assets: bool,
    /// Order of the listings.
    #[oai(default = "recent")]
    sort: Word<SortOrder>,
    /// Maximum number of listings to return.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// Number of listings to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    offset: i64,
}

fn all() -> Word<WorkspaceView> {
    Word(WorkspaceView::All)
}

fn recent() -> Word<SortOrder> {
    Word(SortOrder::Recent)
}

fn usual_limit() -> u32 {
    24
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
    pub event_type: Word<Event>,
    /// Who caused the event: the vendor team, a person of the platform, or the server itself.
    pub actor: Word<Actor>,
    /// Time of the event.
    pub occurred_at: UtcTime,
    /// Lifecycle stage before the event; null for the creation of the listing.
    pub from_status: Option<Word<LifecycleStage>>,
    /// Lifecycle stage after the event.
    pub to_status: Word<LifecycleStage>,
}

impl From<HistoryEvent> for HistoryEventOut {
    fn from(event: HistoryEvent) -> HistoryEventOut {
        HistoryEventOut {
            event_type: Word(event.event),
            actor: Word(event.actor),
            occurred_at: event.occurred_at.into(),
            from_status: event.from.map(Word),
            to_status: Word(event.to),
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

/// Selects assets by their properties. An asset must satisfy every field that is set.
#[derive(Debug, Object)]
pub struct AssetMatch {
    /// `true` selects only assets of deprecated or retired kinds, `false` only assets of other kinds.
    deprecated: Option<bool>,
    /// IDs of assets that are not selected.
    #[oai(default, validator(max_items = 1000))]
    exclude_ids: Vec<Uuid>,
    /// Conditions, all of which must hold, of the form `field:operator:value`, as in the parameter
    /// `filter` of `GET /v2/assets`.
    #[oai(default, validator(max_items = 50))]
    filters: Vec<Entry<OfAssets>>,
    /// ID of the group that the assets are in.
    group_id: Option<Uuid>,
    /// Kind of the assets. Unknown kinds match nothing.
    sku: Option<String>,
}

/// The assets to attach: those in `asset_ids`, plus all that `matches` selects. If both are empty, nothing is
/// attached.
#[derive(Debug, Object)]
pub struct AssetAttachment {
    /// IDs of assets to attach.
    #[oai(default, validator(max_items = 1000))]
    asset_ids: Vec<Uuid>,
    /// Selections of assets to attach, without a limit on the number of assets that they select.
    #[oai(default, validator(max_items = 20))]
    matches: Vec<AssetMatch>,
}

/// Number of assets that were not attached for one reason.
#[derive(Debug, Object, Serialize)]
pub struct SkippedAssets {
    /// Reason for not attaching the assets.
    pub reason: Word<AttachSkip>,
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

fn summaries(assets: &Assets, now: Timestamp) -> Vec<AssetSummary> {
    assets.first.iter().map(|asset| AssetSummary::of(asset, &assets.deprecations, now)).collect()
}

/// Parses the `matches` of a body, or returns all problems with their filters.
fn matches(sent: Vec<AssetMatch>) -> Result<Vec<Match>, Error> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for (index, one) in sent.into_iter().enumerate() {
        let mut place = Problem::body(&["matches"], "value_error", "");
        place.loc.extend([Step::Index(index), Step::Name("filters".to_owned())]);
        match filter_entries::read(&one.filters, &place) {
            Ok(conditions) => read.push(Match {
                deprecated: one.deprecated,
                exclude_ids: one.exclude_ids,
                conditions,
                group_id: one.group_id,
                kinds: kinds(one.sku.as_deref()),
            }),
            Err(Error::Invalid(more)) => problems.extend(more),
            Err(other) => return Err(other),
        }
    }
    if problems.is_empty() { Ok(read) } else { Err(Error::Invalid(problems)) }
}

pub struct ListingsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Listings")]
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
    ) -> Answer<OwnListings> {
        let asked = query.0;
        let (limit, offset) = (asked.limit, asked.offset);
        let text = asked.common.query.clone().unwrap_or_default();
        let request = PageRequest {
            text,
            filters: marketplace_index::Filters { no_assets: asked.no_assets, ..asked.common.into_filters() },
            view: asked.workspace_view.0,
            stages: asked.lifecycle_stages.iter().map(|stage| stage.0).collect(),
            sort: asked.sort.0,
            limit: limit as usize,
            offset: offset.cast_unsigned(),
        };
        let page = app.market().read(move |reader| own_listings::page(reader, &access.0, request)).await?;
        let facets: BTreeMap<&str, &BTreeMap<String, u64>> = page.facets.iter().collect();
        let stages = facets.get("lifecycle_stages").copied();
        let at = |stage: LifecycleStage| stages.and_then(|stages| stages.get(stage.word())).copied();
        let rest = json!({
            "limit": limit,
            "offset": offset,
            "counts": {"all": page.all, "owned": page.all},
            "facets": facets,
            "summary": ListingsSummary {
                active: at(LifecycleStage::Active).unwrap_or_default(),
                in_review: at(LifecycleStage::Review).unwrap_or_default(),
                drafts: at(LifecycleStage::Draft).unwrap_or_default(),
                listed_value: page.listed_value.dollars(),
            },
        });
        let items: Vec<Vec<u8>> = page.items.iter().map(|item| without_team_name(item)).collect();
        let rest = rest.to_string();
        Ok(Raw::new([b"{\"items\":[", items.join(&b',').as_slice(), b"],", &rest.as_bytes()[1..]].concat()))
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
    ) -> Answer<ListingDetail> {
        let id = listing_id.0;
        let found = app.market().glance(move |reader| own_listings::detail(reader, &access.0, id)).await?;
        Ok(Raw::new(detail_json(&app, &found, id, true)))
    }

    /// Get the history of a listing
    ///
    /// Returns the events in the life of one of the team's own listings, newest first.
    #[oai(path = "/listings/:listing_id/history", method = "get", operation_id = "get_listing_history")]
    async fn history(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingHistory> {
        let events =
            app.market().glance(move |reader| own_listings::history(reader, &access.0, listing_id.0)).await?;
        Ok(Raw::of(&ListingHistory { events: events.into_iter().map(HistoryEventOut::from).collect() }))
    }

    /// List the assets of a listing
    ///
    /// Returns the assets of one of the team's own listings, at most 1,000 of them.
    #[oai(path = "/listings/:listing_id/assets", method = "get", operation_id = "list_listing_assets")]
    async fn assets(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingAssets> {
        let answer = app.market().read(move |reader| {
            let assets = own_listings::assets(reader.rows, &access.0, listing_id.0)?;
            Ok(ListingAssets { assets: summaries(&assets, reader.now), total: assets.total as u64 })
        });
        Ok(Raw::of(&answer.await?))
    }

    /// Attach assets
    ///
    /// Attaches codebases with linked data to one of the team's own listings, by ID or by their properties.
    /// The listing must be in the stage `draft` or `ready`. Assets that cannot be attached are skipped and
    /// counted by reason. Attaching an asset ends the listing's certification.
    #[oai(path = "/listings/:listing_id/assets", method = "post", operation_id = "attach_listing_assets")]
    async fn attach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
        once: Once,
        body: Body<AssetAttachment>,
    ) -> Answer<AssetAttachmentOut, 201> {
        let AssetAttachment { asset_ids, matches: sent } = body.value;
        let matches = matches(sent)?;
        once.write(&app, access.0, body.digest, move |writer, vendor| {
            let done = own_listings::attach(writer, vendor, listing_id.0, &asset_ids, matches)?;
            Ok(AssetAttachmentOut {
                assets: summaries(&done.assets, writer.now),
                total: done.assets.total as u64,
                attached: done.attached,
                skipped: done
                    .skipped
                    .iter()
                    .map(|(reason, count)| SkippedAssets { reason: Word(*reason), count: *count })
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
    async fn detach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        /// ID of the asset.
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| own_listings::detach(writer, &access.0, listing_id.0, asset_id.0))
            .await?;
        Ok(Empty)
    }
}
