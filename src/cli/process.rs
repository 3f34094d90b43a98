//! Signals, sockets, and runtimes for commands that run until they are stopped.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

use super::{CommandError, finish_logging};
use crate::{config::Settings, market};

/// How long background work may continue after the server has stopped.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a server may take to end after its time to drain.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates the multi-threaded async runtime for a market with these settings.
pub fn build_runtime(settings: &Settings) -> Result<Runtime, CommandError> {
    market::build_runtime(settings)
        .map_err(|cause| CommandError::Other(format!("cannot start the async runtime: {cause}")))
}

/// Binds a TCP listener. The error message suggests `flag` to choose another address.
pub fn bind_listener(address: SocketAddr, flag: &str) -> Result<std::net::TcpListener, CommandError> {
    let to_error = |cause: std::io::Error| {
        let hint = match cause.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("is already in use; choose another address with {flag}, or port 0 for a free port")
            }
            _ => format!("cannot be bound; choose another address with {flag}"),
        };
        CommandError::Other(format!("{address} {hint} ({cause})"))
    };
    let listener = std::net::TcpListener::bind(address).map_err(to_error)?;
    listener.set_nonblocking(true).map_err(to_error)?;
    Ok(listener)
}

/// Whether SIGINT and SIGTERM do something else than to end the process.
static HAS_STOP_HANDLER: AtomicBool = AtomicBool::new(false);

/// Lets SIGINT and SIGTERM end this process until [`stop_signal`] handles them, if it is the first one of a container: to such a
/// process, the kernel passes on only signals that have a handler.
pub fn end_first_process_by_signals() -> Result<(), CommandError> {
    if std::process::id() != 1 {
        return Ok(());
    }
    handle_on_thread(
        "first-signals",
        || Ok((handle_signal(SignalKind::interrupt())?, handle_signal(SignalKind::terminate())?)),
        |runtime, (mut interrupted, mut terminated)| {
            let signal = runtime.block_on(async {
                tokio::select! {
                    _ = interrupted.recv() => SignalKind::interrupt(),
                    _ = terminated.recv() => SignalKind::terminate(),
                }
            });
            if !HAS_STOP_HANDLER.load(Ordering::Relaxed) {
                finish_logging();
                std::process::exit(128 + signal.as_raw_value());
            }
        },
    )
}

/// Handles signals on a thread of its own. `install` installs their handlers at once, and `handle` runs on the thread, with the
/// async runtime of the handlers.
fn handle_on_thread<T: Send + 'static>(
    name: &str,
    install: impl FnOnce() -> Result<T, CommandError>,
    handle: impl FnOnce(Runtime, T) + Send + 'static,
) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|cause| cannot_wait(&cause))?;
    let handlers = {
        let _context = runtime.enter();
        install()?
    };
    let run = move || handle(runtime, handlers);
    std::thread::Builder::new().name(name.to_owned()).spawn(run).map_err(|cause| cannot_wait(&cause))?;
    Ok(())
}

fn cannot_wait(cause: &std::io::Error) -> CommandError {
    CommandError::Other(format!("cannot wait for signals: {cause}"))
}

/// What standard input means for a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StandardInput {
    /// Standard input is not used.
    Ignored,
    /// The end of standard input stops the server like a signal. Its content is discarded.
    StopsAtItsEnd,
}

/// Like [`stop_signal`], for a server. If the process has not ended this time and a second after the
/// signal, it is ended. A thread of its own waits for the signal and measures this time, so that it does not
/// depend on the threads that serve requests. Work that is interrupted is rolled back at the next start.
pub fn server_stop_signal(
    time: Duration,
    input: StandardInput,
) -> Result<impl Future<Output = ()>, CommandError> {
    let (sender, receiver) = oneshot::channel();
    let exit = || {
        finish_logging();
        std::process::exit(0)
    };
    handle_on_thread(
        "signals",
        || {
            let signal = stop_signal()?;
            let input_end = match input {
                StandardInput::Ignored => None,
                StandardInput::StopsAtItsEnd => {
                    Some(end_of_standard_input().map_err(|cause| cannot_wait(&cause))?)
                }
            };
            Ok((signal, input_end))
        },
        move |runtime, (signal, input_end)| {
            let stopped = async {
                tokio::select! {
                    () = signal => {}
                    Some(_) = async { Some(input_end?.await) } => {
                        tracing::info!("the process stops, since its standard input has ended");
                    }
                }
            };
            runtime.block_on(exit_after_signal(stopped, sender, time + EXIT_TIMEOUT, exit));
        },
    )?;
    Ok(async {
        // The sender is kept until the signal arrives.
        let _ = receiver.await;
    })
}

/// Reads standard input to its end, on a thread of its own that sleeps meanwhile. The receiver is notified of
/// the end. Standard input that cannot be read has ended.
fn end_of_standard_input() -> std::io::Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    let wait = move || {
        let mut input = std::io::stdin().lock();
        while let Err(cause) = std::io::copy(&mut input, &mut std::io::sink()) {
            // Another process that has the same open file may have made it non-blocking.
            let is_blocking_again =
                cause.kind() == std::io::ErrorKind::WouldBlock && make_blocking(&input).is_ok();
            if !is_blocking_again {
                break;
            }
        }
        let _ = sender.send(());
    };
    std::thread::Builder::new().name("standard-input".to_owned()).spawn(wait)?;
    Ok(receiver)
}

/// Makes reads of a file wait for data.
fn make_blocking(file: impl std::os::fd::AsFd) -> rustix::io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK)
}

/// Waits for the signal, passes it on, and calls `exit` some time later.
async fn exit_after_signal(
    signal: impl Future<Output = ()>,
    sender: oneshot::Sender<()>,
    max_time: Duration,
    exit: impl FnOnce(),
) {
    signal.await;
    let _ = sender.send(());
    tokio::time::sleep(max_time).await;
    tracing::warn!("the process ends with work still running");
    exit();
}

/// Installs handlers for SIGINT and SIGTERM immediately. The future resolves when one of them arrives.
pub fn stop_signal() -> Result<impl Future<Output = ()>, CommandError> {
    let mut interrupted = handle_signal(SignalKind::interrupt())?;
    let mut terminated = handle_signal(SignalKind::terminate())?;
    HAS_STOP_HANDLER.store(true, Ordering::Relaxed);
    Ok(async move {
        let signal = tokio::select! {
            _ = interrupted.recv() => "SIGINT",
            _ = terminated.recv() => "SIGTERM",
        };
        tracing::info!(signal, "the process stops");
    })
}

/// Returns a flag that is set when SIGINT, SIGTERM, or SIGHUP arrives, for work that looks at it from time to time. SIGHUP says
/// that the terminal was closed, and does nothing if the process was started to ignore it, as by `nohup`.
pub fn stop_flag() -> Result<Arc<AtomicBool>, CommandError> {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_stopped);
    handle_on_thread(
        "signals",
        || {
            let hangup = (!is_hangup_ignored()).then(|| handle_signal(SignalKind::hangup()));
            Ok((stop_signal()?, hangup.transpose()?))
        },
        move |runtime, (signal, mut hangup)| {
            runtime.block_on(async {
                tokio::select! {
                    () = signal => {}
                    Some(()) = async { hangup.as_mut()?.recv().await } => {}
                }
            });
            flag.store(true, Ordering::Relaxed);
        },
    )?;
    Ok(is_stopped)
}

/// Calls `action` for each SIGHUP, which would end the process without a handler. It runs on its own thread, so that it
/// may wait for files. Several signals while it runs count as one.
pub fn on_hangup(mut action: impl FnMut() + Send + 'static) -> Result<(), CommandError> {
    handle_on_thread(
        "hangups",
        || handle_signal(SignalKind::hangup()),
        move |runtime, mut hangup| {
            while runtime.block_on(hangup.recv()).is_some() {
                action();
            }
        },
    )
}

/// Whether the process ignores SIGHUP. A handler would replace this.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

fn handle_signal(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind).map_err(|cause| CommandError::Other(format!("cannot install signal handlers: {cause}")))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn process_that_does_not_stop_is_ended_in_time() {
        let start = tokio::time::Instant::now();
        let ended_after = Cell::new(None);
        let (sender, receiver) = oneshot::channel();
        let signal = tokio::time::sleep(Duration::from_secs(5));
        let max_time = Duration::from_secs(10) + EXIT_TIMEOUT;
        let exit = || ended_after.set(Some(start.elapsed().as_secs()));
        let passed_on_after = async {
            receiver.await.unwrap();
            start.elapsed().as_secs()
        };
        let ((), passed_on_after) =
            tokio::join!(exit_after_signal(signal, sender, max_time, exit), passed_on_after);
        assert_eq!((passed_on_after, ended_after.get()), (5, Some(16)));
    }

    /// The signal is passed on while all threads that serve requests are busy.
    #[test]
    fn signal_does_not_depend_on_other_threads() {
        let own = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let (signal_sender, signal) = oneshot::channel();
        let waiting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let signal = async { drop(signal.await) };
            let exit = move || sender.send(()).unwrap();
            runtime.block_on(exit_after_signal(signal, stop, Duration::ZERO, exit));
        });
        own.block_on(async move {
            signal_sender.send(()).unwrap();
            // The only thread of this runtime waits, so no task of it runs.
            receiver.recv().unwrap();
            stopped.await.unwrap();
        });
        waiting.join().unwrap();
    }
}
