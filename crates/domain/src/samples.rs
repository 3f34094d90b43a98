//! The content of a listing's sample: assets that the vendor chose, and some of their files or tasks.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problems::Problems;
use crate::{
    excerpt::{excerpt, quoted},
    name_lists::NameList,
    problem::Problem,
};

/// Maximum number of assets of a sample.
pub const MAX_SAMPLE_ASSETS: usize = 100;

/// Maximum number of paths of an asset, and of tasks.
pub const MAX_SAMPLE_PATHS: usize = 1_000;

/// Maximum size of a path in bytes.
pub const MAX_PATH_BYTES: usize = 4_096;

/// Maximum size in bytes of all paths of an asset, which a child process gets as an argument.
pub const MAX_ALL_PATHS_BYTES: usize = 50_000;

/// Number of files that a sample has by default, apart from the README and the license.
pub const DEFAULT_FILES: usize = 20;

/// Maximum size in bytes of a file that a sample has by default.
pub const DEFAULT_FILE_BYTES: u64 = 1 << 20;

/// Number of tasks that a sample has by default.
pub const DEFAULT_TASKS: usize = 10;

/// An asset of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledAsset {
    /// ID of the asset, which must be on the listing.
    #[serde(rename = "asset", with = "uuid::serde::simple")]
    pub asset_id: Uuid,
    /// Which parts of the asset the sample has.
    #[serde(flatten)]
    pub selection: Selection,
}

/// Which parts of an asset a sample has. Without paths and tasks: the README, the license, the first 20 files of at
/// most 1 MiB by path, and the first 10 tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Paths of files and directories in the repository or archive.
    pub paths: Option<Vec<String>>,
    /// IDs of tasks.
    pub task_ids: Option<Vec<Uuid>>,
}

impl Selection {
    /// Whether a path is one of the selected paths, or below one. `paths` is what [`Selection::path_set`] returns.
    pub fn selects(paths: &BTreeSet<&str>, path: &str) -> bool {
        let is_separator = |(index, character): (usize, char)| (character == '/').then_some(index);
        let mut parents = path.char_indices().filter_map(is_separator).map(|end| &path[..end]);
        paths.contains(path) || parents.any(|parent| paths.contains(parent))
    }

    /// Returns the selected paths, without the slashes at the ends of directories.
    pub fn path_set(paths: &[String]) -> BTreeSet<&str> {
        paths.iter().map(|path| path.trim_end_matches('/')).collect()
    }
}

/// Checks the sizes of a sample. Whether its assets are on the listing is checked when it is submitted.
pub fn check(problems: &mut Problems, sample: &[SampledAsset]) {
    let mut add = |path: &[&str], kind: &'static str, rule: String| {
        problems.push(Problem::body(path, kind, rule));
    };
    if sample.len() > MAX_SAMPLE_ASSETS {
        add(&["sample"], "too_long", format!("A sample can have at most {MAX_SAMPLE_ASSETS} assets."));
    }
    for (index, SampledAsset { asset_id, selection }) in sample.iter().take(MAX_SAMPLE_ASSETS).enumerate() {
        let index_text = index.to_string();
        let mut add = |field, kind, rule| add(&["sample", &index_text, field], kind, rule);
        if sample[..index].iter().any(|earlier| earlier.asset_id == *asset_id) {
            add("asset_id", "value_error", format!("The asset {asset_id} occurs more than once."));
        }
        for (field, length) in [
            ("paths", selection.paths.as_ref().map(Vec::len)),
            ("task_ids", selection.task_ids.as_ref().map(Vec::len)),
        ] {
            match length {
                Some(0) => add(
                    field,
                    "too_short",
                    format!("`{field}` is empty. Leave it out for the default sample."),
                ),
                Some(length) if length > MAX_SAMPLE_PATHS => {
                    add(field, "too_long", format!("`{field}` can have at most {MAX_SAMPLE_PATHS} entries."));
                }
                _ => {}
            }
        }
        let paths = selection.paths.as_deref().unwrap_or_default();
        if paths.iter().map(String::len).sum::<usize>() > MAX_ALL_PATHS_BYTES {
            let rule =
                format!("All `paths` of an asset can have at most {MAX_ALL_PATHS_BYTES} bytes together.");
            add("paths", "too_long", rule);
        }
        let invalid = paths.iter().take(MAX_SAMPLE_PATHS).filter(|path| !is_path(path));
        let invalid: NameList = invalid.map(|path| quoted(&excerpt(path))).collect();
        if !invalid.is_empty() {
            let rule = format!(
                "Each path must name a file or a directory of the data, from its root and without `..`, in 1 to \
                 {MAX_PATH_BYTES} bytes. These do not: {invalid}."
            );
            add("paths", "value_error", rule);
        }
    }
}

fn is_path(path: &str) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    (1..=MAX_PATH_BYTES).contains(&path.len())
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sample: &[SampledAsset]) -> Vec<String> {
        let mut problems = Problems::default();
        check(&mut problems, sample);
        problems.into_vec().iter().map(|problem| problem.kind.to_owned()).collect()
    }

    #[test]
    fn sizes_and_paths_are_limited() {
        let item = |number, paths: Option<Vec<String>>| SampledAsset {
            asset_id: Uuid::from_u128(number),
            selection: Selection { paths, task_ids: None },
        };
        let with = |path: &str| found(&[item(1, Some(vec![path.to_owned()]))]);
        for valid in ["a", "a/b/", "..a", "a b/\u{e9}"] {
            assert_eq!(with(valid), [""; 0], "{valid}");
        }
        for invalid in ["", "/", "/a", "a//b", "../a", "a/..", "./a", "a\nb", &"x".repeat(MAX_PATH_BYTES + 1)]
        {
            assert_eq!(with(invalid), ["value_error"], "{invalid}");
        }
        assert_eq!(found(&[item(1, Some(vec![]))]), ["too_short"]);
        assert_eq!(found(&[item(1, None), item(1, None)]), ["value_error"]);
        let many = |count: usize, bytes: usize| Some(vec!["x".repeat(bytes); count]);
        assert_eq!(found(&[item(1, many(MAX_SAMPLE_PATHS, 50))]), [""; 0]);
        assert_eq!(found(&[item(1, many(MAX_SAMPLE_PATHS + 1, 1))]), ["too_long"]);
        assert_eq!(found(&[item(1, many(MAX_SAMPLE_PATHS, 51))]), ["too_long"]);
        let assets: Vec<SampledAsset> = (0..=100).map(|number| item(number, None)).collect();
        assert_eq!(found(&assets), ["too_long"]);
    }

    #[test]
    fn path_selects_itself_and_what_is_below() {
        let paths = ["src".to_owned(), "docs/".to_owned(), "a/b.txt".to_owned()];
        let paths = Selection::path_set(&paths);
        for (path, expected) in [
            ("src/main.rs", true),
            ("src", true),
            ("srcs/main.rs", false),
            ("docs/x/y", true),
            ("a/b.txt", true),
            ("a/c.txt", false),
        ] {
            assert_eq!(Selection::selects(&paths, path), expected, "{path}");
        }
    }
}
