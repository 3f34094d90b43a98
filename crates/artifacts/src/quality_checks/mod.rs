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
pub mod places;
pub mod readme;
mod samples;
pub mod secrets;
pub mod tests_present;
mod window;
mod words;

use std::path::Path;

use marketplace_domain::quality_checks::CheckStatus;
use marketplace_text::encoding::{Decoder, Encoding, HEAD_BYTES};
use serde::{Deserialize, Serialize};

pub use self::samples::Share;
use self::{
    places::{FurtherPlaces, Place, Role},
    samples::Samples,
};
use super::{
    contents::{ArchiveProblem, Entry, FileAction, Root, Visitor},
    lfs_pointers,
};

/// Maximum number of characters of a finding's message.
pub(super) const MAX_MESSAGE_CHARS: usize = 500;

/// Why the content of a file in UTF-32 cannot be used.
const UTF_32: &str = "is text in UTF-32 (save it as UTF-8)";

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
    /// Where it was found, file by file. Empty unless details were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// Number of places that are only counted.
    #[serde(default)]
    pub further_places: FurtherPlaces,
    /// Whether a cause concerns the data as a whole, besides those that have places.
    #[serde(default)]
    pub has_general_cause: bool,
}

impl Finding {
    fn new(rule: &'static Rule, status: CheckStatus, message: &str) -> Finding {
        let message = match message.char_indices().nth(MAX_MESSAGE_CHARS - 1) {
            Some((at, character)) if message.len() > at + character.len_utf8() => {
                format!("{}…", &message[..at])
            }
            _ => message.to_owned(),
        };
        Finding {
            rule,
            status,
            message,
            places: Vec::new(),
            further_places: FurtherPlaces::default(),
            has_general_cause: false,
        }
    }

    fn passed(rule: &'static Rule, message: &str) -> Finding {
        Finding::new(rule, CheckStatus::Passed, message)
    }

    fn failed(rule: &'static Rule, message: &str) -> Finding {
        Finding::new(rule, CheckStatus::Failed, message)
    }

    /// Creates the finding for data that could not be read at all, for the reason in `message`.
    pub fn unreadable(message: String) -> Finding {
        Finding { message, ..Finding::failed(&integrity::ARCHIVE_INTACT, "") }
    }

    /// Adds the places of samples. `reason` is the text of places that have none.
    fn with(mut self, role: Role, reason: &str, samples: Samples) -> Finding {
        let (places, further) = samples.into_places();
        self.further_places.add(role, further);
        self.places.extend(places.into_iter().map(|place| {
            let text = if place.text.is_empty() { reason.to_owned() } else { place.text };
            Place { text, role, ..place }
        }));
        self
    }

    /// States whether a cause concerns the data as a whole.
    const fn with_general_cause(mut self, has_general_cause: bool) -> Finding {
        self.has_general_cause = has_general_cause;
        self
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
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// The same part of the file as text in UTF-8, without a byte order mark. In an encoding other than UTF-8 and UTF-16,
    /// and for a binary file, these are the bytes of the file.
    pub text: &'a [u8],
    /// Whether this is the first chunk of the file. It is the whole file, or has at least the number of bytes that
    /// decide the encoding.
    pub is_first: bool,
    /// Whether the file is binary.
    pub is_binary: bool,
}

#[cfg(test)]
impl Chunk<'_> {
    /// Creates a chunk of a file in UTF-8, or of a binary file.
    fn unchanged(bytes: &[u8], is_first: bool, is_binary: bool) -> Chunk<'_> {
        Chunk { bytes, text: bytes, is_first, is_binary }
    }
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

    /// Whether the check also covers files that are not data, which are delivered with it as they were uploaded.
    fn covers_extra(&self) -> bool {
        false
    }

    /// Reports a file that was left out because it is not data.
    fn left_out(&mut self, _path: &str) {}

    /// Reports a problem of the archive as a whole.
    fn archive_problem(&mut self, _problem: ArchiveProblem) {}

    /// Returns the findings. Empty if the check does not apply to this data. A check passes only if it has read
    /// something, and reports what it could not read.
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
    /// Number of files that were read without a problem.
    read_files: u64,
    current_file: CurrentFile,
    /// Start of the current file, until there is enough of it to decide what it is.
    head: Vec<u8>,
    /// Text of the current chunk, if it is not the chunk itself.
    text: Vec<u8>,
}

/// What is known of the current file.
#[derive(Default)]
struct CurrentFile {
    is_file: bool,
    /// Its path, if it is not data.
    extra_path: Option<String>,
    /// Whether it is binary, and the decoder of its text, once that is known.
    content: Option<(bool, Decoder)>,
    /// Why its content cannot be used.
    problem: Option<&'static str>,
}

/// Result of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Findings, in the same order for all data of one kind.
    pub findings: Vec<Finding>,
    /// Fingerprint to compare the data with other assets.
    pub fingerprint: duplicates::Fingerprint,
}

impl Outcome {
    /// Returns the outcome without the places of its findings.
    #[must_use]
    pub fn without_places(mut self) -> Outcome {
        for finding in &mut self.findings {
            (finding.places, finding.further_places) = (Vec::new(), FurtherPlaces::default());
        }
        self
    }
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
        checks.push(Box::new(secrets::Secrets::default()));
        checks.push(Box::new(personal_data::PersonalData::default()));
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
            read_files: 0,
            current_file: CurrentFile::default(),
            head: Vec::with_capacity(HEAD_BYTES),
            text: Vec::new(),
        }
    }

    /// Finishes the pass and returns its results. Call this after all files were visited.
    pub fn finish(self) -> Outcome {
        let root = self.root;
        let mut findings: Vec<Finding> = self.all.into_iter().flat_map(|check| check.finish(&root)).collect();
        let (finding, fingerprint) = self.duplicates.finish_with_fingerprint();
        findings.extend(finding);
        if self.read_files == 0 {
            findings.retain(|finding| finding.status != CheckStatus::Passed);
        }
        Outcome { findings, fingerprint }
    }

    /// Passes a chunk to the checks that read it. The first one decides what the file is.
    fn dispatch(&mut self, bytes: &[u8], is_first: bool) {
        let CurrentFile { content, problem, .. } = &mut self.current_file;
        let (is_binary, decoder) = content.get_or_insert_with(|| {
            let encoding = Encoding::of_file(bytes);
            *problem = (encoding == Some(Encoding::Utf32)).then_some(UTF_32);
            (
                matches!(encoding, None | Some(Encoding::Utf32)),
                Decoder::new(encoding.unwrap_or(Encoding::Utf8)),
            )
        });
        let text = decoder.decode(bytes, false, &mut self.text);
        let chunk = Chunk { bytes, text, is_first, is_binary: *is_binary };
        for (check, _) in self.all.iter_mut().zip(&self.reads_bytes).filter(|(_, reads)| **reads) {
            check.chunk(chunk);
        }
        if self.duplicates_read_bytes {
            self.duplicates.chunk(chunk);
        }
    }

    /// Passes the buffered start of a file.
    fn dispatch_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        self.dispatch(&head, true);
        self.head = head;
        self.head.clear();
    }

    /// Starts a file that is not data for the checks that cover it.
    fn start_extra(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file.extra_path = Some(entry.path.to_owned());
        for (check, reads) in self.all.iter_mut().zip(&mut self.reads_bytes) {
            *reads = check.covers_extra() && check.start_file(entry) == FileAction::Read;
        }
        self.duplicates_read_bytes = false;
        if self.reads_bytes.contains(&true) { FileAction::Read } else { FileAction::Skip }
    }

    /// Reports a file that is not data, or its problem, since such a damaged file may indicate a damaged archive.
    fn end_extra(&mut self, path: &str, problem: Option<&str>) {
        for check in &mut self.all {
            let is_covered = check.covers_extra();
            if problem.is_some() && !is_covered {
                check.start_file(&Entry::file(path, 0));
            }
            if problem.is_some() || is_covered {
                check.end_file(problem);
            }
            if problem.is_none() {
                check.left_out(path);
            }
        }
    }
}

impl Visitor for Checks {
    fn visits_system_files(&self) -> bool {
        true
    }

    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.head.clear();
        self.current_file = CurrentFile { is_file: entry.is_file(), ..CurrentFile::default() };
        if entry.is_extra() {
            return self.start_extra(entry);
        }
        if !entry.is_outside {
            self.root.add_path(entry.path);
        }
        for (check, reads) in self.all.iter_mut().zip(&mut self.reads_bytes) {
            *reads = check.start_file(entry) == FileAction::Read;
        }
        self.duplicates_read_bytes = self.duplicates.start_file(entry) == FileAction::Read;
        let is_read = self.duplicates_read_bytes || self.reads_bytes.contains(&true);
        if is_read { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if self.current_file.content.is_some() {
            return self.dispatch(bytes, false);
        }
        if self.head.is_empty() && bytes.len() >= HEAD_BYTES {
            return self.dispatch(bytes, true);
        }
        self.head.extend_from_slice(bytes);
        if self.head.len() >= HEAD_BYTES {
            self.dispatch_head();
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        if let Some(path) = self.current_file.extra_path.take() {
            if !self.head.is_empty() {
                self.dispatch_head();
            }
            return self.end_extra(&path, problem);
        }
        if lfs_pointers::is_pointer(&self.head) {
            self.current_file.problem = Some(lfs_pointers::PROBLEM);
        } else if !self.head.is_empty() {
            self.dispatch_head();
        }
        let problem = problem.or(self.current_file.problem);
        self.read_files += u64::from(self.current_file.is_file && problem.is_none());
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
