//! What a page of the catalog is asked for: every filter, and what each means to the index.

use marketplace_index::{Bounds, Filters};
use poem_openapi::Object;

use crate::{
    domain::{browse::SortOrder, money},
    operations::browse::PageRequest,
    rest::vocabulary::Word,
};

/// Bytes in a gigabyte, as the filters by zip size mean it.
const GIGABYTE: f64 = 1e9;

/// What a page of the catalog is asked for.
#[derive(Debug, Object)]
pub struct BrowseQuery {
    /// Words to find in titles, descriptions, tags and team names. All words must match; the last also as the beginning of
    /// a word; words in double quotes only as a phrase.
    #[oai(validator(max_length = 10000))]
    query: Option<String>,
    /// Slugs of business fields, any of them.
    #[oai(default)]
    tags: Vec<String>,
    /// Slugs of inventory tags, any of them.
    #[oai(default)]
    tag_slugs: Vec<String>,
    /// Slugs of asset kinds, any of them.
    #[oai(default)]
    asset_types: Vec<String>,
    /// Only the team's own listings.
    #[oai(default)]
    owned: bool,
    /// Only listings that a quality run certified.
    #[oai(default)]
    verified_only: bool,
    /// Least buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    min_price: Option<f64>,
    /// Most buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    max_price: Option<f64>,
    /// Only listings with a bid that waits for the vendor.
    #[oai(default)]
    has_active_bids: bool,
    /// True for listings with a sample, false for those without.
    sample_available: Option<bool>,
    /// Least price of the sample in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    min_sample_price: Option<f64>,
    /// Most price of the sample in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    max_sample_price: Option<f64>,
    /// Least tier of the vendor.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    min_vendor_tier: Option<i64>,
    /// Tiers of the vendor, any of them.
    #[oai(default)]
    vendor_tiers: Vec<i64>,
    /// Least tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasks: Option<i64>,
    /// Most tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasks: Option<i64>,
    /// Least price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    min_price_per_task: Option<f64>,
    /// Most price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    max_price_per_task: Option<f64>,
    /// Least lines of code.
    #[oai(validator(minimum(value = "0")))]
    min_loc: Option<i64>,
    /// Most lines of code.
    #[oai(validator(minimum(value = "0")))]
    max_loc: Option<i64>,
    /// Least files in zips.
    #[oai(validator(minimum(value = "0")))]
    min_zip_files: Option<i64>,
    /// Most files in zips.
    #[oai(validator(minimum(value = "0")))]
    max_zip_files: Option<i64>,
    /// Least size of the zips, in units of 1,000,000,000 bytes.
    #[oai(validator(minimum(value = "0")))]
    min_zip_size_gb: Option<f64>,
    /// Most size of the zips, in units of 1,000,000,000 bytes.
    #[oai(validator(minimum(value = "0")))]
    max_zip_size_gb: Option<f64>,
    /// Least attached codebases.
    #[oai(validator(minimum(value = "0")))]
    min_codebases: Option<i64>,
    /// Most attached codebases.
    #[oai(validator(minimum(value = "0")))]
    max_codebases: Option<i64>,
    /// Least attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasksets: Option<i64>,
    /// Most attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasksets: Option<i64>,
    /// Least attached environments.
    #[oai(validator(minimum(value = "0")))]
    min_environments: Option<i64>,
    /// Most attached environments.
    #[oai(validator(minimum(value = "0")))]
    max_environments: Option<i64>,
    /// Least attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    min_robotics_datasets: Option<i64>,
    /// Most attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    max_robotics_datasets: Option<i64>,
    /// Least attached raw data zips.
    #[oai(validator(minimum(value = "0")))]
    min_raw_data: Option<i64>,
    /// Most attached raw data zips.
    #[oai(validator(minimum(value = "0")))]
    max_raw_data: Option<i64>,
    /// Slugs of languages of the codebases, any of them.
    #[oai(default)]
    languages: Vec<String>,
    /// Only listings whose code is at most 40 % JavaScript, TypeScript and Python by bytes; those without a breakdown never
    /// match.
    #[oai(default)]
    rare_languages_only: bool,
    /// Extensions of files in raw data, lowercase and without the dot, any of them.
    #[oai(default)]
    file_extensions: Vec<String>,
    /// Formats of robotics datasets, any of them: `lerobot_v3`, `lerobot_v2`, `ego_exo` or `other`.
    #[oai(default)]
    robotics_formats: Vec<String>,
    /// What environments offer to an agent, any of it.
    #[oai(default)]
    capabilities: Vec<String>,
    /// The order.
    #[oai(default = "recommended")]
    sort: Word<SortOrder>,
    /// Listings on a page.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    pub limit: u32,
    /// `next_cursor` of the page before; left out for the first page. Query, filters and sort must be the same.
    #[oai(validator(max_length = 512))]
    cursor: Option<String>,
}

fn recommended() -> Word<SortOrder> {
    Word(SortOrder::Recommended)
}

fn usual_limit() -> u32 {
    24
}

impl BrowseQuery {
    /// The request that these parameters make.
    pub fn into_request(self) -> PageRequest {
        let filters = Filters {
            price: dollars(self.min_price, self.max_price),
            sample_price: dollars(self.min_sample_price, self.max_sample_price),
            price_per_task: dollars(self.min_price_per_task, self.max_price_per_task),
            vendor_tier: whole(self.min_vendor_tier, None),
            tasks: whole(self.min_tasks, self.max_tasks),
            loc: whole(self.min_loc, self.max_loc),
            zip_files: whole(self.min_zip_files, self.max_zip_files),
            zip_bytes: gigabytes(self.min_zip_size_gb, self.max_zip_size_gb),
            codebases: whole(self.min_codebases, self.max_codebases),
            tasksets: whole(self.min_tasksets, self.max_tasksets),
            environments: whole(self.min_environments, self.max_environments),
            robotics_datasets: whole(self.min_robotics_datasets, self.max_robotics_datasets),
            raw_data: whole(self.min_raw_data, self.max_raw_data),
            tags: self.tags,
            tag_slugs: self.tag_slugs,
            asset_types: self.asset_types,
            languages: self.languages,
            file_extensions: self.file_extensions,
            robotics_formats: self.robotics_formats,
            capabilities: self.capabilities,
            certified: self.verified_only,
            active_bids: self.has_active_bids,
            rare_languages: self.rare_languages_only,
            sample_available: self.sample_available,
            vendor_tiers: tiers(&self.vendor_tiers),
            ..Filters::default()
        };
        PageRequest {
            text: self.query.unwrap_or_default(),
            filters,
            owned: self.owned,
            sort: self.sort.0,
            limit: self.limit as usize,
            cursor: self.cursor,
        }
    }
}

/// Tiers below zero are tiers that nobody has.
fn tiers(tiers: &[i64]) -> Option<Vec<u64>> {
    let known = tiers.iter().filter_map(|tier| u64::try_from(*tier).ok()).collect();
    (!tiers.is_empty()).then_some(known)
}

fn whole(min: Option<i64>, max: Option<i64>) -> Bounds {
    let count = |bound: i64| u64::try_from(bound).unwrap_or_default();
    Bounds { min: min.map(count), max: max.map(count) }
}

fn dollars(min: Option<f64>, max: Option<f64>) -> Bounds {
    Bounds {
        min: min.map(|dollars| money::bound_in_cents(dollars, true)),
        max: max.map(|dollars| money::bound_in_cents(dollars, false)),
    }
}

fn gigabytes(min: Option<f64>, max: Option<f64>) -> Bounds {
    let bytes = |size: f64, round: fn(f64) -> f64| {
        let exact = size * GIGABYTE;
        let nearest = exact.round();
        // Binary noise of a decimal is forgiven: 1.001 makes a trifle less than 1,001,000,000.
        let is_whole = (exact - nearest).abs() <= nearest * f64::EPSILON;
        // `as` saturates, so a huge bound stays a huge bound.
        (if is_whole { nearest } else { round(exact) }) as u64
    };
    Bounds { min: min.map(|size| bytes(size, f64::ceil)), max: max.map(|size| bytes(size, f64::floor)) }
}
