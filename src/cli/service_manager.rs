//! Messages to the service manager that started the server, for `Type=notify` of systemd. Without such a manager, they
//! are discarded.
//!
//! The protocol is a datagram of text, so it needs no library.

use std::{
    ffi::OsStr,
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
    sync::Arc,
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinHandle;

use crate::error::Result;

/// The service manager. Clones refer to the same one.
#[derive(Clone, Debug, Default)]
pub struct ServiceManager {
    socket: Option<Arc<UnixDatagram>>,
    /// How often it expects a report that the server makes progress.
    watchdog: Option<Duration>,
}

impl ServiceManager {
    /// Connects to the manager that the environment names. A manager that cannot be reached is ignored.
    pub fn from_environment() -> ServiceManager {
        let Some(path) = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else {
            return ServiceManager::default();
        };
        match connect(&path) {
            Ok(socket) => {
                let variable = |name: &str| std::env::var(name).ok();
                let watchdog = watchdog_interval(variable("WATCHDOG_USEC"), variable("WATCHDOG_PID"));
                ServiceManager { socket: Some(Arc::new(socket)), watchdog }
            }
            Err(cause) => {
                tracing::warn!(%cause, "the service manager in NOTIFY_SOCKET cannot be reached");
                ServiceManager::default()
            }
        }
    }

    /// Reports that the server accepts requests, with its status in one line.
    pub fn ready(&self, status: &str) {
        // Each line of a message is a field of its own.
        let status: String = status.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.send(&format!("READY=1\nSTATUS={status}"));
    }

    /// Reports that the settings are being read again. Call [`ServiceManager::ready`] afterwards.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}\nSTATUS=Reading the settings again"));
    }

    /// Reports that the server accepts no more requests, and ends when the running requests are complete.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=Stopping, when the running requests have ended");
    }

    /// Reports that the server makes progress, as often as the manager expects it, until the task is aborted. Before
    /// each report, a task of the server reads the database with `check`. So a server that hangs reports nothing, and the manager
    /// restarts it.
    pub fn watch(&self, check: impl Fn() -> Result<()> + Clone + Send + 'static) -> Option<JoinHandle<()>> {
        let interval = self.watchdog?;
        let manager = self.clone();
        Some(tokio::spawn(async move {
            loop {
                match tokio::task::spawn_blocking(check.clone()).await {
                    Ok(Ok(())) => manager.send("WATCHDOG=1"),
                    Ok(Err(cause)) => tracing::error!(%cause, "the database cannot be read"),
                    Err(cause) => tracing::error!(%cause, "the database cannot be read"),
                }
                tokio::time::sleep(interval).await;
            }
        }))
    }

    fn send(&self, message: &str) {
        if let Some(socket) = &self.socket
            && let Err(cause) = socket.send(message.as_bytes())
        {
            tracing::debug!(%cause, "the service manager could not be notified");
        }
    }
}

/// Connects to a socket. A name that begins with `@` is in the abstract namespace.
fn connect(path: &OsStr) -> io::Result<UnixDatagram> {
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(path)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    // A manager that does not read its messages must not stop the server.
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Returns the interval of progress reports: a third of the time that the manager waits for one. `None` if it waits for
/// none, or for another process.
fn watchdog_interval(microseconds: Option<String>, process: Option<String>) -> Option<Duration> {
    let is_other = process.is_some_and(|process| process != std::process::id().to_string());
    let microseconds = microseconds?.parse().ok().filter(|number| *number > 0 && !is_other)?;
    Some(Duration::from_micros(microseconds) / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchdog_is_for_this_process() {
        let own = std::process::id().to_string();
        let interval = |microseconds: &str, process: Option<&str>| {
            watchdog_interval(Some(microseconds.to_owned()), process.map(str::to_owned))
        };
        let tenth = Some(Duration::from_millis(100));
        assert_eq!((interval("300000", None), interval("300000", Some(&own))), (tenth, tenth));
        for (microseconds, process) in [("300000", Some("1")), ("0", None), ("x", None)] {
            assert_eq!(interval(microseconds, process), None);
        }
        assert_eq!(watchdog_interval(None, None), None);
    }
}
