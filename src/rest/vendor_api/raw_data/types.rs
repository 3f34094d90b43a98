//! JSON of raw data assets.

use std::collections::BTreeMap;

use poem_openapi::{Object, types::MaybeUndefined};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        assets::{ArchiveChannel, Kind},
        changes::Change,
        inventory::{Asset, AssetChange},
        stages::{RequiredField, Stage},
    },
    operations::raw_data::UploadReference,
    rest::{
        arguments::request_body::{MaybeInvalid, Omittable, checked_texts, into_change},
        shapes::{
            UtcTime,
            assets::{DataObject, missing_pieces, price_usd},
            limit_offset::offset_page,
            strings::{Dollars, MultilineText, OtherDomain, Slug, Title, Url},
        },
    },
    web::enum_value::EnumValue,
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
    pub missing: Vec<EnumValue<RequiredField>>,
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

offset_page! {
    /// A page of a team's raw data assets.
    RawDataPage of RawDataOut: "The raw data assets, in the requested order.",
        "Number of raw data assets that match, on all pages."
}

/// A completed upload to attach to a raw data asset.
#[derive(Debug, Object)]
pub struct UploadLink {
    /// Source of the archive. Always `zip`.
    channel: MaybeInvalid<EnumValue<ArchiveChannel>>,
    /// URL that the upload was given when it was completed.
    url: MaybeInvalid<Url>,
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
    title: MaybeInvalid<Title>,
    /// The upload to attach. It can also be attached later.
    data: Option<UploadLink>,
    /// Description of the asset. If it is blank when the archive is analyzed, the README in the archive's
    /// root fills it.
    description: Option<MultilineText>,
    /// Slugs of the asset's domains, from `GET /v2/domains`.
    #[oai(default, validator(max_items = 20))]
    domain_tags: Vec<MaybeInvalid<Slug>>,
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
    domain_tags: Omittable<Vec<MaybeInvalid<Slug>>>,
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
    /// Returns the properties, the archive, and whether to append a number to a title that is taken.
    pub fn into_parts(self) -> (AssetChange, Option<UploadReference>, bool) {
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
