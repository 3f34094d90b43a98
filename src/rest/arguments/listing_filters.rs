//! Listing filters that the catalog and a vendor's own listings have in common: the query parameters, and
//! their conversion to filters of the search index.

use marketplace_index::{Bounds, Filters, Measure, PerMeasure, document::Labels};
use poem_openapi::Object;

use crate::domain::money;

/// Bytes per gigabyte in the filters by zip size.
const GIGABYTE: f64 = 1e9;

/// Query parameters that filter listings.
#[derive(Debug, Object)]
pub struct ListingFilters {
    /// Text to search for in titles, descriptions, tags, and team names. All words must match; the last one
    /// also matches as a prefix. Words in double quotes match only as a phrase. Chinese, Japanese, and Thai
    /// text matches any part of a text. A query without letters and digits filters nothing.
    #[oai(validator(max_length = 10000))]
    pub query: Option<String>,
    /// Business field slugs; any may match.
    #[oai(default)]
    tags: Vec<String>,
    /// Asset type slugs; any may match.
    #[oai(default)]
    asset_types: Vec<String>,
    /// Only quality-certified listings.
    #[oai(default)]
    verified_only: bool,
    /// Minimum buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    min_price: Option<f64>,
    /// Maximum buy-now price in US dollars.
    #[oai(validator(minimum(value = "0")))]
    max_price: Option<f64>,
    /// Only listings with a submitted bid.
    #[oai(default)]
    has_active_bids: bool,
    /// True for listings with a sample, false for those without.
    sample_available: Option<bool>,
    /// Minimum sample price in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    min_sample_price: Option<f64>,
    /// Maximum sample price in US dollars; listings without a sample never match.
    #[oai(validator(minimum(value = "0")))]
    max_sample_price: Option<f64>,
    /// Minimum number of tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasks: Option<i64>,
    /// Maximum number of tasks in tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasks: Option<i64>,
    /// Minimum lines of code.
    #[oai(validator(minimum(value = "0")))]
    min_loc: Option<i64>,
    /// Maximum lines of code.
    #[oai(validator(minimum(value = "0")))]
    max_loc: Option<i64>,
    /// Minimum number of files in zips.
    #[oai(validator(minimum(value = "0")))]
    min_zip_files: Option<i64>,
    /// Maximum number of files in zips.
    #[oai(validator(minimum(value = "0")))]
    max_zip_files: Option<i64>,
    /// Minimum zip size in gigabytes (10^9 bytes).
    #[oai(validator(minimum(value = "0")))]
    min_zip_size_gb: Option<f64>,
    /// Maximum zip size in gigabytes (10^9 bytes).
    #[oai(validator(minimum(value = "0")))]
    max_zip_size_gb: Option<f64>,
}

impl ListingFilters {
    /// Converts the parameters to index filters. `query` is not among them; the caller reads it separately.
    pub fn into_filters(self) -> Filters {
        Filters {
            bounds: PerMeasure::from([
                (Measure::Price, price_bounds(self.min_price, self.max_price)),
                (Measure::SamplePrice, price_bounds(self.min_sample_price, self.max_sample_price)),
                (Measure::Tasks, count_bounds(self.min_tasks, self.max_tasks)),
                (Measure::Loc, count_bounds(self.min_loc, self.max_loc)),
                (Measure::ZipFiles, count_bounds(self.min_zip_files, self.max_zip_files)),
                (Measure::ZipBytes, size_bounds(self.min_zip_size_gb, self.max_zip_size_gb)),
            ]),
            labels: Labels { tags: self.tags, asset_types: self.asset_types, ..Labels::default() },
            certified: self.verified_only,
            active_bids: self.has_active_bids,
            sample_available: self.sample_available,
            ..Filters::default()
        }
    }
}

/// Converts the bounds of a count.
pub fn count_bounds(min: Option<i64>, max: Option<i64>) -> Bounds {
    let count = |bound: i64| u64::try_from(bound).unwrap_or_default();
    Bounds { min: min.map(count), max: max.map(count) }
}

/// Converts bounds in US dollars to bounds in cents.
pub fn price_bounds(min: Option<f64>, max: Option<f64>) -> Bounds {
    Bounds {
        min: min.map(|dollars| money::bound_in_cents(dollars, true)),
        max: max.map(|dollars| money::bound_in_cents(dollars, false)),
    }
}

fn size_bounds(min: Option<f64>, max: Option<f64>) -> Bounds {
    let bytes = |size: f64, round: fn(f64) -> f64| {
        let exact = size * GIGABYTE;
        let nearest = exact.round();
        // Tolerates the rounding error of decimals: as an `f64`, 1.001 times 10^9 is slightly less than
        // 1,001,000,000.
        let is_integer = (exact - nearest).abs() <= nearest * f64::EPSILON;
        // `as` saturates, so a bound beyond `u64` becomes `u64::MAX`.
        (if is_integer { nearest } else { round(exact) }) as u64
    };
    Bounds { min: min.map(|size| bytes(size, f64::ceil)), max: max.map(|size| bytes(size, f64::floor)) }
}
