//! The lock that keeps a second server off a data directory. The operating system releases it when the
//! process ends.

use std::{fs::File, path::Path};

use super::OpenError;
use crate::private_files;

/// Name of the locked file in the data directory.
pub const SERVE_LOCK_FILE: &str = "serve.lock";

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
        match file.try_lock() {
            Ok(()) => Ok(ServeLock { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(OpenError::AlreadyServed(dir.to_owned())),
            Err(std::fs::TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}
