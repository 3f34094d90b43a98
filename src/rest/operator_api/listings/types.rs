//! JSON types of listings.

use poem_openapi::types::MaybeUndefined;

use crate::{
    domain::{
        listings::{CatalogStatus, DeliveryMethod, LifecycleStage, ReviewStatus},
        samples::{SampledAsset, Selection},
    },
    error::Problem,
    rest::{
        arguments::request_body::into_change,
        operator_api::prelude::*,
        shapes::{
            RequestTime,
            strings::{DataPath, MultilineText, Slug, Title},
        },
    },
    store::{
        Reader,
        listings::ListingFields,
        records::{
            Records,
            labels::{DOMAINS, INVENTORY_TAGS},
            listings::LISTINGS,
        },
    },
};

/// A listing.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Listing")]
pub struct ListingOut {
    /// ID of the listing.
    pub id: Uuid,
    /// ID of the vendor team.
    pub team_id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// Description of the listing.
    pub description: String,
    /// Slugs of the domains.
    pub domain_tags: Vec<String>,
    /// Slugs of the inventory tags.
    pub tag_slugs: Vec<String>,
    /// Buy-now price; null if there is none.
    pub price: Option<Money>,
    /// Price of the sample, which can be 0; null if no sample is offered.
    pub sample_price: Option<Money>,
    /// What the sample has; empty for parts of all assets.
    pub sample: Vec<SampledAssetOut>,
    /// Currency of the prices.
    pub currency: EnumValue<Currency>,
    /// Whether buyers can bid.
    pub accepts_bids: bool,
    /// Whether the listing is sold once, exclusively.
    pub exclusive: bool,
    /// License and conditions.
    pub terms: String,
    /// How the data is delivered; null if the vendor has not said.
    pub delivery_method: Option<EnumValue<DeliveryMethod>>,
    /// Number of days that the delivery is expected to take; null if the vendor has not said.
    pub delivery_days: Option<u32>,
    /// Time from which the data can be delivered; null if that is immediately.
    pub available_from: Option<UtcTime>,
    /// Status in the review.
    pub review_status: EnumValue<ReviewStatus>,
    /// Status in the catalog.
    pub catalog_status: EnumValue<CatalogStatus>,
    /// Lifecycle stage, which follows from both statuses.
    pub stage: EnumValue<LifecycleStage>,
    /// Place among the featured listings, from 1; null if the listing is not featured.
    pub featured: Option<u32>,
    /// Time of the certification; null if the listing is not certified in its current form.
    pub certified_at: Option<UtcTime>,
    /// What the vendor was told when changes were last requested or the listing was rejected; null if neither
    /// happened, and once the listing is approved.
    pub review_feedback: Option<String>,
    /// ID of the latest quality run of the listing; null if it has had none.
    pub latest_quality_run_id: Option<Uuid>,
    /// Number of assets.
    pub asset_count: u64,
    /// IDs of the first 100 assets, in the order in which they were attached; `GET /operator/v1/assets?listing_id=…`
    /// returns all.
    #[oai(validator(max_items = 100))]
    pub asset_ids: Vec<Uuid>,
    /// Number of offers that wait for a decision of the vendor.
    pub submitted_offer_count: u64,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the latest change.
    pub updated_at: UtcTime,
    /// Time at which the listing was last published; null if it never was.
    pub published_at: Option<UtcTime>,
    /// Time at which the listing was archived; null unless archived.
    pub archived_at: Option<UtcTime>,
}

resource!(ListingOut: Uuid, LISTINGS, "listing", id, team_id);

/// An asset of a sample. Without paths and tasks, the sample has the README, the license, the first 20 files of at most
/// 1 MiB by path, and the first 10 tasks.
#[derive(Debug, Object, Serialize, Deserialize)]
#[serde(from = "SampledAsset")]
#[oai(rename = "SampledAsset")]
pub struct SampledAssetOut {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// Paths of files and directories in the repository or archive; null for the default.
    pub paths: Option<Vec<String>>,
    /// IDs of tasks; null for the default.
    pub task_ids: Option<Vec<Uuid>>,
}

impl From<SampledAsset> for SampledAssetOut {
    fn from(sampled: SampledAsset) -> SampledAssetOut {
        let Selection { paths, task_ids } = sampled.selection;
        SampledAssetOut { asset_id: sampled.asset_id, paths, task_ids }
    }
}

/// An asset of a sample. Without paths and tasks, the sample has the README, the license, the first 20 files of at most
/// 1 MiB by path, and the first 10 tasks.
#[derive(Debug, Object)]
pub struct SampledAssetIn {
    /// ID of the asset.
    asset_id: MaybeInvalid<Uuid>,
    /// Paths of files and directories in the repository or archive, together at most 50,000 bytes.
    #[oai(validator(min_items = 1, max_items = 1000))]
    paths: Option<Vec<MaybeInvalid<DataPath>>>,
    /// IDs of tasks.
    #[oai(validator(min_items = 1, max_items = 1000))]
    task_ids: Option<Vec<MaybeInvalid<Uuid>>>,
}

/// Returns the sample in a body without problems.
fn sampled(sample: Vec<MaybeInvalid<SampledAssetIn>>) -> Result<Vec<SampledAsset>> {
    let asset = |asset: MaybeInvalid<SampledAssetIn>| {
        let SampledAssetIn { asset_id, paths, task_ids } = asset.into_valid()?;
        let paths = paths.map(|paths| MaybeInvalid::all(paths, String::from)).transpose()?;
        let task_ids = task_ids.map(|ids| MaybeInvalid::all(ids, |id| id)).transpose()?;
        Ok(SampledAsset { asset_id: asset_id.into_valid()?, selection: Selection { paths, task_ids } })
    };
    sample.into_iter().map(asset).collect()
}

page_of! {
    /// A page of listings.
    ListingPage, ListingOut
}

/// A listing to create.
#[derive(Debug, Object)]
pub struct ListingIn {
    /// ID of the vendor team.
    pub team_id: MaybeInvalid<Uuid>,
    /// Title of the listing.
    pub title: MaybeInvalid<Title>,
    /// Description of the listing.
    pub description: Option<MultilineText>,
    /// Slugs of the domains.
    #[oai(default, validator(max_items = 20))]
    pub domain_tags: Vec<MaybeInvalid<Slug>>,
    /// Slugs of the inventory tags.
    #[oai(default, validator(max_items = 50))]
    pub tag_slugs: Vec<MaybeInvalid<Slug>>,
    /// Buy-now price; null or absent if there is none.
    pub price: Option<Amount>,
    /// Price of the sample, which can be 0; null or absent if no sample is offered.
    pub sample_price: Option<Amount>,
    /// What the sample has: assets of the listing. Required to submit a listing that offers a sample.
    #[oai(default, validator(max_items = 100))]
    pub sample: Vec<MaybeInvalid<SampledAssetIn>>,
    /// Currency of the prices.
    pub currency: Option<EnumValue<Currency>>,
    /// Whether buyers can bid.
    #[oai(default)]
    pub accepts_bids: bool,
    /// Whether the listing is sold once, exclusively.
    #[oai(default)]
    pub exclusive: bool,
    /// License and conditions.
    pub terms: Option<MultilineText>,
    /// How the data is delivered. Requires `delivery_days`.
    pub delivery_method: Option<EnumValue<DeliveryMethod>>,
    /// Number of days that the delivery is expected to take. Requires `delivery_method`.
    #[oai(validator(minimum(value = "0"), maximum(value = "3650")))]
    pub delivery_days: Option<i64>,
    /// Time from which the data can be delivered; null or absent if that is immediately.
    pub available_from: Option<RequestTime>,
    /// IDs of assets of the team to attach, of any kind. Each must be complete or proposed.
    #[oai(default, validator(max_items = 1000))]
    pub asset_ids: Vec<MaybeInvalid<Uuid>>,
}

/// A new listing: the ID of its vendor, its fields, and the IDs of its assets.
pub struct NewListing {
    pub team: Uuid,
    pub fields: ListingFields,
    pub asset_ids: Vec<Uuid>,
}

impl ListingIn {
    /// Checks what the body refers to.
    pub fn into_listing(self, rows: &Reader) -> Result<NewListing> {
        let fields = ListingFields {
            title: self.title.into_valid()?.0,
            description: self.description.map(String::from).unwrap_or_default(),
            domain_tags: slugs(rows, "domain_tags", self.domain_tags, &DOMAINS)?,
            tag_slugs: slugs(rows, "tag_slugs", self.tag_slugs, &INVENTORY_TAGS)?,
            price: self.price.map(|price| price.0),
            sample_price: self.sample_price.map(|price| price.0),
            sample: sampled(self.sample)?,
            accepts_bids: self.accepts_bids,
            terms: self.terms.map(String::from).unwrap_or_default(),
            delivery: delivery(
                self.delivery_method.map(|method| method.0),
                self.delivery_days.map(|days| days as u32),
            )?,
            available_from: self.available_from.map(|at| at.0),
            is_exclusive: self.exclusive,
        };
        Ok(NewListing { team: self.team_id.into_valid()?, fields, asset_ids: asset_ids(self.asset_ids)? })
    }
}

/// Changes to a listing. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct ListingPatch {
    /// New title.
    title: Omittable<Title>,
    /// New description.
    description: Omittable<MultilineText>,
    /// New slugs of the domains. Replaces all of them.
    #[oai(validator(max_items = 20))]
    domain_tags: Omittable<Vec<MaybeInvalid<Slug>>>,
    /// New slugs of the inventory tags. Replaces all of them.
    #[oai(validator(max_items = 50))]
    tag_slugs: Omittable<Vec<MaybeInvalid<Slug>>>,
    /// New buy-now price; null for none.
    price: MaybeUndefined<Amount>,
    /// New price of the sample; null to offer none.
    sample_price: MaybeUndefined<Amount>,
    /// What the sample has. Replaces all of it.
    #[oai(validator(max_items = 100))]
    sample: Omittable<Vec<MaybeInvalid<SampledAssetIn>>>,
    /// Currency of the prices.
    currency: Omittable<EnumValue<Currency>>,
    /// Whether buyers can bid.
    accepts_bids: Omittable<bool>,
    /// Whether the listing is sold once, exclusively.
    exclusive: Omittable<bool>,
    /// New license and conditions.
    terms: Omittable<MultilineText>,
    /// How the data is delivered; null to delete it together with `delivery_days`.
    delivery_method: MaybeUndefined<EnumValue<DeliveryMethod>>,
    /// Number of days that the delivery is expected to take; null to delete it together with `delivery_method`.
    #[oai(validator(minimum(value = "0"), maximum(value = "3650")))]
    delivery_days: MaybeUndefined<i64>,
    /// Time from which the data can be delivered; null if that is immediately.
    available_from: MaybeUndefined<RequestTime>,
}

impl ListingPatch {
    /// Changes the fields that the body states. Checks what it refers to.
    pub fn apply(self, rows: &Reader, to: &mut ListingFields) -> Result<()> {
        set(&mut to.title, self.title.0.map(String::from));
        set(&mut to.description, self.description.0.map(String::from));
        set(&mut to.terms, self.terms.0.map(String::from));
        set(&mut to.accepts_bids, self.accepts_bids.0);
        set(&mut to.is_exclusive, self.exclusive.0);
        if let Some(tags) = self.domain_tags.0 {
            to.domain_tags = slugs(rows, "domain_tags", tags, &DOMAINS)?;
        }
        if let Some(tags) = self.tag_slugs.0 {
            to.tag_slugs = slugs(rows, "tag_slugs", tags, &INVENTORY_TAGS)?;
        }
        if let Some(sample) = self.sample.0 {
            to.sample = sampled(sample)?;
        }
        into_change(self.price).map(|price| price.0).apply(&mut to.price);
        into_change(self.sample_price).map(|price| price.0).apply(&mut to.sample_price);
        into_change(self.available_from).map(|at| at.0).apply(&mut to.available_from);
        let (mut method, mut days) = to.delivery.unzip();
        // Deleting one deletes both, unless the body states the other one.
        if self.delivery_method.is_null() || self.delivery_days.is_null() {
            (method, days) = (None, None);
        }
        into_change(self.delivery_method).map(|method| method.0).apply(&mut method);
        into_change(self.delivery_days).map(|days| days as u32).apply(&mut days);
        to.delivery = delivery(method, days)?;
        Ok(())
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// Returns the delivery, of which a body states both or neither.
fn delivery(method: Option<DeliveryMethod>, days: Option<u32>) -> Result<Option<(DeliveryMethod, u32)>> {
    let (missing, stated) = match (method, days) {
        (Some(method), Some(days)) => return Ok(Some((method, days))),
        (None, None) => return Ok(None),
        (None, Some(_)) => ("delivery_method", "delivery_days"),
        (Some(_), None) => ("delivery_days", "delivery_method"),
    };
    let message = format!("`{missing}` is required with `{stated}`.");
    Err(Error::invalid(Problem::body(&[missing], "missing", message)))
}

fn slugs(rows: &Reader, field: &str, tags: Vec<MaybeInvalid<Slug>>, terms: &Records) -> Result<Vec<String>> {
    references::slugs(rows, field, MaybeInvalid::all(tags, String::from)?, terms)
}

/// Returns the IDs of the assets in a body without problems.
pub fn asset_ids(asset_ids: Vec<MaybeInvalid<Uuid>>) -> Result<Vec<Uuid>> {
    references::distinct("asset_ids", MaybeInvalid::all(asset_ids, |id| id)?)
}
