//! Output of commands: results to stdout, and messages for people to stderr.

use std::{
    io::{ErrorKind, Write},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{CommandError, CommandResult};

/// Whether output could not be written, for instance to a full disk. A command that succeeded otherwise exits with 1.
pub static HAS_LOST_OUTPUT: AtomicBool = AtomicBool::new(false);

/// Prints a line to stdout. A closed pipe is not a failure: its reader does not want the rest.
pub fn print_line(line: impl std::fmt::Display) {
    if let Err(cause) = writeln!(std::io::stdout(), "{line}")
        && cause.kind() != ErrorKind::BrokenPipe
        && !HAS_LOST_OUTPUT.swap(true, Ordering::Relaxed)
    {
        print_note(format_args!("error: cannot write the output: {cause}"));
    }
}

/// Prints a message for people to stderr. If this fails, the command continues: its work is already done.
pub fn print_note(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Waits this long, or until nobody reads stdout anymore. Returns whether somebody still does.
pub fn is_read_for(time: Duration) -> bool {
    let stdout = std::io::stdout();
    // A pipe without a reader is reported without being asked for.
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut watched, Timespec::try_from(time).ok().as_ref()) {
        Ok(reported) => reported == 0,
        // Also if a signal has interrupted the wait.
        Err(_) => {
            std::thread::sleep(time);
            true
        }
    }
}

/// Prints help, the version, or the problem with the arguments. Returns the exit code of the program.
pub fn print_usage(usage: &clap::Error) -> ExitCode {
    let printed = usage.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(cause) if !usage.use_stderr() && cause.kind() != ErrorKind::BrokenPipe => {
            print_note(format_args!("error: cannot write the output: {cause}"));
            ExitCode::FAILURE
        }
        _ => u8::try_from(usage.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}

/// Fails if output could not be written, for commands whose exit code 1 is a result.
pub fn require_output() -> CommandResult {
    if HAS_LOST_OUTPUT.load(Ordering::Relaxed) {
        return Err(CommandError::Incomplete("the result could not be written".to_owned()));
    }
    Ok(())
}
