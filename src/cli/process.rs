//! Signals, sockets, and runtimes for commands that run until they are stopped.

use std::{net::SocketAddr, time::Duration};

use super::CommandError;
use crate::{config::Settings, market::max_blocking_threads, private_files};

/// How long background work may continue after the server has stopped.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates a temporary directory that is deleted when the value is dropped.
pub fn create_temporary_directory() -> Result<tempfile::TempDir, CommandError> {
    let to_error = |cause| {
        CommandError::Other(format!("cannot create a temporary directory: {cause}; choose one with --data"))
    };
    private_files::temp_dir_in(&std::env::temp_dir()).map_err(to_error)
}

/// Creates the multi-threaded async runtime for a market with these settings.
pub fn build_runtime(settings: &Settings) -> Result<tokio::runtime::Runtime, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(max_blocking_threads(settings))
        .build();
    runtime.map_err(|cause| CommandError::Other(format!("cannot start the async runtime: {cause}")))
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

/// Installs handlers for SIGINT and SIGTERM immediately. The future resolves when one of them arrives.
pub fn stop_signal() -> Result<impl Future<Output = ()>, CommandError> {
    use tokio::signal::unix::{SignalKind, signal};
    let to_error =
        |cause: std::io::Error| CommandError::Other(format!("cannot install signal handlers: {cause}"));
    let mut interrupted = signal(SignalKind::interrupt()).map_err(to_error)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(to_error)?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}
