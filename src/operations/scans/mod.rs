//! Scans: the analysis and the checks that a market would do, without a market. Uses the same child processes as a server, with
//! the same limits. Keeps no data.

mod packing;
mod report;
mod sources;

use std::{
    cell::RefCell,
    fs::{self, File},
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

pub use report::{Check, Figures, LeftOut, Report, Verdict};
pub use sources::SourceKind;

use self::{
    packing::{Bounds, Skipped},
    report::Analysis,
    sources::Source,
};
pub use super::child_processes::limit_programs;
use super::{
    archive_analysis,
    child_processes::{self, ChildProcesses, TimeLimit},
    compute_turns::Participant,
    repository_analysis,
};
use crate::{
    artifacts::{
        ReadError, Rejection,
        analyses::{AnalysisByKind, ArchiveAnalysis, RepositoryAnalysis},
        child::{Input, Task, Validate},
        contents::quoted,
        git::{self, IndexedPack, PackToIndex, RemoteRepository},
        quality_checks::{Outcome, Subject},
    },
    blobs::{DiskSpace, Reservations},
    clock::Stopwatch,
    config::Settings,
    domain::{assets::Kind, taxonomy::Language, teams::TeamRowId, time::Timestamp},
    private_files,
};

/// What to scan, and with what.
#[derive(Debug)]
pub struct Scan<'s> {
    /// A directory, a Git repository, a bundle, a zip, or a file with a table.
    pub path: &'s Path,
    /// The kind of the asset; none for the one that the data suggests.
    pub kind: Option<Kind>,
    /// The settings, which have the limits.
    pub settings: &'s Settings,
    /// The program that reads the data in child processes.
    pub program: &'s Path,
    /// Empty directory for copies and temporary files.
    pub work_directory: &'s Path,
    /// The languages that have a slug.
    pub languages: &'s [Language],
    /// The current time.
    pub now: Timestamp,
}

/// A step of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The files of a directory are packed to a zip.
    Pack,
    /// A repository is copied.
    Copy,
    /// The data is analyzed.
    Analyze,
    /// The checks run.
    Check,
}

impl Scan<'_> {
    /// Returns the kind of the asset if it is known before anything is read.
    pub fn known_kind(&self) -> Option<Kind> {
        self.kind.or_else(|| match sources::find(self.path) {
            Ok(Source::Repository(_)) => Some(Kind::Codebase),
            _ => None,
        })
    }

    /// Scans the data. `begin` is called when a step begins. The scan stops when `should_continue` returns false. Data that
    /// cannot be read gives a report that says why; other errors are those of this machine.
    pub fn run(&self, begin: &dyn Fn(Step), should_continue: &dyn Fn() -> bool) -> Result<Report, ReadError> {
        let (mut source_kind, mut kind) = (None, self.kind);
        let read = self.read(&mut source_kind, &mut kind, begin, should_continue);
        match read {
            Ok((analysis, outcome, skipped)) => {
                let mut report = Report::new(self.path, self.settings, source_kind, kind);
                report.add_analysis(analysis, self.languages);
                report.add_outcome(outcome);
                report.left_out.extend(skipped.files);
                report.further_left_out += skipped.further;
                Ok(report)
            }
            // A signal to all processes of a terminal also ends those that read the data.
            Err(_) if !should_continue() => Err(ReadError::Canceled),
            Err(ReadError::Rejected(Rejection(message))) => {
                let mut report = Report::new(self.path, self.settings, source_kind, kind);
                report.problem = Some(message);
                Ok(report)
            }
            Err(error) => Err(error),
        }
    }

    fn read(
        &self,
        source_kind: &mut Option<SourceKind>,
        kind: &mut Option<Kind>,
        begin: &dyn Fn(Step),
        should_continue: &dyn Fn() -> bool,
    ) -> Result<(Analysis, Outcome, Skipped), ReadError> {
        let source = sources::find(self.path)?;
        *source_kind = Some(source.kind());
        let children = ChildProcesses::without_market(self.settings, self.program, self.work_directory);
        let reader = Reader {
            scan: self,
            turn: RefCell::new(children.turns().join(TeamRowId(0))),
            children: &children,
            begin,
            should_continue,
        };
        match source {
            Source::Repository(path) => {
                if kind.is_some_and(|kind| kind != Kind::Codebase) {
                    let message = "A repository can only be sold as a codebase. To sell its files as raw data, scan a zip of them.";
                    return Err(Rejection(message.to_owned()).into());
                }
                *kind = Some(Kind::Codebase);
                let (analysis, outcome) = reader.read_repository(&path)?;
                Ok((analysis, outcome, Skipped::default()))
            }
            Source::Archive(path) => {
                let (analysis, outcome) = reader.read_archive(&path, kind)?;
                Ok((analysis, outcome, Skipped::default()))
            }
            Source::Files(path) => {
                begin(Step::Pack);
                let packed = self.work_directory.join("packed.zip");
                let skipped = self.pack(&path, &packed, children.stopwatch(), should_continue)?;
                let (analysis, outcome) = reader.read_archive(&packed, kind)?;
                Ok((analysis, outcome, skipped))
            }
        }
    }

    /// Packs files to the zip `packed`.
    fn pack(
        &self,
        path: &Path,
        packed: &Path,
        stopwatch: &Stopwatch,
        should_continue: &dyn Fn() -> bool,
    ) -> Result<Skipped, ReadError> {
        let settings = self.settings;
        let reserve_bytes = settings.data.reserve_mb * 1_000_000;
        let disk = DiskSpace::new(self.work_directory.to_owned(), reserve_bytes, Reservations::default());
        let limit = TimeLimit { seconds: settings.archives.max_seconds, what: "The directory" };
        child_processes::with_time_limit(stopwatch, limit, should_continue, |should_continue| {
            let bounds = Bounds {
                limits: archive_analysis::limits(settings),
                max_upload_bytes: settings.blobs.max_upload_bytes,
                disk: &disk,
                work_directory: self.work_directory,
                should_continue,
            };
            packing::pack(path, packed, &bounds)
        })
    }
}

/// Reads a source in child processes.
struct Reader<'r> {
    scan: &'r Scan<'r>,
    children: &'r ChildProcesses,
    turn: RefCell<Participant<'r>>,
    begin: &'r dyn Fn(Step),
    should_continue: &'r dyn Fn() -> bool,
}

impl Reader<'_> {
    /// Analyzes and checks an archive. Chooses its kind if it is not known.
    fn read_archive(&self, path: &Path, kind: &mut Option<Kind>) -> Result<(Analysis, Outcome), ReadError> {
        let settings = self.scan.settings;
        let limits = archive_analysis::limits(settings);
        let seconds = settings.archives.max_seconds;
        let limit = TimeLimit { seconds, what: "The archive" };
        let open = || File::open(path).map_err(ReadError::Io);
        let max_upload_bytes = settings.blobs.max_upload_bytes;
        if fs::metadata(path).map_err(ReadError::Io)?.len() > max_upload_bytes {
            return Err(packing::too_large(max_upload_bytes));
        }
        // The process that checks the data may write to it.
        let spilled = self.scan.work_directory.join("spilled");
        private_files::create_dir_all(&spilled).map_err(ReadError::Io)?;
        (self.begin)(Step::Analyze);
        let analyze = |is_codebase: bool| -> Result<ArchiveAnalysis, ReadError> {
            let task = Task::AnalyzeArchive { is_codebase, limits };
            self.run(&task, Input::File(open()?, Path::new("/")), limit)
        };
        let found = match kind {
            Some(kind) => analyze(*kind == Kind::Codebase)?,
            None => {
                let found = analyze(false)?;
                let has_dataset = matches!(found.own, AnalysisByKind::RawData(Some(_)));
                if has_dataset { found } else { analyze(true)? }
            }
        };
        let (found_kind, subject) = match &found.own {
            AnalysisByKind::Codebase(code) if kind.is_some() || code.languages.lines > 0 => {
                (Kind::Codebase, Subject::Codebase)
            }
            _ => (Kind::RawData, Subject::RawData),
        };
        let found = match (&found.own, found_kind) {
            // Neither tables nor source code.
            (AnalysisByKind::Codebase(_), Kind::RawData) => {
                ArchiveAnalysis { own: AnalysisByKind::RawData(None), ..found }
            }
            _ => found,
        };
        *kind = Some(found_kind);
        (self.begin)(Step::Check);
        let task = Task::CheckArchive { subject, is_detailed: true, limits };
        let limit = TimeLimit { seconds, what: "The data" };
        let outcome = self.run(&task, Input::File(open()?, &spilled), limit)?;
        Ok((Analysis::Archive(found), outcome))
    }

    /// Copies, analyzes, and checks the newest commit of a repository.
    fn read_repository(&self, path: &Path) -> Result<(Analysis, Outcome), ReadError> {
        let settings = self.scan.settings;
        let limits = repository_analysis::limits(&settings.repositories);
        let now_secs = self.scan.now.seconds();
        let limit = TimeLimit { seconds: settings.repositories.max_seconds, what: "The repository" };
        (self.begin)(Step::Copy);
        let copy = self.copy_repository(path, limits, limit)?;
        (self.begin)(Step::Analyze);
        let task = Task::AnalyzeRepository { limits, now_secs };
        let found: RepositoryAnalysis = self.run(&task, Input::Directory(&copy), limit)?;
        (self.begin)(Step::Check);
        let task = Task::CheckRepository { subject: Subject::Codebase, is_detailed: true, limits, now_secs };
        let limit = TimeLimit { seconds: settings.archives.max_seconds, what: "The data" };
        let outcome = self.run(&task, Input::Directory(&copy), limit)?;
        Ok((Analysis::Repository(found), outcome))
    }

    /// Copies a repository as one that is linked. Returns the directory of the copy.
    fn copy_repository(
        &self,
        path: &Path,
        limits: git::Limits,
        limit: TimeLimit,
    ) -> Result<PathBuf, ReadError> {
        let Some(path) = path.to_str() else {
            let path = quoted(&path.to_string_lossy());
            return Err(Rejection(format!(
                "The path {path} is not in UTF-8. Scan a bundle of the repository."
            ))
            .into());
        };
        let address = format!("file://{path}");
        let source = RemoteRepository {
            address,
            authorization: None,
            may_be_private: false,
            origin: git::Origin::Local,
        };
        let to = self.scan.work_directory.join("copy");
        let index = |received: &PackToIndex| -> Result<IndexedPack, ReadError> {
            let pack = File::open(&received.pack).map_err(ReadError::Io)?;
            let task = Task::IndexPack { head: received.head.clone(), limits, origin: received.origin };
            self.run(&task, Input::File(pack, &received.directory), limit)
        };
        let stopwatch = self.children.stopwatch();
        child_processes::with_time_limit(stopwatch, limit, self.should_continue, |should_continue| {
            git::copy_repository(&source, &to, limits, should_continue, index)
        })?;
        Ok(to)
    }

    fn run<T: DeserializeOwned + Validate>(
        &self,
        task: &Task,
        input: Input,
        limit: TimeLimit,
    ) -> Result<T, ReadError> {
        let reply =
            self.children.run(&mut self.turn.borrow_mut(), task, input, limit, self.should_continue)?;
        self.children.parse_reply(&reply, |cause| tracing::info!(cause, "data was rejected"))
    }
}
