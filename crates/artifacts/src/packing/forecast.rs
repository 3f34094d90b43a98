//! Predicts the files of an archive from the stored tree of the data, without reading the data.

use std::collections::BTreeSet;

use marketplace_domain::samples::Selection;

use super::{Chooser, FileSelection, Wanted, is_safe};
use crate::{
    contents::{Entry, Visitor},
    structure::{NodeKind, Structure, Visited},
};

/// The files that an archive will have, and those that the data has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Number of files.
    pub files: u64,
    /// Their size in bytes; `None` if the sizes of files are not known.
    pub bytes: Option<u64>,
    /// Number of files in the data.
    pub all_files: u64,
    /// Their size in bytes; `None` if the sizes of files are not known.
    pub all_bytes: Option<u64>,
    /// Whether the tree has all files, so that the numbers are exact. Otherwise there can be more.
    pub is_complete: bool,
    /// The selected paths that name no file.
    pub missing: Vec<String>,
    /// For some of the missing paths, a path of the data that ends with the missing path.
    pub meant: Vec<String>,
    /// The paths of all files of the data; empty if there are more than [`MAX_LISTED_FILES`], or if the tree is incomplete.
    pub paths: Vec<String>,
}

/// Maximum number of files whose paths are listed.
pub const MAX_LISTED_FILES: u64 = 200;

/// Maximum number of missing paths for which a similar path is searched.
const MAX_MEANT: usize = 5;

impl Forecast {
    /// Whether the archive will have all files of the data.
    pub const fn is_whole(&self) -> bool {
        self.is_complete && self.files > 0 && self.files == self.all_files
    }
}

/// Returns the files of an archive with a selection of files.
pub fn forecast(structure: &Structure, selection: &FileSelection) -> Forecast {
    let wanted = match selection {
        FileSelection::All => Wanted::All,
        FileSelection::Paths(paths) => Wanted::Paths(Selection::path_set(paths)),
        FileSelection::Default => Wanted::Chosen(chosen(structure)),
    };
    let mut found = Forecast { is_complete: !structure.are_roots_cut(), ..Forecast::default() };
    let (mut bytes, mut all_bytes) = (0_u64, 0_u64);
    // Paths that select a file, or that may select one that the truncated tree leaves out.
    let mut named: BTreeSet<String> = BTreeSet::new();
    let paths = if let Wanted::Paths(paths) = &wanted { Some(paths) } else { None };
    structure.for_each_node(&mut |path, &Visited { node, depth, size }| {
        if structure.is_cut(node, depth) {
            found.is_complete = false;
            let may_name = |wanted: &&&str| is_at_or_below(wanted, path) || is_at_or_below(path, wanted);
            named.extend(paths.into_iter().flatten().filter(may_name).map(|path| (*path).to_owned()));
        }
        if node.kind != NodeKind::File || !is_safe(path) {
            return;
        }
        found.all_files += 1;
        if found.all_files <= MAX_LISTED_FILES {
            found.paths.push(path.to_owned());
        }
        all_bytes = all_bytes.saturating_add(size.unwrap_or_default());
        if wanted.has(path) {
            found.files += 1;
            bytes = bytes.saturating_add(size.unwrap_or_default());
            named.extend(paths.and_then(|paths| selecting(paths, path)).map(str::to_owned));
        }
    });
    if !structure.sizes.is_empty() || found.all_files == 0 {
        (found.bytes, found.all_bytes) = (Some(bytes), Some(all_bytes));
    }
    if let (FileSelection::Paths(paths), false) = (selection, structure.are_roots_cut()) {
        let is_missing = |path: &&String| !names_one(&named, path.trim_end_matches('/'));
        found.missing = paths.iter().filter(is_missing).cloned().collect();
        found.meant = meant(structure, &found.missing);
    }
    if !found.is_complete || found.all_files > MAX_LISTED_FILES {
        found.paths.clear();
    }
    found
}

/// For each of the first of these paths, returns the first path of the data that ends with it, if any.
fn meant(structure: &Structure, missing: &[String]) -> Vec<String> {
    let mut wanted: Vec<(String, Option<String>)> =
        missing.iter().take(MAX_MEANT).map(|path| (format!("/{}", path.trim_matches('/')), None)).collect();
    if !wanted.is_empty() {
        structure.for_each_node(&mut |path, _| {
            for (end, found) in &mut wanted {
                if found.is_none() && end.len() > 1 && path.ends_with(end.as_str()) {
                    *found = Some(path.to_owned());
                }
            }
        });
    }
    wanted.into_iter().filter_map(|(_, found)| found).collect()
}

/// Whether a path is another one, or below it.
fn is_at_or_below(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the longest of the paths that select a file.
fn selecting<'p>(paths: &BTreeSet<&'p str>, path: &str) -> Option<&'p str> {
    let mut part = path;
    loop {
        if let Some(found) = paths.get(part) {
            return Some(found);
        }
        part = &part[..part.rfind('/')?];
    }
}

/// Whether a path, or one below it, names a file.
fn names_one(named: &BTreeSet<String>, path: &str) -> bool {
    named.contains(path) || named.iter().any(|found| is_at_or_below(found, path))
}

/// Returns the files of a sample whose vendor has not chosen any.
fn chosen(structure: &Structure) -> BTreeSet<String> {
    let mut chooser = Chooser::default();
    structure.for_each_node(&mut |path, &Visited { node, size, .. }| {
        if node.kind == NodeKind::File {
            chooser.start_file(&Entry::file(path, size.unwrap_or_default()));
        }
    });
    chooser.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::Tree;

    fn structure(files: &[(&str, u64)]) -> Structure {
        let mut tree = Tree::default();
        for (path, size) in files {
            tree.add_file(path.split('/'), *size);
        }
        tree.into_structure()
    }

    fn of_paths(structure: &Structure, paths: &[&str]) -> Forecast {
        forecast(structure, &FileSelection::Paths(paths.iter().map(|path| (*path).to_owned()).collect()))
    }

    #[test]
    fn paths_that_name_no_file_are_missing() {
        let data = structure(&[("src/a", 10), ("src/b/c", 20), ("srcs", 30), ("d", 40)]);
        let found = of_paths(&data, &["src/", "src/b", "src/x", "d/e", "sr"]);
        assert_eq!((found.files, found.bytes, found.all_files, found.all_bytes), (2, Some(30), 4, Some(100)));
        assert_eq!(found.missing, ["src/x", "d/e", "sr"]);
        assert_eq!(found.meant, [""; 0]);
        assert_eq!(found.paths.len(), 4);
        assert!(found.is_complete && !found.is_whole());
        let nested = structure(&[("kestrel/letters/1.txt", 1), ("kestrel/maps/2.txt", 1)]);
        let missing = of_paths(&nested, &["letters/", "2.txt", "nowhere"]);
        assert_eq!(missing.meant, ["kestrel/letters", "kestrel/maps/2.txt"]);
        let all = of_paths(&data, &["d", "src", "srcs"]);
        assert!(all.is_whole() && all.missing.is_empty());
    }

    #[test]
    fn small_data_is_its_own_default_sample() {
        let small = forecast(&structure(&[("a", 1), ("b/c", 2)]), &FileSelection::Default);
        assert!(small.is_whole() && small.bytes == Some(3));
        let mut many: Vec<(String, u64)> = (0..30).map(|number| (format!("f{number:02}"), 5)).collect();
        many.extend([("z/README.md".to_owned(), 7), ("z/huge".to_owned(), 1 << 30)]);
        let many: Vec<(&str, u64)> = many.iter().map(|(path, size)| (path.as_str(), *size)).collect();
        let found = forecast(&structure(&many), &FileSelection::Default);
        assert_eq!((found.files, found.bytes, found.all_files), (21, Some(107), 32));
    }

    #[test]
    fn what_the_tree_leaves_out_is_not_missing() {
        let deep = structure(&[("a/b/c/d/e/f/g/h/i", 1), ("x", 2)]);
        let found = of_paths(&deep, &["a/b/c/d/e/f/g/h/i", "a/b/c", "a/z"]);
        assert_eq!((found.missing, found.is_complete), (vec!["a/z".to_owned()], false));
    }

    #[test]
    fn sizes_of_earlier_versions_are_not_known() {
        let mut data = structure(&[("a", 1), ("b", 2)]);
        data.sizes.clear();
        let found = of_paths(&data, &["a"]);
        assert_eq!((found.files, found.bytes, found.all_bytes), (1, None, None));
    }
}
