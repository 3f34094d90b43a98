//! The market that a backup reads.

use std::{
    fs::{self, File, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::files::cannot;
use crate::{
    blobs::Blobs,
    config::BlobSettings,
    domain::time::Timestamp,
    error::{Error, Result},
    market::{self, OpenError, RESTORE_MARKER},
    store::Store,
};

/// Number of connections that read the database.
const READERS: u32 = 1;

/// The market to back up. It is only read, so a server may use it at the same time.
#[derive(Debug)]
pub struct BackupSource {
    pub(super) store: Store,
    pub(super) blobs: Blobs,
    pub(super) now: Timestamp,
    /// The data directory.
    pub(super) directory: PathBuf,
    /// The database file, if it is read without locks.
    unlocked: Option<UnlockedFile>,
}

/// A file that nothing should change while it is read.
#[derive(Debug)]
struct UnlockedFile {
    path: PathBuf,
    version: FileVersion,
}

/// Inode, size, modification time, and change time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion(u64, u64, (i64, i64), (i64, i64));

impl BackupSource {
    /// Opens the market in a data directory. `now` is the time of the backup.
    ///
    /// A directory that is read-only to this process can be backed up, too: next to a server, and, if nothing
    /// uses the market, without the locks of the database, which are files in the directory.
    pub fn open(
        directory: &Path,
        settings: &BlobSettings,
        now: Timestamp,
    ) -> std::result::Result<BackupSource, OpenError> {
        if directory.join(RESTORE_MARKER).exists() {
            return Err(OpenError::Restoring(directory.to_owned()));
        }
        let path = directory.join(market::DATABASE_FILE);
        ensure_readable(&path)?;
        let blobs = Blobs::open(directory, settings).map_err(OpenError::BlobStore)?;
        let (store, unlocked) = match Store::open_read_only(&path, READERS) {
            Ok(store) => (store, None),
            Err(error) => match OpenError::store(directory, error) {
                // SQLite creates the files of its locks even to read, unless a server has created them.
                OpenError::NotWritable { .. } if !write_ahead_log(&path).exists() => {
                    let version = FileVersion::read(&path).map_err(cannot("read", &path))?;
                    let store = Store::open_unlocked(&path, READERS)?;
                    (store, Some(UnlockedFile { path, version }))
                }
                error => return Err(error),
            },
        };
        Ok(BackupSource { store, blobs, now, directory: directory.to_owned(), unlocked })
    }

    /// Fails if another process has changed the database although this one read it without locks.
    pub(super) fn ensure_unchanged(&self) -> Result<()> {
        let Some(UnlockedFile { path, version }) = &self.unlocked else { return Ok(()) };
        let is_unchanged = FileVersion::read(path).is_ok_and(|found| found == *version);
        if is_unchanged && !write_ahead_log(path).exists() {
            return Ok(());
        }
        Err(Error::Conflict(format!(
            "{} was changed while it was backed up; make its directory writable for `marketplace backup`, which can \
             then run next to a server, or back it up while nothing uses it",
            path.display()
        )))
    }
}

impl FileVersion {
    fn read(path: &Path) -> io::Result<FileVersion> {
        let file: Metadata = fs::metadata(path)?;
        let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
        Ok(FileVersion(file.ino(), file.len(), modified, changed))
    }
}

/// Returns the path of the log that exists while a process uses the database.
fn write_ahead_log(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// Says so if the files of the market belong to another user. A database that does not exist is reported
/// later.
fn ensure_readable(path: &Path) -> Result<()> {
    match File::open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Err(Error::Conflict(format!(
            "cannot read {}: {cause}; run `marketplace backup` as the user that runs the server",
            path.display()
        ))),
        _ => Ok(()),
    }
}
