//! The lock that keeps a second server off a data directory. The operating system releases it when the
//! process ends. The locked file has the URL of the server, for commands on the same directory.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::OpenError;
use crate::private_files;

/// Name of the locked file in the data directory.
pub const SERVE_LOCK_FILE: &str = "serve.lock";

/// How long a process waits for a lock. A server that was killed while it started a child process still holds
/// the lock until the child runs its program, which takes milliseconds on a busy machine.
const WAIT: Duration = Duration::from_millis(500);

/// Interval at which a process that waits tries to lock again.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The lock on a data directory, held by the one process that serves it.
#[derive(Debug)]
pub struct ServeLock {
    file: File,
}

impl ServeLock {
    /// Locks a directory. Fails if another process holds the lock.
    pub fn acquire(dir: &Path) -> Result<ServeLock, OpenError> {
        let unusable = |cause| OpenError::directory(dir.to_owned(), cause);
        // Not truncated, since the file may be that of a server that is running.
        let mut options = private_files::open_options();
        let options = options.write(true).create(true).truncate(false);
        let file = options.open(dir.join(SERVE_LOCK_FILE)).map_err(unusable)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // What a server has written that ended is not the URL of this one.
                    file.set_len(0).map_err(unusable)?;
                    return Ok(ServeLock { file });
                }
                Err(TryLockError::WouldBlock) if started.elapsed() < WAIT => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(OpenError::AlreadyServed(dir.to_owned())),
                Err(TryLockError::Error(cause)) => return Err(unusable(cause)),
            }
        }
    }
    /// Writes the URL of the server that holds the lock.
    pub(super) fn write_url(&self, url: &str) -> io::Result<()> {
        (&self.file).write_all(url.as_bytes())
    }
}

/// Returns the URL of the server that is running on a directory; `None` if there is none.
pub fn running_server_url(dir: &Path) -> Option<String> {
    let path = dir.join(SERVE_LOCK_FILE);
    let file = File::open(&path).ok()?;
    // The file of a server that has ended can be locked.
    if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    fs::read_to_string(&path).ok().filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_is_that_of_the_server_that_runs() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        assert_eq!(running_server_url(dir), None);
        let lock = ServeLock::acquire(dir).unwrap();
        assert_eq!(running_server_url(dir), None, "it does not listen yet");
        lock.write_url("http://127.0.0.1:9999").unwrap();
        assert!(matches!(ServeLock::acquire(dir), Err(OpenError::AlreadyServed(_))));
        assert_eq!(running_server_url(dir).as_deref(), Some("http://127.0.0.1:9999"));
        drop(lock);
        assert_eq!(running_server_url(dir), None, "it has ended");
        let _lock = ServeLock::acquire(dir).unwrap();
        assert_eq!(running_server_url(dir), None, "another one does not listen yet");
    }
}
