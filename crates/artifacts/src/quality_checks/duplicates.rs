//! Measures how much of the data is duplicated, within itself and in the team's other assets, by hashes of
//! whole files.

use std::collections::{BTreeSet, HashMap};

use marketplace_domain::quality_checks::CheckStatus;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::{
    Check, Chunk, FileAction, Finding, Place, Role, Rule,
    samples::{Samples, Share},
};
use crate::contents::{Entry, Root, quoted};

/// At most 30% of the bytes are copies of other files of the same data.
pub static DUPLICATE_SHARE: Rule = Rule::informational("duplicate_share", "Share of duplicated content");

/// No other asset of the team has more than 30% of the files.
pub static DUPLICATES_ELSEWHERE: Rule =
    Rule::informational("duplicates_elsewhere", "Share of content also in the team's other assets");

/// Maximum share, in percent, with which either check passes.
const MAX_PERCENT: u64 = 30;

/// Files of at most this many bytes are ignored, because small files such as empty modules are often equal.
const MAX_IGNORED_BYTES: u64 = 100;

/// Maximum number of distinct files that are tracked.
const MAX_FILES: usize = 500_000;

/// Maximum number of bytes of paths that are stored, to name duplicated files in the message.
const MAX_PATH_BYTES: usize = 8 << 20;

/// Maximum number of hashes in a fingerprint.
const MAX_HASHES: usize = 4_096;

/// Check for [`DUPLICATE_SHARE`]. Also computes the fingerprint for [`DUPLICATES_ELSEWHERE`].
#[derive(Default)]
pub struct Duplicates {
    total_bytes: u64,
    /// Number of bytes in files that equal an earlier one.
    duplicate_bytes: u64,
    contents: HashMap<u128, SeenContent>,
    paths: Vec<String>,
    path_bytes: usize,
    fingerprint: Fingerprint,
    current_file: Option<(String, u64)>,
    hasher: Xxh3Default,
}

/// A file content that was seen.
struct SeenContent {
    copies: u32,
    size: u64,
    /// Index of the first path with this content, if that path was stored.
    path: Option<u32>,
}

impl Duplicates {
    /// Finishes the check. Returns its finding, if any files were compared, and the fingerprint to compare with other
    /// assets.
    pub fn finish_with_fingerprint(self) -> (Option<Finding>, Fingerprint) {
        if self.total_bytes == 0 {
            return (None, self.fingerprint);
        }
        let mut groups: Vec<&SeenContent> =
            self.contents.values().filter(|content| content.copies > 0).collect();
        let wasted_bytes = |content: &SeenContent| content.size.saturating_mul(u64::from(content.copies));
        groups.sort_by_key(|content| (std::cmp::Reverse(wasted_bytes(content)), content.path));
        let mut samples = Samples::default();
        for group in groups {
            let copies = format!("{} copies", u64::from(group.copies) + 1);
            match group.path.map(|at| &self.paths[at as usize]) {
                Some(path) => samples.add(
                    || Place::file(path, &format!("has {copies}")),
                    |place| format!("{} ({copies})", quoted(&place.path)),
                ),
                None => samples.add_unplaced(|| format!("a file ({copies})")),
            }
        }
        let share = Share { part: self.duplicate_bytes, total: self.total_bytes };
        let message = if samples.is_empty() {
            "No duplicate files were found.".to_owned()
        } else {
            format!("{share} of the bytes are copies of other files: {samples}.")
        };
        let finding = Finding::passed_if(&DUPLICATE_SHARE, share.is_at_most(MAX_PERCENT), &message);
        let role = if finding.status == CheckStatus::Passed { Role::Note } else { Role::Cause };
        (Some(finding.with(role, "", samples)), self.fingerprint)
    }

    fn record(&mut self, hash: u128, path: String, size: u64) {
        self.total_bytes = self.total_bytes.saturating_add(size);
        self.fingerprint.add(hash as u64);
        if let Some(content) = self.contents.get_mut(&hash) {
            content.copies = content.copies.saturating_add(1);
            self.duplicate_bytes = self.duplicate_bytes.saturating_add(size);
        } else if self.contents.len() < MAX_FILES {
            let is_named = self.path_bytes + path.len() <= MAX_PATH_BYTES;
            let at = self.paths.len() as u32;
            if is_named {
                self.path_bytes += path.len();
                self.paths.push(path);
            }
            self.contents.insert(hash, SeenContent { copies: 0, size, path: is_named.then_some(at) });
        }
    }
}

impl Check for Duplicates {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = None;
        if !entry.is_file() || entry.size <= MAX_IGNORED_BYTES {
            return FileAction::Skip;
        }
        self.current_file = Some((entry.path.to_owned(), entry.size));
        self.hasher.reset();
        FileAction::Read
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        self.hasher.update(chunk.bytes);
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if let (Some((path, size)), None) = (self.current_file.take(), problem) {
            self.record(self.hasher.digest128(), path, size);
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        self.finish_with_fingerprint().0.into_iter().collect()
    }
}

/// A compact fingerprint of a set of files: the smallest hashes of its distinct files (bottom-k sketch). Any
/// two fingerprints sample the same range of hashes, so they can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(BTreeSet<u64>);

impl Fingerprint {
    fn add(&mut self, hash: u64) {
        if self.0.len() == MAX_HASHES && self.0.last().is_some_and(|last| hash >= *last) {
            return;
        }
        self.0.insert(hash);
        if self.0.len() > MAX_HASHES {
            self.0.pop_last();
        }
    }

    /// Returns the share of these files that the other set contains, too. Exact for sets of fewer than 4,096
    /// distinct files; estimated for larger ones, from the hashes in the range of both fingerprints.
    pub fn share_contained_in(&self, other: &Fingerprint) -> Share {
        let largest_hash = |fingerprint: &Fingerprint| {
            if fingerprint.0.len() < MAX_HASHES { u64::MAX } else { *fingerprint.0.last().unwrap_or(&0) }
        };
        let comparable = self.0.range(..=largest_hash(self).min(largest_hash(other)));
        let mut share = Share { part: 0, total: 0 };
        for hash in comparable {
            share.total += 1;
            share.part += u64::from(other.0.contains(hash));
        }
        share
    }

    /// Whether the number of hashes is one that [`Duplicates`] produces.
    pub(crate) fn is_valid(&self) -> bool {
        self.0.len() <= MAX_HASHES
    }

    /// Whether the fingerprint has no hashes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Encodes the hashes as 8 little-endian bytes each, in ascending order.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// Decodes the bytes of [`Fingerprint::to_bytes`]. Returns `None` if they are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Fingerprint> {
        let (hashes, rest) = bytes.as_chunks::<8>();
        let hashes: Vec<u64> = hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
        let is_valid = rest.is_empty() && hashes.len() <= MAX_HASHES && hashes.is_sorted_by(|a, b| a < b);
        is_valid.then(|| Fingerprint(hashes.into_iter().collect()))
    }
}

/// Returns the finding for [`DUPLICATES_ELSEWHERE`], given the titles of the team's other assets and the
/// share of the files that each of them contains.
pub fn finding_for_other_assets(others: &[(String, Share)]) -> Finding {
    let mut shared: Vec<&(String, Share)> = others.iter().filter(|(_, share)| share.part > 0).collect();
    shared.sort_by(|(title, share), (other_title, other)| {
        other.compare(*share).then_with(|| title.cmp(other_title))
    });
    let mut samples = Samples::default();
    for (title, share) in &shared {
        samples.add_unplaced(|| format!("{share} in {}", quoted(title)));
    }
    let message = if samples.is_empty() {
        "None of the files are in your other assets.".to_owned()
    } else {
        format!("Some of the files are also in your other assets: {samples}.")
    };
    let is_passed = shared.first().is_none_or(|(_, share)| share.is_at_most(MAX_PERCENT));
    Finding::passed_if(&DUPLICATES_ELSEWHERE, is_passed, &message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use marketplace_domain::quality_checks::CheckStatus;

    fn fingerprint(hashes: impl IntoIterator<Item = u64>) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        hashes.into_iter().for_each(|hash| fingerprint.add(hash));
        fingerprint
    }

    /// Hashes a number, so that the results are spread evenly.
    fn hash_of(number: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes())
    }

    fn check_files(files: &[(&str, &[u8])], length: usize) -> (Option<Finding>, Fingerprint) {
        let mut check = Duplicates::default();
        for (path, bytes) in files {
            if check.start_file(&Entry::file(path, bytes.len() as u64)) == FileAction::Read {
                bytes.chunks(length).for_each(|bytes| check.chunk(Chunk::unchanged(bytes, false, false)));
            }
            check.end_file(None);
        }
        check.finish_with_fingerprint()
    }

    #[test]
    fn duplicates_are_listed_by_wasted_bytes() {
        let (small, large) = (vec![1; 101], vec![2; 5_000]);
        let files: [(&str, &[u8]); 7] = [
            ("a", &small),
            ("b", &large),
            ("c", &small),
            ("d", &large),
            ("e", &small),
            ("f", b"small"),
            ("g", b"small"),
        ];
        let (finding, fingerprint) = check_files(&files, 7);
        let finding = finding.unwrap();
        assert_eq!(finding.status, CheckStatus::Failed);
        assert_eq!(
            finding.message,
            r#"50% of the bytes are copies of other files: "b" (2 copies); "a" (3 copies)."#
        );
        assert_eq!(fingerprint.0.len(), 2);
        assert_eq!(check_files(&files, 1_000), (Some(finding), fingerprint));
        assert_eq!(check_files(&files[5..], 7).0, None, "small files are not compared");
        let finding = check_files(&files[..2], 7).0.unwrap();
        assert_eq!(
            (finding.status, finding.message.as_str()),
            (CheckStatus::Passed, "No duplicate files were found.")
        );
    }

    #[test]
    fn files_in_other_assets_are_reported() {
        let finding_for = |shares: &[(&str, u64)]| {
            let share =
                |(title, part): &(&str, u64)| ((*title).to_owned(), Share { part: *part, total: 1_000 });
            finding_for_other_assets(&shares.iter().map(share).collect::<Vec<_>>())
        };
        assert_eq!(finding_for(&[("A", 0)]).message, "None of the files are in your other assets.");
        let found = finding_for(&[("A", 290), ("B", 300), ("C", 5)]);
        assert_eq!(found.status, CheckStatus::Passed);
        assert!(found.message.contains(r#": 30% in "B"; 29% in "A"; <1% in "C"."#), "{}", found.message);
        assert_eq!(finding_for(&[("A", 301)]).status, CheckStatus::Failed);
        let found = finding_for(&[("A", 100), ("B", 1_000), ("C", 0)]);
        assert_eq!(found.status, CheckStatus::Failed);
        assert!(found.message.contains(r#"100% in "B"; 10% in "A"."#), "{}", found.message);
    }

    fn number(share: Share) -> f64 {
        share.part as f64 / share.total.max(1) as f64
    }

    #[test]
    fn share_of_copies_is_compared_with_the_limit_exactly() {
        let (copied, other) = (vec![1; 301], vec![2; 398]);
        let finding = check_files(&[("a", &copied), ("b", &copied), ("c", &other)], 1_000).0.unwrap();
        assert_eq!(finding.status, CheckStatus::Failed, "301 of 1,000 bytes are copies");
        assert!(finding.message.starts_with("30% of the bytes are copies"), "{}", finding.message);
    }

    proptest! {
        /// Fingerprints of small sets compare exactly.
        #[test]
        fn fingerprints_of_small_sets_are_exact(
            left in proptest::collection::btree_set(0..500_u64, 0..300),
            right in proptest::collection::btree_set(0..500_u64, 0..300),
        ) {
            let expected = left.intersection(&right).count() as f64 / left.len().max(1) as f64;
            let (left, right) = (fingerprint(left), fingerprint(right));
            prop_assert!((number(left.share_contained_in(&right)) - expected).abs() < 1e-9);
            prop_assert_eq!(Fingerprint::from_bytes(&left.to_bytes()), Some(left));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Comparing fingerprints of large sets has a small error for all sizes.
        #[test]
        fn fingerprints_of_large_sets_are_close(size in 2_000..30_000_u64, extra in 2_000..30_000_u64, common in 0..2_000_u64) {
            let set = fingerprint((0..size).map(hash_of));
            // The other set contains between none and all of these files, and `extra` more.
            let common = common * size / 2_000;
            let other = fingerprint((0..common).chain(size..size + extra).map(hash_of));
            let expected = common as f64 / size as f64;
            let share = number(set.share_contained_in(&other));
            prop_assert!((share - expected).abs() < 0.1, "{} {}", share, expected);
            prop_assert!(set.0.len() <= MAX_HASHES);
        }
    }

    #[test]
    fn invalid_fingerprint_bytes_are_rejected() {
        for bytes in [&[1; 7][..], &[1; 16], &vec![0; 8 * (MAX_HASHES + 1)]] {
            assert_eq!(Fingerprint::from_bytes(bytes), None);
        }
        assert_eq!(Fingerprint::from_bytes(&[]), Some(Fingerprint::default()));
    }
}
