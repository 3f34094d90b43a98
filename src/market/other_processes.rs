//! How a server learns that another process has changed its directory: that process sends a datagram to a
//! socket in the directory. If that fails, the server finds out by polling, while somebody is connected.

use std::{
    fs::{self, File, Permissions},
    io,
    os::{
        fd::AsRawFd,
        unix::{fs::PermissionsExt, net::UnixDatagram},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::sync::watch;

use super::Market;
use crate::{
    error::{ErrorChain, Result},
    private_files,
};

/// The server's socket in the data directory. What is sent to it has no meaning of its own.
pub const SOCKET_FILE: &str = "changes.sock";

/// Interval at which a server polls while somebody is connected.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Interval at which a server polls while nobody is connected, if it has uses of keys or sessions to write.
const PENDING_USES_INTERVAL: Duration = Duration::from_mins(1);

/// Notifies the server of a directory, if there is one. Errors are ignored, since the server also polls.
pub(super) fn notify_server(data_dir: &Path) {
    let notify = || -> io::Result<()> {
        let directory = ShortPath::open(data_dir)?;
        let socket = UnixDatagram::unbound()?;
        // If the queue of the server is full, it is going to look for changes anyway.
        socket.set_nonblocking(true)?;
        socket.send_to(&[0], directory.join(SOCKET_FILE))?;
        Ok(())
    };
    if let Err(cause) = notify() {
        tracing::debug!(%cause, "no server was notified of the change");
    }
}

/// Listens for other processes. The future picks up the changes that they make to the directory of a market,
/// until it is dropped. `connected` is the number of connections to the server. Must be called on an async
/// runtime, at its start.
pub fn follow_processes(
    market: Market,
    connected: watch::Receiver<usize>,
) -> impl Future<Output = ()> + Send + 'static {
    let socket = match ListeningSocket::bind(market.data_dir()) {
        Ok(socket) => Some(socket),
        Err(cause) => {
            tracing::warn!(%cause, "other processes cannot notify the server of changes, so it polls for them");
            None
        }
    };
    // The market was opened before the socket, so a notification may have been lost.
    log_failure(market.pick_up_changes());
    follow(market, socket, connected)
}

async fn follow(market: Market, socket: Option<ListeningSocket>, mut connected: watch::Receiver<usize>) {
    let mut was_connected = false;
    loop {
        let interval = if was_connected {
            Some(POLL_INTERVAL)
        } else {
            market.key_cache().has_pending_uses().then_some(PENDING_USES_INTERVAL)
        };
        tokio::select! {
            () = receive(socket.as_ref()) => {}
            () = next_poll(&mut connected, was_connected, interval) => was_connected = *connected.borrow() > 0,
        }
        let changed = market.clone();
        let update = move || {
            log_failure(changed.pick_up_changes());
            log_unrecorded(changed.record_pending_uses());
            Ok(())
        };
        log_failure(super::spawn_blocking(update).await);
    }
}

fn log_failure(picked_up: Result<()>) {
    if let Err(error) = picked_up {
        tracing::error!(cause = %ErrorChain(&error), "picking up the changes of other processes failed");
    }
}

/// Logs that uses of sessions and keys could not be recorded.
pub fn log_unrecorded(recorded: Result<()>) {
    if let Err(error) = recorded {
        tracing::warn!(cause = %ErrorChain(&error), "the last uses of sessions and keys could not be recorded");
    }
}

/// Resolves when another process has sent a notification; never without a socket that works.
async fn receive(socket: Option<&ListeningSocket>) {
    match socket {
        Some(ListeningSocket { socket, .. }) => {
            if let Err(cause) = socket.recv(&mut [0]).await {
                tracing::warn!(%cause, "a notification of another process cannot be received");
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

/// Resolves when the first client connects, when the last one has left, and after an interval.
async fn next_poll(connected: &mut watch::Receiver<usize>, was_connected: bool, interval: Option<Duration>) {
    let changed = connected.wait_for(|count| (*count > 0) != was_connected);
    let has_stopped = match interval {
        Some(interval) => tokio::time::timeout(interval, changed).await.is_ok_and(|result| result.is_err()),
        None => changed.await.is_err(),
    };
    if has_stopped {
        std::future::pending::<()>().await;
    }
}

/// The socket of a server. Dropping it deletes its file.
struct ListeningSocket {
    socket: tokio::net::UnixDatagram,
    path: PathBuf,
}

impl ListeningSocket {
    /// Binds the socket. Only the process that has the lock of the directory may call this.
    fn bind(data_dir: &Path) -> io::Result<ListeningSocket> {
        let path = data_dir.join(SOCKET_FILE);
        private_files::remove_if_exists(&path)?;
        let socket = UnixDatagram::bind(ShortPath::open(data_dir)?.join(SOCKET_FILE))?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        socket.set_nonblocking(true)?;
        Ok(ListeningSocket { socket: tokio::net::UnixDatagram::from_std(socket)?, path })
    }
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A directory by the number of its file descriptor, since the path of a socket has at most 107 bytes.
struct ShortPath(File);

impl ShortPath {
    fn open(directory: &Path) -> io::Result<ShortPath> {
        File::open(directory).map(ShortPath)
    }

    fn join(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.0.as_raw_fd()))
    }
}
