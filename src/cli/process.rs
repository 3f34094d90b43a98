//! What commands that go on until they are told to stop need of the system.

use std::{net::SocketAddr, time::Duration};

use super::Failure;

/// How long work may still run when the server has stopped.
pub const LAST_WORD: Duration = Duration::from_secs(1);

/// A folder that goes with the process.
pub fn temporary_folder() -> Result<tempfile::TempDir, Failure> {
    let refused =
        |cause| Failure::Other(format!("cannot make a temporary folder: {cause}; name one with --data"));
    tempfile::tempdir().map_err(refused)
}

/// The threads that answer.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|cause| Failure::Other(format!("cannot start the server: {cause}")))
}

/// Takes an address and port, or says what to do where they cannot be had: choose others with this flag.
pub fn listen(address: SocketAddr, flag: &str) -> Result<std::net::TcpListener, Failure> {
    let refused = |cause: std::io::Error| {
        let hint = match cause.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("is in use; choose another with {flag}, or port 0 for a free one")
            }
            _ => format!("cannot be listened on; choose another with {flag}"),
        };
        Failure::Other(format!("{address} {hint} ({cause})"))
    };
    let listener = std::net::TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    Ok(listener)
}

/// Takes over the signals that ask the process to stop, from now on; the answer resolves when one comes.
pub fn stop_signal() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let refused = |cause: std::io::Error| Failure::Other(format!("cannot listen to signals: {cause}"));
    let mut interrupted = signal(SignalKind::interrupt()).map_err(refused)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(refused)?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}
