//! The process of an agent, in a process group of its own, which ends with the run.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::SyncSender,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::retry_on_intr,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use super::lines::Event;
use crate::cli::CommandError;

/// How long the processes of an agent may take to end after the signal.
const MAX_EXIT_TIME: Duration = Duration::from_secs(2);

/// How often it is checked whether the agent has ended.
const EXIT_CHECK: Duration = Duration::from_millis(20);

/// A running agent. Its process group is ended when the value is dropped.
pub struct Agent {
    child: Child,
}

impl Agent {
    /// Starts a command, and writes `lines` to its standard input, which is then closed. Its error output is that of this
    /// process.
    pub fn start(command: &[String], lines: String) -> Result<(Agent, ChildStdout), CommandError> {
        let [program, arguments @ ..] = command else {
            return Err(CommandError::Usage("the command of the agent is empty".to_owned()));
        };
        let cannot_start =
            |cause: std::io::Error| CommandError::Other(format!("cannot start the agent {program}: {cause}"));
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(cannot_start)?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let agent = Agent { child };
        let write = move || {
            // An agent that does not read its questions answers none.
            if let Some(mut input) = input {
                let _ = input.write_all(lines.as_bytes());
            }
        };
        thread::Builder::new().name("agent-input".to_owned()).spawn(write).map_err(cannot_start)?;
        let output = output.ok_or_else(|| CommandError::Other("the agent has no output".to_owned()))?;
        Ok((agent, output))
    }

    /// Sends [`Event::Exit`] to `events` when the agent has exited.
    pub fn watch(&self, events: SyncSender<Event>) -> Result<(), CommandError> {
        let Some(process) = self.process() else { return Ok(()) };
        let wait = move || {
            // The process stays waitable, so its ID, which is also the ID of its group, stays reserved until `drop`.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = retry_on_intr(|| waitid(WaitId::Pid(process), options));
            // Fails if the run has ended.
            let _ = events.send(Event::Exit);
        };
        let started = thread::Builder::new().name("agent-exit".to_owned()).spawn(wait);
        started.map(drop).map_err(|cause| CommandError::Other(format!("cannot wait for the agent: {cause}")))
    }

    fn process(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.process() {
            // The group may have ended.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        let end = Instant::now() + MAX_EXIT_TIME;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                break;
            }
            thread::sleep(EXIT_CHECK);
        }
        // The group exists as long as one of its processes, such as one that the agent left behind.
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
