//! Quality checks of attached data, and one pass over the data that runs them all. Checks get files in chunks
//! and return findings with messages for the vendor. They know nothing of runs, rows, or how files are
//! fetched.

pub mod binary;
pub mod build_manifest;
pub mod ci;
pub mod datasets;
pub mod duplicates;
pub mod encryption;
pub mod generated;
pub mod history;
pub mod integrity;
pub mod license;
pub mod paths;
pub mod personal_data;
pub mod readme;
mod samples;
pub mod secrets;
pub mod tests_present;
mod window;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::contents::{ArchiveProblem, Entry, FileAction, Root, Visitor};
use crate::domain::quality_checks::CheckStatus;

/// Maximum number of characters of a finding's message.
pub(super) const MAX_MESSAGE_CHARS: usize = 500;

/// Number of bytes at the start of a file that decide whether it is binary.
const HEAD_BYTES: usize = 8_192;

/// Definition of a check: its key, its label, and its weight.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable key in the API.
    pub key: &'static str,
    /// Human-readable label.
    pub label: &'static str,
    /// Whether the run fails if this check fails.
    pub is_mandatory: bool,
    /// Whether the check only informs and does not count against the data.
    pub is_informational: bool,
}

impl Rule {
    const fn mandatory(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, is_mandatory: true, is_informational: false }
    }

    const fn recommended(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, is_mandatory: false, is_informational: false }
    }

    const fn informational(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, is_mandatory: false, is_informational: true }
    }
}

/// All checks of data.
static RULES: [&Rule; 17] = [
    &integrity::ARCHIVE_INTACT,
    &paths::NO_PATH_TRAVERSAL,
    &encryption::NO_ENCRYPTED_ENTRIES,
    &readme::README_PRESENT,
    &license::LICENSE_FOUND,
    &secrets::NO_LIVE_SECRETS,
    &personal_data::PERSONAL_DATA_HINTS,
    &build_manifest::BUILD_MANIFEST,
    &tests_present::TESTS_PRESENT,
    &ci::CI_PRESENT,
    &history::HISTORY_READ,
    &generated::GENERATED_SHARE,
    &binary::BINARY_SHARE,
    &datasets::DATASET_READABLE,
    &datasets::SCHEMA_CONSISTENT,
    &duplicates::DUPLICATE_SHARE,
    &duplicates::DUPLICATES_ELSEWHERE,
];

/// Serialization of a rule as its key.
mod rule_key {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::{RULES, Rule};

    // serde passes a reference to the field.
    #[expect(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(rule: &&'static Rule, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(rule.key)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Rule, D::Error> {
        let key = String::deserialize(deserializer)?;
        let rule = RULES.into_iter().find(|rule| rule.key == key);
        rule.ok_or_else(|| Error::custom("the rule is unknown"))
    }
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that was carried out.
    #[serde(with = "rule_key")]
    pub rule: &'static Rule,
    /// Whether the check passed, failed, or could not be carried out.
    pub status: CheckStatus,
    /// Where something was found and what to do about it, for the vendor. Secrets and personal data are
    /// masked.
    pub message: String,
}

impl Finding {
    fn new(rule: &'static Rule, status: CheckStatus, message: &str) -> Finding {
        let message = match message.char_indices().nth(MAX_MESSAGE_CHARS - 1) {
            Some((at, character)) if message.len() > at + character.len_utf8() => {
                format!("{}…", &message[..at])
            }
            _ => message.to_owned(),
        };
        Finding { rule, status, message }
    }

    fn passed(rule: &'static Rule, message: &str) -> Finding {
        Finding::new(rule, CheckStatus::Passed, message)
    }

    fn failed(rule: &'static Rule, message: &str) -> Finding {
        Finding::new(rule, CheckStatus::Failed, message)
    }

    /// Creates a finding that passes if `is_passed` is true, and fails otherwise.
    fn passed_if(rule: &'static Rule, is_passed: bool, message: &str) -> Finding {
        Finding::new(rule, if is_passed { CheckStatus::Passed } else { CheckStatus::Failed }, message)
    }
}

/// Kind of the data, which selects the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Source code.
    Codebase,
    /// Raw data: files of any kind.
    RawData,
}

/// Origin of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A ZIP archive.
    Zip,
    /// A repository, whose objects were verified when it was fetched.
    Repository,
}

/// A chunk of a file as checks get it.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The bytes. The first chunk has enough of them to decide whether the file is binary, or is the whole
    /// file.
    pub bytes: &'a [u8],
    /// Whether this is the first chunk of the file.
    pub is_first: bool,
    /// Whether the file is binary: it has a NUL byte among its first bytes.
    pub is_binary: bool,
}

/// A check in progress. For each file, `start_file` is called first and `end_file` last, as for a
/// [`Visitor`].
pub trait Check {
    /// Starts a file. Returns whether the check reads its bytes.
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction;

    /// Takes the next bytes of the file, if the check reads them.
    fn chunk(&mut self, _chunk: Chunk<'_>) {}

    /// Ends the file. `problem` says why its data could not be read. Called for every check.
    fn end_file(&mut self, _problem: Option<&str>) {}

    /// Reports a problem of the archive as a whole.
    fn archive_problem(&mut self, _problem: ArchiveProblem) {}

    /// Returns the findings. Empty if the check does not apply to this data.
    fn finish(self: Box<Self>, root: &Root) -> Vec<Finding>;
}

/// Runs all checks of an asset's data during one pass over it.
pub struct Checks {
    all: Vec<Box<dyn Check>>,
    /// For each check, whether it reads the bytes of the current file.
    reads_bytes: Vec<bool>,
    duplicates: duplicates::Duplicates,
    duplicates_read_bytes: bool,
    root: Root,
    /// Start of the current file, until there is enough of it to decide whether it is binary.
    head: Vec<u8>,
    /// Whether the current file is binary, once that is known.
    is_binary: Option<bool>,
}

/// Result of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Findings, in the same order for all data of one kind.
    pub findings: Vec<Finding>,
    /// Fingerprint to compare the data with other assets.
    pub fingerprint: duplicates::Fingerprint,
}

impl Checks {
    /// Creates the checks that apply to the data, with the system's directory for temporary files.
    #[cfg(test)]
    pub fn new(subject: Subject, source: Source) -> Checks {
        Checks::with_spill_dir(&std::env::temp_dir(), subject, source)
    }

    /// Creates the checks that apply to the data. Data too large for memory is spilled to temporary files in
    /// `spill_dir`.
    pub fn with_spill_dir(spill_dir: &Path, subject: Subject, source: Source) -> Checks {
        let mut checks: Vec<Box<dyn Check>> = Vec::new();
        checks.push(Box::new(integrity::Integrity::new(source)));
        checks.push(Box::new(paths::Paths::new(source)));
        if source == Source::Zip {
            checks.push(Box::new(encryption::Encryption::default()));
        }
        checks.push(Box::new(readme::Readme::default()));
        checks.push(Box::new(license::License::default()));
        checks.push(Box::new(secrets::Secrets::new()));
        checks.push(Box::new(personal_data::PersonalData::new()));
        match subject {
            Subject::Codebase => {
                checks.push(Box::new(build_manifest::BuildManifest::default()));
                checks.push(Box::new(tests_present::TestsPresent::default()));
                checks.push(Box::new(ci::Ci::default()));
                checks.push(Box::new(generated::Generated::default()));
                checks.push(Box::new(binary::BinaryShare::default()));
            }
            Subject::RawData => checks.push(Box::new(datasets::Datasets::with_spill_dir(spill_dir))),
        }
        Checks {
            reads_bytes: vec![false; checks.len()],
            all: checks,
            duplicates: duplicates::Duplicates::default(),
            duplicates_read_bytes: false,
            root: Root::default(),
            head: Vec::with_capacity(HEAD_BYTES),
            is_binary: None,
        }
    }

    /// Finishes the pass and returns its results. Call this after all files were visited.
    pub fn finish(self) -> Outcome {
        let root = self.root;
        let mut findings: Vec<Finding> = self.all.into_iter().flat_map(|check| check.finish(&root)).collect();
        let (finding, fingerprint) = self.duplicates.finish_with_fingerprint();
        findings.push(finding);
        Outcome { findings, fingerprint }
    }

    /// Passes a chunk to the checks that read it.
    fn dispatch(&mut self, chunk: Chunk<'_>) {
        for (check, _) in self.all.iter_mut().zip(&self.reads_bytes).filter(|(_, reads)| **reads) {
            check.chunk(chunk);
        }
        if self.duplicates_read_bytes {
            self.duplicates.chunk(chunk);
        }
    }

    /// Passes the buffered start of a file, which decides whether the file is binary.
    fn dispatch_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        let is_binary = head[..head.len().min(HEAD_BYTES)].contains(&0);
        self.is_binary = Some(is_binary);
        self.dispatch(Chunk { bytes: &head, is_first: true, is_binary });
        self.head = head;
        self.head.clear();
    }
}

impl Visitor for Checks {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        if !entry.is_outside {
            self.root.add_path(entry.path);
        }
        self.head.clear();
        self.is_binary = None;
        for (check, reads) in self.all.iter_mut().zip(&mut self.reads_bytes) {
            *reads = check.start_file(entry) == FileAction::Read;
        }
        self.duplicates_read_bytes = self.duplicates.start_file(entry) == FileAction::Read;
        let is_read = self.duplicates_read_bytes || self.reads_bytes.contains(&true);
        if is_read { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if let Some(is_binary) = self.is_binary {
            return self.dispatch(Chunk { bytes, is_first: false, is_binary });
        }
        if self.head.is_empty() && bytes.len() >= HEAD_BYTES {
            let is_binary = bytes[..HEAD_BYTES].contains(&0);
            self.is_binary = Some(is_binary);
            return self.dispatch(Chunk { bytes, is_first: true, is_binary });
        }
        self.head.extend_from_slice(bytes);
        if self.head.len() >= HEAD_BYTES {
            self.dispatch_head();
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if self.is_binary.is_none() && !self.head.is_empty() {
            self.dispatch_head();
        }
        for check in &mut self.all {
            check.end_file(problem);
        }
        self.duplicates.end_file(problem);
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        for check in &mut self.all {
            check.archive_problem(problem);
        }
    }
}

#[cfg(test)]
mod tests;
