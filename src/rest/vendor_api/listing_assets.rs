//! The assets of a vendor's own listings.

use super::asset_matches::{AssetMatch, parse_matches, valid_ids};
use crate::{
    domain::{
        listings::{Actor, AttachSkip},
        time::Timestamp,
    },
    operations::listing_assets::{self, AttachedAssets},
    rest::{prelude::*, shapes::assets::AssetSummary},
};

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
    asset_ids: Vec<MaybeInvalid<Uuid>>,
    /// Selections of assets to attach, without a limit on the number of assets that they select.
    #[oai(default, validator(max_items = 20))]
    matches: Vec<MaybeInvalid<AssetMatch>>,
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

#[routes(prefix = "/v2", tag = Listings)]
impl ListingAssetsApi {
    /// List the assets of a listing
    ///
    /// Returns the assets of one of the team's own listings, at most 1,000 of them.
    #[get(
        "/listings/{listing_id}/assets",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Listings,
                    "list_listing_assets",
                    "Listing assets",
                    "The assets of one of the team's own listings, at most the first 1,000. \
                     `total` counts all.",
                )
                .unlisted()
                .with_ids("list_own_listings"),
                "assets",
            ),
            Contract::new(Target::OwnListing),
        ),
    )]
    async fn list_listing_assets(call: Call<Vendor>, listing_id: Path<Uuid>) -> JsonResult<ListingAssets> {
        Json::read(&call.served, call.access.requester(), move |reader| {
            let assets = listing_assets::list(reader.rows, &call.access, listing_id.0)?;
            Ok(ListingAssets { assets: asset_summaries(&assets, reader.now), total: assets.total as u64 })
        })
        .await
    }

    /// Attach assets
    ///
    /// Attaches codebases with linked data to one of the team's own listings, by ID or by their properties.
    /// The listing must be in the stage `draft` or `ready`. Assets that cannot be attached are skipped and
    /// counted by reason. Attaching an asset ends the listing's certification.
    #[post(
        "/listings/{listing_id}/assets",
        RouteAttributes::change(Contract::new(Target::OwnListing))
            .with_conflicts(&[Code::ListingNotEditable, Code::NoLongerAvailable]),
    )]
    async fn attach_listing_assets(
        call: Call<Vendor>,
        listing_id: Path<Uuid>,
        idempotent: Idempotent,
        #[example(json!({
                        "asset_ids": ["6b473692-e841-5564-8f7d-44593627889f"],
                        "matches": [{"sku": "codebase", "filters": ["stage:is:complete", "domain:is:logistics"]}],
                    }))]
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
                    let listing = listing_assets::check_attachment(context, vendor, id, &matches, problems)?;
                    Ok((listing, matches))
                },
                move |writer, vendor, (listing, matches)| {
                    let ids = valid_ids(asset_ids);
                    let actor = Actor::Team;
                    let outcome = listing_assets::attach(writer, vendor, actor, &listing, &ids, matches)?;
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
    #[delete(
        "/listings/{listing_id}/assets/{asset_id}",
        RouteAttributes::change(Contract::new(Target::OwnListingAsset))
            .with_conflicts(&[Code::ListingNotEditable]),
    )]
    async fn detach_listing_asset(
        call: Call<Vendor>,
        listing_id: Path<Uuid>,
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        call.served
            .market()
            .write_freeing(call.access.requester(), move |writer| {
                listing_assets::detach(writer, &call.access, Actor::Team, listing_id.0, asset_id.0)
            })
            .await?;
        Ok(NoContent)
    }
}
