//! Listing filters that the catalog and a vendor's own listings have in common: the query parameters, and
//! their conversion to filters of the search index.

use marketplace_index::{Filters, PerMeasure, document::Labels};
use poem_openapi::Object;

use crate::operations::browse_filters::{LOC, PRICE, SAMPLE_PRICE, TASKS, ZIP_FILES, ZIP_SIZE};

/// Query parameters that filter listings.
#[derive(Debug, Object)]
pub struct ListingFilters {
    /// Text to search for in titles, descriptions, tags, and team names. All words must match; the last one
    /// also matches as a prefix. A word of five letters or more that matches nothing also matches words that
    /// differ by one letter, or by two swapped neighbors; words with digits do not. Words in double quotes match
    /// only as a phrase. Chinese, Japanese, and Thai text matches any part of a text. A query without letters and
    /// digits filters nothing. The first 32 words count.
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
                PRICE.decimals(self.min_price, self.max_price),
                SAMPLE_PRICE.decimals(self.min_sample_price, self.max_sample_price),
                TASKS.counts(self.min_tasks, self.max_tasks),
                LOC.counts(self.min_loc, self.max_loc),
                ZIP_FILES.counts(self.min_zip_files, self.max_zip_files),
                ZIP_SIZE.decimals(self.min_zip_size_gb, self.max_zip_size_gb),
            ]),
            labels: Labels { tags: self.tags, asset_types: self.asset_types, ..Labels::default() },
            certified: self.verified_only,
            active_bids: self.has_active_bids,
            sample_available: self.sample_available,
            ..Filters::default()
        }
    }
}
