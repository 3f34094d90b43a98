//! The child's side: confines itself, executes one task, and replies.

use std::{
    fs, io,
    os::fd::AsFd,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process::ExitCode,
};

use marketplace_domain::time::Timestamp;
use serde::Serialize;

use super::{
    confinement,
    reply::{self, Reply, TaskResult},
    task::{Invocation, Task},
};
use crate::{
    Limits, ReadError, analyses, archive, git, packing,
    quality_checks::{Checks, Outcome, Source, Subject, history},
};

/// Path of the standard input, which is the archive to read.
const ARCHIVE: &str = "/proc/self/fd/0";

/// Exit code of a child that could not start its task, which is not the fault of its files.
pub(super) const NOT_STARTED: u8 = 3;

/// Executes the task in `argument`, the argument of the hidden subcommand, and writes the reply to the
/// standard output. A child without a reply ends with an exit code other than 0.
pub fn run(argument: &str) -> ExitCode {
    let Ok(invocation) = serde_json::from_str::<Invocation>(argument) else {
        return ExitCode::from(NOT_STARTED);
    };
    let is_confined = matches!(confinement::follow_parent(invocation.parent_pid), Ok(true))
        && invocation.limits.apply().is_ok();
    if !is_confined {
        return ExitCode::from(NOT_STARTED);
    }
    let unenforced = confinement::restrict(&invocation.task);
    // A panic is a bug, not a property of the files. The parent sees that there is no reply.
    match catch_unwind(AssertUnwindSafe(|| execute(&invocation, unenforced))) {
        Ok(Ok(reply)) if reply::write(&mut io::stdout().lock(), &reply).is_ok() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Executes a task and returns the reply as JSON.
fn execute(invocation: &Invocation, unenforced: Vec<String>) -> serde_json::Result<Vec<u8>> {
    let (archive, repository) = (Path::new(ARCHIVE), Path::new("."));
    // The parent ends this process when the task is to stop.
    let always: &dyn Fn() -> bool = &|| true;
    match &invocation.task {
        Task::TestConfinement => to_json(Ok(confinement::test(invocation.parent_pid)), None, unenforced),
        Task::AnalyzeArchive { is_codebase, limits } => {
            to_json(analyses::analyze_archive(archive, *is_codebase, *limits, always), None, unenforced)
        }
        Task::CheckArchive { subject, is_detailed, limits } => to_json(
            check_archive(archive, *subject, *limits).map(without_places_unless(*is_detailed)),
            None,
            unenforced,
        ),
        Task::AnalyzeRepository { limits, now_secs } => {
            to_json(analyses::analyze_repository(repository, *limits, *now_secs, always), None, unenforced)
        }
        Task::CheckRepository { subject, is_detailed, limits, now_secs } => {
            let checked = check_repository(repository, *subject, *limits, *now_secs);
            to_json(checked.map(without_places_unless(*is_detailed)), None, unenforced)
        }
        Task::PackRepository { commit, selection, limits } => {
            let packed = standard_input()
                .and_then(|to| packing::pack_repository(repository, *limits, commit, selection, to));
            to_json(packed, None, unenforced)
        }
        Task::PackArchive { selection, limits } => {
            to_json(packing::pack_archive(archive, *limits, selection, repository), None, unenforced)
        }
        Task::RepackZip { archive: archive_limits, limits } => {
            to_json(git::repack(archive, *archive_limits, *limits, repository), None, unenforced)
        }
        Task::IndexPack { head, limits, origin } => {
            let pack = fs::File::open(ARCHIVE);
            let (result, cause) = git::index_pack(pack, repository, head, *limits, *origin);
            to_json(result, cause, unenforced)
        }
    }
}

/// Returns the standard input as a file. Opening it by its path would need permission.
fn standard_input() -> Result<fs::File, ReadError> {
    io::stdin().as_fd().try_clone_to_owned().map(fs::File::from).map_err(ReadError::Io)
}

fn to_json<T: Serialize>(
    result: Result<T, ReadError>,
    cause: Option<String>,
    unenforced: Vec<String>,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Reply { result: TaskResult::from(result), cause, unenforced })
}

/// Returns a function that removes the places of findings, unless they are requested.
fn without_places_unless(is_detailed: bool) -> impl Fn(Outcome) -> Outcome {
    move |outcome| if is_detailed { outcome } else { outcome.without_places() }
}

/// Runs the checks over all files of an archive. Temporary files go to the current directory.
fn check_archive(path: &Path, subject: Subject, limits: Limits) -> Result<Outcome, ReadError> {
    let mut checks = Checks::with_spill_dir(Path::new("."), subject, Source::Zip);
    archive::visit(path, limits, &mut checks, &|| true)?;
    Ok(checks.finish())
}

/// Runs the checks over all files of the newest commit of a repository, and over its history.
fn check_repository(
    directory: &Path,
    subject: Subject,
    limits: git::Limits,
    now_secs: i64,
) -> Result<Outcome, ReadError> {
    let repository = git::Repository::open(directory, limits)?;
    let mut checks = Checks::with_spill_dir(directory, subject, Source::Repository);
    git::visit_files(&repository, limits, &|| true, &mut checks)?;
    let mut outcome = checks.finish();
    let (history, unusual) = git::read_history(&repository, now_secs, &|| true)?;
    let today = Timestamp(now_secs.saturating_mul(1_000_000)).day().to_string();
    outcome.findings.extend(history::finding(history, unusual, &today));
    Ok(outcome)
}
