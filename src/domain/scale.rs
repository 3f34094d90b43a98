//! How much data a listing holds: worked out from its assets, never typed in.

use std::collections::BTreeMap;

use super::{assets::Kind, money::Cents};

/// The largest part, in per cent of the bytes, that common languages may have in code of rare ones.
const COMMON_SHARE_LIMIT: u64 = 40;

/// The common languages, as slugs.
const COMMON_LANGUAGES: [&str; 3] = ["javascript", "typescript", "python"];

/// What one attached asset adds.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Lines of code of a codebase.
    pub loc: u64,
    /// Bytes by language slug of a codebase; empty where it was not read.
    pub languages: BTreeMap<String, u64>,
    /// Tasks of a taskset, or of a bundle's tasksets.
    pub tasks: u64,
    /// Files of a raw data zip.
    pub zip_files: u64,
    /// Bytes of a raw data zip.
    pub zip_bytes: u64,
}

/// The sum over a listing's assets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// Attached assets by kind.
    pub asset_counts: BTreeMap<Kind, u64>,
    /// Bytes by language slug, over all codebases.
    pub languages: BTreeMap<String, u64>,
    /// Lines of code.
    pub loc: u64,
    /// Tasks of tasksets and bundles; single task assets do not count.
    pub tasks: u64,
    /// Files in zips of raw data.
    pub zip_files: u64,
    /// Bytes of zips of raw data.
    pub zip_bytes: u64,
}

impl Scale {
    /// Counts one asset in.
    pub fn add(&mut self, kind: Kind, part: &Part) {
        *self.asset_counts.entry(kind).or_default() += 1;
        for (language, bytes) in &part.languages {
            *self.languages.entry(language.clone()).or_default() += bytes;
        }
        self.loc += part.loc;
        self.tasks += part.tasks;
        self.zip_files += part.zip_files;
        self.zip_bytes += part.zip_bytes;
    }

    /// Attached assets of a kind.
    pub fn count(&self, kind: Kind) -> u64 {
        self.asset_counts.get(&kind).copied().unwrap_or(0)
    }

    /// Attached assets of any kind.
    pub fn assets(&self) -> u64 {
        self.asset_counts.values().sum()
    }

    /// Languages with their bytes, most first; equal ones by slug.
    pub fn languages_by_size(&self) -> Vec<(&str, u64)> {
        let mut languages: Vec<(&str, u64)> =
            self.languages.iter().map(|(slug, bytes)| (slug.as_str(), *bytes)).collect();
        languages.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        languages
    }

    /// Whether common languages are at most 40 % of the code. Without a breakdown there is no telling, so it is not.
    pub fn has_rare_languages(&self) -> bool {
        let total: u64 = self.languages.values().sum();
        let common: u64 = COMMON_LANGUAGES.iter().filter_map(|slug| self.languages.get(*slug)).sum();
        total > 0 && u128::from(common) * 100 <= u128::from(total) * u128::from(COMMON_SHARE_LIMIT)
    }

    /// The buy-now price divided by the tasks, rounded half up to a cent.
    pub fn price_per_task(&self, price: Option<Cents>) -> Option<Cents> {
        price?.per(self.tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(languages: &[(&str, u64)]) -> Scale {
        let mut scale = Scale::default();
        let languages = languages.iter().map(|(slug, bytes)| ((*slug).to_owned(), *bytes)).collect();
        scale.add(Kind::Codebase, &Part { languages, loc: 10, ..Part::default() });
        scale
    }

    #[test]
    fn rare_languages_are_those_with_few_bytes_of_common_ones() {
        assert!(code(&[("python", 20), ("javascript", 20), ("ocaml", 60)]).has_rare_languages());
        assert!(!code(&[("python", 21), ("typescript", 20), ("ocaml", 59)]).has_rare_languages());
        assert!(code(&[("cobol", 1)]).has_rare_languages());
        assert!(!code(&[]).has_rare_languages());
    }

    #[test]
    fn languages_come_largest_first() {
        assert_eq!(
            code(&[("go", 5), ("ada", 5), ("rust", 9)]).languages_by_size(),
            [("rust", 9), ("ada", 5), ("go", 5)]
        );
    }

    #[test]
    fn only_tasks_divide_a_price() {
        let mut scale = Scale::default();
        scale.add(Kind::Task, &Part::default());
        assert_eq!(scale.price_per_task(Some(Cents(100))), None);
        scale.add(Kind::Taskset, &Part { tasks: 3, ..Part::default() });
        assert_eq!(scale.price_per_task(Some(Cents(100))), Some(Cents(33)));
        assert_eq!(scale.price_per_task(None), None);
    }
}
