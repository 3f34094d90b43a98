//! A data directory while a backup is restored to it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::files::{cannot, create_new};
use crate::{
    blobs,
    error::{Error, Result},
    market::{DATABASE_FILE, OpenError, RESTORE_MARKER, SERVE_LOCK_FILE, ServeLock},
    private_files,
};

/// Name of the database until it is complete. No process that opens the directory can mistake it for the
/// market's.
const INCOMPLETE_DATABASE: &str = "restore-in-progress.sqlite";

/// A data directory that is being restored.
pub(super) struct DataDirectory<'a> {
    directory: &'a Path,
    is_new: bool,
    lock: ServeLock,
}

impl DataDirectory<'_> {
    /// Locks a directory, and marks it, so that no market is opened there. Fails if it is in use or not
    /// empty.
    pub(super) fn claim(directory: &Path) -> Result<DataDirectory<'_>> {
        let is_new = !directory.exists();
        private_files::create_dir_all(directory).map_err(cannot("create", directory))?;
        let names = || private_files::file_names(directory).map_err(cannot("read", directory));
        let found = names()?;
        let is_named = |name: &str| found.iter().any(|found| found == name);
        // A server that is running has locked its directory, which is not empty then.
        let lock =
            if found.is_empty() || is_named(SERVE_LOCK_FILE) { Some(acquire(directory)?) } else { None };
        let Some(lock) = lock.filter(|_| found.is_empty()) else {
            return Err(if is_named(RESTORE_MARKER) {
                Error::Conflict(format!(
                    "an earlier restore to {} was interrupted; delete the directory, or choose another one with --data",
                    directory.display()
                ))
            } else {
                not_empty(directory)
            });
        };
        let marker = directory.join(RESTORE_MARKER);
        private_files::create(&marker).map_err(cannot("write", &marker))?;
        // Commands take no lock, and one may have begun before the marker existed.
        if names()?.iter().any(|name| name != SERVE_LOCK_FILE && name != RESTORE_MARKER) {
            fs::remove_file(&marker).map_err(cannot("delete", &marker))?;
            return Err(not_empty(directory));
        }
        Ok(DataDirectory { directory, is_new, lock })
    }

    /// Returns the path of the database until the restore is complete.
    pub(super) fn incomplete_database(&self) -> PathBuf {
        self.directory.join(INCOMPLETE_DATABASE)
    }

    /// Creates the database file.
    pub(super) fn create_database(&self) -> Result<File> {
        let path = self.incomplete_database();
        create_new(&path).map_err(cannot("write", &path))
    }

    /// Gives the database its name.
    pub(super) fn complete_database(&self) -> Result<()> {
        let path = self.directory.join(DATABASE_FILE);
        if path.exists() {
            return Err(Error::Conflict(format!(
                "another process has created a market in {} meanwhile; choose another directory with --data",
                self.directory.display()
            )));
        }
        let complete =
            || fs::rename(self.incomplete_database(), &path).and_then(|()| sync_directory(self.directory));
        complete().map_err(cannot("write", &path))
    }

    /// Lets the market be opened.
    pub(super) fn release(self) -> Result<()> {
        let marker = self.directory.join(RESTORE_MARKER);
        let released = fs::remove_file(&marker).and_then(|()| sync_directory(self.directory));
        released.map_err(cannot("delete", &marker))
    }

    /// Deletes the restored files. Files that cannot be deleted stay marked.
    pub(super) fn clear(self) {
        let mut names: Vec<String> =
            ["", "-wal", "-shm"].iter().map(|suffix| format!("{INCOMPLETE_DATABASE}{suffix}")).collect();
        // If another process has created a market meanwhile, its files stay.
        let is_ours = !self.directory.join(DATABASE_FILE).exists();
        if is_ours {
            names.extend([blobs::DIRECTORY, SERVE_LOCK_FILE].map(str::to_owned));
        }
        names.push(RESTORE_MARKER.to_owned());
        let delete = || -> io::Result<()> {
            for path in names.iter().map(|name| self.directory.join(name)) {
                if path.is_dir() {
                    private_files::remove_dir_if_exists(&path)?;
                } else {
                    private_files::remove_if_exists(&path)?;
                }
            }
            if self.is_new && is_ours { fs::remove_dir(self.directory) } else { Ok(()) }
        };
        if let Err(cause) = delete() {
            tracing::warn!(%cause, "the incomplete data directory could not be deleted");
        }
        drop(self.lock);
    }
}

fn acquire(directory: &Path) -> Result<ServeLock> {
    ServeLock::acquire(directory).map_err(|error| match error {
        OpenError::AlreadyServed(_) => Error::Conflict(format!(
            "{} is in use by another process; choose another directory with --data",
            directory.display()
        )),
        other => Error::Conflict(other.to_string()),
    })
}

fn not_empty(directory: &Path) -> Error {
    Error::Conflict(format!(
        "{} is not empty; a backup is restored only to an empty directory, so choose another one with --data",
        directory.display()
    ))
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
