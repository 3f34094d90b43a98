//! Query parameters of the catalog, and their translation into filters of the search index.

use marketplace_index::{Filters, document::Labels};
use poem_openapi::Object;

use crate::{
    domain::browse::SortOrder,
    operations::{
        browse::{CursorForm, PageRequest},
        browse_filters::{
            self, CODEBASES, ENVIRONMENTS, PRICE_PER_TASK, RAW_DATA, ROBOTICS_DATASETS, TASKSETS, VENDOR_TIER,
        },
    },
    rest::{arguments::listing_filters::ListingFilters, shapes::listing_pages},
    web::enum_value::EnumValue,
};

/// Query parameters that filter the catalog.
#[derive(Debug, Object)]
pub struct CatalogFilters {
    /// Filters that the list of a vendor's own listings takes, too.
    #[oai(flatten)]
    common: ListingFilters,
    /// Slugs of inventory tags. A listing matches if it has any of them.
    #[oai(default)]
    tag_slugs: Vec<String>,
    /// Only the team's own published listings.
    #[oai(default)]
    owned: bool,
    /// Minimum vendor tier.
    #[oai(validator(minimum(value = "1"), maximum(value = "3")))]
    min_vendor_tier: Option<i64>,
    /// Vendor tiers, 1 to 3. A listing matches if its vendor has any of them.
    #[oai(default)]
    vendor_tiers: Vec<i64>,
    /// Minimum buy-now price per task in US dollars. Listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    min_price_per_task: Option<f64>,
    /// Maximum buy-now price per task in US dollars. Listings without tasks never match.
    #[oai(validator(minimum(value = "0")))]
    max_price_per_task: Option<f64>,
    /// Minimum number of attached codebases.
    #[oai(validator(minimum(value = "0")))]
    min_codebases: Option<i64>,
    /// Maximum number of attached codebases.
    #[oai(validator(minimum(value = "0")))]
    max_codebases: Option<i64>,
    /// Minimum number of attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    min_tasksets: Option<i64>,
    /// Maximum number of attached tasksets and bundles.
    #[oai(validator(minimum(value = "0")))]
    max_tasksets: Option<i64>,
    /// Minimum number of attached environments.
    #[oai(validator(minimum(value = "0")))]
    min_environments: Option<i64>,
    /// Maximum number of attached environments.
    #[oai(validator(minimum(value = "0")))]
    max_environments: Option<i64>,
    /// Minimum number of attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    min_robotics_datasets: Option<i64>,
    /// Maximum number of attached robotics datasets.
    #[oai(validator(minimum(value = "0")))]
    max_robotics_datasets: Option<i64>,
    /// Minimum number of attached raw data archives.
    #[oai(validator(minimum(value = "0")))]
    min_raw_data: Option<i64>,
    /// Maximum number of attached raw data archives.
    #[oai(validator(minimum(value = "0")))]
    max_raw_data: Option<i64>,
    /// Slugs of programming languages. A listing matches if its codebases use any of them.
    #[oai(default)]
    languages: Vec<String>,
    /// Only listings whose code is at most 40 % JavaScript, TypeScript and Python combined, by bytes.
    /// Listings without a language breakdown never match.
    #[oai(default)]
    rare_languages_only: bool,
    /// File extensions in raw data, lowercase and without the dot. A listing matches if it has any of them.
    #[oai(default)]
    file_extensions: Vec<String>,
    /// Declared formats of robotics datasets: `lerobot_v3`, `lerobot_v2`, `ego_exo` or `other`. A listing
    /// matches if it has any of them.
    #[oai(default)]
    robotics_formats: Vec<String>,
    /// Capabilities that environments offer to an agent. A listing matches if it has any of them.
    #[oai(default)]
    capabilities: Vec<String>,
}

/// Query parameters of a catalog page.
#[derive(Debug, Object)]
pub struct BrowseQuery {
    /// Conditions that listings meet.
    #[oai(flatten)]
    filters: CatalogFilters,
    /// Order of the listings. `recommended` puts certified listings first, then newer ones; without a query
    /// and filters it starts with the featured listings.
    #[oai(default = "default_sort")]
    sort: EnumValue<SortOrder>,
    /// Maximum number of listings on the page.
    #[oai(default = "listing_pages::default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    pub limit: u32,
    /// `next_cursor` of the previous page; omit it for the first page. Query, filters and `sort` must stay
    /// the same. It can expire a day after the first page, or when many listings have changed since.
    #[oai(validator(max_length = 512))]
    cursor: Option<String>,
}

fn default_sort() -> EnumValue<SortOrder> {
    EnumValue(SortOrder::Recommended)
}

impl CatalogFilters {
    /// Converts the parameters into a search text, filters, and whether only the team's own listings match.
    pub fn into_parts(self) -> (String, Filters, bool) {
        let text = self.common.query.clone().unwrap_or_default();
        let common = self.common.into_filters();
        let mut filters = Filters {
            labels: Labels {
                tag_slugs: self.tag_slugs,
                languages: self.languages,
                file_extensions: self.file_extensions,
                robotics_formats: self.robotics_formats,
                capabilities: self.capabilities,
                ..common.labels
            },
            rare_languages: self.rare_languages_only,
            vendor_tiers: browse_filters::vendor_tiers(&self.vendor_tiers),
            ..common
        };
        filters.bounds.extend([
            PRICE_PER_TASK.decimals(self.min_price_per_task, self.max_price_per_task),
            VENDOR_TIER.counts(self.min_vendor_tier, None),
            CODEBASES.counts(self.min_codebases, self.max_codebases),
            TASKSETS.counts(self.min_tasksets, self.max_tasksets),
            ENVIRONMENTS.counts(self.min_environments, self.max_environments),
            ROBOTICS_DATASETS.counts(self.min_robotics_datasets, self.max_robotics_datasets),
            RAW_DATA.counts(self.min_raw_data, self.max_raw_data),
        ]);
        (text, filters, self.owned)
    }
}

impl BrowseQuery {
    /// Converts the parameters into a request to the catalog.
    pub fn into_request(self) -> PageRequest {
        let (text, filters, owned) = self.filters.into_parts();
        PageRequest {
            text,
            filters,
            owned,
            sort: self.sort.0,
            limit: self.limit as usize,
            cursor: self.cursor,
            cursor_form: CursorForm::Full,
            skip: 0,
        }
    }
}
