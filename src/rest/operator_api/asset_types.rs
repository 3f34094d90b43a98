//! Asset types: the kinds of assets, and their retirement.

use super::resources::Subject;
use crate::{
    domain::{
        assets::Kind,
        taxonomy::{AssetTypeStage, AssetTypeState},
    },
    operations::asset_types::{self, DeprecationInput},
    rest::{
        operator_api::prelude::*,
        shapes::{RequestTime, strings::Note},
    },
    store::records::asset_types::AssetTypeRecord,
    string_enum::StringEnum,
};

/// A kind of assets.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "AssetType")]
pub struct AssetTypeOut {
    /// Identifier of the kind.
    pub slug: EnumValue<Kind>,
    /// Display name.
    pub label: String,
    /// Whether vendors can create assets of the kind.
    pub enabled: bool,
    /// How far the retirement of the kind has come.
    pub stage: EnumValue<AssetTypeStage>,
    /// Time at which the retirement was announced; null if none was.
    pub deprecated_at: Option<UtcTime>,
    /// Time at which the kind retires, or has retired; null if no retirement was announced.
    pub retires_at: Option<UtcTime>,
    /// Whether assets of the kind can be added to listings until it retires; null if no retirement was announced.
    pub accepts_new_listings: Option<bool>,
    /// What vendors were told about the retirement; null if none was announced.
    pub message: Option<String>,
    /// Former names of listings with assets of the kind.
    pub listing_kinds: Vec<String>,
}

impl Subject for AssetTypeOut {
    const KIND: &'static str = "asset_type";

    fn id(&self) -> String {
        self.slug.0.as_str().to_owned()
    }
}

impl Resource for AssetTypeOut {
    type Record = AssetTypeRecord;

    fn new(record: AssetTypeRecord, context: &CheckContext) -> AssetTypeOut {
        let AssetTypeRecord { kind, label, is_enabled, listing_kinds, retirement } = record;
        let state = AssetTypeState::new(is_enabled, retirement.as_ref(), context.now);
        let announced = retirement.map(|retirement| retirement.announced);
        AssetTypeOut {
            slug: EnumValue(kind),
            label,
            enabled: is_enabled,
            stage: EnumValue(state.stage),
            deprecated_at: announced.as_ref().map(|announced| announced.deprecated_at.into()),
            retires_at: announced.as_ref().map(|announced| announced.retires_at.into()),
            accepts_new_listings: announced.as_ref().map(|announced| announced.accepts_new_listings),
            message: announced.map(|announced| announced.message),
            listing_kinds,
        }
    }
}

page_of! {
    /// A page of asset types.
    AssetTypePage, AssetTypeOut
}

/// What the list of asset types can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct AssetTypeFilters {
    /// Whether vendors can create assets of the kind.
    enabled: Option<bool>,
    /// Whether the retirement of the kind was announced.
    deprecated: Option<bool>,
}

/// Changes to an asset type. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct AssetTypePatch {
    /// Whether vendors can create assets of the kind. Those that exist stay.
    enabled: Omittable<bool>,
}

/// The retirement of an asset type to announce.
#[derive(Debug, Object)]
pub struct DeprecationIn {
    /// Time at which the kind retires, in the future.
    retires_at: MaybeInvalid<RequestTime>,
    /// Whether assets of the kind can still be added to listings until then.
    accepts_new_listings: MaybeInvalid<bool>,
    /// Explanation for vendors, for instance what to use instead.
    message: MaybeInvalid<Note>,
}

#[routes(prefix = "/operator/v1", tag = Taxonomy)]
impl AssetTypesApi {
    /// List asset types
    ///
    /// Returns the asset types, the last one in display order first.
    #[get("/asset-types", routes::list(&["enabled=true&limit=2", "deprecated=true"]))]
    async fn list_asset_types(
        call: Call<Operator>,
        query: Params<ListQuery<AssetTypeFilters>>,
    ) -> JsonResult<AssetTypePage> {
        pages::list(call, query).await
    }

    /// Get an asset type
    ///
    /// Returns an asset type.
    #[get("/asset-types/{slug}", routes::get("asset_types"))]
    async fn get_asset_type(
        call: Call<Operator>,
        /// Slug of the asset type.
        slug: Path<String>,
    ) -> JsonResult<AssetTypeOut> {
        resources::get(call, slug.0).await
    }

    /// Update an asset type
    ///
    /// Allows or stops new assets of a kind. A retired kind cannot be enabled.
    #[patch(
        "/asset-types/{slug}",
        routes::transition(
            "asset_types",
            Actor::Platform,
            &[EventType::AssetTypeEnabled, EventType::AssetTypeDisabled],
        ),
    )]
    async fn update_asset_type(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// Slug of the asset type.
        slug: Path<String>,
        #[example(json!({"enabled": false}))] body: Body<AssetTypePatch>,
    ) -> JsonResult<AssetTypeOut> {
        changes::patch(
            call,
            if_match,
            slug.0,
            body,
            |writer, platform, slug: &String, patch: AssetTypePatch| match patch.enabled.0 {
                Some(enabled) => asset_types::set_enabled(writer, platform, kind(slug)?, enabled).map(drop),
                None => Ok(()),
            },
        )
        .await
    }

    /// Deprecate an asset type
    ///
    /// Announces when a kind retires, or changes what was announced, and notifies the vendors who have such assets or
    /// listings.
    #[post(
        "/asset-types/{slug}/deprecate",
        routes::transition("asset_types", Actor::Platform, &[EventType::AssetTypeDeprecated]),
    )]
    async fn deprecate_asset_type(
        change: Change,
        /// Slug of the asset type.
        slug: Path<String>,
        #[example(json!({
                    "retires_at": "2027-01-01T00:00:00Z", "accepts_new_listings": true,
                    "message": "Sell the tasks as a taskset instead.",
                }))]
        body: Body<DeprecationIn>,
    ) -> JsonResult<AssetTypeOut> {
        let slug = slug.0;
        changes::post_body(change, body, move |writer, platform, body: DeprecationIn| {
            let message: String = body.message.into_valid()?.into();
            let input = DeprecationInput {
                retires_at: body.retires_at.into_valid()?.0,
                accepts_new_listings: body.accepts_new_listings.into_valid()?,
                message: &message,
            };
            asset_types::deprecate(writer, platform, kind(&slug)?, &input).map(|_| slug)
        })
        .await
    }

    /// Retire an asset type
    ///
    /// Retires a deprecated kind now, earlier than announced.
    #[post(
        "/asset-types/{slug}/retire",
        routes::transition("asset_types", Actor::Platform, &[EventType::AssetTypeRetired]),
    )]
    async fn retire_asset_type(
        change: Change,
        /// Slug of the asset type.
        slug: Path<String>,
    ) -> JsonResult<AssetTypeOut> {
        changes::transition(change, slug, |writer, platform, _, slug: String| {
            asset_types::retire(writer, platform, kind(&slug)?)
        })
        .await
    }
}

/// Returns the kind with this slug.
fn kind(slug: &str) -> Result<Kind> {
    Kind::parse(slug).ok_or_else(|| Error::not_found("asset type"))
}
