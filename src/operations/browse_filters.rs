//! The filters of the catalog: the names of their parameters, and how each is set in the filters of the search index.

use marketplace_index::{Bounds, Facet, Filters, Measure, document::Labels};

use crate::domain::money;

/// Bytes per gigabyte in the filters by size.
const GIGABYTE: f64 = 1e9;

/// Tiers of vendors.
pub const VENDOR_TIERS: [u64; 3] = [1, 2, 3];

/// Parameter with the tiers of vendors.
const VENDOR_TIERS_PARAMETER: &str = "vendor_tiers";

/// Parameter that selects listings with a sample, or without one.
const SAMPLE_PARAMETER: &str = "sample_available";

/// Parameter with the search text.
pub const TEXT_PARAMETER: &str = "query";

/// A filter of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowseFilter {
    /// Labels of which any may match; the facet counts their values.
    Labels(Facet),
    /// A condition that is either set or not.
    Flag(Flag),
    /// Listings with a sample, or without one.
    Sample,
    /// Tiers of vendors of which any may match.
    VendorTiers,
    /// Bounds of a number.
    Range(Range),
}

impl BrowseFilter {
    /// All filters.
    pub const ALL: [BrowseFilter; 26] = [
        BrowseFilter::Labels(Facet::AssetTypes),
        BrowseFilter::Labels(Facet::Languages),
        BrowseFilter::Labels(Facet::Tags),
        BrowseFilter::Labels(Facet::TagSlugs),
        BrowseFilter::Labels(Facet::FileExtensions),
        BrowseFilter::Labels(Facet::RoboticsFormats),
        BrowseFilter::Labels(Facet::Capabilities),
        BrowseFilter::Flag(Flag::Certified),
        BrowseFilter::Flag(Flag::ActiveBids),
        BrowseFilter::Flag(Flag::RareLanguages),
        BrowseFilter::Flag(Flag::Owned),
        BrowseFilter::Sample,
        BrowseFilter::VendorTiers,
        BrowseFilter::Range(VENDOR_TIER),
        BrowseFilter::Range(PRICE),
        BrowseFilter::Range(SAMPLE_PRICE),
        BrowseFilter::Range(PRICE_PER_TASK),
        BrowseFilter::Range(TASKS),
        BrowseFilter::Range(LOC),
        BrowseFilter::Range(ZIP_FILES),
        BrowseFilter::Range(ZIP_SIZE),
        BrowseFilter::Range(CODEBASES),
        BrowseFilter::Range(TASKSETS),
        BrowseFilter::Range(ENVIRONMENTS),
        BrowseFilter::Range(ROBOTICS_DATASETS),
        BrowseFilter::Range(RAW_DATA),
    ];

    /// Returns the names of its parameters: the first one, and the second one of bounds.
    pub const fn parameters(self) -> (&'static str, Option<&'static str>) {
        match self {
            BrowseFilter::Labels(facet) => (facet.name(), None),
            BrowseFilter::Flag(flag) => (flag.parameter(), None),
            BrowseFilter::Sample => (SAMPLE_PARAMETER, None),
            BrowseFilter::VendorTiers => (VENDOR_TIERS_PARAMETER, None),
            BrowseFilter::Range(range) => (range.min, range.max),
        }
    }
}

/// A condition that is either set or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// The listing is certified.
    Certified,
    /// A bid on the listing waits for the vendor.
    ActiveBids,
    /// The code is mainly in rare languages.
    RareLanguages,
    /// The listing belongs to the caller.
    Owned,
}

impl Flag {
    /// Returns the name of the parameter.
    pub const fn parameter(self) -> &'static str {
        match self {
            Flag::Certified => "verified_only",
            Flag::ActiveBids => "has_active_bids",
            Flag::RareLanguages => "rare_languages_only",
            Flag::Owned => "owned",
        }
    }
}

/// The unit of the bounds of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole number.
    Count,
    /// US dollars.
    Dollars,
    /// Gigabytes of 10^9 bytes.
    Gigabytes,
}

/// A number of a listing that two parameters bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Parameter with the minimum.
    pub min: &'static str,
    /// Parameter with the maximum; `None` if there is none.
    pub max: Option<&'static str>,
    /// The number.
    pub measure: Measure,
    /// Unit of the parameters.
    pub unit: Unit,
}

/// Price.
pub const PRICE: Range = Range::new("min_price", "max_price", Measure::Price, Unit::Dollars);
/// Price of the sample.
pub const SAMPLE_PRICE: Range =
    Range::new("min_sample_price", "max_sample_price", Measure::SamplePrice, Unit::Dollars);
/// Price for each task.
pub const PRICE_PER_TASK: Range =
    Range::new("min_price_per_task", "max_price_per_task", Measure::PricePerTask, Unit::Dollars);
/// Tier of the vendor.
pub const VENDOR_TIER: Range =
    Range { min: "min_vendor_tier", max: None, measure: Measure::VendorTier, unit: Unit::Count };
/// Number of tasks in tasksets and bundles.
pub const TASKS: Range = Range::new("min_tasks", "max_tasks", Measure::Tasks, Unit::Count);
/// Lines of code.
pub const LOC: Range = Range::new("min_loc", "max_loc", Measure::Loc, Unit::Count);
/// Number of files in zips.
pub const ZIP_FILES: Range = Range::new("min_zip_files", "max_zip_files", Measure::ZipFiles, Unit::Count);
/// Size of the zips.
pub const ZIP_SIZE: Range =
    Range::new("min_zip_size_gb", "max_zip_size_gb", Measure::ZipBytes, Unit::Gigabytes);
/// Number of codebases.
pub const CODEBASES: Range = Range::new("min_codebases", "max_codebases", Measure::Codebases, Unit::Count);
/// Number of tasksets and bundles.
pub const TASKSETS: Range = Range::new("min_tasksets", "max_tasksets", Measure::Tasksets, Unit::Count);
/// Number of environments.
pub const ENVIRONMENTS: Range =
    Range::new("min_environments", "max_environments", Measure::Environments, Unit::Count);
/// Number of robotics datasets.
pub const ROBOTICS_DATASETS: Range =
    Range::new("min_robotics_datasets", "max_robotics_datasets", Measure::RoboticsDatasets, Unit::Count);
/// Number of raw data archives.
pub const RAW_DATA: Range = Range::new("min_raw_data", "max_raw_data", Measure::RawData, Unit::Count);

impl Range {
    const fn new(min: &'static str, max: &'static str, measure: Measure, unit: Unit) -> Range {
        Range { min, max: Some(max), measure, unit }
    }

    /// Returns the bounds of a count.
    pub fn counts(self, min: Option<i64>, max: Option<i64>) -> (Measure, Bounds) {
        let count = |bound: i64| u64::try_from(bound).unwrap_or_default();
        (self.measure, Bounds { min: min.map(count), max: max.map(count) })
    }

    /// Returns the bounds of an amount or a size.
    pub fn decimals(self, min: Option<f64>, max: Option<f64>) -> (Measure, Bounds) {
        let bound = |value: f64, is_minimum: bool| match self.unit {
            Unit::Dollars => money::bound_in_cents(value, is_minimum),
            Unit::Gigabytes => bound_in_bytes(value, is_minimum),
            Unit::Count => value.max(0.0) as u64, // `as` saturates.
        };
        let bounds = Bounds { min: min.map(|min| bound(min, true)), max: max.map(|max| bound(max, false)) };
        (self.measure, bounds)
    }

    /// Whether a count can be a bound.
    fn accepts(self, count: i64) -> bool {
        self != VENDOR_TIER || u64::try_from(count).is_ok_and(|tier| VENDOR_TIERS.contains(&tier))
    }

    /// Parses the texts of two bounds. If a text is not a number of the unit, returns the name of its parameter.
    fn parse(self, min: Option<&str>, max: Option<&str>) -> Result<(Measure, Bounds), &'static str> {
        let max_name = self.max.unwrap_or(self.min);
        if self.unit == Unit::Count {
            let parse_bound = |text: &str| parse_count(text).filter(|count| self.accepts(*count));
            let parse = |text: Option<&str>, name| text.map(|text| parse_bound(text).ok_or(name)).transpose();
            return Ok(self.counts(parse(min, self.min)?, parse(max, max_name)?));
        }
        let parse = |text: Option<&str>, name| text.map(|text| parse_decimal(text).ok_or(name)).transpose();
        Ok(self.decimals(parse(min, self.min)?, parse(max, max_name)?))
    }
}

fn parse_count(text: &str) -> Option<i64> {
    text.parse().ok().filter(|count| *count >= 0)
}

fn parse_decimal(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

fn bound_in_bytes(size: f64, is_minimum: bool) -> u64 {
    let exact = size * GIGABYTE;
    let nearest = exact.round();
    // Tolerates the rounding error of decimals: as an `f64`, 1.001 times 10^9 is slightly less than 1,001,000,000.
    let is_integer = (exact - nearest).abs() <= nearest * f64::EPSILON;
    let rounded = if is_minimum { exact.ceil() } else { exact.floor() };
    // `as` saturates, so a bound beyond `u64` becomes `u64::MAX`.
    (if is_integer { nearest } else { rounded }) as u64
}

/// Converts a list of tiers, of which any may match. Drops negative ones, which no vendor has: a list of negative tiers alone
/// matches nothing.
pub fn vendor_tiers(tiers: &[i64]) -> Option<Vec<u64>> {
    let non_negative = tiers.iter().filter_map(|tier| u64::try_from(*tier).ok()).collect();
    (!tiers.is_empty()).then_some(non_negative)
}

/// What a query selects of the catalog.
#[derive(Clone, Debug, Default)]
pub struct CatalogSelection {
    /// The search text.
    pub text: String,
    /// The filters.
    pub filters: Filters,
    /// Whether only the caller's own listings match.
    pub owned: bool,
}

impl CatalogSelection {
    /// Reads a selection from the parameters of a query. `values` returns the values of a parameter. Also returns the names of
    /// the parameters whose values cannot be read; they select nothing.
    pub fn read<'v>(values: impl Fn(&str) -> Vec<&'v str>) -> (CatalogSelection, Vec<&'static str>) {
        let first = |name: &str| values(name).first().copied();
        let mut selection = CatalogSelection {
            text: first(TEXT_PARAMETER).unwrap_or_default().to_owned(),
            ..CatalogSelection::default()
        };
        let mut unreadable = Vec::new();
        for filter in BrowseFilter::ALL {
            if let Err(name) = selection.set(filter, &values) {
                unreadable.push(name);
            }
        }
        (selection, unreadable)
    }

    fn set<'v>(
        &mut self,
        filter: BrowseFilter,
        values: impl Fn(&str) -> Vec<&'v str>,
    ) -> Result<(), &'static str> {
        let name = filter.parameters().0;
        let given = values(name);
        match filter {
            BrowseFilter::Labels(facet) => {
                if let Some(labels) = labels_of(&mut self.filters.labels, facet) {
                    *labels = given.into_iter().map(str::to_owned).collect();
                }
            }
            BrowseFilter::Flag(flag) => self.set_flag(flag, parse_flag(&given, name)?.unwrap_or_default()),
            BrowseFilter::Sample => self.filters.sample_available = parse_flag(&given, name)?,
            BrowseFilter::VendorTiers => {
                let tiers: Option<Vec<i64>> = given.into_iter().map(|tier| tier.parse().ok()).collect();
                self.filters.vendor_tiers = vendor_tiers(&tiers.ok_or(name)?);
            }
            BrowseFilter::Range(range) => {
                let max = range.max.and_then(|max| values(max).first().copied());
                self.filters.bounds.extend([range.parse(given.first().copied(), max)?]);
            }
        }
        Ok(())
    }

    const fn set_flag(&mut self, flag: Flag, value: bool) {
        match flag {
            Flag::Certified => self.filters.certified = value,
            Flag::ActiveBids => self.filters.active_bids = value,
            Flag::RareLanguages => self.filters.rare_languages = value,
            Flag::Owned => self.owned = value,
        }
    }
}

fn parse_flag(given: &[&str], name: &'static str) -> Result<Option<bool>, &'static str> {
    given.first().map(|text| text.parse().map_err(|_| name)).transpose()
}

/// Returns the list of a facet; `None` for the stages of listings, which are the same for the whole catalog.
const fn labels_of(labels: &mut Labels, facet: Facet) -> Option<&mut Vec<String>> {
    match facet {
        Facet::Tags => Some(&mut labels.tags),
        Facet::TagSlugs => Some(&mut labels.tag_slugs),
        Facet::AssetTypes => Some(&mut labels.asset_types),
        Facet::Languages => Some(&mut labels.languages),
        Facet::FileExtensions => Some(&mut labels.file_extensions),
        Facet::RoboticsFormats => Some(&mut labels.robotics_formats),
        Facet::Capabilities => Some(&mut labels.capabilities),
        Facet::LifecycleStages => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &[(&'static str, &'static str)]) -> (CatalogSelection, Vec<&'static str>) {
        CatalogSelection::read(|name| {
            query.iter().filter(|(known, _)| *known == name).map(|(_, value)| *value).collect()
        })
    }

    #[test]
    fn parameters_set_filters() {
        let (selection, unreadable) = read(&[
            ("query", "ledger"),
            ("languages", "cobol"),
            ("languages", "java"),
            ("verified_only", "true"),
            ("sample_available", "false"),
            ("vendor_tiers", "2"),
            ("min_price", "19.99"),
            ("max_zip_size_gb", "1.001"),
            ("min_loc", "1000"),
            ("owned", "true"),
        ]);
        assert!(unreadable.is_empty() && selection.owned && selection.filters.certified);
        assert_eq!(selection.text, "ledger");
        assert_eq!(selection.filters.labels.languages, ["cobol", "java"]);
        assert_eq!(selection.filters.sample_available, Some(false));
        assert_eq!(selection.filters.vendor_tiers, Some(vec![2]));
        let bounds = &selection.filters.bounds;
        assert_eq!(bounds[Measure::Price], Bounds { min: Some(1_999), max: None });
        assert_eq!(bounds[Measure::ZipBytes], Bounds { min: None, max: Some(1_001_000_000) });
        assert_eq!(bounds[Measure::Loc], Bounds { min: Some(1_000), max: None });
    }

    #[test]
    fn empty_query_selects_everything() {
        let (selection, unreadable) = read(&[]);
        assert!(selection.filters.is_empty() && selection.text.is_empty() && !selection.owned);
        assert!(unreadable.is_empty());
    }

    #[test]
    fn unreadable_values_are_named() {
        let query = [
            ("min_price", "cheap"),
            ("max_loc", "-1"),
            ("vendor_tiers", "x"),
            ("owned", "maybe"),
            ("max_price", "1"),
        ];
        let (selection, mut unreadable) = read(&query);
        unreadable.sort_unstable();
        assert_eq!(unreadable, ["max_loc", "min_price", "owned", "vendor_tiers"]);
        assert!(selection.filters.is_empty());
    }

    #[test]
    fn each_parameter_is_of_one_filter() {
        let mut names: Vec<&str> = BrowseFilter::ALL
            .iter()
            .flat_map(|filter| {
                let (first, second) = filter.parameters();
                [Some(first), second]
            })
            .flatten()
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
