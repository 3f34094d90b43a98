//! Running tasks on untrusted files in child processes: one at a time per place, in turns by team, for a limited
//! time, and until the job is stopped.

use std::{
    cell::Cell,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use serde::de::DeserializeOwned;

use super::compute_turns::{ComputeTurns, Participant};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{
            ChildEnd, ChildProcess, Input, Launcher, Reply, ReplyBytes, ResourceLimits, SelfTest, Task,
            TaskResult, Validate,
        },
    },
    blobs::Blobs,
    clock::{Clock, Stopwatch},
    config::Settings,
    market::Market,
};

/// Interval between two checks of a running child: whether the job was stopped, its time limit is exceeded, or
/// its turn ends. And of a waiting job: whether it was stopped.
const RUNNING_POLL_INTERVAL: Duration = Duration::from_millis(10);
const WAITING_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long the self test of a child process may take.
const SELF_TEST_TIMEOUT: Duration = Duration::from_secs(5);

const MEGABYTE: u64 = 1 << 20;

/// Part of each message about data that exceeds a limit of a child process.
pub const EXCEEDS_LIMITS: &str = "could not be read within its limits";

/// What messages about data that exceeds a limit of time say.
pub const EXCEEDS_SECONDS: &str = "seconds to read";

/// The child processes of a market, or of a command that reads files without one.
#[derive(Debug)]
pub struct ChildProcesses {
    launcher: Launcher,
    replies: ReplyFiles,
    limits: ResourceLimits,
    turns: ComputeTurns,
    stopwatch: Stopwatch,
    program_version: String,
}

/// Where replies are received.
#[derive(Debug)]
enum ReplyFiles {
    /// With the temporary files of a market.
    Market(Blobs),
    /// In a directory.
    Directory(PathBuf),
}

impl ReplyFiles {
    /// Creates an empty file without a name.
    fn create(&self) -> io::Result<File> {
        match self {
            ReplyFiles::Market(blobs) => blobs.temporary_file(),
            ReplyFiles::Directory(directory) => tempfile::tempfile_in(directory),
        }
    }
}

/// Limit on the time that a task computes. Time in which other teams have their turn does not count.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit<'a> {
    /// Seconds.
    pub seconds: u32,
    /// What the task reads, as the subject of a message for the vendor.
    pub what: &'a str,
}

impl ChildProcesses {
    /// Creates the child processes of a market, none of which is running.
    pub fn new(market: &Market) -> ChildProcesses {
        let replies = ReplyFiles::Market(market.blobs().clone());
        ChildProcesses::with(market.settings(), market.program(), replies, market.work_stopwatch())
    }

    /// Creates the child processes of a command that has no market: `program` runs with the limits of these settings, and
    /// its replies are received in `directory`.
    pub fn without_market(settings: &Settings, program: &Path, directory: &Path) -> ChildProcesses {
        let replies = ReplyFiles::Directory(directory.to_owned());
        ChildProcesses::with(settings, program, replies, Stopwatch::start(Arc::new(Clock::System)))
    }

    fn with(
        settings: &Settings,
        program: &Path,
        replies: ReplyFiles,
        stopwatch: Stopwatch,
    ) -> ChildProcesses {
        let limits = resource_limits(settings);
        ChildProcesses {
            launcher: Launcher::new(program.to_owned(), limits),
            replies,
            limits,
            turns: ComputeTurns::new(settings.jobs.readings as usize),
            stopwatch,
            program_version: file_version(program).unwrap_or_default(),
        }
    }

    /// Returns the version of the program that child processes run. It changes whenever the program does.
    pub fn program_version(&self) -> &str {
        &self.program_version
    }

    /// Describes a task and its limits, as JSON.
    pub fn describe_task(&self, task: &Task, limit: TimeLimit) -> serde_json::Result<String> {
        serde_json::to_string(&(task, self.limits, limit.seconds))
    }

    /// Returns the turns of the teams.
    pub const fn turns(&self) -> &ComputeTurns {
        &self.turns
    }

    /// Returns the result in the reply of a child process. `log_cause` gets the cause of a rejection, for operators.
    pub fn parse_reply<T: DeserializeOwned + Validate>(
        &self,
        reply: &ReplyBytes,
        log_cause: impl FnOnce(&str),
    ) -> Result<T, ReadError> {
        let Reply { result, cause, unenforced } = reply
            .parse::<T>()
            .map_err(|cause| ReadError::ProcessEnded(format!("the reply is invalid: {cause}")))?;
        self.launcher.log_unenforced(&unenforced);
        if let Some(cause) = cause {
            log_cause(&cause);
        }
        result.into()
    }

    /// Returns the stopwatch by which tasks are limited.
    pub const fn stopwatch(&self) -> &Stopwatch {
        &self.stopwatch
    }

    /// Tests what a child process could do although it must not, and logs it. The reasons are in docs/security.md.
    pub fn log_confinement(&self) {
        match self.test_confinement() {
            Ok(succeeded) if succeeded.is_empty() => {}
            Ok(succeeded) => {
                let succeeded = succeeded.join(", ");
                tracing::warn!(succeeded, "child processes are not completely confined on this machine");
            }
            Err(cause) => tracing::error!(%cause, "child processes cannot be started"),
        }
    }

    /// Returns what a child process could do although it must not.
    pub fn test_confinement(&self) -> io::Result<Vec<String>> {
        let input = Input::Directory(Path::new("/"));
        let mut child = self.launcher.start(&Task::TestConfinement, input, self.replies.create()?)?;
        match child.wait(SELF_TEST_TIMEOUT)? {
            Some(ChildEnd::Replied(reply)) => match reply.parse::<SelfTest>().map(|reply| reply.result) {
                Ok(TaskResult::Done(test)) => Ok(test.succeeded),
                other => Err(io::Error::other(format!("{other:?}"))),
            },
            other => Err(io::Error::other(format!("{other:?}"))),
        }
    }

    /// Runs a task in a child process and returns its reply. Stops when `should_continue` returns false.
    pub fn run(
        &self,
        turn: &mut Participant,
        task: &Task,
        input: Input,
        limit: TimeLimit,
        should_continue: &dyn Fn() -> bool,
    ) -> Result<ReplyBytes, ReadError> {
        wait_for_turn(turn, should_continue)?;
        if !should_continue() {
            return Err(ReadError::Canceled);
        }
        let reply = self.replies.create().map_err(ReadError::Io)?;
        let mut child = self.launcher.start(task, input, reply).map_err(ReadError::Io)?;
        let end = run_in_turns(turn, &mut child, &self.stopwatch, limit, should_continue);
        // A child that has not ended is killed.
        drop(child);
        // What follows mostly waits for the database.
        turn.end();
        match end? {
            ChildEnd::Replied(reply) => Ok(reply),
            ChildEnd::LimitExceeded => Err(limit_exceeded(limit.what)),
            ChildEnd::Other(cause) => Err(ReadError::ProcessEnded(cause)),
        }
    }
}

/// Runs work that waits for others with a time limit. If it is exceeded, the error message names the subject of the limit.
pub fn with_time_limit<T>(
    stopwatch: &Stopwatch,
    limit: TimeLimit,
    should_continue: &dyn Fn() -> bool,
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let TimeLimit { seconds, what } = limit;
    let deadline = stopwatch.elapsed() + Duration::from_secs(seconds.into());
    // Whether it stopped for this reason, since the time may also pass while it stops for another one.
    let is_timed_out = Cell::new(false);
    let should_continue = || {
        is_timed_out.set(stopwatch.elapsed() > deadline);
        !is_timed_out.get() && should_continue()
    };
    work(&should_continue).map_err(|error| match error {
        ReadError::Canceled if is_timed_out.get() => {
            Rejection(format!("{what} takes more than {seconds} {EXCEEDS_SECONDS}. Make it smaller.")).into()
        }
        other => other,
    })
}

/// Waits for the turn of a job, for as long as `should_continue` returns true.
pub fn wait_for_turn(turn: &mut Participant, should_continue: &dyn Fn() -> bool) -> Result<(), ReadError> {
    while !turn.wait(WAITING_POLL_INTERVAL) {
        if !should_continue() {
            return Err(ReadError::Canceled);
        }
    }
    Ok(())
}

/// Lets a child compute in the turns of its job until it ends. The job must have a turn at the beginning. It has one at the
/// end, unless it is stopped.
fn run_in_turns(
    turn: &mut Participant,
    child: &mut ChildProcess,
    stopwatch: &Stopwatch,
    limit: TimeLimit,
    should_continue: &dyn Fn() -> bool,
) -> Result<ChildEnd, ReadError> {
    let max_time = Duration::from_secs(limit.seconds.into());
    let (mut turn_started_at, mut time_in_earlier_turns) = (stopwatch.elapsed(), Duration::ZERO);
    loop {
        if let Some(end) = child.wait(RUNNING_POLL_INTERVAL).map_err(ReadError::Io)? {
            return Ok(end);
        }
        if !should_continue() {
            return Err(ReadError::Canceled);
        }
        let time = time_in_earlier_turns + stopwatch.elapsed().saturating_sub(turn_started_at);
        if time > max_time {
            return Ok(ChildEnd::LimitExceeded);
        }
        if turn.is_over() {
            child.pause();
            turn.pause();
            time_in_earlier_turns = time;
            wait_for_turn(turn, should_continue)?;
            turn_started_at = stopwatch.elapsed();
            child.resume();
        }
    }
}

/// Returns the size and the modification time of a program. Empty if it cannot be read.
fn file_version(program: &Path) -> Option<String> {
    let file = std::fs::metadata(program).ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}.{}", file.len(), modified.as_nanos()))
}

/// Returns the error for data that exceeds the limits of a child process or the time limit.
fn limit_exceeded(what: &str) -> ReadError {
    Rejection(format!("{what} {EXCEEDS_LIMITS}. Make it smaller or simpler.")).into()
}

/// Limits what this process may use from now on, and the programs of others that it starts. For commands that have no market.
pub fn limit_programs(settings: &Settings) -> io::Result<()> {
    resource_limits(settings).apply_to_programs()
}

fn resource_limits(settings: &Settings) -> ResourceLimits {
    let children = &settings.child_processes;
    let memory_bytes = children.memory_mb.saturating_mul(MEGABYTE);
    ResourceLimits {
        memory_bytes,
        address_space_bytes: memory_bytes.saturating_add(settings.repositories.max_bytes),
        cpu_seconds: children.cpu_seconds,
        open_files: children.open_files,
        file_bytes: children.file_mb.saturating_mul(MEGABYTE),
        reply_bytes: children.reply_mb.saturating_mul(MEGABYTE),
    }
}
