//! Estimations: advisory price quotes for repositories.

use std::collections::BTreeMap;

use marketplace_text::{equality_key, search_key};
use uuid::Uuid;

use super::{
    assets::{Channel, Kind},
    filters::{AllowedValues, Condition, FilterOperator, FilterableField, SortDirection, variant_strings},
    money::Cents,
    scale::{Scale, ScaleContribution},
    time::Timestamp,
};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// The status of an estimation. Estimations sort by status in this order.
    EstimationStatus {
        /// The estimation is in progress.
        Pending = "pending",
        /// A quote is available.
        Estimated = "estimated",
        /// The source has nothing that can be priced.
        Unpriced = "unpriced",
        /// The source could not be read.
        Failed = "failed",
    }
}

string_enum! {
    /// A field that filters on estimations can test.
    EstimationField {
        /// Status of the estimation.
        Status = "status",
        /// Asset kind of the source.
        Type = "type",
        /// Name of the source.
        Name = "name",
        /// Host of the source.
        Channel = "channel",
        /// Whether an asset was created from the estimation.
        Inventory = "inventory",
    }
}

impl FilterableField for EstimationField {
    fn allowed_values(self) -> AllowedValues {
        match self {
            EstimationField::Status => AllowedValues::OneOf(variant_strings::<EstimationStatus>()),
            EstimationField::Type => AllowedValues::OneOf(variant_strings::<Kind>()),
            EstimationField::Channel => AllowedValues::OneOf(variant_strings::<Channel>()),
            EstimationField::Inventory => AllowedValues::OneOf(variant_strings::<InventoryStatus>()),
            EstimationField::Name => AllowedValues::AnyText,
        }
    }
}

string_enum! {
    /// Whether an asset was created from an estimation.
    InventoryStatus {
        /// An asset was created.
        Added = "added",
        /// No asset was created, or it was deleted.
        NotAdded = "not_added",
    }
}

impl InventoryStatus {
    /// Returns whether an asset was created from an estimation.
    pub const fn of(estimation: &Estimation) -> InventoryStatus {
        if estimation.asset.is_some() { InventoryStatus::Added } else { InventoryStatus::NotAdded }
    }
}

string_enum! {
    /// A column that estimations can be sorted by.
    EstimationColumn {
        /// Name, case-insensitive.
        Name = "name",
        /// Asset kind of the source.
        Type = "type",
        /// Host of the source.
        Channel = "channel",
        /// Status, in the order pending, estimated, unpriced, failed.
        Status = "status",
        /// Low end of the quote.
        Quote = "quote",
        /// Time of completion, or time of creation while pending.
        Date = "date",
    }
}

/// An advisory price quote for one source.
#[derive(Clone, Debug)]
pub struct Estimation {
    /// ID of the estimation.
    pub id: Uuid,
    /// Asset kind that the source would be sold as.
    pub kind: Kind,
    /// Host of the source.
    pub channel: Channel,
    /// Full name of the source repository, as `owner/name`.
    pub repo_full_name: String,
    /// Display name of the source.
    pub name: String,
    /// Status of the estimation.
    pub status: EstimationStatus,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time of completion; `None` while pending.
    pub completed_at: Option<Timestamp>,
    /// ID of the user who requested the estimation.
    pub created_by: Uuid,
    /// Why the estimation failed; `None` if it did not.
    pub failure_message: Option<String>,
    /// ID of the asset created from the estimation, if any.
    pub asset: Option<Uuid>,
    /// Low and high end of the quote; `None` without a quote.
    pub quote: Option<(Cents, Cents)>,
}

/// Returns the key by which names are compared with the value of a filter condition. It is made once for all estimations.
pub fn name_key(condition: &Condition<EstimationField>) -> String {
    match (condition.field, condition.operator) {
        (EstimationField::Name, FilterOperator::Contains) => search_key(&condition.value),
        (EstimationField::Name, _) => equality_key(&condition.value),
        _ => String::new(),
    }
}

impl Estimation {
    /// Whether the estimation matches a filter condition, whose [`name_key`] is given.
    pub fn matches(&self, condition: &Condition<EstimationField>, name_key: &str) -> bool {
        let Condition { field, operator, value } = condition;
        let is = match field {
            EstimationField::Status => self.status.as_str() == value,
            EstimationField::Type => self.kind.as_str() == value,
            EstimationField::Channel => self.channel.as_str() == value,
            EstimationField::Inventory => InventoryStatus::of(self).as_str() == value,
            EstimationField::Name => {
                if *operator == FilterOperator::Contains {
                    return search_key(&self.name).contains(name_key);
                }
                equality_key(&self.name) == name_key
            }
        };
        is != (*operator == FilterOperator::IsNot)
    }

    /// Returns the time of completion, or the time of creation while the estimation is pending.
    pub fn date(&self) -> Timestamp {
        self.completed_at.unwrap_or(self.created_at)
    }
}

/// Sorts estimations that are ordered newest first. Estimations without a value come last in both directions,
/// and ties stay newest first.
pub fn sort_estimations(estimations: &mut [Estimation], column: EstimationColumn, direction: SortDirection) {
    let key = |estimation: &Estimation| -> Option<(i64, String)> {
        let text = |text: &str| Some((0, text.to_owned()));
        match column {
            EstimationColumn::Name => text(&equality_key(&estimation.name)),
            EstimationColumn::Type => text(estimation.kind.as_str()),
            EstimationColumn::Channel => text(estimation.channel.as_str()),
            EstimationColumn::Status => Some((estimation.status as i64, String::new())),
            EstimationColumn::Quote => estimation.quote.map(|(low, _)| (low.0, String::new())),
            EstimationColumn::Date => Some((estimation.date().0, String::new())),
        }
    };
    estimations.sort_by(|a, b| match (key(a), key(b)) {
        (Some(a), Some(b)) if direction == SortDirection::Descending => b.cmp(&a),
        (Some(a), Some(b)) => a.cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
}

/// Maximum number of bins in a summary.
const MAX_BINS: i64 = 8;

/// A bin of the histogram of low quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Lower bound of the low quotes, inclusive.
    pub low: Cents,
    /// Upper bound of the low quotes, exclusive.
    pub high: Cents,
    /// Number of sources in the bin.
    pub count: u64,
}

/// Statistics over a set of estimations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of sources with a quote.
    pub estimated: u64,
    /// Histogram of the low quotes, in bins of equal width, in ascending order.
    pub bins: Vec<Bin>,
    /// Number of estimations by status; every status is present.
    pub statuses: BTreeMap<EstimationStatus, u64>,
    /// Sum of the low quotes.
    pub low: Cents,
    /// Sum of the high quotes.
    pub high: Cents,
}

impl Summary {
    /// Computes the statistics of these estimations.
    pub fn from_estimations(estimations: &[Estimation]) -> Summary {
        let mut statuses: BTreeMap<EstimationStatus, u64> =
            EstimationStatus::ALL.iter().map(|status| (*status, 0)).collect();
        for estimation in estimations {
            *statuses.entry(estimation.status).or_default() += 1;
        }
        let quotes: Vec<(Cents, Cents)> =
            estimations.iter().filter_map(|estimation| estimation.quote).collect();
        Summary {
            estimated: quotes.len() as u64,
            bins: histogram(&quotes),
            statuses,
            low: Cents(quotes.iter().map(|(low, _)| low.0).sum()),
            high: Cents(quotes.iter().map(|(_, high)| high.0).sum()),
        }
    }
}

/// Returns the histogram of the low quotes, in bins of equal width. The last bin is never empty.
fn histogram(quotes: &[(Cents, Cents)]) -> Vec<Bin> {
    let lows = || quotes.iter().map(|(low, _)| low.0);
    let (Some(min), Some(max)) = (lows().min(), lows().max()) else { return Vec::new() };
    let width = (max - min) / MAX_BINS + 1;
    let bin = |index: i64| {
        let (low, high) = (min + index * width, min + (index + 1) * width);
        Bin {
            low: Cents(low),
            high: Cents(high),
            count: lows().filter(|low_quote| (low..high).contains(low_quote)).count() as u64,
        }
    };
    (0..=(max - min) / width).map(bin).collect()
}

/// Measurements of a repository.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RepositoryMetrics {
    /// Number of lines of code.
    pub lines_of_code: u64,
    /// Number of commits.
    pub commits: u64,
    /// Number of contributors.
    pub contributors: u64,
    /// Bytes of source code by language slug.
    pub languages: BTreeMap<String, u64>,
}

/// Rates from which quotes are computed, from the settings.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// US cents per thousand lines of code.
    pub cents_per_thousand_lines: u64,
    /// US cents per commit.
    pub cents_per_commit: u64,
    /// US cents per contributor.
    pub cents_per_contributor: u64,
    /// Surcharge in percent for code in rare languages.
    pub rare_language_percent: u64,
    /// Distance in percent from the estimated value to the low and high end of the quote.
    pub spread_percent: u64,
}

/// Computes the low and high end of a quote. Returns `None` if nothing was measured that has a rate.
pub fn compute_quote(measured: &RepositoryMetrics, rates: &Rates) -> Option<(Cents, Cents)> {
    let mut scale = Scale::default();
    let contribution =
        ScaleContribution { languages: measured.languages.clone(), ..ScaleContribution::default() };
    scale.add(super::assets::Kind::Codebase, &contribution);
    let bonus = if scale.has_rare_languages() { rates.rare_language_percent } else { 0 };
    let base = u128::from(measured.lines_of_code) * u128::from(rates.cents_per_thousand_lines) / 1000
        + u128::from(measured.commits) * u128::from(rates.cents_per_commit)
        + u128::from(measured.contributors) * u128::from(rates.cents_per_contributor);
    let value = base * u128::from(100 + bonus) / 100;
    let percentage = |percent: u64| i64::try_from(value * u128::from(percent) / 100).ok().map(Cents);
    let (low, high) =
        (percentage(100 - rates.spread_percent.min(100))?, percentage(100 + rates.spread_percent)?);
    (high.0 > 0).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_follow_the_rates() {
        let rates = Rates {
            cents_per_thousand_lines: 1000,
            cents_per_commit: 10,
            cents_per_contributor: 100,
            rare_language_percent: 50,
            spread_percent: 20,
        };
        let mut measured = RepositoryMetrics {
            lines_of_code: 10_000,
            commits: 100,
            contributors: 10,
            languages: BTreeMap::new(),
        };
        assert_eq!(compute_quote(&measured, &rates), Some((Cents(9600), Cents(14_400))));
        measured.languages.insert("cobol".to_owned(), 1);
        assert_eq!(compute_quote(&measured, &rates), Some((Cents(14_400), Cents(21_600))));
        let empty =
            RepositoryMetrics { lines_of_code: 0, commits: 0, contributors: 0, languages: BTreeMap::new() };
        assert_eq!(compute_quote(&empty, &rates), None);
    }

    fn estimation(name: &str, status: EstimationStatus, low: Option<i64>, at: i64) -> Estimation {
        Estimation {
            id: Uuid::from_u128(at as u128),
            kind: Kind::Codebase,
            channel: Channel::Github,
            repo_full_name: "a/b".to_owned(),
            name: name.to_owned(),
            status,
            created_at: Timestamp(at),
            completed_at: (status != EstimationStatus::Pending).then_some(Timestamp(at + 5)),
            created_by: Uuid::nil(),
            failure_message: None,
            asset: None,
            quote: low.map(|low| (Cents(low), Cents(low * 2))),
        }
    }

    #[test]
    fn estimations_without_a_value_sort_last() {
        use EstimationStatus as S;
        let all = || {
            vec![
                estimation("b", S::Failed, None, 40),
                estimation("C", S::Estimated, Some(9), 30),
                estimation("a", S::Estimated, Some(5), 20),
                estimation("d", S::Pending, None, 10),
            ]
        };
        for (column, up, down) in [
            (EstimationColumn::Name, "a b C d", "d C b a"),
            (EstimationColumn::Status, "d C a b", "b C a d"),
            (EstimationColumn::Quote, "a C b d", "C a b d"),
            (EstimationColumn::Date, "d a C b", "b C a d"),
            (EstimationColumn::Type, "b C a d", "b C a d"),
        ] {
            for (direction, expected) in [(SortDirection::Ascending, up), (SortDirection::Descending, down)] {
                let mut sorted = all();
                sort_estimations(&mut sorted, column, direction);
                let names: Vec<&str> = sorted.iter().map(|estimation| estimation.name.as_str()).collect();
                assert_eq!(names.join(" "), expected, "{column:?} {direction:?}");
            }
        }
    }

    #[test]
    fn bins_cover_all_quotes() {
        use EstimationStatus as S;
        let summary = Summary::from_estimations(&[]);
        assert_eq!((summary.estimated, summary.bins.len(), summary.low), (0, 0, Cents(0)));
        for lows in [&[7][..], &[7, 7], &[0, 100], &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 1_000_000, 3]] {
            let all: Vec<Estimation> =
                lows.iter().map(|low| estimation("x", S::Estimated, Some(*low), 1)).collect();
            let summary = Summary::from_estimations(&all);
            assert_eq!(summary.bins.iter().map(|bin| bin.count).sum::<u64>(), lows.len() as u64, "{lows:?}");
            assert!(
                summary.bins.len() <= 9 && summary.bins.windows(2).all(|pair| pair[0].high == pair[1].low)
            );
            assert_eq!(summary.high, Cents(summary.low.0 * 2));
            assert_eq!(summary.statuses[&S::Estimated], lows.len() as u64);
        }
    }
}
