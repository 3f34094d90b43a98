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

/// Which of a vendor's own listings are asked for.
#[derive(Debug, Object)]
pub struct OwnListingsQuery {
    /// The slice of them.
    #[oai(default = "all")]
    workspace_view: Word<WorkspaceView>,
    /// Stages of life, any of them.
    #[oai(default)]
    lifecycle_stages: Vec<Word<LifecycleStage>>,
    /// What browse takes, too.
    #[oai(flatten)]
    common: ListingFilters,
    /// Only listings without any asset.
    #[oai(default)]
    no_assets: bool,
    /// The order.
    #[oai(default = "recent")]
    sort: Word<SortOrder>,
    /// Listings on a page.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// Listings to pass over.
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

/// A vendor's own listings in figures: of all of them, or of those that match the words, whatever the filters.
#[derive(Debug, Object, Serialize)]
pub struct ListingsSummary {
    /// Those in the catalog.
    pub active: u64,
    /// Those in review.
    pub in_review: u64,
    /// Those that the vendor works on.
    pub drafts: u64,
    /// What those in the catalog cost together, in US dollars.
    pub listed_value: f64,
}

/// A page of a vendor's own listings.
#[derive(Debug, Object, Serialize)]
pub struct OwnListings {
    /// The listings, in order.
    pub items: Vec<OwnListingSummary>,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
    /// How many listings match.
    pub counts: Counts,
    /// Values to filter by: of all the team's listings, or of those that match the words, whatever the filters.
    pub facets: FacetCounts,
    /// The same in figures.
    pub summary: ListingsSummary,
}

/// Something that happened to a listing.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "HistoryEvent")]
pub struct HistoryEventOut {
    /// What happened.
    pub event_type: Word<Event>,
    /// Who did it.
    pub actor: Word<Actor>,
    /// When.
    pub occurred_at: UtcTime,
    /// The listing's stage before; null where it was made.
    pub from_status: Option<Word<LifecycleStage>>,
    /// The listing's stage afterwards.
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

/// The life of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingHistory {
    /// What happened to it, newest first.
    pub events: Vec<HistoryEventOut>,
}

/// The assets of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingAssets {
    /// The first thousand, in the order in which they were attached; `GET /v2/assets?listing_id=…` reads the rest.
    #[oai(validator(max_items = 1000))]
    pub assets: Vec<AssetSummary>,
    /// How many there are.
    pub total: u64,
}

/// Assets that are meant by what they have in common.
#[derive(Debug, Object)]
pub struct AssetMatch {
    /// `true` for assets whose kind is deprecated or retired only, `false` for the others only.
    deprecated: Option<bool>,
    /// Assets that are not meant.
    #[oai(default, validator(max_items = 1000))]
    exclude_ids: Vec<Uuid>,
    /// Conditions, all of which hold, each written `field:operator:value` as in lists of assets.
    #[oai(default, validator(max_items = 50))]
    filters: Vec<Entry<OfAssets>>,
    /// The group that they are in.
    group_id: Option<Uuid>,
    /// Their kind; a kind that there is not matches nothing.
    sku: Option<String>,
}

/// Assets to attach: those of these ids, and all that match. Without either, there are none.
#[derive(Debug, Object)]
pub struct AssetAttachment {
    /// Assets by their ids.
    #[oai(default, validator(max_items = 1000))]
    asset_ids: Vec<Uuid>,
    /// Assets by what they have in common, however many they are.
    #[oai(default, validator(max_items = 20))]
    matches: Vec<AssetMatch>,
}

/// Assets that were passed over.
#[derive(Debug, Object, Serialize)]
pub struct SkippedAssets {
    /// Why.
    pub reason: Word<AttachSkip>,
    /// How many.
    pub count: u64,
}

/// What attaching did.
#[derive(Debug, Object, Serialize)]
pub struct AssetAttachmentOut {
    /// The listing's first thousand assets; `GET /v2/assets?listing_id=…` reads the rest.
    #[oai(validator(max_items = 1000))]
    pub assets: Vec<AssetSummary>,
    /// How many assets the listing has now.
    pub total: u64,
    /// How many were added.
    pub attached: u64,
    /// How many were passed over, by reason.
    pub skipped: Vec<SkippedAssets>,
}

fn summaries(assets: &Assets, now: Timestamp) -> Vec<AssetSummary> {
    assets.first.iter().map(|asset| AssetSummary::of(asset, &assets.deprecations, now)).collect()
}

/// The matches of a body, or everything that is wrong with their filters.
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
    /// Own listings
    ///
    /// A page of the team's own listings, whatever their stage, with figures over all of them. Filters mean what they mean
    /// in browse.
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

    /// Own listing
    ///
    /// One of the team's own listings, whole, whatever its stage.
    #[oai(path = "/listings/:listing_id", method = "get", operation_id = "get_own_listing")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingDetail> {
        let id = listing_id.0;
        let found = app.market().glance(move |reader| own_listings::detail(reader, &access.0, id)).await?;
        Ok(Raw::new(detail_json(&app, &found, id, true)))
    }

    /// Life of a listing
    ///
    /// What happened to one of the team's own listings, newest first.
    #[oai(path = "/listings/:listing_id/history", method = "get", operation_id = "get_listing_history")]
    async fn history(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        listing_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<ListingHistory> {
        let events =
            app.market().glance(move |reader| own_listings::history(reader, &access.0, listing_id.0)).await?;
        Ok(Raw::of(&ListingHistory { events: events.into_iter().map(HistoryEventOut::from).collect() }))
    }

    /// Assets of a listing
    ///
    /// The assets that stand on one of the team's own listings.
    #[oai(path = "/listings/:listing_id/assets", method = "get", operation_id = "list_listing_assets")]
    async fn assets(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
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
    /// Puts codebases with linked data on one of the team's own listings while it is draft or ready: those of these ids, and
    /// all that match. The rest is passed over, with a reason. It ends the listing's certification.
    #[oai(path = "/listings/:listing_id/assets", method = "post", operation_id = "attach_listing_assets")]
    async fn attach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
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
    /// Takes an asset off one of the team's own listings while it is draft or ready. It ends the listing's certification.
    #[oai(
        path = "/listings/:listing_id/assets/:asset_id",
        method = "delete",
        operation_id = "detach_listing_asset"
    )]
    async fn detach(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        listing_id: Path<Uuid>,
        asset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Result<Empty, Failure> {
        app.market()
            .write(move |writer| own_listings::detach(writer, &access.0, listing_id.0, asset_id.0))
            .await?;
        Ok(Empty)
    }
}
