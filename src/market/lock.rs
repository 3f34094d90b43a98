//! The lock that keeps a second server off a data directory. The operating system releases it when the
//! process ends.

use std::{
    fs::{File, TryLockError},
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
    _file: File,
}

impl ServeLock {
    /// Locks a directory. Fails if another process holds the lock.
    pub fn acquire(dir: &Path) -> Result<ServeLock, OpenError> {
        let unusable = |cause| OpenError::directory(dir.to_owned(), cause);
        let file = private_files::create(&dir.join(SERVE_LOCK_FILE)).map_err(unusable)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(ServeLock { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < WAIT => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(OpenError::AlreadyServed(dir.to_owned())),
                Err(TryLockError::Error(cause)) => return Err(unusable(cause)),
            }
        }
    }
}
