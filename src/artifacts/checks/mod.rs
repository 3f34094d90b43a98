//! Checks of linked data: what each looks for, and one pass that serves them all. Pure: files come in as pieces, findings go
//! out as words for the vendor; nothing here knows runs, rows or how files are fetched.

pub mod binary;
pub mod build_manifest;
pub mod ci;
pub mod datasets;
pub mod duplicates;
pub mod encryption;
pub mod generated;
pub mod integrity;
pub mod license;
pub mod paths;
pub mod personal_data;
mod places;
pub mod readme;
pub mod secrets;
pub mod tests_present;
mod window;

use std::path::Path;

use super::contents::{Entry, Root, Visitor, Wanted, WholeFault};
use crate::domain::quality::CheckStatus;

/// Characters of a finding's message at most.
const MAX_MESSAGE: usize = 500;

/// Bytes at the beginning of a file that say whether it is binary.
const HEAD: usize = 8_192;

/// What a check looks for, and what follows from it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name in the interface.
    pub key: &'static str,
    /// The same for people.
    pub label: &'static str,
    /// Whether a run fails with it.
    pub mandatory: bool,
    /// Whether it only informs.
    pub informational: bool,
}

impl Rule {
    const fn mandatory(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, mandatory: true, informational: false }
    }

    const fn recommended(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, mandatory: false, informational: false }
    }

    const fn informational(key: &'static str, label: &'static str) -> Rule {
        Rule { key, label, mandatory: false, informational: true }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it looked for.
    pub rule: &'static Rule,
    /// Whether it is as it should be, or the check itself broke.
    pub status: CheckStatus,
    /// Where it was found and what to do, for the vendor; nothing secret stands in it in clear.
    pub message: String,
}

impl Finding {
    fn new(rule: &'static Rule, status: CheckStatus, message: &str) -> Finding {
        let message = match message.char_indices().nth(MAX_MESSAGE - 1) {
            Some((at, letter)) if message.len() > at + letter.len_utf8() => format!("{}…", &message[..at]),
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

    /// What follows from a condition: passed where it holds.
    fn judged(rule: &'static Rule, is_good: bool, message: &str) -> Finding {
        Finding::new(rule, if is_good { CheckStatus::Passed } else { CheckStatus::Failed }, message)
    }
}

/// What the data is offered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Source code.
    Codebase,
    /// Files of any sort.
    RawData,
}

/// Where the data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In a zip.
    Zip,
    /// In a repository, whose objects were verified when it was fetched.
    Repository,
}

/// Bytes of a file as checks see them.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The bytes: of the first piece as many as say whether a file is binary, or the whole file.
    pub bytes: &'a [u8],
    /// Whether the file begins here.
    pub is_first: bool,
    /// Whether the file is binary: it has a zero among its first bytes.
    pub is_binary: bool,
}

/// A check, while the pass goes on. For each file `begin` comes first and `end` last, as for a [`Visitor`].
pub trait Check {
    /// A file comes next. Answers whether its bytes are wanted.
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted;

    /// The next bytes of the file, if they are wanted.
    fn piece(&mut self, _piece: Piece<'_>) {}

    /// The file has ended, or why its data could not be read; told to every check.
    fn end(&mut self, _fault: Option<&str>) {}

    /// Something is wrong with the data as a whole.
    fn whole(&mut self, _fault: WholeFault) {}

    /// What was found. Nothing where the check has no meaning for this data.
    fn conclude(self: Box<Self>, root: &Root) -> Vec<Finding>;
}

/// All the checks of an asset's data, during one pass over it.
pub struct Checks {
    all: Vec<Box<dyn Check>>,
    /// Which of them want the bytes of the file under way.
    wanting: Vec<bool>,
    duplicates: duplicates::Duplicates,
    duplicates_want: bool,
    root: Root,
    /// The beginning of the file under way, until it is long enough to say whether it is binary.
    head: Vec<u8>,
    /// Whether the file under way is binary, once that is known.
    is_binary: Option<bool>,
}

/// What a pass came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was found, in the same order for all data of a kind.
    pub findings: Vec<Finding>,
    /// What other data can be compared with.
    pub fingerprint: duplicates::Fingerprint,
}

impl Checks {
    /// The checks that have a meaning for such data.
    #[cfg(test)]
    pub fn of(subject: Subject, source: Source) -> Checks {
        Checks::aside_in(&std::env::temp_dir(), subject, source)
    }

    /// The checks that have a meaning for such data. What memory is too small for is put aside in a folder.
    pub fn aside_in(folder: &Path, subject: Subject, source: Source) -> Checks {
        let mut checks: Vec<Box<dyn Check>> = Vec::new();
        checks.push(Box::new(integrity::Integrity::of(source)));
        checks.push(Box::new(paths::Paths::of(source)));
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
            Subject::RawData => checks.push(Box::new(datasets::Datasets::aside_in(folder))),
        }
        Checks {
            wanting: vec![false; checks.len()],
            all: checks,
            duplicates: duplicates::Duplicates::default(),
            duplicates_want: false,
            root: Root::default(),
            head: Vec::with_capacity(HEAD),
            is_binary: None,
        }
    }

    /// What was found, once everything was shown.
    pub fn conclude(self) -> Outcome {
        let root = self.root;
        let mut findings: Vec<Finding> =
            self.all.into_iter().flat_map(|check| check.conclude(&root)).collect();
        let (finding, fingerprint) = self.duplicates.conclude_with_fingerprint();
        findings.push(finding);
        Outcome { findings, fingerprint }
    }

    /// Gives bytes to whoever wants them.
    fn give(&mut self, piece: Piece<'_>) {
        for (check, _) in self.all.iter_mut().zip(&self.wanting).filter(|(_, wants)| **wants) {
            check.piece(piece);
        }
        if self.duplicates_want {
            self.duplicates.piece(piece);
        }
    }

    /// Gives the beginning of a file, which says whether it is binary.
    fn give_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        let is_binary = head[..head.len().min(HEAD)].contains(&0);
        self.is_binary = Some(is_binary);
        self.give(Piece { bytes: &head, is_first: true, is_binary });
        self.head = head;
        self.head.clear();
    }
}

impl Visitor for Checks {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        if !entry.leads_out {
            self.root.see(entry.path);
        }
        self.head.clear();
        self.is_binary = None;
        for (check, wants) in self.all.iter_mut().zip(&mut self.wanting) {
            *wants = check.begin(entry) == Wanted::All;
        }
        self.duplicates_want = self.duplicates.begin(entry) == Wanted::All;
        let is_wanted = self.duplicates_want || self.wanting.contains(&true);
        if is_wanted { Wanted::All } else { Wanted::Nothing }
    }

    fn piece(&mut self, bytes: &[u8]) {
        if let Some(is_binary) = self.is_binary {
            return self.give(Piece { bytes, is_first: false, is_binary });
        }
        if self.head.is_empty() && bytes.len() >= HEAD {
            let is_binary = bytes[..HEAD].contains(&0);
            self.is_binary = Some(is_binary);
            return self.give(Piece { bytes, is_first: true, is_binary });
        }
        self.head.extend_from_slice(bytes);
        if self.head.len() >= HEAD {
            self.give_head();
        }
    }

    fn end(&mut self, fault: Option<&str>) {
        if self.is_binary.is_none() && !self.head.is_empty() {
            self.give_head();
        }
        for check in &mut self.all {
            check.end(fault);
        }
        self.duplicates.end(fault);
    }

    fn whole(&mut self, fault: WholeFault) {
        for check in &mut self.all {
            check.whole(fault);
        }
    }
}

#[cfg(test)]
mod tests;
