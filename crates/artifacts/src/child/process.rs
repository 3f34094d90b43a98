//! The parent's side: starts a child process, pauses and resumes it, and finds out how it ended.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    limits::ResourceLimits,
    reply::{self, LargeReplies, ReceiveError, ReplyBytes},
    task::{Invocation, SUBCOMMAND, Task},
    worker::NOT_STARTED,
};

/// Interval between two checks whether a child has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Starts child processes of one market.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    limits: ResourceLimits,
    large_replies: LargeReplies,
    has_logged_unenforced: AtomicBool,
}

/// The files of a task.
#[derive(Debug)]
pub enum Input<'a> {
    /// An archive or a pack, and a directory for files that the task writes.
    File(File, &'a Path),
    /// The directory of a copied repository.
    Directory(&'a Path),
}

/// A running child process. Dropping it ends the process.
#[derive(Debug)]
pub struct ChildProcess {
    process: Child,
    reply: File,
    max_reply_bytes: u64,
    large_replies: LargeReplies,
}

/// How a child process ended.
#[derive(Debug)]
pub enum ChildEnd {
    /// It replied.
    Replied(ReplyBytes),
    /// It exceeded one of its own limits: memory, stack, CPU time, file size, or reply size.
    LimitExceeded,
    /// It ended in any other way, which the text describes.
    Other(String),
}

impl Launcher {
    /// Creates a launcher of `program` with the given limits for each child.
    pub fn new(program: PathBuf, limits: ResourceLimits) -> Launcher {
        Launcher {
            program,
            limits,
            large_replies: LargeReplies::default(),
            has_logged_unenforced: AtomicBool::new(false),
        }
    }

    /// Starts a child process, which writes its reply to the empty file `reply`. It ends when the current thread
    /// ends.
    pub fn start(&self, task: &Task, input: Input, reply: File) -> io::Result<ChildProcess> {
        let invocation =
            Invocation { parent_pid: std::process::id(), limits: self.limits, task: task.clone() };
        let (stdin, directory) = match input {
            Input::File(file, directory) => (Stdio::from(file), directory),
            Input::Directory(directory) => (Stdio::null(), directory),
        };
        let process = Command::new(&self.program)
            .arg(SUBCOMMAND)
            .arg(serde_json::to_string(&invocation)?)
            // Settings in the environment may hold secrets.
            .env_clear()
            .current_dir(directory)
            .stdin(stdin)
            .stdout(reply.try_clone()?)
            .stderr(Stdio::null())
            .spawn()?;
        Ok(ChildProcess {
            process,
            reply,
            max_reply_bytes: self.limits.reply_bytes,
            large_replies: self.large_replies.clone(),
        })
    }

    /// Logs once which restrictions of child processes the kernel does not enforce.
    pub fn log_unenforced(&self, unenforced: &[String]) {
        if !unenforced.is_empty() && !self.has_logged_unenforced.swap(true, Ordering::Relaxed) {
            let restrictions = unenforced.join("; ");
            tracing::warn!(restrictions, "the kernel does not enforce all restrictions of child processes");
        }
    }
}

impl ChildProcess {
    /// Waits until the child ends, for at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<Option<ChildEnd>> {
        let deadline = Instant::now() + timeout;
        let status = loop {
            if let Some(status) = self.process.try_wait()? {
                break status;
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL.min(timeout));
        };
        if status.code() == Some(NOT_STARTED.into()) {
            return Err(io::Error::other(
                "the child process could not confine itself, or could not read its task",
            ));
        }
        if !status.success() {
            let is_limit = is_own_limit(status);
            return Ok(Some(if is_limit {
                ChildEnd::LimitExceeded
            } else {
                ChildEnd::Other(status.to_string())
            }));
        }
        // The child shares the position in the file.
        self.reply.seek(SeekFrom::Start(0))?;
        Ok(Some(match reply::receive(&self.reply, self.max_reply_bytes, &self.large_replies) {
            Ok(reply) => ChildEnd::Replied(reply),
            Err(ReceiveError::TooLarge) => ChildEnd::LimitExceeded,
            Err(ReceiveError::Incomplete) => ChildEnd::Other("the reply is incomplete".to_owned()),
        }))
    }

    /// Stops the child until [`ChildProcess::resume`].
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a paused child.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        // The process is not reaped before it has ended or is dropped, so the ID still belongs to it.
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    fn kill(&mut self) {
        // Fails if the process has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Whether a child ended because it exceeded one of its own limits. A child aborts if it cannot allocate memory
/// or if its stack overflows; panics do not abort it.
fn is_own_limit(status: ExitStatus) -> bool {
    let limits = [Signal::ABORT, Signal::SEGV, Signal::XCPU, Signal::XFSZ];
    status.signal().is_some_and(|signal| limits.iter().any(|limit| limit.as_raw() == signal))
}
