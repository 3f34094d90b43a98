//! The scale of a listing: the amount of data on it, computed from its assets.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{assets::Kind, money::Cents};

/// Maximum share of common languages, in percent of all bytes, for code to count as code in rare languages.
const COMMON_SHARE_LIMIT: u64 = 40;

/// Maximum of a sum of lines of code: the largest integer that clients read.
const MAX_LOC: u64 = i64::MAX.unsigned_abs();

/// Slugs of the common languages.
const COMMON_LANGUAGES: [&str; 3] = ["javascript", "typescript", "python"];

/// The contribution of one attached asset to a scale.
#[derive(Clone, Debug, Default)]
pub struct ScaleContribution {
    /// Number of lines of code. Codebases only.
    pub loc: u64,
    /// Bytes of code by language slug. Codebases only; empty if the codebase was not analyzed.
    pub languages: BTreeMap<String, u64>,
    /// Number of tasks of the taskset, or of each taskset of the bundle, by the taskset's ID.
    pub tasks: BTreeMap<Uuid, u64>,
    /// Number of files in the archive. Raw data only.
    pub zip_files: u64,
    /// Size of the archive in bytes. Raw data only.
    pub zip_bytes: u64,
}

/// The totals over the assets of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// Number of attached assets by kind.
    pub asset_counts: BTreeMap<Kind, u64>,
    /// Bytes of code by language slug, over all codebases.
    pub languages: BTreeMap<String, u64>,
    /// Number of lines of code, over all codebases.
    pub loc: u64,
    /// Number of tasks of each taskset, whether it is attached itself, in a bundle, or both. Assets that are
    /// single tasks are not counted.
    pub tasks_by_taskset: BTreeMap<Uuid, u64>,
    /// Number of files in all raw data archives.
    pub zip_files: u64,
    /// Size of all raw data archives in bytes.
    pub zip_bytes: u64,
}

impl Scale {
    /// Adds one asset.
    pub fn add(&mut self, kind: Kind, contribution: &ScaleContribution) {
        *self.asset_counts.entry(kind).or_default() += 1;
        for (language, bytes) in &contribution.languages {
            *self.languages.entry(language.clone()).or_default() += bytes;
        }
        // Vendors state up to 2^53 for each of any number of codebases.
        self.loc = self.loc.saturating_add(contribution.loc).min(MAX_LOC);
        self.tasks_by_taskset.extend(&contribution.tasks);
        self.zip_files += contribution.zip_files;
        self.zip_bytes += contribution.zip_bytes;
    }

    /// Returns the number of attached assets of this kind.
    pub fn count_of_kind(&self, kind: Kind) -> u64 {
        self.asset_counts.get(&kind).copied().unwrap_or(0)
    }

    /// Returns the number of attached assets of all kinds.
    pub fn asset_count(&self) -> u64 {
        self.asset_counts.values().sum()
    }

    /// Returns the number of tasks in all tasksets and bundles.
    pub fn task_count(&self) -> u64 {
        self.tasks_by_taskset.values().sum()
    }

    /// Returns the languages with their bytes, largest first. Ties are ordered by slug.
    pub fn languages_by_size(&self) -> Vec<(&str, u64)> {
        let mut languages: Vec<(&str, u64)> =
            self.languages.iter().map(|(slug, bytes)| (slug.as_str(), *bytes)).collect();
        languages.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        languages
    }

    /// Whether common languages make up at most 40 % of the code. `false` if the languages are unknown.
    pub fn has_rare_languages(&self) -> bool {
        let total: u64 = self.languages.values().sum();
        let common: u64 = COMMON_LANGUAGES.iter().filter_map(|slug| self.languages.get(*slug)).sum();
        total > 0 && u128::from(common) * 100 <= u128::from(total) * u128::from(COMMON_SHARE_LIMIT)
    }

    /// Returns the price divided by the number of tasks, rounded half up to a cent.
    pub fn price_per_task(&self, price: Option<Cents>) -> Option<Cents> {
        price?.divided_by(self.task_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(languages: &[(&str, u64)]) -> Scale {
        let mut scale = Scale::default();
        let languages = languages.iter().map(|(slug, bytes)| ((*slug).to_owned(), *bytes)).collect();
        scale.add(Kind::Codebase, &ScaleContribution { languages, loc: 10, ..ScaleContribution::default() });
        scale
    }

    #[test]
    fn code_with_few_common_languages_has_rare_languages() {
        assert!(code(&[("python", 20), ("javascript", 20), ("ocaml", 60)]).has_rare_languages());
        assert!(!code(&[("python", 21), ("typescript", 20), ("ocaml", 59)]).has_rare_languages());
        assert!(code(&[("cobol", 1)]).has_rare_languages());
        assert!(!code(&[]).has_rare_languages());
    }

    #[test]
    fn languages_are_sorted_largest_first() {
        assert_eq!(
            code(&[("go", 5), ("ada", 5), ("rust", 9)]).languages_by_size(),
            [("rust", 9), ("ada", 5), ("go", 5)]
        );
    }

    #[test]
    fn price_per_task_counts_tasks_of_tasksets_only() {
        let mut scale = Scale::default();
        scale.add(Kind::Task, &ScaleContribution::default());
        assert_eq!(scale.price_per_task(Some(Cents(100))), None);
        let tasks = |tasksets: &[(u128, u64)]| ScaleContribution {
            tasks: tasksets.iter().map(|(id, tasks)| (Uuid::from_u128(*id), *tasks)).collect(),
            ..ScaleContribution::default()
        };
        scale.add(Kind::Taskset, &tasks(&[(1, 3)]));
        assert_eq!(scale.price_per_task(Some(Cents(100))), Some(Cents(33)));
        // A taskset that is also in a bundle counts once.
        scale.add(Kind::Bundle, &tasks(&[(1, 3), (2, 1)]));
        assert_eq!((scale.task_count(), scale.price_per_task(Some(Cents(100)))), (4, Some(Cents(25))));
        assert_eq!(scale.price_per_task(None), None);
    }

    #[test]
    fn sum_of_lines_of_code_has_a_maximum() {
        let mut scale = Scale::default();
        let stated = ScaleContribution { loc: 1 << 53, ..ScaleContribution::default() };
        (0..3_000).for_each(|_| scale.add(Kind::Codebase, &stated));
        assert_eq!(scale.loc, MAX_LOC);
    }
}
