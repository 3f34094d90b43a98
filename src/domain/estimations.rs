//! Advisory quotes for repositories.

use std::collections::BTreeMap;

use super::{
    money::Cents,
    scale::{Part, Scale},
    vocabulary::vocabulary,
};

vocabulary! {
    /// Where an estimation stands, in the order in which they sort.
    EstimationStatus {
        /// Being worked out.
        Pending = "pending",
        /// A quote is there.
        Estimated = "estimated",
        /// Nothing was measured that could be priced.
        Unpriced = "unpriced",
        /// The source could not be read.
        Failed = "failed",
    }
}

/// What was measured of a repository.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Measured {
    /// Lines of code.
    pub lines_of_code: u64,
    /// Commits.
    pub commits: u64,
    /// People who committed.
    pub contributors: u64,
    /// Bytes of source by language slug.
    pub languages: BTreeMap<String, u64>,
}

/// What the platform would pay, from the settings.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// US cents for a thousand lines of code.
    pub cents_per_thousand_lines: u64,
    /// US cents for a commit.
    pub cents_per_commit: u64,
    /// US cents for a contributor.
    pub cents_per_contributor: u64,
    /// What languages that are not common are worth more, in per cent of their share.
    pub rare_language_percent: u64,
    /// How far the quote spreads to either side, in per cent.
    pub spread_percent: u64,
}

/// A quote: the least and the most that the source may be worth, in cents, or nothing where nothing was measured that has
/// a rate.
pub fn quote(measured: &Measured, rates: &Rates) -> Option<(Cents, Cents)> {
    let mut scale = Scale::default();
    let part = Part { languages: measured.languages.clone(), ..Part::default() };
    scale.add(super::assets::Kind::Codebase, &part);
    let bonus = if scale.has_rare_languages() { rates.rare_language_percent } else { 0 };
    let base = u128::from(measured.lines_of_code) * u128::from(rates.cents_per_thousand_lines) / 1000
        + u128::from(measured.commits) * u128::from(rates.cents_per_commit)
        + u128::from(measured.contributors) * u128::from(rates.cents_per_contributor);
    let worth = base * u128::from(100 + bonus) / 100;
    let part = |percent: u64| i64::try_from(worth * u128::from(percent) / 100).ok().map(Cents);
    let (low, high) = (part(100 - rates.spread_percent.min(100))?, part(100 + rates.spread_percent)?);
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
        let mut measured =
            Measured { lines_of_code: 10_000, commits: 100, contributors: 10, languages: BTreeMap::new() };
        assert_eq!(quote(&measured, &rates), Some((Cents(9600), Cents(14_400))));
        measured.languages.insert("cobol".to_owned(), 1);
        assert_eq!(quote(&measured, &rates), Some((Cents(14_400), Cents(21_600))));
        let nothing = Measured { lines_of_code: 0, commits: 0, contributors: 0, languages: BTreeMap::new() };
        assert_eq!(quote(&nothing, &rates), None);
    }
}
