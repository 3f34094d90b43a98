//! Measures how much of a codebase was not written for it: generated files, and vendored copies of
//! third-party code.

use super::{
    Check, Finding, Piece, Rule, Wanted,
    places::{Places, percent},
};
use crate::artifacts::{
    attributes::Attributes,
    contents::{Entry, Root, shown},
    generated,
};

/// At most half of the bytes are generated or vendored.
pub static GENERATED_SHARE: Rule =
    Rule::informational("generated_share", "Share of generated and vendored files");

/// Maximum share, in percent, with which the check passes.
const MOST: u64 = 50;

/// Maximum number of bytes of paths that are stored until all attributes are known. Files beyond this limit
/// are judged by the attributes known when they are read.
const MAX_PATHS: usize = 16 << 20;

/// Maximum number of bytes of a `.gitattributes` file that are read.
const MAX_ATTRIBUTES: usize = 256 << 10;

/// Extensions of files that no file name marks as vendored; only the directory can.
const ONLY_BY_FOLDER: [&str; 17] = [
    "rs", "go", "java", "kt", "scala", "c", "cc", "cpp", "h", "hpp", "cs", "rb", "php", "swift", "md",
    "json", "toml",
];

/// A file, after its first bytes were inspected.
#[derive(Debug)]
struct Seen {
    path: String,
    size: u64,
    is_generated: bool,
}

/// Check for [`GENERATED_SHARE`].
#[derive(Debug, Default)]
pub struct Generated {
    entry: Option<Seen>,
    attributes: Attributes,
    /// Text of the current file, if that is a `.gitattributes` file.
    text: Option<Vec<u8>>,
    kept: Vec<Seen>,
    kept_bytes: usize,
    sum: Sum,
}

/// Totals in bytes, and sample paths.
#[derive(Debug, Default)]
struct Sum {
    bytes: u64,
    generated: u64,
    vendored: u64,
    places: Places,
    foreign: Foreign,
}

/// Matches paths of vendored files. There are many patterns, so the result for the current directory is
/// cached.
#[derive(Debug, Default)]
struct Foreign {
    folder: String,
    is_folder: bool,
}

impl Foreign {
    fn holds(&mut self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_foreign = |path: &str| linguist::is_vendored(path).unwrap_or(false);
        if folder != self.folder {
            folder.clone_into(&mut self.folder);
            self.is_folder = is_foreign(&format!("{folder}/_"));
        }
        // Linguist also counts configuration of Git and Git hosts as vendored; this check does not.
        let is_setting = path.split('/').any(|step| step.starts_with(".git"));
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_judged = !ONLY_BY_FOLDER.contains(&extension);
        !is_setting && (self.is_folder || is_judged && is_foreign(path))
    }
}

impl Check for Generated {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        self.text = None;
        self.entry = entry.is_file().then(|| Seen {
            path: entry.path.to_owned(),
            size: entry.size,
            is_generated: generated::is_named_so(entry.path),
        });
        if entry.is_file() && entry.name() == ".gitattributes" {
            self.text = Some(Vec::new());
        }
        if self.entry.is_some() { Wanted::All } else { Wanted::Nothing }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        if let Some(text) = &mut self.text {
            let room = MAX_ATTRIBUTES.saturating_sub(text.len());
            text.extend_from_slice(&piece.bytes[..piece.bytes.len().min(room)]);
        }
        if let Some(seen) = self.entry.as_mut().filter(|_| piece.is_first && !piece.is_binary) {
            seen.is_generated = seen.is_generated || generated::is_generated(&seen.path, piece.bytes);
        }
    }

    fn end(&mut self, _fault: Option<&str>) {
        let Some(seen) = self.entry.take() else { return };
        if let Some(text) = self.text.take() {
            self.attributes.add(&seen.path, &text);
        }
        if self.kept_bytes + seen.path.len() <= MAX_PATHS {
            self.kept_bytes += seen.path.len();
            self.kept.push(seen);
        } else {
            self.sum.add(&seen, &self.attributes, &Root::default());
        }
    }

    fn conclude(self: Box<Self>, root: &Root) -> Vec<Finding> {
        let Generated { attributes, kept, mut sum, .. } = *self;
        for seen in &kept {
            sum.add(seen, &attributes, root);
        }
        let (generated, vendored) = (percent(sum.generated, sum.bytes), percent(sum.vendored, sum.bytes));
        let share = percent(sum.generated.saturating_add(sum.vendored), sum.bytes);
        let message = if sum.places.is_empty() {
            "No generated or vendored files were found.".to_owned()
        } else {
            let parts = format!("{generated}% generated, {vendored}% vendored");
            format!(
                "{share}% of the bytes were not written for this codebase ({parts}). Vendored files match a \
                 path rule of GitHub Linguist (vendor.yml), such as `(^|/)vendors?/`. To override this, set \
                 `linguist-vendored` or `linguist-generated` in .gitattributes. Files: {}.",
                sum.places
            )
        };
        vec![Finding::judged(&GENERATED_SHARE, share <= MOST, &message)]
    }
}

impl Sum {
    fn add(&mut self, seen: &Seen, attributes: &Attributes, root: &Root) {
        self.bytes = self.bytes.saturating_add(seen.size);
        let said = attributes.of(&seen.path);
        let path = root.inside(&seen.path);
        let is_generated = said.generated.unwrap_or(seen.is_generated);
        if is_generated {
            self.generated = self.generated.saturating_add(seen.size);
        } else if said.vendored.unwrap_or_else(|| self.foreign.holds(path)) {
            self.vendored = self.vendored.saturating_add(seen.size);
        } else {
            return;
        }
        self.places.add(|| shown(&seen.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::quality::CheckStatus;

    fn finding(files: &[(&str, &str)]) -> Finding {
        let (mut check, mut root) = (Box::new(Generated::default()), Root::default());
        for (path, text) in files {
            root.see(path);
            if check.begin(&Entry::file(path, text.len() as u64)) == Wanted::All {
                check.piece(Piece { bytes: text.as_bytes(), is_first: true, is_binary: false });
            }
            check.end(None);
        }
        check.conclude(&root).remove(0)
    }

    #[test]
    fn what_is_generated_or_foreign_is_summed_up() {
        let ten = "0123456789";
        let long = "x".repeat(2_000);
        for (files, status, told) in [
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
            assert!(found.message.starts_with(told), "{files:?} {}", found.message);
        }
    }
}
