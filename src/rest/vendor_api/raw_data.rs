//! A vendor's raw data assets.

use std::collections::BTreeMap;

use poem_openapi::{Object, OpenApi, types::MaybeUndefined};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{asset_queries::AssetListQuery, data_assets};
use crate::{
    domain::{
        assets::{ArchiveChannel, Kind},
        inventory::{Asset, AssetChange, Change},
        stages::{Piece, Stage},
    },
    error::Code,
    operations::{
        access::Vendor,
        asset_changes,
        raw_data::{self, UploadReference},
    },
    rest::{
        enum_value::EnumValue,
        filter_entries::{FilterEntry, RawDataFilters},
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        limits::Budget,
        params::Params,
        problem::ApiError,
        request_body::{Body, Checked, Omittable, checked_texts, into_change},
        route::{Call, Contract, DeclaredRoute, Path, Route, RouteAttributes, Target, Tool, ToolText},
        shapes::{
            UtcTime,
            assets::{DataObject, missing_pieces, price_usd},
            limit_offset::Page,
            strings::{Dollars, MultilineText, OtherDomain, Slug, Title, Url},
        },
        vendor_api::asset_queries::ASSET_LIST_QUERIES,
        vendor_api::assets::GET_ASSET_TOOL,
    },
};

/// A raw data asset: an archive of files with its metadata.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "RawData")]
pub struct RawDataOut {
    /// Kind of the asset. Always `raw_data`.
    pub sku: EnumValue<Kind>,
    /// ID of the asset.
    pub id: Uuid,
    /// ID of the inventory group that the asset is in.
    pub group_id: Uuid,
    /// Stage, derived from required metadata and archive: `incomplete` (metadata missing), `proposed`
    /// (metadata complete, no archive attached yet) or `complete`.
    pub stage: EnumValue<Stage>,
    /// Title of the asset.
    pub title: String,
    /// Slugs of the asset's domains.
    pub domain_tags: Vec<String>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// The attached archive; null if none is attached.
    pub data: Option<DataObject>,
    /// Description of the asset; null if it has none.
    pub description: Option<String>,
    /// Custom columns of the vendor, by name.
    pub extra_columns: BTreeMap<String, Value>,
    /// Required pieces that are missing, in the order in which a form would ask for them.
    pub missing: Vec<EnumValue<Piece>>,
    /// Internal notes of the vendor; null if there are none.
    pub notes: Option<String>,
    /// Domain in words, if `domain_tags` contains `other`; null if not specified.
    pub other_domain: Option<String>,
    /// Asking price in US dollars; null if not specified.
    pub price_usd: Option<f64>,
}

impl From<&Asset> for RawDataOut {
    fn from(asset: &Asset) -> RawDataOut {
        RawDataOut {
            sku: EnumValue(asset.kind),
            id: asset.id,
            group_id: asset.group.1,
            stage: EnumValue(asset.stage()),
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            created_at: asset.created_at.into(),
            data: asset.data.as_ref().map(|data| DataObject::new(asset.id, data)),
            description: asset.description.clone(),
            extra_columns: asset.extra_columns.clone(),
            missing: missing_pieces(asset),
            notes: asset.notes.clone(),
            other_domain: asset.other_domain.clone(),
            price_usd: price_usd(asset),
        }
    }
}

/// A page of a team's raw data assets.
#[derive(Debug, Object, Serialize)]
pub struct RawDataPage {
    /// The raw data assets, in the requested order.
    pub items: Vec<RawDataOut>,
    /// Number of raw data assets that match, on all pages.
    pub total: u64,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
}

/// A completed upload to attach to a raw data asset.
#[derive(Debug, Object)]
pub struct UploadLink {
    /// Source of the archive. Always `zip`.
    channel: Checked<EnumValue<ArchiveChannel>>,
    /// URL that the upload was given when it was completed.
    url: Checked<Url>,
    /// URL of a manifest that the vendor hosts.
    manifest_url: Option<Url>,
}

impl From<UploadLink> for UploadReference {
    fn from(link: UploadLink) -> UploadReference {
        let (Some(EnumValue(ArchiveChannel::Zip)) | None) = link.channel.0;
        UploadReference {
            url: link.url.0.map(String::from),
            manifest_url: link.manifest_url.map(String::from),
        }
    }
}

/// A raw data asset to create. Only the title is required; until everything in `missing` is set, the asset is
/// `incomplete`. Raw data has no exclusivity.
#[derive(Debug, Object)]
pub struct RawDataIn {
    /// Title of the asset; must be unique among the team's raw data.
    title: Checked<Title>,
    /// The upload to attach. It can also be attached later.
    data: Option<UploadLink>,
    /// Description of the asset. If it is blank when the archive is analyzed, the README in the archive's
    /// root fills it.
    description: Option<MultilineText>,
    /// Slugs of the asset's domains, from `GET /v2/domains`.
    #[oai(default, validator(max_items = 20))]
    domain_tags: Vec<Checked<Slug>>,
    /// Custom columns, by name: at most 65,536 bytes of JSON in total, names of at most 1,000 characters,
    /// values nested at most 32 levels deep.
    #[oai(default, validator(max_properties = 50))]
    extra_columns: BTreeMap<String, Value>,
    /// ID of the group to put the asset in. Defaults to the team's default group.
    group_id: Option<Uuid>,
    /// Internal notes of the vendor.
    notes: Option<MultilineText>,
    /// Domain in words, if `domain_tags` contains `other`.
    other_domain: Option<OtherDomain>,
    /// Asking price in US dollars, with at most two decimals.
    price_usd: Option<Dollars>,
    /// Whether to append a number to the title if it is taken. Otherwise the request fails with 409.
    #[oai(default)]
    suffix_title: bool,
}

/// Changes to a raw data asset; omitted fields keep their values. Null clears a field, `[]` the tags, `{}`
/// the columns.
#[derive(Debug, Object)]
pub struct RawDataPatch {
    /// Description of the asset.
    description: MaybeUndefined<MultilineText>,
    /// Slugs of the asset's domains, from `GET /v2/domains`. Replaces all of them.
    #[oai(validator(max_items = 20))]
    domain_tags: Omittable<Vec<Checked<Slug>>>,
    /// Custom columns, by name. Replaces all of them: at most 65,536 bytes of JSON in total, names of at most
    /// 1,000 characters, values nested at most 32 levels deep.
    #[oai(validator(max_properties = 50))]
    extra_columns: Omittable<BTreeMap<String, Value>>,
    /// ID of the group to move the asset to; null for the team's default group.
    group_id: MaybeUndefined<Uuid>,
    /// Internal notes of the vendor.
    notes: MaybeUndefined<MultilineText>,
    /// Domain in words, if `domain_tags` contains `other`.
    other_domain: MaybeUndefined<OtherDomain>,
    /// Asking price in US dollars, with at most two decimals.
    price_usd: MaybeUndefined<Dollars>,
    /// Title of the asset; must be unique among the team's raw data.
    title: Omittable<Title>,
}

impl RawDataIn {
    fn into_parts(self) -> (AssetChange, Option<UploadReference>, bool) {
        let change = AssetChange {
            title: self.title.0.map(String::from),
            description: Change::from(self.description).map(String::from),
            domain_tags: Some(checked_texts(self.domain_tags)).filter(|tags| !tags.is_empty()),
            other_domain: Change::from(self.other_domain).map(String::from),
            price_usd: Change::from(self.price_usd).map(|price| price.0),
            notes: Change::from(self.notes).map(String::from),
            extra_columns: Some(self.extra_columns).filter(|columns| !columns.is_empty()),
            group_id: self.group_id.into(),
            ..AssetChange::default()
        };
        (change, self.data.map(UploadReference::from), self.suffix_title)
    }
}

impl From<RawDataPatch> for AssetChange {
    fn from(patch: RawDataPatch) -> AssetChange {
        AssetChange {
            title: patch.title.0.map(String::from),
            description: into_change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(checked_texts),
            other_domain: into_change(patch.other_domain).map(String::from),
            price_usd: into_change(patch.price_usd).map(|price| price.0),
            notes: into_change(patch.notes).map(String::from),
            extra_columns: patch.extra_columns.0,
            group_id: into_change(patch.group_id),
            ..AssetChange::default()
        }
    }
}

pub struct RawDataApi;

/// `GET /v2/raw-data`
pub struct ListRawData;

impl Route for ListRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "list_raw_data",
        Budget::Other,
        Tool::list(
            ToolText::new("list_raw_data", "Raw data", "The team's raw data archives, with `missing`.")
                .with_parameters(&[("filter", "Conditions `field:operator:value`, as in list_assets.")])
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
                ]),
            "items",
        ),
        Contract::new(Target::None)
            .with_queries(ASSET_LIST_QUERIES)
            .with_misspelled("stge=complete", "stage")
            .with_pages("limit=1", "limit=200", 6),
    );
}

/// `POST /v2/raw-data`
pub struct CreateRawData;

impl Route for CreateRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::post(
        "create_raw_data",
        Budget::Other,
        Some(|| {
            json!({
                "title": "Court letters 1890 to 1920",
                "description": "Scans with transcriptions.",
                "domain_tags": ["other"],
                "other_domain": "Palaeography",
                "price_usd": 3200,
                "suffix_title": true,
            })
        }),
        Contract::new(Target::None),
    );
}

/// `GET /v2/raw-data/{asset_id}`
pub struct GetRawData;

impl Route for GetRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::get(
        "get_raw_data",
        Budget::Other,
        Tool::Choice { tool: &GET_ASSET_TOOL, value: "raw_data", list: None },
        Contract::new(Target::OwnRawData),
    );
}

/// `PATCH /v2/raw-data/{asset_id}`
pub struct UpdateRawData;

impl Route for UpdateRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::patch(
        "update_raw_data",
        Budget::Other,
        || json!({"notes": "Scanner was recalibrated for boxes 12 to 40.", "extra_columns": {"boxes": 61}}),
        Contract::new(Target::OwnRawData),
    );
}

/// `DELETE /v2/raw-data/{asset_id}`
pub struct DeleteRawData;

impl Route for DeleteRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes =
        RouteAttributes::delete("delete_raw_data", Budget::Other, Contract::new(Target::OwnRawData))
            .with_conflicts(&[Code::DataAttached, Code::AssetInUse]);
}

/// `POST /v2/raw-data/{asset_id}/data`
pub struct AttachRawData;

impl Route for AttachRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes = RouteAttributes::post(
        "attach_raw_data",
        Budget::Other,
        Some(|| {
            json!({
                "channel": "zip",
                "url": "https://market.example/v2/blobs/uploads/0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11.zip",
            })
        }),
        Contract::new(Target::OwnRawData),
    )
    .with_conflicts(&[Code::DataAttached]);
}

/// `DELETE /v2/raw-data/{asset_id}/data`
pub struct DetachRawData;

impl Route for DetachRawData {
    type Access = Vendor;

    const ATTRIBUTES: RouteAttributes =
        RouteAttributes::delete("detach_raw_data", Budget::Other, Contract::new(Target::OwnRawData))
            .with_conflicts(&[Code::DataNotAttached, Code::AssetInUse]);
}

/// The routes of this file.
pub const ROUTES: [DeclaredRoute; 7] = [
    DeclaredRoute::of::<ListRawData>(),
    DeclaredRoute::of::<CreateRawData>(),
    DeclaredRoute::of::<GetRawData>(),
    DeclaredRoute::of::<UpdateRawData>(),
    DeclaredRoute::of::<DeleteRawData>(),
    DeclaredRoute::of::<AttachRawData>(),
    DeclaredRoute::of::<DetachRawData>(),
];

#[OpenApi(prefix_path = "/v2", tag = "crate::rest::tags::Tag::RawData")]
impl RawDataApi {
    /// List raw data
    ///
    /// Returns a page of the team's raw data assets, newest first unless sorted.
    #[oai(path = "/raw-data", method = "get", operation_id = "list_raw_data")]
    async fn list(
        &self,
        call: Call<ListRawData>,
        query: Params<AssetListQuery<FilterEntry<RawDataFilters>>>,
    ) -> JsonResult<RawDataPage> {
        let to_page = |Page { items, total, limit, offset }| RawDataPage { items, total, limit, offset };
        query.0.read_page(&call.served, call.access, |asset, _, _| RawDataOut::from(asset), to_page).await
    }

    /// Create raw data
    ///
    /// Creates a raw data asset. If `data` is set, the completed upload is attached to it and then analyzed
    /// in the background.
    #[oai(path = "/raw-data", method = "post", operation_id = "create_raw_data")]
    async fn create(
        &self,
        call: Call<CreateRawData>,
        idempotent: Idempotent,
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
    #[oai(path = "/raw-data/:asset_id", method = "get", operation_id = "get_raw_data")]
    async fn get(
        &self,
        call: Call<GetRawData>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> JsonResult<RawDataOut> {
        data_assets::get(&call.served, call.access, asset_id.0, Kind::RawData).await
    }

    /// Update raw data
    ///
    /// Changes only the fields in the body. The stage is recomputed.
    #[oai(path = "/raw-data/:asset_id", method = "patch", operation_id = "update_raw_data")]
    async fn update(
        &self,
        call: Call<UpdateRawData>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        body: Body<RawDataPatch>,
    ) -> JsonResult<RawDataOut> {
        let change = body.value.into();
        let (vendor, asset) = (call.access, (asset_id.0, Kind::RawData));
        let requester = vendor.requester();
        Json::write_body(
            &call.served,
            requester,
            body.source,
            move |context, problems| asset_changes::check_update(context, &vendor, asset, change, problems),
            move |writer, changed| raw_data::update(writer, changed).map(|asset| RawDataOut::from(&asset)),
        )
        .await
    }

    /// Delete raw data
    ///
    /// Deletes a raw data asset and removes it from the listings that it is on. Detach its archive first.
    /// Fails while the asset is on a listing that is in review or published.
    #[oai(path = "/raw-data/:asset_id", method = "delete", operation_id = "delete_raw_data")]
    async fn delete(
        &self,
        call: Call<DeleteRawData>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::delete(&call.served, call.access, asset_id.0, Kind::RawData).await
    }

    /// Attach an archive
    ///
    /// Attaches a completed upload of the team to a raw data asset that has no archive. It is analyzed in the
    /// background; poll `archive_status` and `analysis_status` for the progress.
    #[oai(path = "/raw-data/:asset_id/data", method = "post", operation_id = "attach_raw_data")]
    async fn attach(
        &self,
        call: Call<AttachRawData>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
        idempotent: Idempotent,
        body: Body<UploadLink>,
    ) -> JsonResult<DataObject, 201> {
        let upload = UploadReference::from(body.value);
        data_assets::attach_data(
            &call.served,
            call.access,
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
    /// before, and the stage is recomputed.
    #[oai(path = "/raw-data/:asset_id/data", method = "delete", operation_id = "detach_raw_data")]
    async fn detach(
        &self,
        call: Call<DetachRawData>,
        /// ID of the raw data asset.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::detach_data(&call.served, call.access, asset_id.0, Kind::RawData).await
    }
}
