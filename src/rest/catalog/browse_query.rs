//! What a page of the catalog is asked for: every filter, and what each means to the index.

use marketplace_index::Filters;
use poem_openapi::Object;

use crate::{
    domain::browse::SortOrder,
    operations::browse::PageRequest,
    rest::{
        listing_filters::{ListingFilters, dollars, whole},
        vocabulary::Word,
    },
};

/// What a page of the catalog is asked for.
#[derive(Debug, Object)]
pub struct BrowseQuery {
    /// What the own list of a vendor takes, too.
    #[oai(flatten)]
    common: ListingFilters,
    /// Slugs of inventory tags, any of them.
    #[oai(default)]
    tag_slugs: Vec<String>,
    /// Only the team's own listings.
    #[oai(default)]
    owned: bool,
    /// Least tier of the vendor.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    min_vendor_tier: Option<i64>,
    /// Tiers of the vendor, any of them.
    #[oai(default)]
    vendor_tiers: Vec<i64>,
    /// Least price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    min_price_per_task: Option<f64>,
    /// Most price per task in US dollars; listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    max_price_per_task: Option<f64>,
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
        let text = self.common.query.clone().unwrap_or_default();
        let filters = Filters {
            price_per_task: dollars(self.min_price_per_task, self.max_price_per_task),
            vendor_tier: whole(self.min_vendor_tier, None),
            codebases: whole(self.min_codebases, self.max_codebases),
            tasksets: whole(self.min_tasksets, self.max_tasksets),
            environments: whole(self.min_environments, self.max_environments),
            robotics_datasets: whole(self.min_robotics_datasets, self.max_robotics_datasets),
            raw_data: whole(self.min_raw_data, self.max_raw_data),
            tag_slugs: self.tag_slugs,
            languages: self.languages,
            file_extensions: self.file_extensions,
            robotics_formats: self.robotics_formats,
            capabilities: self.capabilities,
            rare_languages: self.rare_languages_only,
            vendor_tiers: tiers(&self.vendor_tiers),
            ..self.common.into_filters()
        };
        PageRequest {
            text,
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
