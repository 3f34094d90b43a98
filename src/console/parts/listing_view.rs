//! Listings as cards and pages show them, read from their stored renderings: the catalog's summary, and the details.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::{kinds, text};
use crate::{
    domain::{
        assets::Kind,
        listings::{CatalogStatus, DeliveryMethod, ListingRowId},
        money::Cents,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    operations::browse_filters::VENDOR_TIERS,
    store::renderings::Rendering,
};

/// Returns the tier of a vendor in words, such as `tier 1 of 3`.
pub fn tier_text(tier: u8) -> String {
    format!("tier {tier} of {}", VENDOR_TIERS.len())
}

/// A listing.
#[derive(Clone, Debug)]
pub struct ListingView {
    /// Row ID of the listing.
    pub row_id: ListingRowId,
    /// Row ID of the vendor.
    pub vendor: TeamRowId,
    /// What everybody sees who sees the catalog.
    pub summary: Summary,
    /// Data for teams for which the catalog is not locked; `None` for others.
    pub details: Option<Details>,
}

/// What a summary says.
#[derive(Clone, Debug, Deserialize)]
pub struct Summary {
    /// ID of the listing.
    pub id: Uuid,
    /// Title, in the vendor's words.
    pub title: String,
    /// State in the catalog.
    pub catalog_status: CatalogStatus,
    /// The first assets.
    pub assets: Vec<ListedAsset>,
    /// How much data the listing has.
    #[serde(rename = "catalog_scale")]
    pub scale: Scale,
    /// Announced retirement of kinds of its assets.
    pub deprecation: Retirement,
    /// Slugs of its domains.
    pub domain_tags: Vec<String>,
    /// Name of the vendor.
    pub team_name: String,
}

/// How much data a listing has.
#[derive(Clone, Debug, Deserialize)]
pub struct Scale {
    /// Number of assets by kind.
    pub asset_counts: BTreeMap<Kind, u64>,
    /// Lines of code.
    pub loc: u64,
    /// Number of tasks in tasksets and bundles.
    pub task_count: u64,
    /// Number of files in the raw data.
    pub zip_file_count: u64,
    /// Size of the raw data in bytes.
    pub zip_size_bytes: u64,
}

/// An asset of a listing.
#[derive(Clone, Debug, Deserialize)]
pub struct ListedAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Kind of the asset.
    #[serde(rename = "sku")]
    pub kind: Kind,
    /// Title, in the vendor's words.
    pub title: String,
    /// How much data it has.
    pub scale: AssetScale,
}

/// How much data an asset has. Fields that do not apply to its kind are `None`.
#[derive(Clone, Debug, Deserialize)]
pub struct AssetScale {
    /// Lines of code.
    pub loc: Option<u64>,
    /// Number of tasks.
    pub task_count: Option<u64>,
    /// Size of the archive in bytes.
    pub zip_size_bytes: Option<u64>,
}

/// Announced retirement of kinds of assets.
#[derive(Clone, Debug, Deserialize)]
pub struct Retirement {
    /// The kinds.
    #[serde(rename = "types")]
    pub kinds: Vec<Kind>,
    /// The earliest time.
    pub retires_at: Option<Timestamp>,
}

/// What the details say in addition.
#[derive(Clone, Debug, Deserialize)]
pub struct Details {
    /// Description, in the vendor's words.
    pub description: String,
    /// Slugs of its inventory tags.
    pub tag_slugs: Vec<String>,
    /// Tier of the vendor.
    pub vendor_tier: u8,
    /// Time of the latest publication.
    pub published_at: Option<Timestamp>,
    /// Whether the market has certified it.
    #[serde(rename = "platform_quality_certified")]
    pub is_certified: bool,
    /// Price; `None` without one.
    #[serde(deserialize_with = "cents")]
    pub price: Option<Cents>,
    /// Price for each task.
    #[serde(deserialize_with = "cents")]
    pub price_per_task: Option<Cents>,
    /// Price of the sample; `None` if none is offered.
    #[serde(deserialize_with = "cents")]
    pub sample_price: Option<Cents>,
    /// Whether it is open to bids.
    pub accepts_bids: bool,
    /// Number of bids that wait for the vendor.
    pub active_bid_count: u64,
    /// Terms, in the vendor's words.
    pub terms: String,
    /// How it is delivered.
    pub delivery: Option<Delivery>,
    /// The earliest time of delivery; `None` if it is available now.
    pub available_from: Option<Timestamp>,
    /// Languages of the code, most bytes first.
    pub languages: Vec<LanguageShare>,
    /// What environments offer to agents.
    pub capabilities: Vec<String>,
    /// Extensions of the files in raw data.
    pub file_extensions: Vec<String>,
    /// Formats of the robotics datasets.
    pub robotics_formats: Vec<String>,
    /// Tasksets, each once.
    pub tasksets: Vec<ListedTaskset>,
}

/// How a listing is delivered.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Delivery {
    /// The method.
    pub method: DeliveryMethod,
    /// Expected number of days.
    pub expected_days: u32,
}

/// A language of the code.
#[derive(Clone, Debug, Deserialize)]
pub struct LanguageShare {
    /// Name of the language.
    pub name: String,
    /// Size of the code in bytes.
    pub bytes: u64,
}

/// A taskset.
#[derive(Clone, Debug, Deserialize)]
pub struct ListedTaskset {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name, in the vendor's words.
    pub name: String,
    /// Number of tasks.
    pub task_count: u64,
}

/// Reads an amount in dollars.
fn cents<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Cents>, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.and_then(Cents::from_dollars))
}

impl ListingView {
    /// Reads a listing for somebody for whom the catalog is not locked.
    pub fn full(rendering: &Rendering) -> Result<ListingView> {
        let details = serde_json::from_slice(&rendering.detail_fields).map_err(Error::internal)?;
        Ok(ListingView { details: Some(details), ..ListingView::summary_only(rendering)? })
    }

    /// Reads a listing for somebody for whom the catalog is locked.
    pub fn summary_only(rendering: &Rendering) -> Result<ListingView> {
        Ok(ListingView {
            row_id: rendering.listing,
            vendor: rendering.team,
            summary: serde_json::from_slice(&rendering.summary).map_err(Error::internal)?,
            details: None,
        })
    }

    /// Returns the shares of the languages, for a bar. They are exact, unlike those of the detail.
    pub fn shares(&self) -> Vec<(String, f64)> {
        let languages = || self.details.iter().flat_map(|details| &details.languages);
        let total: u64 = languages().map(|language| language.bytes).sum();
        let share = |language: &LanguageShare| language.bytes as f64 / total.max(1) as f64;
        languages().map(|language| (language.name.clone(), share(language))).collect()
    }

    /// Returns the first languages with their shares, such as `COBOL 68%, C 17%`; empty without code.
    pub fn main_languages(&self, max: usize) -> String {
        let shares = self.shares().into_iter().take(max);
        let texts: Vec<_> =
            shares.map(|(name, share)| format!("{name} {}", text::whole_percent(share))).collect();
        texts.join(", ")
    }
}

impl Scale {
    /// Returns what the listing contains, such as `2 codebases, 1 taskset`.
    pub fn contents(&self) -> String {
        let counts: Vec<_> =
            self.asset_counts.iter().map(|(kind, count)| kinds::counted(*kind, *count)).collect();
        if counts.is_empty() { "No assets".to_owned() } else { counts.join(", ") }
    }

    /// Returns the amount of content, such as `615,700 lines, 12 tasks`; empty if nothing was counted.
    pub fn amounts(&self) -> String {
        let mut amounts = Vec::new();
        if self.loc > 0 {
            amounts.push(text::counted(self.loc, "line", "lines"));
        }
        if self.task_count > 0 {
            amounts.push(text::counted(self.task_count, "task", "tasks"));
        }
        if self.zip_file_count > 0 {
            let files = text::counted(self.zip_file_count, "file", "files");
            amounts.push(format!("{files}, {} zipped", text::size(self.zip_size_bytes)));
        }
        amounts.join(", ")
    }
}

impl Delivery {
    /// Returns how long it takes and where it goes, such as `7 days, copied to your bucket`.
    pub fn text(self) -> String {
        let days = match self.expected_days {
            0 => "At once".to_owned(),
            days => text::counted(u64::from(days), "day", "days"),
        };
        format!("{days}, {}", delivery_method(self.method))
    }

    /// Says how the vendor delivers assets whose data the market does not have; `None` if only the download is offered.
    pub fn by_vendor(self) -> Option<String> {
        let when = match self.expected_days {
            0 => "at once".to_owned(),
            days => format!("within {}", text::counted(u64::from(days), "day", "days")),
        };
        let method = delivery_method(self.method);
        (self.method != DeliveryMethod::Download)
            .then(|| format!("The vendor delivers the data {method}, {when}."))
    }
}

impl From<(DeliveryMethod, u32)> for Delivery {
    fn from((method, expected_days): (DeliveryMethod, u32)) -> Delivery {
        Delivery { method, expected_days }
    }
}

/// Says that only the description of an asset can be downloaded, and why: by default because the market has no data of it.
pub fn description_only(why: Option<&str>) -> String {
    format!("Description only: {}", why.unwrap_or("the market has no data of this asset."))
}

/// Returns how something is delivered, in words.
pub const fn delivery_method(method: DeliveryMethod) -> &'static str {
    match method {
        DeliveryMethod::Download => "as a download",
        DeliveryMethod::RepositoryTransfer => "by invitation to a repository",
        DeliveryMethod::BucketCopy => "copied to your bucket",
        DeliveryMethod::PlatformAccess => "by access to the market's task tools",
    }
}

/// Returns what a sample costs, in words.
pub fn sample_text(price: Option<Cents>) -> String {
    match price {
        None => "No sample".to_owned(),
        Some(Cents(0)) => "Sample free".to_owned(),
        Some(price) => format!("Sample {}", text::short_money(price)),
    }
}

/// Returns the price of a sample, for places where a label says that the price is for the sample.
pub fn sample_price_text(price: Option<Cents>) -> String {
    match price {
        None => "None offered".to_owned(),
        Some(Cents(0)) => "Free".to_owned(),
        Some(price) => text::money(price),
    }
}

/// Returns whether one can bid, in words.
pub const fn bids_text(accepts_bids: bool) -> &'static str {
    if accepts_bids { "open to bids" } else { "fixed price" }
}

/// A file of the delivery, as the listing states it.
#[derive(Clone, Debug, Deserialize)]
pub struct StatedFile {
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// Reads the files that a listing states, by path. They are read separately, since there may be many, and cards do not show
/// them.
pub fn stated_files(rendering: &Rendering) -> Result<BTreeMap<String, StatedFile>> {
    #[derive(Deserialize)]
    struct Stated {
        bundle_manifest: BTreeMap<String, StatedFile>,
    }
    let stated: Stated = serde_json::from_slice(&rendering.detail_fields).map_err(Error::internal)?;
    Ok(stated.bundle_manifest)
}
