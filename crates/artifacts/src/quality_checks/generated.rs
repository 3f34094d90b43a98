//! Measures how much of a codebase was not written for it: generated files, and vendored copies of
//! third-party code.

use super::{
    Check, Chunk, FileAction, Finding, Place, Role, Rule,
    samples::{Samples, Share},
};
use crate::{
    attributes::{GitAttributes, MAX_FILE_BYTES},
    contents::{Entry, Root, quoted, split_path},
    generated, languages,
};

/// At most half of the bytes are generated or vendored.
pub static GENERATED_SHARE: Rule =
    Rule::informational("generated_share", "Share of generated and vendored files");

/// Maximum share, in percent, with which the check passes.
const MAX_PERCENT: u64 = 50;

/// Maximum number of bytes of paths that are stored until all attributes are known. Files beyond this limit
/// are judged by the attributes known when they are read.
const MAX_PATH_BYTES: usize = 16 << 20;

/// Extensions of files that no file name marks as vendored; only the directory can.
const VENDORED_BY_DIRECTORY_ONLY: [&str; 17] = [
    "rs", "go", "java", "kt", "scala", "c", "cc", "cpp", "h", "hpp", "cs", "rb", "php", "swift", "md",
    "json", "toml",
];

/// A file, after its first bytes were inspected.
#[derive(Debug)]
struct FileFacts {
    path: String,
    size: u64,
    is_generated: bool,
}

/// Check for [`GENERATED_SHARE`].
#[derive(Debug, Default)]
pub struct Generated {
    current_file: Option<FileFacts>,
    attributes: GitAttributes,
    /// Text of the current file, if that is a `.gitattributes` file.
    attributes_text: Option<Vec<u8>>,
    files: Vec<FileFacts>,
    path_bytes: usize,
    totals: Totals,
}

/// Totals in bytes, and sample paths.
#[derive(Debug, Default)]
struct Totals {
    total_bytes: u64,
    generated_bytes: u64,
    vendored_bytes: u64,
    samples: Samples,
    vendored_paths: VendoredPaths,
}

/// Matches paths of vendored files. There are many patterns, so the result for the current directory is
/// cached.
#[derive(Debug, Default)]
struct VendoredPaths {
    directory: String,
    is_directory_vendored: bool,
}

impl VendoredPaths {
    fn contains_path(&mut self, path: &str) -> bool {
        let (directory, name) = split_path(path);
        let is_vendored_path = languages::is_vendored;
        if directory != self.directory {
            directory.clone_into(&mut self.directory);
            self.is_directory_vendored = is_vendored_path(&format!("{directory}/_"));
        }
        // Linguist also counts configuration of Git and Git hosts as vendored; this check does not.
        let is_git_config = path.split('/').any(|component| component.starts_with(".git"));
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let can_match_by_name = !VENDORED_BY_DIRECTORY_ONLY.contains(&extension);
        !is_git_config && (self.is_directory_vendored || can_match_by_name && is_vendored_path(path))
    }
}

impl Check for Generated {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.attributes_text = None;
        self.current_file = entry.is_file().then(|| FileFacts {
            path: entry.path.to_owned(),
            size: entry.size,
            is_generated: generated::has_generated_path(entry.path),
        });
        if entry.is_file() && entry.name() == ".gitattributes" {
            self.attributes_text = Some(Vec::new());
        }
        if self.current_file.is_some() { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some(text) = &mut self.attributes_text {
            let remaining = MAX_FILE_BYTES.saturating_sub(text.len());
            text.extend_from_slice(&chunk.bytes[..chunk.bytes.len().min(remaining)]);
        }
        if let Some(file) = self.current_file.as_mut().filter(|_| chunk.is_first && !chunk.is_binary) {
            file.is_generated = file.is_generated || generated::is_generated(&file.path, chunk.text);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some(file) = self.current_file.take().filter(|_| problem.is_none()) else { return };
        if let Some(text) = self.attributes_text.take() {
            self.attributes.add(&file.path, &text);
        }
        if self.path_bytes + file.path.len() <= MAX_PATH_BYTES {
            self.path_bytes += file.path.len();
            self.files.push(file);
        } else {
            self.totals.add(&file, &mut self.attributes, &Root::default());
        }
    }

    fn finish(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let Generated { mut attributes, files, mut totals, .. } = *self;
        for file in &files {
            totals.add(file, &mut attributes, root);
        }
        if totals.total_bytes == 0 {
            return Vec::new();
        }
        let share = |part: u64| Share { part, total: totals.total_bytes };
        let (generated, vendored) = (share(totals.generated_bytes), share(totals.vendored_bytes));
        let both = share(totals.generated_bytes.saturating_add(totals.vendored_bytes));
        let message = if totals.samples.is_empty() {
            "No generated or vendored files were found.".to_owned()
        } else {
            let parts = format!("{generated} generated, {vendored} vendored");
            format!(
                "{both} of the bytes were not written for this codebase ({parts}). Vendored files match a \
                 path rule of GitHub Linguist (vendor.yml), such as `(^|/)vendors?/`. To override this, set \
                 `linguist-vendored` or `linguist-generated` in .gitattributes. Files: {}.",
                totals.samples
            )
        };
        let finding = Finding::passed_if(&GENERATED_SHARE, both.is_at_most(MAX_PERCENT), &message);
        vec![finding.with(Role::LeftOut, "", totals.samples)]
    }
}

impl Totals {
    fn add(&mut self, file: &FileFacts, attributes: &mut GitAttributes, root: &Root) {
        self.total_bytes = self.total_bytes.saturating_add(file.size);
        let attribute_values = attributes.for_path(&file.path);
        let path = root.relative_path(&file.path);
        let is_generated = attribute_values.generated.unwrap_or(file.is_generated);
        if is_generated {
            self.generated_bytes = self.generated_bytes.saturating_add(file.size);
        } else if attribute_values.vendored.unwrap_or_else(|| self.vendored_paths.contains_path(path)) {
            self.vendored_bytes = self.vendored_bytes.saturating_add(file.size);
        } else {
            return;
        }
        let what = if is_generated { "is generated" } else { "is vendored: a copy of code of others" };
        self.samples.add(|| Place::file(&file.path, what), |place| quoted(&place.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

    fn finding(files: &[(&str, &str)]) -> Finding {
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        findings_of(Generated::default(), &files, usize::MAX).remove(0)
    }

    #[test]
    fn generated_and_vendored_bytes_are_summed() {
        let ten = "0123456789";
        let long = "x".repeat(2_000);
        for (files, status, expected) in [
            (&[("a.rs", ten), ("b.rs", ten)][..], CheckStatus::Passed, "No generated or vendored files"),
            (&[("a.rs", ten), ("Cargo.lock", ten)], CheckStatus::Passed, "50% of the bytes were not written"),
            (
                &[("x/a.rs", ten), ("x/node_modules/b.js", ten), ("x/go.sum", ten)],
                CheckStatus::Failed,
                "66% of the bytes were not written for this codebase (33% generated, 33% vendored)",
            ),
            (&[("a.js", &long), ("b.rs", ten)], CheckStatus::Failed, "99%"),
            // An attribute of the root applies to a file that precedes it in the archive.
            (
                &[("x/a.rs", ten), ("x/.gitattributes", "*.rs linguist-generated\n")],
                CheckStatus::Passed,
                "29%",
            ),
            (
                &[("a.rs", ten), ("x/vendor/deep/a.rs", ten), ("lib/jquery.js", ten), (".github/b.yml", ten)],
                CheckStatus::Passed,
                "50% of the bytes were not written for this codebase (0% generated, 50%",
            ),
            (
                &[("vendor/a.rs", ten), (".gitattributes", "vendor/** -linguist-vendored")],
                CheckStatus::Passed,
                "No generated or vendored files",
            ),
        ] {
            let found = finding(files);
            assert_eq!(found.status, status, "{files:?} {}", found.message);
            assert!(found.message.starts_with(expected), "{files:?} {}", found.message);
        }
    }
}
