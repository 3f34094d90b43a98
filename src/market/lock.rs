//! The lock that keeps a second server off a folder. It belongs to the process and goes with it, however that ends.

use std::{fs::File, path::Path};

use super::OpenError;

/// Held by the one process that serves a folder.
#[derive(Debug)]
pub struct ServeLock {
    _file: File,
}

impl ServeLock {
    /// Takes the lock of a folder, or says who has it.
    pub fn take(folder: &Path) -> Result<ServeLock, OpenError> {
        let unusable = |cause| OpenError::Folder { path: folder.to_owned(), cause };
        let file = File::create(folder.join("serve.lock")).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(ServeLock { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(OpenError::Served(folder.to_owned())),
            Err(std::fs::TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}
