//! Checks that every file can be read completely and matches its checksum and the central directory.

use super::{
    Check, FileAction, Finding, Rule, Source,
    samples::{Samples, with_noun},
};
use crate::artifacts::contents::{ArchiveProblem, Entry, EntryKind, Root, quoted};

/// Every file can be read completely, and the central directory matches.
pub static ARCHIVE_INTACT: Rule =
    Rule::mandatory("archive_intact", "Archive opens and every entry can be read");

/// Check for [`ARCHIVE_INTACT`].
#[derive(Debug)]
pub struct Integrity {
    source: Source,
    files: u64,
    /// Path of the current file, or `None` if another check reports why it cannot be read.
    path: Option<String>,
    unreadable: Samples,
    is_inconsistent: bool,
}

impl Integrity {
    /// Creates the check for data from a source, which decides the advice to the vendor.
    pub fn new(source: Source) -> Integrity {
        Integrity { source, files: 0, path: None, unreadable: Samples::default(), is_inconsistent: false }
    }
}

impl Check for Integrity {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.files += u64::from(entry.kind != EntryKind::Submodule);
        self.path = (!entry.is_encrypted).then(|| entry.path.to_owned());
        FileAction::Skip
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if let (Some(path), Some(problem)) = (self.path.take(), problem) {
            self.unreadable.add(|| format!("{} {problem}", quoted(&path)));
        }
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        self.is_inconsistent |= problem == ArchiveProblem::Inconsistent;
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let advice = match self.source {
            Source::Zip => "Pack the archive again and upload it again.",
            Source::Repository => "Repair the repository and link it again.",
        };
        let finding = if !self.unreadable.is_empty() {
            let (count, files) = (self.unreadable.count(), with_noun(self.files, "file", "files"));
            let message = format!("{count} of {files} cannot be read: {}. {advice}", self.unreadable);
            Finding::failed(&ARCHIVE_INTACT, &message)
        } else if self.is_inconsistent {
            let reason = "The central directory and the file headers of the archive disagree, or the archive \
                        has files that are not listed.";
            Finding::failed(&ARCHIVE_INTACT, &format!("{reason} {advice}"))
        } else {
            let count = with_noun(self.files, "file was", "files were");
            Finding::passed(&ARCHIVE_INTACT, &format!("{count} read to the end."))
        };
        vec![finding]
    }
}
