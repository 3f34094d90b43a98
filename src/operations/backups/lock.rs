//! The lock on the directory of a backup.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

use super::{
    files::{cannot, open_regular_file},
    manifest::MANIFEST_FILE,
    place::Place,
};
use crate::{
    error::{Error, Result},
    private_files,
};

/// Name of the file in the directory of a backup that is locked while a backup is made or restored.
const LOCK_FILE: &str = "backup.lock";

/// Name of the file in the data directory that is locked while a backup to a bucket is made. The name differs from
/// [`LOCK_FILE`], which marks a directory of backups.
const BUCKET_LOCK_FILE: &str = "backup-to-bucket.lock";

/// The lock on the directory of a backup: exclusive while a backup is made, shared while it is restored.
#[derive(Debug)]
pub(super) struct BackupLock {
    _file: File,
}

/// Locks a place for a backup. A bucket cannot be locked, so this locks the data directory instead, if this process may
/// write there: backups of one market are made on its machine.
pub(super) fn lock_place(place: &Place, data_dir: &Path) -> Result<Option<BackupLock>> {
    match place {
        Place::Directory(directory) => lock_directory(directory).map(Some),
        Place::Bucket { .. } => {
            let path = data_dir.join(BUCKET_LOCK_FILE);
            match open_lock_file(&path) {
                Ok(file) => lock(file, &path, &place.to_string()).map(Some),
                Err(_) => Ok(None),
            }
        }
    }
}

/// Locks the directory of a backup, and creates it if it does not exist. Fails if it contains anything else,
/// or if another process makes a backup there.
fn lock_directory(directory: &Path) -> Result<BackupLock> {
    private_files::create_dir_all(directory).map_err(cannot("create", directory))?;
    let is_known = |name: &str| directory.join(name).is_file();
    let found = private_files::file_names(directory).map_err(cannot("read", directory))?;
    if !is_known(LOCK_FILE) && !is_known(MANIFEST_FILE) && !found.is_empty() {
        return Err(Error::Conflict(format!(
            "{} is not empty and contains no backup; choose an empty directory, or one with an earlier backup of \
             this market",
            directory.display()
        )));
    }
    let path = directory.join(LOCK_FILE);
    let file = open_lock_file(&path).map_err(cannot("write", &path))?;
    lock(file, &path, &directory.display().to_string())
}

fn lock(file: File, path: &Path, place: &str) -> Result<BackupLock> {
    match file.try_lock() {
        Ok(()) => Ok(BackupLock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(Error::Conflict(format!(
            "another `marketplace backup` is writing to {place}, or a `marketplace restore` is reading it; wait until it \
             has ended"
        ))),
        Err(TryLockError::Error(cause)) => Err(cannot("lock", path)(cause)),
    }
}

/// Keeps backups from changing a directory while it is restored. Fails if a backup is being made there.
/// `None` for a bucket, and if there is no lock and this process cannot create one, as in a read-only copy of a backup.
pub(super) fn lock_for_reading(place: &Place) -> Result<Option<BackupLock>> {
    let Place::Directory(directory) = place else { return Ok(None) };
    let path = directory.join(LOCK_FILE);
    let file = match open_regular_file(&path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => match open_lock_file(&path) {
            Ok(file) => file,
            Err(_) => return Ok(None),
        },
        other => other.map_err(cannot("read", &path))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(BackupLock { _file: file })),
        Err(TryLockError::WouldBlock) => Err(Error::Conflict(format!(
            "a `marketplace backup` is writing to {}; wait until it has ended",
            directory.display()
        ))),
        Err(TryLockError::Error(cause)) => Err(cannot("lock", &path)(cause)),
    }
}

/// Opens the file to lock, and creates it if it does not exist. Never changes its contents, since it may be a
/// link.
fn open_lock_file(path: &Path) -> io::Result<File> {
    private_files::if_found(open_regular_file(path))?;
    private_files::open_options().write(true).create(true).truncate(false).open(path)
}
