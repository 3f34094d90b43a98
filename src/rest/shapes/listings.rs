//! Listings as shown in the catalog, and their rendering, which happens once per change.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use super::{UtcTime, taxonomy::DeprecationOut};
use crate::{
    domain::{
        assets::Kind,
        bundles::ManifestEntry,
        catalog::{CatalogAsset, CatalogEntry},
        listings::{CatalogStatus, DeliveryMethod, ReviewStatus},
        money::{CURRENCY, Cents},
        scale::Scale,
        time::Timestamp,
    },
    search::{RenderedListing, Taxonomy},
    web::enum_value::EnumValue,
};

/// Maximum number of assets in a summary and in a detail.
const MAX_ASSETS: usize = 12;

/// Amount of data in a listing, over all its assets.
#[derive(Clone, Debug, Object, Serialize)]
pub struct CatalogScale {
    /// Number of attached assets by kind; kinds without assets are omitted.
    #[oai(validator(max_properties = 8))]
    pub asset_counts: BTreeMap<String, u64>,
    /// Slugs of the languages of the codebases, most bytes first.
    pub languages: Vec<String>,
    /// Lines of code in the codebases.
    pub loc: u64,
    /// Number of tasks in tasksets and bundles. Single task assets are not counted.
    pub task_count: u64,
    /// Number of files in the raw data archives.
    pub zip_file_count: u64,
    /// Size of the raw data archives in bytes.
    pub zip_size_bytes: u64,
}

/// Announced retirement of asset kinds on a listing.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingDeprecation {
    /// Attached asset kinds whose retirement has been announced.
    pub types: Vec<EnumValue<Kind>>,
    /// Earliest retirement date of these kinds; null if none of the attached kinds is deprecated.
    pub retires_at: Option<UtcTime>,
}

/// Amount of data in one asset. Values that do not apply to the kind of the asset are null.
#[derive(Clone, Debug, Object, Serialize)]
pub struct AssetScale {
    /// Lines of code; null if the asset is not a codebase.
    pub loc: Option<u64>,
    /// Number of tasks; null if the asset is not a taskset or bundle.
    pub task_count: Option<u64>,
    /// Size of the archive in bytes; null if the asset is not raw data.
    pub zip_size_bytes: Option<u64>,
}

/// An asset of a listing.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListedAsset {
    /// ID of the asset. The asset itself is available only to its vendor.
    pub id: Uuid,
    /// Kind of the asset.
    pub sku: EnumValue<Kind>,
    /// Title of the asset.
    pub title: String,
    /// Slugs of the asset's domains.
    pub domain_tags: Vec<String>,
    /// Amount of data in the asset.
    pub scale: AssetScale,
    /// Announced retirement of the asset's kind; null if none is announced.
    pub deprecation: Option<DeprecationOut>,
}

/// A listing in a list of listings.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingSummary {
    /// ID of the listing.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
    /// State of the platform's review.
    pub review_status: EnumValue<ReviewStatus>,
    /// Whether the listing is in the catalog, not yet or no longer in it, or archived.
    pub catalog_status: EnumValue<CatalogStatus>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of archiving; null if the listing is not archived.
    pub archived_at: Option<UtcTime>,
    /// Kinds of the attached assets, without duplicates.
    pub asset_types: Vec<EnumValue<Kind>>,
    /// The first 12 assets, in the order in which they were attached.
    #[oai(validator(max_items = 12))]
    pub assets: Vec<ListedAsset>,
    /// Whether any attached asset is of a retired kind.
    pub carries_retired_sku: bool,
    /// Amount of data in the listing.
    pub catalog_scale: CatalogScale,
    /// Attached asset kinds whose retirement has been announced.
    pub deprecation: ListingDeprecation,
    /// Slugs of the listing's domains.
    pub domain_tags: Vec<String>,
    /// Name of the vendor organization.
    pub team_name: String,
}

/// How and when the data is delivered to a buyer.
#[derive(Clone, Debug, Object, Serialize)]
pub struct Delivery {
    /// Method of delivery.
    pub method: EnumValue<DeliveryMethod>,
    /// Expected number of days until delivery.
    pub expected_days: u32,
}

/// A programming language of a listing's codebases.
#[derive(Clone, Debug, Object, Serialize)]
pub struct LanguageShare {
    /// Display name of the language.
    pub name: String,
    /// Size of the source code in this language, in bytes.
    pub bytes: u64,
    /// Fraction of the bytes of all languages, 0 to 1, rounded to four decimals.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub share: f64,
}

/// A taskset of a listing.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListedTaskset {
    /// ID of the taskset, as taken by the taskset routes.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Number of tasks in the taskset.
    pub task_count: u64,
}

/// An entry of a listing's delivery bundle.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "BundleFile")]
pub struct BundleFileOut {
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the file: 64 lowercase hexadecimal digits.
    #[oai(validator(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

impl From<&ManifestEntry> for BundleFileOut {
    fn from(entry: &ManifestEntry) -> BundleFileOut {
        BundleFileOut { size_bytes: entry.size_bytes, sha256: entry.sha256.clone() }
    }
}

/// The fields that a detail adds to the summary and that are the same for every caller.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingDetailFields {
    /// Description by the vendor.
    pub description: String,
    /// Slugs of the listing's inventory tags.
    pub tag_slugs: Vec<String>,
    /// Tier of the vendor, 1 to 3.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    pub vendor_tier: u8,
    /// Time of the latest publication; null if the listing was never published.
    pub published_at: Option<UtcTime>,
    /// Time of the latest change to texts, prices, assets or statuses.
    pub updated_at: UtcTime,
    /// Whether the listing, as it is now, is certified by its latest quality run.
    pub platform_quality_certified: bool,
    /// Buy-now price in US dollars; null if the listing has none.
    pub price: Option<f64>,
    /// Currency of all amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// Buy-now price divided by the number of tasks, rounded to cents; null without a price or without tasks.
    pub price_per_task: Option<f64>,
    /// Whether a sample can be bought.
    pub sample_available: bool,
    /// Price of the sample in US dollars; null if no sample is offered.
    pub sample_price: Option<f64>,
    /// Whether buyers may bid their own price.
    pub accepts_bids: bool,
    /// Number of bids that wait for a decision of the vendor.
    pub active_bid_count: u64,
    /// License and conditions, as written by the vendor.
    pub terms: String,
    /// Delivery of the data; null if the vendor has not specified it.
    pub delivery: Option<Delivery>,
    /// Earliest time of delivery; null if the data is available immediately.
    pub available_from: Option<UtcTime>,
    /// Languages of the codebases, most bytes first.
    pub languages: Vec<LanguageShare>,
    /// Capabilities that the environments offer to an agent.
    pub capabilities: Vec<String>,
    /// Extensions of the files in the raw data, lowercase and without the dot.
    pub file_extensions: Vec<String>,
    /// Declared formats of the robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Tasksets of the listing, including those in bundles; each appears once.
    pub tasksets: Vec<ListedTaskset>,
    /// Entries of the team's delivery bundle, by path: one for each asset, never the files inside it. Empty for teams
    /// without a bundle, and until it is prepared.
    pub bundle_manifest: BTreeMap<String, BundleFileOut>,
}

/// A listing with everything that a buyer can know about it.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingDetail {
    /// The fields of the summary.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: ListingSummary,
    /// The fields that only a detail has.
    #[oai(flatten)]
    #[serde(flatten)]
    pub detail: ListingDetailFields,
    /// Stable URL of the delivery bundle. It gives no access by itself; download from `bundle_download_url`.
    /// Null where nothing serves bundles.
    pub bundle_url: Option<String>,
    /// Signed URL of the delivery bundle, which expires within two hours: a ZIP archive of what the team bought, or of the
    /// listing as it is now for its vendor. While the bundle is being prepared, it responds 503 with `Retry-After`; after
    /// a refund, 410 `purchase_refunded`. It supports `Range` with `If-Range`. Null for other teams, and where nothing
    /// serves bundles.
    pub bundle_download_url: Option<String>,
}

/// Renders a listing as the catalog returns it: once per change, for all callers.
pub fn render(entry: &CatalogEntry, taxonomy: &Taxonomy, now: Timestamp) -> RenderedListing {
    let scale = entry.scale();
    let item = serde_json::to_vec(&ListingSummary::new(entry, &scale, taxonomy, now));
    let rest = serde_json::to_vec(&ListingDetailFields::new(entry, &scale, taxonomy));
    RenderedListing {
        summary: item.expect("a summary is JSON"),
        detail_fields: rest.expect("a detail is JSON"),
    }
}

impl ListingSummary {
    fn new(entry: &CatalogEntry, scale: &Scale, taxonomy: &Taxonomy, now: Timestamp) -> ListingSummary {
        let types = entry.asset_types();
        let deprecated = || types.iter().filter_map(|kind| Some((*kind, taxonomy.deprecations.get(kind)?)));
        ListingSummary {
            id: entry.id,
            title: entry.title.clone(),
            review_status: EnumValue(entry.status.review),
            catalog_status: EnumValue(entry.status.catalog),
            created_at: entry.created_at.into(),
            archived_at: entry.archived_at.map(UtcTime),
            assets: entry
                .assets
                .iter()
                .take(MAX_ASSETS)
                .map(|asset| listed_asset(asset, taxonomy, now))
                .collect(),
            carries_retired_sku: deprecated().any(|(_, retirement)| retirement.is_retired(now)),
            catalog_scale: CatalogScale::from_scale(scale),
            deprecation: ListingDeprecation {
                types: deprecated().map(|(kind, _)| EnumValue(kind)).collect(),
                retires_at: deprecated()
                    .map(|(_, retirement)| retirement.announced.retires_at)
                    .min()
                    .map(UtcTime),
            },
            asset_types: types.iter().copied().map(EnumValue).collect(),
            domain_tags: entry.domain_tags.clone(),
            team_name: entry.vendor.name.clone(),
        }
    }
}

impl CatalogScale {
    fn from_scale(scale: &Scale) -> CatalogScale {
        use crate::string_enum::StringEnum;
        CatalogScale {
            asset_counts: scale
                .asset_counts
                .iter()
                .map(|(kind, count)| (kind.as_str().to_owned(), *count))
                .collect(),
            languages: scale.languages_by_size().into_iter().map(|(slug, _)| slug.to_owned()).collect(),
            loc: scale.loc,
            task_count: scale.task_count(),
            zip_file_count: scale.zip_files,
            zip_size_bytes: scale.zip_bytes,
        }
    }
}

fn listed_asset(asset: &CatalogAsset, taxonomy: &Taxonomy, now: Timestamp) -> ListedAsset {
    let deprecation = taxonomy.deprecations.get(&asset.kind);
    let value_for = |kinds: &[Kind], value: u64| kinds.contains(&asset.kind).then_some(value);
    ListedAsset {
        id: asset.id,
        sku: EnumValue(asset.kind),
        title: asset.title.clone(),
        domain_tags: asset.domain_tags.clone(),
        scale: AssetScale {
            loc: value_for(&[Kind::Codebase], asset.contribution.loc),
            task_count: value_for(&[Kind::Taskset, Kind::Bundle], asset.contribution.tasks.values().sum()),
            zip_size_bytes: value_for(&[Kind::RawData], asset.contribution.zip_bytes),
        },
        deprecation: deprecation.map(|deprecation| DeprecationOut::new(deprecation, now)),
    }
}

impl ListingDetailFields {
    fn new(entry: &CatalogEntry, scale: &Scale, taxonomy: &Taxonomy) -> ListingDetailFields {
        ListingDetailFields {
            description: entry.description.clone(),
            tag_slugs: entry.tag_slugs.clone(),
            vendor_tier: entry.vendor.tier,
            published_at: entry.published_at.map(UtcTime),
            updated_at: entry.updated_at.into(),
            platform_quality_certified: entry.certified_at.is_some(),
            price: entry.price.map(Cents::dollars),
            currency: CURRENCY.to_owned(),
            price_per_task: scale.price_per_task(entry.price).map(Cents::dollars),
            sample_available: entry.sample_price.is_some(),
            sample_price: entry.sample_price.map(Cents::dollars),
            accepts_bids: entry.accepts_bids,
            active_bid_count: entry.active_bids,
            terms: entry.terms.clone(),
            delivery: entry
                .delivery
                .map(|(method, expected_days)| Delivery { method: EnumValue(method), expected_days }),
            available_from: entry.available_from.map(UtcTime),
            languages: language_shares(scale, taxonomy),
            capabilities: entry.distinct_values(|asset| &asset.capabilities),
            file_extensions: entry.distinct_values(|asset| &asset.file_extensions),
            robotics_formats: entry.distinct_values(|asset| &asset.robotics_formats),
            tasksets: distinct_tasksets(entry),
            bundle_manifest: entry
                .bundle_files
                .iter()
                .map(|file| {
                    let bundle_file =
                        BundleFileOut { size_bytes: file.size_bytes, sha256: file.sha256.clone() };
                    (file.path.clone(), bundle_file)
                })
                .collect(),
        }
    }
}

fn language_shares(scale: &Scale, taxonomy: &Taxonomy) -> Vec<LanguageShare> {
    let total: u64 = scale.languages.values().sum();
    let languages = scale.languages_by_size().into_iter();
    languages
        .map(|(slug, bytes)| LanguageShare {
            name: taxonomy.languages.get(slug).map_or(slug, String::as_str).to_owned(),
            bytes,
            share: (bytes as f64 / total.max(1) as f64 * 1e4).round() / 1e4,
        })
        .collect()
}

/// Returns the tasksets of a listing. One that is attached both directly and in a bundle appears once.
fn distinct_tasksets(entry: &CatalogEntry) -> Vec<ListedTaskset> {
    let mut distinct: Vec<ListedTaskset> = Vec::new();
    for taskset in entry.assets.iter().flat_map(|asset| &asset.tasksets) {
        if distinct.iter().all(|earlier| earlier.id != taskset.id) {
            distinct.push(ListedTaskset {
                id: taskset.id,
                name: taskset.name.clone(),
                task_count: taskset.task_count,
            });
        }
    }
    distinct
}
