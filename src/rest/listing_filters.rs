//! Filters of listings that browse and a vendor's own list have in common: what each is called, and what it means to the
//! index.

use marketplace_index::{Bounds, Filters};
use poem_openapi::Object;

use crate::domain::money;

/// Bytes in a gigabyte, as the filters by zip size mean it.
const GIGABYTE: f64 = 1e9;

/// What listings must have.
#[derive(Debug, Object)]
pub struct ListingFilters {
    /// Words to find in titles, descriptions, tags and team names. All words must match; the last also as the beginning of
    /// a word; words in double quotes only as a phrase.
    #[oai(validator(max_length = 10000))]
    pub query: Option<String>,
    /// Slugs of business fields, any of them.
    #[oai(default)]
    tags: Vec<String>,
    /// Slugs of asset kinds, any of them.
    #[oai(default)]
    asset_types: Vec<String>,
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
    /// Least tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasks: Option<i64>,
    /// Most tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasks: Option<i64>,
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
}

impl ListingFilters {
    /// What these parameters mean to the index.
    pub fn into_filters(self) -> Filters {
        Filters {
            price: dollars(self.min_price, self.max_price),
            sample_price: dollars(self.min_sample_price, self.max_sample_price),
            tasks: whole(self.min_tasks, self.max_tasks),
            loc: whole(self.min_loc, self.max_loc),
            zip_files: whole(self.min_zip_files, self.max_zip_files),
            zip_bytes: gigabytes(self.min_zip_size_gb, self.max_zip_size_gb),
            tags: self.tags,
            asset_types: self.asset_types,
            certified: self.verified_only,
            active_bids: self.has_active_bids,
            sample_available: self.sample_available,
            ..Filters::default()
        }
    }
}

/// Bounds of a count.
pub fn whole(min: Option<i64>, max: Option<i64>) -> Bounds {
    let count = |bound: i64| u64::try_from(bound).unwrap_or_default();
    Bounds { min: min.map(count), max: max.map(count) }
}

/// Bounds of an amount in US dollars.
pub fn dollars(min: Option<f64>, max: Option<f64>) -> Bounds {
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
