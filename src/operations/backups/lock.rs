//! The lock on the directory of a backup.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

use super::{manifest::MANIFEST_FILE, objects::cannot};
use crate::{
    error::{Error, Result},
    private_files,
};

/// Name of the file in the directory of a backup that is locked while a backup is made.
const LOCK_FILE: &str = "backup.lock";

/// The directory at the root of a new file system, which counts as empty.
const LOST_AND_FOUND: &str = "lost+found";

/// The lock on the directory of a backup, held while a backup is made there.
#[derive(Debug)]
pub(super) struct BackupLock {
    _file: File,
}

/// Locks the directory of a backup, and creates it if it does not exist. Fails if it contains anything else, or
/// if another process makes a backup there.
pub(super) fn lock_directory(directory: &Path) -> Result<BackupLock> {
    private_files::create_dir_all(directory).map_err(cannot("create", directory))?;
    let is_known = |name: &str| directory.join(name).is_file();
    let is_empty = is_empty(directory).map_err(cannot("read", directory))?;
    if !is_known(LOCK_FILE) && !is_known(MANIFEST_FILE) && !is_empty {
        return Err(Error::Conflict(format!(
            "{} is not empty and contains no backup; choose an empty directory, or one with an earlier backup of \
             this market",
            directory.display()
        )));
    }
    let path = directory.join(LOCK_FILE);
    let file = private_files::create(&path).map_err(cannot("write", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(BackupLock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(Error::Conflict(format!(
            "another `marketplace backup` is writing to {}; wait until it has ended",
            directory.display()
        ))),
        Err(TryLockError::Error(cause)) => Err(cannot("lock", &path)(cause)),
    }
}

/// Whether a directory contains nothing.
pub(super) fn is_empty(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if entry?.file_name() != LOST_AND_FOUND {
            return Ok(false);
        }
    }
    Ok(true)
}
