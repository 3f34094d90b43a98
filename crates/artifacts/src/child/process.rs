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
    parsed_file,
    reply::{self, LargeReplies, ReceiveError, ReplyBytes},
    task::{Invocation, SUBCOMMAND, Task},
};

/// Interval between two checks whether a child has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How often a process is replaced because a file made it exceed its limits. That file is left out afterwards.
const MAX_RESTARTS: usize = 10;

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

/// A running child process. Dropping it ends the process. A process that exceeds its limits while it parses a file
/// is replaced by one that leaves the file out.
#[derive(Debug)]
pub struct ChildProcess {
    process: Child,
    invocation: Invocation,
    program: PathBuf,
    stdin: Option<File>,
    directory: PathBuf,
    reply: File,
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
        let invocation = Invocation {
            parent_pid: std::process::id(),
            limits: self.limits,
            task: task.clone(),
            fatal_files: Vec::new(),
        };
        let (stdin, directory) = match input {
            Input::File(file, directory) => (Some(file), directory),
            Input::Directory(directory) => (None, directory),
        };
        Ok(ChildProcess {
            process: spawn(&self.program, &invocation, stdin.as_ref(), directory, &reply)?,
            invocation,
            program: self.program.clone(),
            stdin,
            directory: directory.to_owned(),
            reply,
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

/// Starts a program that executes an invocation.
fn spawn(
    program: &Path,
    invocation: &Invocation,
    stdin: Option<&File>,
    directory: &Path,
    reply: &File,
) -> io::Result<Child> {
    let stdin = stdin.map(File::try_clone).transpose()?;
    Command::new(program)
        .arg(SUBCOMMAND)
        .arg(serde_json::to_string(invocation)?)
        // Settings in the environment may hold secrets.
        .env_clear()
        .current_dir(directory)
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(reply.try_clone()?)
        .stderr(Stdio::null())
        .spawn()
}

impl ChildProcess {
    /// Waits until the child ends, for at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<Option<ChildEnd>> {
        let deadline = Instant::now() + timeout;
        let status = loop {
            if let Some(status) = self.process.try_wait()?
                && (!is_own_limit(status) || !self.restart()?)
            {
                break status;
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL.min(timeout));
        };
        if is_own_limit(status) {
            return Ok(Some(ChildEnd::LimitExceeded));
        }
        if !status.success() {
            return Ok(Some(ChildEnd::Other(status.to_string())));
        }
        // The child shares the position in the file.
        self.reply.seek(SeekFrom::Start(0))?;
        let max_bytes = self.invocation.limits.reply_bytes;
        Ok(Some(match reply::receive(&self.reply, max_bytes, &self.large_replies) {
            Ok(reply) => ChildEnd::Replied(reply),
            Err(ReceiveError::TooLarge) => ChildEnd::LimitExceeded,
            Err(ReceiveError::Incomplete) => ChildEnd::Other("the reply is incomplete".to_owned()),
        }))
    }

    /// Replaces a process that has exceeded its limits by one that leaves out the file at which it ended. Returns
    /// false if no file is named, or if that was done too often.
    fn restart(&mut self) -> io::Result<bool> {
        let fatal = &mut self.invocation.fatal_files;
        match parsed_file::find(&self.reply) {
            Some(file) if fatal.len() < MAX_RESTARTS && !fatal.contains(&file) => fatal.push(file),
            _ => return Ok(false),
        }
        // All processes together take at most twice the CPU time of one.
        let cpu_seconds = &mut self.invocation.limits.cpu_seconds;
        *cpu_seconds = (*cpu_seconds / 2).max(1);
        self.reply.set_len(0)?;
        self.reply.rewind()?;
        self.process =
            spawn(&self.program, &self.invocation, self.stdin.as_ref(), &self.directory, &self.reply)?;
        Ok(true)
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
        // The process is not reaped before it is dropped or has ended, so the ID is its own.
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
