//! Routes of a vendor's own listings.

mod types;

use std::collections::BTreeMap;

use poem_openapi::OpenApi;
use serde_json::json;
use uuid::Uuid;

use self::types::{
    AssetAttachment, AssetAttachmentOut, HistoryEventOut, ListingAssets, ListingHistory, ListingsSummary,
    OwnListings, OwnListingsQuery, SkippedAssets,
};
use super::asset_matches::{parse_matches, valid_ids};
use crate::{
    domain::{
        listings::{Actor, LifecycleStage},
        time::Timestamp,
    },
    operations::{
        access::Vendor,
        listings::{self, AttachedAssets, PageRequest},
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        json_object::ObjectWriter,
        limits::Budget,
        params::Params,
        problem::ApiError,
        request_body::Body,
        route::{Call, Contract, DeclaredRoute, Path, Route, RouteAttributes, Target, Tool, ToolText},
        shapes::{
            assets::AssetSummary,
            listing_pages::{Counts, detail_json, remove_team_name},
            listings::ListingDetail,
        },
    },
    string_enum::StringEnum,
};

fn asset_summaries(assets: &AttachedAssets, now: Timestamp) -> Vec<AssetSummary> {
    assets.first.iter().map(|asset| AssetSummary::new(asset, &assets.deprecations, now)).collect()
}

pub struct ListingsApi;

/// `GET /v2/listings`
pub struct ListOwnListings;

impl Route for ListOwnListings {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_own_listings",
        Budget::Other,
        Tool::list(
            ToolText::new(
                "list_own_listings",
                "Own listings",
                "The team's own listings at every stage, with totals over all of them. \
                 Filters as in browse_listings.",
            )
            .with_parameters(&[
                ("workspace_view", ""),
                ("lifecycle_stages", "draft, review, ready, active, archived."),
                ("no_assets", "Only listings without assets."),
            ]),
            "items",
        ),
        Contract::new(Target::None)
            .with_queries(&[
                "workspace_view=live&limit=1&offset=1",
                "workspace_view=archived",
                "workspace_view=submitted&lifecycle_stages=draft",
                "query=data&sort=price_low",
                "no_assets=true&verified_only=true&min_price=10",
            ])
            .with_misspelled("workspace_veiw=all", "workspace_view")
            .with_pages("limit=1", "limit=100", 4),
    )
    .with_parameter_examples(&[
        ("query", r#""review""#),
        ("tags", r#"["software-engineering"]"#),
        ("asset_types", r#"["taskset"]"#),
    ]);
}

/// `GET /v2/listings/{listing_id}`
pub struct GetOwnListing;

impl Route for GetOwnListing {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "get_own_listing",
        Budget::Other,
        Tool::record(
            ToolText::new(
                "get_own_listing",
                "Own listing",
                "One of the team's own listings in full, as buyers see it or will see it.",
            )
            .with_ids("list_own_listings"),
        ),
        Contract::new(Target::OwnListing),
    );
}

/// `GET /v2/listings/{listing_id}/history`
pub struct GetListingHistory;

impl Route for GetListingHistory {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "get_listing_history",
        Budget::History,
        Tool::list(
            ToolText::new(
                "get_listing_history",
                "Listing history",
                "Status changes of one of the team's own listings, newest first: what \
                 changed, who did it and when.",
            )
            .with_ids("list_own_listings"),
            "events",
        ),
        Contract::new(Target::OwnListing),
    );
}

/// `GET /v2/listings/{listing_id}/assets`
pub struct ListListingAssets;

impl Route for ListListingAssets {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_listing_assets",
        Budget::Other,
        Tool::list(
            ToolText::new(
                "list_listing_assets",
                "Listing assets",
                "The assets of one of the team's own listings, at most the first 1,000. \
                 `total` counts all.",
            )
            .with_ids("list_own_listings"),
            "assets",
        ),
        Contract::new(Target::OwnListing),
    );
}

/// `POST /v2/listings/{listing_id}/assets`
pub struct AttachListingAssets;

impl Route for AttachListingAssets {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::post(
        "attach_listing_assets",
        Budget::Other,
        Some(|| {
            json!({
                "asset_ids": ["6b473692-e841-5564-8f7d-44593627889f"],
                "matches": [{"sku": "codebase", "filters": ["stage:is:complete", "domain:is:logistics"]}],
            })
        }),
        Contract::new(Target::OwnListing),
    );
}

/// `DELETE /v2/listings/{listing_id}/assets/{asset_id}`
pub struct DetachListingAsset;

impl Route for DetachListingAsset {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::delete(
        "detach_listing_asset",
        Budget::Other,
        Contract::new(Target::OwnListingAsset),
    );
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 6] = [
    DeclaredRoute::of::<ListOwnListings>(),
    DeclaredRoute::of::<GetOwnListing>(),
    DeclaredRoute::of::<GetListingHistory>(),
    DeclaredRoute::of::<ListListingAssets>(),
    DeclaredRoute::of::<AttachListingAssets>(),
    DeclaredRoute::of::<DetachListingAsset>(),
];

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::tags::Tag::Listings")]
impl ListingsApi {
    /// List own listings
    ///
    /// Returns a page of the team's own listings in every lifecycle stage, with facets and totals. Filters
    /// work as in `GET /v2/listings/browse`.
    #[oai(path = "/listings", method = "get", operation_id = "list_own_listings")]
    async fn list(
        &self,
        call: Call<ListOwnListings>,
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
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let page = listings::page(reader, &call.access, request)?;
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
        call: Call<GetOwnListing>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingDetail> {
        let id = listing_id.0;
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            detail_json(&listings::get_detail(reader, &call.access, id)?)
        })
        .await
    }

    /// Get the history of a listing
    ///
    /// Returns the events in the life of one of the team's own listings, newest first.
    #[oai(path = "/listings/:listing_id/history", method = "get", operation_id = "get_listing_history")]
    async fn get_history(
        &self,
        call: Call<GetListingHistory>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingHistory> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let events = listings::get_history(reader, &call.access, listing_id.0)?;
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
        call: Call<ListListingAssets>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingAssets> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let assets = listings::list_assets(reader.rows, &call.access, listing_id.0)?;
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
        call: Call<AttachListingAssets>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        idempotent: Idempotent,
        body: Body<AssetAttachment>,
    ) -> JsonResult<AssetAttachmentOut, 201> {
        let AssetAttachment { asset_ids, matches } = body.value;
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |context, vendor, mut problems| {
                    let matches = parse_matches(matches, &mut problems)?;
                    let id = listing_id.0;
                    let listing = listings::check_attachment(context, vendor, id, &matches, problems)?;
                    Ok((listing, matches))
                },
                move |writer, vendor, (listing, matches)| {
                    let ids = valid_ids(asset_ids);
                    let actor = Actor::Team;
                    let outcome = listings::attach_assets(writer, vendor, actor, &listing, &ids, matches)?;
                    Ok(AssetAttachmentOut {
                        assets: asset_summaries(&outcome.assets, writer.now),
                        total: outcome.assets.total as u64,
                        attached: outcome.attached,
                        skipped: outcome
                            .skipped
                            .iter()
                            .map(|(reason, count)| SkippedAssets {
                                reason: EnumValue(*reason),
                                count: *count,
                            })
                            .collect(),
                    })
                },
            )
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
        call: Call<DetachListingAsset>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        /// ID of the asset.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        call.served
            .market()
            .write_freeing(call.access.requester(), move |writer| {
                listings::detach_asset(writer, &call.access, Actor::Team, listing_id.0, asset_id.0)
            })
            .await?;
        Ok(NoContent)
    }
}
