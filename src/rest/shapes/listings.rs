//! Listings as the catalog shows them, and how they are rendered once a change.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use super::{UtcTime, taxonomy::DeprecationOut};
use crate::{
    domain::{
        assets::Kind,
        catalog::{CatalogEntry, EntryAsset},
        listings::{CatalogStatus, DeliveryMethod, ReviewStatus},
        money::Cents,
        scale::Scale,
        time::Timestamp,
    },
    rest::vocabulary::Word,
    search::{Rendered, Taxonomy},
};

/// Assets that a summary and a detail name at most.
const ASSETS_SHOWN: usize = 12;

/// How much data a listing holds, over all its assets.
#[derive(Clone, Debug, Object, Serialize)]
pub struct CatalogScale {
    /// Attached assets by kind; kinds without any are left out.
    #[oai(validator(max_properties = 8))]
    pub asset_counts: BTreeMap<String, u64>,
    /// Slugs of the codebases' languages, the one with the most bytes first.
    pub languages: Vec<String>,
    /// Lines of code of the codebases.
    pub loc: u64,
    /// Tasks of the tasksets and bundles. Assets that are a single task do not count.
    pub task_count: u64,
    /// Files in the zips of raw data.
    pub zip_file_count: u64,
    /// Bytes of the zips of raw data.
    pub zip_size_bytes: u64,
}

/// Asset kinds on a listing whose retirement was announced.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingDeprecation {
    /// The kinds.
    pub types: Vec<Word<Kind>>,
    /// When the first of them is retired; null where no kind is deprecated.
    pub retires_at: Option<UtcTime>,
}

/// How much data one asset holds. What does not apply to its kind is null.
#[derive(Clone, Debug, Object, Serialize)]
pub struct AssetScale {
    /// Lines of code of a codebase.
    pub loc: Option<u64>,
    /// Tasks of a taskset or bundle.
    pub task_count: Option<u64>,
    /// Bytes of a raw data zip.
    pub zip_size_bytes: Option<u64>,
}

/// An asset on a listing.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListedAsset {
    /// The asset's id.
    pub id: Uuid,
    /// Its kind.
    pub sku: Word<Kind>,
    /// Its title.
    pub title: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// How much data it holds.
    pub scale: AssetScale,
    /// The announced retirement of its kind, if there is one.
    pub deprecation: Option<DeprecationOut>,
}

/// A listing in a page of the catalog.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingSummary {
    /// The listing's id.
    pub id: Uuid,
    /// Its title.
    pub title: String,
    /// Where the platform's review of it stands.
    pub review_status: Word<ReviewStatus>,
    /// Whether the market sees it.
    pub catalog_status: Word<CatalogStatus>,
    /// When it was made.
    pub created_at: UtcTime,
    /// When it was put away; null while it is not.
    pub archived_at: Option<UtcTime>,
    /// The kinds of its assets, each once.
    pub asset_types: Vec<Word<Kind>>,
    /// Its assets in the order in which they were attached, the first twelve of them.
    #[oai(validator(max_items = 12))]
    pub assets: Vec<ListedAsset>,
    /// Whether an attached asset is of a retired kind.
    pub carries_retired_sku: bool,
    /// How much data it holds.
    pub catalog_scale: CatalogScale,
    /// Attached kinds whose retirement was announced.
    pub deprecation: ListingDeprecation,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// The vendor's name.
    pub team_name: String,
}

/// How the data reaches its buyer.
#[derive(Clone, Debug, Object, Serialize)]
pub struct Delivery {
    /// The way.
    pub method: Word<DeliveryMethod>,
    /// Days until it is delivered.
    pub expected_days: u32,
}

/// A language of a listing's codebases.
#[derive(Clone, Debug, Object, Serialize)]
pub struct LanguageShare {
    /// Its name for people.
    pub name: String,
    /// Bytes of source in it.
    pub bytes: u64,
    /// Its part of all bytes, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub share: f64,
}

/// A taskset of a listing.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListedTaskset {
    /// Its id, which the taskset routes take.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its tasks.
    pub task_count: u64,
}

/// A file of a delivery bundle.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "BundleFile")]
pub struct BundleFileOut {
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    #[oai(validator(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// What the detail has besides the summary, as far as it is the same for everybody.
#[derive(Clone, Debug, Object, Serialize)]
pub struct DetailRest {
    /// What is offered, in the vendor's words.
    pub description: String,
    /// Slugs of its inventory tags.
    pub tag_slugs: Vec<String>,
    /// The vendor's tier.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    pub vendor_tier: u8,
    /// When it was last published; null before the first time.
    pub published_at: Option<UtcTime>,
    /// When its words, prices, assets or statuses last changed.
    pub updated_at: UtcTime,
    /// Whether its latest quality run certified it.
    pub platform_quality_certified: bool,
    /// Buy-now price in US dollars; null where there is none.
    pub price: Option<f64>,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
    /// The price divided by the tasks, rounded to a cent; null without either.
    pub price_per_task: Option<f64>,
    /// Whether a sample is offered.
    pub sample_available: bool,
    /// The sample's price in US dollars; null where none is offered.
    pub sample_price: Option<f64>,
    /// Whether buyers may bid.
    pub accepts_bids: bool,
    /// Bids that wait for the vendor.
    pub active_bid_count: u64,
    /// Licence and conditions, in the vendor's words.
    pub terms: String,
    /// How the data reaches its buyer; null where the vendor has not said.
    pub delivery: Option<Delivery>,
    /// From when it can be handed over; null for at once.
    pub available_from: Option<UtcTime>,
    /// Languages of its codebases, the one with the most bytes first.
    pub languages: Vec<LanguageShare>,
    /// What its environments offer to an agent.
    pub capabilities: Vec<String>,
    /// Extensions of the files in its raw data.
    pub file_extensions: Vec<String>,
    /// Formats of its robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Its tasksets, those of bundles included.
    pub tasksets: Vec<ListedTaskset>,
    /// Files of its bundle by their path; empty before there is a bundle.
    pub bundle_manifest: BTreeMap<String, BundleFileOut>,
}

/// A listing, whole.
#[derive(Clone, Debug, Object, Serialize)]
pub struct ListingDetail {
    /// What the summary says.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: ListingSummary,
    /// The rest of it.
    #[oai(flatten)]
    #[serde(flatten)]
    pub rest: DetailRest,
    /// The stable address of its bundle, which opens nothing by itself.
    pub bundle_url: String,
    /// An address that opens the bundle for about an hour: for the vendor and for teams that bought all of the listing.
    /// Null for others, and before there is a bundle.
    pub bundle_download_url: Option<String>,
}

/// A listing as browse answers it: rendered once a change, for everybody.
pub fn render(entry: &CatalogEntry, taxonomy: &Taxonomy, now: Timestamp) -> Rendered {
    let scale = entry.scale();
    let item = serde_json::to_vec(&ListingSummary::of(entry, &scale, taxonomy, now));
    let rest = serde_json::to_vec(&DetailRest::of(entry, &scale, taxonomy));
    Rendered { item: item.expect("a summary is JSON"), rest: rest.expect("a detail is JSON") }
}

impl ListingSummary {
    fn of(entry: &CatalogEntry, scale: &Scale, taxonomy: &Taxonomy, now: Timestamp) -> ListingSummary {
        let types = entry.asset_types();
        let deprecated = || types.iter().filter_map(|kind| Some((*kind, taxonomy.deprecations.get(kind)?)));
        ListingSummary {
            id: entry.id,
            title: entry.title.clone(),
            review_status: Word(entry.status.review),
            catalog_status: Word(entry.status.catalog),
            created_at: entry.created_at.into(),
            archived_at: entry.archived_at.map(UtcTime),
            assets: entry
                .assets
                .iter()
                .take(ASSETS_SHOWN)
                .map(|asset| listed(asset, taxonomy, now))
                .collect(),
            carries_retired_sku: deprecated().any(|(_, deprecation)| deprecation.is_retired(now)),
            catalog_scale: CatalogScale::of(scale),
            deprecation: ListingDeprecation {
                types: deprecated().map(|(kind, _)| Word(kind)).collect(),
                retires_at: deprecated().map(|(_, deprecation)| deprecation.retires_at).min().map(UtcTime),
            },
            asset_types: types.iter().copied().map(Word).collect(),
            domain_tags: entry.domain_tags.clone(),
            team_name: entry.vendor.name.clone(),
        }
    }
}

impl CatalogScale {
    fn of(scale: &Scale) -> CatalogScale {
        use crate::domain::vocabulary::Vocabulary;
        CatalogScale {
            asset_counts: scale
                .asset_counts
                .iter()
                .map(|(kind, count)| (kind.word().to_owned(), *count))
                .collect(),
            languages: scale.languages_by_size().into_iter().map(|(slug, _)| slug.to_owned()).collect(),
            loc: scale.loc,
            task_count: scale.tasks,
            zip_file_count: scale.zip_files,
            zip_size_bytes: scale.zip_bytes,
        }
    }
}

fn listed(asset: &EntryAsset, taxonomy: &Taxonomy, now: Timestamp) -> ListedAsset {
    let deprecation = taxonomy.deprecations.get(&asset.kind);
    let of = |kinds: &[Kind], value: u64| kinds.contains(&asset.kind).then_some(value);
    ListedAsset {
        id: asset.id,
        sku: Word(asset.kind),
        title: asset.title.clone(),
        domain_tags: asset.domain_tags.clone(),
        scale: AssetScale {
            loc: of(&[Kind::Codebase], asset.part.loc),
            task_count: of(&[Kind::Taskset, Kind::Bundle], asset.part.tasks),
            zip_size_bytes: of(&[Kind::RawData], asset.part.zip_bytes),
        },
        deprecation: deprecation.map(|deprecation| DeprecationOut::of(deprecation, now)),
    }
}

impl DetailRest {
    fn of(entry: &CatalogEntry, scale: &Scale, taxonomy: &Taxonomy) -> DetailRest {
        DetailRest {
            description: entry.description.clone(),
            tag_slugs: entry.tag_slugs.clone(),
            vendor_tier: entry.vendor.tier,
            published_at: entry.published_at.map(UtcTime),
            updated_at: entry.updated_at.into(),
            platform_quality_certified: entry.certified_at.is_some(),
            price: entry.price.map(Cents::dollars),
            currency: "USD".to_owned(),
            price_per_task: scale.price_per_task(entry.price).map(Cents::dollars),
            sample_available: entry.sample_price.is_some(),
            sample_price: entry.sample_price.map(Cents::dollars),
            accepts_bids: entry.accepts_bids,
            active_bid_count: entry.active_bids,
            terms: entry.terms.clone(),
            delivery: entry
                .delivery
                .map(|(method, expected_days)| Delivery { method: Word(method), expected_days }),
            available_from: entry.available_from.map(UtcTime),
            languages: language_shares(scale, taxonomy),
            capabilities: entry.distinct(|asset| &asset.capabilities),
            file_extensions: entry.distinct(|asset| &asset.file_extensions),
            robotics_formats: entry.distinct(|asset| &asset.robotics_formats),
            tasksets: tasksets(entry),
            bundle_manifest: entry
                .bundle_files
                .iter()
                .map(|file| {
                    let shown = BundleFileOut { size_bytes: file.size_bytes, sha256: file.sha256.clone() };
                    (file.path.clone(), shown)
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

/// A taskset that stands on a listing twice, by itself and in a bundle, is named once.
fn tasksets(entry: &CatalogEntry) -> Vec<ListedTaskset> {
    let mut shown: Vec<ListedTaskset> = Vec::new();
    for taskset in entry.assets.iter().flat_map(|asset| &asset.tasksets) {
        if shown.iter().all(|earlier| earlier.id != taskset.id) {
            shown.push(ListedTaskset {
                id: taskset.id,
                name: taskset.name.clone(),
                task_count: taskset.task_count,
            });
        }
    }
    shown
}
