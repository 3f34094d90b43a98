//! A vendor's raw data assets.

mod types;

use self::types::{RawDataIn, RawDataOut, RawDataPage, RawDataPatch, UploadLink};
use super::{asset_queries::AssetListQuery, data_assets};
use crate::{
    domain::assets::Kind,
    operations::raw_data::{self, UploadReference},
    rest::{
        arguments::filter_entries::{FilterEntry, RawDataFilters},
        prelude::*,
        shapes::assets::DataObject,
        vendor_api::{asset_queries::ASSET_LIST_QUERIES, assets::GET_ASSET_TOOL},
    },
};

#[routes(prefix = "/v2", tag = RawData)]
impl RawDataApi {
    /// List raw data
    ///
    /// Returns a page of the team's raw data assets, newest first unless sorted.
    #[get(
        "/raw-data",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_raw_data",
                    "Raw data",
                    "The team's raw data archives, with `missing`.",
                )
                .with_parameters(&[(
                    "filter",
                    "All must hold: `field:is:value`, `is_not`, `name:contains:text`. Fields: `stage` \
                     (incomplete, proposed, complete), `name`, `domain`, `channel` (zip, not_linked).",
                )])
                .with_values(&[("sort", &["name", "domain", "stage", "channel", "created_at", "price"])])
                .with_row(&[
                    "id",
                    "title",
                    "stage",
                    "domain_tags",
                    "price_usd",
                    "missing",
                    "data.channel",
                    "data.archive_bytes",
                    "data.analyzed_at",
                ]),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(ASSET_LIST_QUERIES)
                .with_misspelled("stge=complete", "stage")
                .with_pages("limit=1", "limit=200", 6),
        ),
    )]
    async fn list_raw_data(
        call: Call<Vendor>,
        query: Params<AssetListQuery<FilterEntry<RawDataFilters>>>,
    ) -> JsonResult<RawDataPage> {
        query.0.read_page(call, |asset, _, _| RawDataOut::from(asset)).await
    }

    /// Create raw data
    ///
    /// Creates a raw data asset. If `data` is set, the completed upload is attached to it and then analyzed
    /// in the background.
    #[post("/raw-data", RouteAttributes::change(Contract::new(Target::None)))]
    async fn create_raw_data(
        call: Call<Vendor>,
        idempotent: Idempotent,
        #[example(json!({
                        "title": "Court letters 1890 to 1920",
                        "description": "Scans with transcriptions.",
                        "domain_tags": ["other"],
                        "other_domain": "Palaeography",
                        "price_usd": 3200,
                        "suffix_title": true,
                    }))]
        body: Body<RawDataIn>,
    ) -> JsonResult<RawDataOut, 201> {
        let (change, upload, suffix_title) = body.value.into_parts();
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |context, vendor, problems| {
                    raw_data::check_new(context, vendor, change, upload, problems)
                },
                move |writer, vendor, checked| {
                    let asset = raw_data::create(writer, vendor, checked, suffix_title)?;
                    Ok(RawDataOut::from(&asset))
                },
            )
            .await
    }

    /// Get raw data
    ///
    /// Returns one of the team's raw data assets.
    #[get(
        "/raw-data/{asset_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_ASSET_TOOL, value: "raw_data", list: None },
            Contract::new(Target::OwnRawData),
        ),
    )]
    async fn get_raw_data(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> JsonResult<RawDataOut> {
        data_assets::get(call, asset_id.0, Kind::RawData).await
    }

    /// Update raw data
    ///
    /// Changes only the fields in the body. The stage is recomputed.
    #[patch("/raw-data/{asset_id}", RouteAttributes::change(Contract::new(Target::OwnRawData)))]
    async fn update_raw_data(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        #[example(json!({
            "notes": "Scanner was recalibrated for boxes 12 to 40.",
            "extra_columns": {"boxes": 61},
        }))]
        body: Body<RawDataPatch>,
    ) -> JsonResult<RawDataOut> {
        data_assets::update(call, (asset_id.0, Kind::RawData), body, |writer, changed| {
            raw_data::update(writer, changed).map(|asset| RawDataOut::from(&asset))
        })
        .await
    }

    /// Delete raw data
    ///
    /// Deletes a raw data asset and removes it from the listings that it is on. Detach its archive first.
    /// Fails while the asset is on a listing that is in review or published.
    #[delete(
        "/raw-data/{asset_id}",
        RouteAttributes::change(Contract::new(Target::OwnRawData))
            .with_conflicts(&[Code::DataAttached, Code::AssetInUse]),
    )]
    async fn delete_raw_data(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::delete(call, asset_id.0, Kind::RawData).await
    }

    /// Attach an archive
    ///
    /// Attaches a completed upload of the team to a raw data asset that has no archive. It is analyzed in the
    /// background; poll `archive_status` and `analysis_status` for the progress. Listings with the asset that are approved
    /// and not in the catalog become drafts.
    #[post(
        "/raw-data/{asset_id}/data",
        RouteAttributes::change(Contract::new(Target::OwnRawData))
            .with_conflicts(&[Code::DataAttached]),
    )]
    async fn attach_raw_data(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        idempotent: Idempotent,
        #[example(json!({
                        "channel": "zip",
                        "url": "https://market.example/v2/blobs/uploads/0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11.zip",
                    }))]
        body: Body<UploadLink>,
    ) -> JsonResult<DataObject, 201> {
        let upload = UploadReference::from(body.value);
        data_assets::attach_data(
            call,
            idempotent,
            body.source,
            move |context, vendor, problems| {
                raw_data::check_attachment(context, vendor, asset_id.0, upload, problems)
            },
            move |writer, vendor, checked| raw_data::attach_upload(writer, vendor, &checked),
        )
        .await
    }

    /// Detach the archive
    ///
    /// Detaches the archive from a raw data asset. Fields that were read from it get the values back that they had
    /// before, and the stage is recomputed. Listings with the asset that are approved become drafts, and pending purchases
    /// of it are canceled.
    #[delete(
        "/raw-data/{asset_id}/data",
        RouteAttributes::change(Contract::new(Target::OwnRawData))
            .with_conflicts(&[Code::DataNotAttached, Code::AssetInUse]),
    )]
    async fn detach_raw_data(
        call: Call<Vendor>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::detach_data(call, asset_id.0, Kind::RawData).await
    }
}
