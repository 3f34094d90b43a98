//! Summaries of bundle manifests. A manifest has up to a million entries with a digest each, but an agent usually needs only
//! amounts by kind.

use std::{collections::BTreeMap, ops::BitOr};

use serde_json::{Map, Value, json};

use super::{field_paths::FieldPath, schemas::FIELDS};

/// Name of the field with the manifest: a map from paths to sizes and digests.
pub const BUNDLE_MANIFEST: &str = "bundle_manifest";

/// Maximum number of folders in a summary.
const MAX_FOLDERS: usize = 10;

/// Name of the field of a summary with the folders.
const FOLDERS: &str = "folders";

/// What follows a path to tell that it is a folder.
const SEPARATOR: char = '/';

/// Whether a call that selects `fields`, or is brief, gets summaries. It gets entries by a range of them, and all by `*`.
pub fn is_summarized(fields: &[FieldPath], is_brief: bool) -> bool {
    let mut paths = fields.iter().filter(|path| path.has_name(BUNDLE_MANIFEST)).peekable();
    (is_brief || paths.peek().is_some()) && paths.all(|path| path.ends_with_name(BUNDLE_MANIFEST))
}

/// Returns how to get the entries of a manifest.
pub fn note() -> String {
    format!(
        "`{BUNDLE_MANIFEST}` is a summary by top folder; for entries, set `{FIELDS}` to [\"{BUNDLE_MANIFEST}[0:50]\"]."
    )
}

/// Whether a value is a summary. Entries of manifests are objects.
pub fn is_summary(value: &Value) -> bool {
    value[FOLDERS].is_array()
}

/// Replaces the manifests of a record, or of the records of a list in it, by summaries. Returns whether there were any. An empty
/// manifest means that there is no bundle yet, and remains.
pub fn summarize(value: &mut Value) -> bool {
    match value {
        Value::Array(records) => records.iter_mut().map(summarize).fold(false, BitOr::bitor),
        Value::Object(fields) => fields.iter_mut().map(summarize_field).fold(false, BitOr::bitor),
        _ => false,
    }
}

fn summarize_field((name, value): (&String, &mut Value)) -> bool {
    match value {
        Value::Object(entries) if name == BUNDLE_MANIFEST && !entries.is_empty() => {
            *value = summary(entries);
            true
        }
        Value::Array(_) => summarize(value),
        _ => false,
    }
}

/// Number and size of entries.
#[derive(Clone, Copy, Default)]
struct Total {
    entries: u64,
    size_bytes: u64,
}

impl Total {
    fn add(self, other: Total) -> Total {
        Total { entries: self.entries + other.entries, size_bytes: self.size_bytes + other.size_bytes }
    }
}

/// Returns the number and the size of the entries of a manifest, in all and by top folder, those with the largest first. Entries
/// outside of folders are counted under their own names.
fn summary(manifest: &Map<String, Value>) -> Value {
    let mut by_folder: BTreeMap<&str, Total> = BTreeMap::new();
    for (path, entry) in manifest {
        let folder = path.find(SEPARATOR).map_or(path.as_str(), |end| &path[..=end]);
        let total = by_folder.entry(folder).or_default();
        let size_bytes = entry["size_bytes"].as_u64().unwrap_or_default();
        *total = total.add(Total { entries: 1, size_bytes });
    }
    let mut folders: Vec<(&str, Total)> = by_folder.into_iter().collect();
    folders.sort_by_key(|(_, total)| std::cmp::Reverse(total.size_bytes));
    let sum =
        |folders: &[(&str, Total)]| folders.iter().fold(Total::default(), |sum, (_, one)| sum.add(*one));
    let all = sum(&folders);
    let (largest, others) = folders.split_at(folders.len().min(MAX_FOLDERS));
    let folder = |(path, total): &(&str, Total)| json!({"path": path, "entries": total.entries, "size_bytes": total.size_bytes});
    let mut summary = json!({
        "entries": all.entries,
        "size_bytes": all.size_bytes,
        (FOLDERS): largest.iter().map(folder).collect::<Vec<_>>(),
    });
    if !others.is_empty() {
        let rest = sum(others);
        summary["other_folders"] =
            json!({"folders": others.len(), "entries": rest.entries, "size_bytes": rest.size_bytes});
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(paths: &[(&str, u64)]) -> Value {
        paths
            .iter()
            .map(|(path, size)| ((*path).to_owned(), json!({"size_bytes": size, "sha256": "0"})))
            .collect()
    }

    #[test]
    fn manifests_are_summarized_by_top_folder() {
        let paths = [("a/one.csv", 1), ("a/b/two.csv", 2), ("c/three.csv", 7), ("README", 4)];
        let mut page = json!({"listings": [{"bundle_manifest": manifest(&paths)}, {"bundle_manifest": {}}]});
        assert!(summarize(&mut page));
        let expected = json!({
            "entries": 4,
            "size_bytes": 14,
            "folders": [
                {"path": "c/", "entries": 1, "size_bytes": 7},
                {"path": "README", "entries": 1, "size_bytes": 4},
                {"path": "a/", "entries": 2, "size_bytes": 3},
            ],
        });
        assert_eq!(page, json!({"listings": [{"bundle_manifest": expected}, {"bundle_manifest": {}}]}));
        assert!(!summarize(&mut json!({"title": "A title", "bundle_manifest": {}})));
    }

    #[test]
    fn small_folders_are_counted_together() {
        let paths: Vec<(String, u64)> = (1..=25).map(|number| (format!("{number:02}/x"), number)).collect();
        let paths: Vec<(&str, u64)> = paths.iter().map(|(path, size)| (path.as_str(), *size)).collect();
        let mut record = json!({"bundle_manifest": manifest(&paths)});
        assert!(summarize(&mut record));
        let summary = &record["bundle_manifest"];
        assert_eq!(summary["folders"].as_array().map(Vec::len), Some(MAX_FOLDERS));
        assert_eq!(summary["folders"][0]["path"], "25/");
        assert_eq!(summary["other_folders"], json!({"folders": 15, "entries": 15, "size_bytes": 120}));
        assert_eq!((&summary["entries"], &summary["size_bytes"]), (&json!(25), &json!(325)));
    }

    #[test]
    fn ranges_and_all_fields_get_entries() {
        let cases = [
            (vec!["bundle_manifest"], false, true),
            (vec!["title", "bundle_manifest"], false, true),
            (vec!["bundle_manifest[0:50]"], false, false),
            (vec!["bundle_manifest", "bundle_manifest[3]"], false, false),
            (vec!["title"], false, false),
            (vec![], false, false),
            (vec![], true, true),
            (vec!["title"], true, true),
        ];
        for (fields, is_brief, expected) in cases {
            let paths: Vec<FieldPath> = fields.iter().filter_map(|path| FieldPath::parse(path)).collect();
            assert_eq!(is_summarized(&paths, is_brief), expected, "{fields:?} {is_brief}");
        }
    }
}
