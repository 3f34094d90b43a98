//! Checks that there are files, and that each can be read completely, has its content, and matches its checksum and the
//! central directory.

use std::collections::HashSet;

use marketplace_domain::written::counted;

use super::{Check, FileAction, Finding, Role, Rule, Source, samples::Samples};
use crate::{
    contents::{ArchiveProblem, Entry, EntryKind, Root, version_control_directory},
    lfs_pointers,
    packing::names::PackedNames,
};

/// Every file can be read completely, and the central directory matches.
pub static ARCHIVE_INTACT: Rule =
    Rule::mandatory("archive_intact", "Archive opens and every entry can be read");

/// Check for [`ARCHIVE_INTACT`].
#[derive(Debug)]
pub struct Integrity {
    source: Source,
    files: u64,
    /// Number of files that were read to the end, and of their bytes.
    read_files: u64,
    read_bytes: u64,
    /// Path and size of the current file, or `None` if a check reports why it cannot be read.
    current_file: Option<(String, u64)>,
    unreadable: Samples,
    pointers: Samples,
    too_large: Samples,
    /// Files of a repository that cannot be unpacked beside others. An archive with such files is rejected when it is read.
    clashing: Samples,
    names: PackedNames,
    left_out: Samples,
    version_control: Samples,
    /// Directories of programs for version control so far.
    version_control_directories: HashSet<String>,
    is_inconsistent: bool,
}

impl Integrity {
    /// Creates the check for data from a source, which decides the advice to the vendor.
    pub fn new(source: Source) -> Integrity {
        Integrity {
            source,
            files: 0,
            read_files: 0,
            read_bytes: 0,
            current_file: None,
            unreadable: Samples::default(),
            pointers: Samples::default(),
            too_large: Samples::default(),
            clashing: Samples::default(),
            names: PackedNames::default(),
            left_out: Samples::default(),
            version_control: Samples::default(),
            version_control_directories: HashSet::new(),
            is_inconsistent: false,
        }
    }

    /// Returns the problems with advice, as sentences.
    fn problems(&self) -> Vec<String> {
        let (advice, pointer_advice, what) = match self.source {
            Source::Zip => (
                "Pack the archive again and upload it again.",
                "Run `git lfs pull`, pack the archive again, and upload it again.",
                "archive",
            ),
            Source::Repository => (
                "Repair the repository and link it again.",
                "Copies of repositories have no content from Git LFS: add the files to the repository itself, or \
                 upload an archive.",
                "repository",
            ),
        };
        let mut problems = Vec::new();
        if !self.unreadable.is_empty() {
            let (count, files) = (self.unreadable.count(), counted(self.files, "file", "files"));
            problems.push(format!("{count} of {files} cannot be read: {}. {advice}", self.unreadable));
        }
        if !self.pointers.is_empty() {
            let files = counted(self.pointers.count(), "file is a pointer", "files are pointers");
            problems.push(format!(
                "{files} of Git LFS without the content of the file: {}. {pointer_advice}",
                self.pointers
            ));
        }
        if !self.too_large.is_empty() {
            problems.push(format!("Too large to check: {}. Split such files.", self.too_large));
        }
        if !self.clashing.is_empty() {
            let files = counted(self.clashing.count(), "file has", "files have");
            problems.push(format!(
                "{files} the name of another file or directory in an archive: {}. Rename them.",
                self.clashing
            ));
        }
        if self.is_inconsistent {
            problems.push(format!(
                "The central directory and the file headers of the archive disagree, or the archive has files \
                 that are not listed. {advice}"
            ));
        }
        if self.files == 0 {
            problems.push(format!("The {what} has no files. Add the data. {advice}"));
        } else if self.read_files == self.files && self.read_bytes == 0 {
            problems.push(format!("All files of the {what} are empty. Add the data. {advice}"));
        }
        problems
    }
}

impl Check for Integrity {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = None;
        if entry.kind == EntryKind::Submodule {
            return FileAction::Skip;
        }
        self.files += 1;
        if self.source == Source::Repository && !self.names.add(entry.path) {
            self.clashing.add_file(entry.path);
        }
        if entry.is_too_large {
            self.too_large.add_file(entry.path);
        } else if !entry.is_encrypted {
            self.current_file = Some((entry.path.to_owned(), entry.size));
        }
        FileAction::Skip
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some((path, size)) = self.current_file.take() else { return };
        match problem {
            Some(lfs_pointers::PROBLEM) => self.pointers.add_file(&path),
            Some(problem) => self.unreadable.add_problem(&path, problem),
            None => {
                self.read_files += 1;
                self.read_bytes = self.read_bytes.saturating_add(size);
            }
        }
    }

    fn left_out(&mut self, path: &str) {
        match version_control_directory(path) {
            None => self.left_out.add_file(path),
            Some(directory) if self.version_control_directories.insert(directory.to_owned()) => {
                self.version_control.add_file(directory);
            }
            Some(_) => {}
        }
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        self.is_inconsistent |= problem == ArchiveProblem::Inconsistent;
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let mut sentences = self.problems();
        let is_passed = sentences.is_empty();
        if is_passed {
            let count = counted(self.read_files, "file was", "files were");
            sentences.push(format!("{count} read to the end."));
        }
        if !self.left_out.is_empty() {
            let files = counted(self.left_out.count(), "file that is", "files that are");
            sentences.push(format!("Left out {files} not data: {}.", self.left_out));
        }
        if !self.version_control.is_empty() {
            sentences
                .push(format!("Files for version control do not count as data: {}.", self.version_control));
        }
        let finding = Finding::passed_if(&ARCHIVE_INTACT, is_passed, &sentences.join(" "));
        let too_large = "is too large to check, by the setting `repositories.max_file_bytes`";
        vec![
            finding
                .with_general_cause(self.is_inconsistent)
                .with(Role::Cause, "", self.unreadable)
                .with(Role::Cause, lfs_pointers::PROBLEM, self.pointers)
                .with(Role::Cause, too_large, self.too_large)
                .with(Role::Cause, "has the name of another file or directory", self.clashing)
                .with(Role::LeftOut, "is not data", self.left_out)
                .with(
                    Role::LeftOut,
                    "is for version control, so it does not count as data",
                    self.version_control,
                ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use marketplace_domain::quality_checks::CheckStatus;

    use super::*;

    #[test]
    fn files_of_a_repository_that_cannot_be_unpacked_side_by_side_are_named() {
        let check = |source, paths: &[&str]| {
            let mut check = Integrity::new(source);
            for path in paths {
                check.start_file(&Entry::file(path, 1));
                check.end_file(None);
            }
            Box::new(check).finish(&Root::default()).remove(0)
        };
        for paths in [["a\\b.txt", "a%5Cb.txt"], ["dup.py", "dup.py"], ["src", "src/x.py"]] {
            let finding = check(Source::Repository, &paths);
            assert!(
                finding.status == CheckStatus::Failed && finding.message.contains(paths[1]),
                "{finding:?}"
            );
        }
        let finding = check(Source::Repository, &["src/x", "src/y", "x"]);
        assert_eq!(finding.status, CheckStatus::Passed, "{finding:?}");
    }
}
