//! The market's data directory for files: uploads, copies of repositories, and staged files.

use std::{
    fs::{self, File, Metadata, TryLockError},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{REPOSITORIES, StoredFile, TEMPORARY_FILES};
use crate::{domain::time::Timestamp, private_files};

/// Number of bytes that are copied at a time.
const CHUNK: usize = 1 << 20;

/// Name of the file whose lock decides who may delete repository copies, files of bundles, and complete uploads.
const CLEANUP_LOCK_FILE: &str = "repositories.lock";

/// Number of attempts to take the lock for a cleanup, and the time between them. A child process that another thread starts
/// inherits the lock of the previous cleanup, and keeps it until it executes its program.
const LOCK_ATTEMPTS: u32 = 5;
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// The data directory for files.
#[derive(Clone, Debug)]
pub(super) struct LocalStore {
    directory: PathBuf,
}

/// While this exists, no process deletes repository copies, files of bundles, or complete uploads, except uploads that were
/// discarded before.
#[derive(Debug)]
pub struct FileHold {
    file: Option<File>,
}

/// While this exists, there is no [`FileHold`], so that files can be deleted.
#[derive(Debug)]
pub struct CleanupLock {
    file: File,
}

// A process that is being started shares the descriptor until it runs its program, so closing the file is not enough. If
// unlocking fails, the lock ends with the last descriptor.
impl Drop for FileHold {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

impl Drop for CleanupLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl LocalStore {
    /// Creates a store in a directory, which is created with the first file.
    pub(super) fn new(directory: impl Into<PathBuf>) -> LocalStore {
        LocalStore { directory: directory.into() }
    }

    /// Creates a temporary file without a name.
    pub(super) fn temporary_file(&self) -> io::Result<File> {
        private_files::create_dir_all(&self.directory)?;
        tempfile::tempfile_in(&self.directory)
    }

    /// Returns the path of an upload.
    pub(super) fn upload_path(&self, id: Uuid) -> PathBuf {
        self.directory.join("uploads").join(format!("{id}.zip"))
    }

    fn upload_metadata(&self, id: Uuid) -> io::Result<Option<Metadata>> {
        private_files::if_found(fs::metadata(self.upload_path(id)))
    }

    /// Returns the size of an upload, or `None` if it does not exist.
    pub(super) fn upload_size(&self, id: Uuid) -> io::Result<Option<u64>> {
        Ok(self.upload_metadata(id)?.map(|file| file.len()))
    }

    /// Returns the size and the modification time of an upload, or `None` if it does not exist.
    pub(super) fn upload_version(&self, id: Uuid) -> io::Result<Option<String>> {
        let Some(file) = self.upload_metadata(id)? else { return Ok(None) };
        let modified = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Some(format!("{}.{}", file.len(), modified.as_nanos())))
    }

    /// Returns the path of the repository copy that was attached to an asset at a given time.
    pub(super) fn repository_path(&self, asset: Uuid, attached_at: Timestamp) -> PathBuf {
        self.directory.join(REPOSITORIES).join(format!("{asset}.{}", attached_at.0))
    }

    /// Moves a repository copy from a directory on the same disk into the store. Replaces an existing copy.
    pub(super) fn store_repository(
        &self,
        from: &Path,
        asset: Uuid,
        attached_at: Timestamp,
    ) -> io::Result<()> {
        let to = self.repository_path(asset, attached_at);
        private_files::create_dir_all(to.parent().unwrap_or(&self.directory))?;
        private_files::remove_dir_if_exists(&to)?;
        // Git's files have whatever modes the umask allows.
        private_files::restrict_tree(from)?;
        fs::rename(from, to)
    }

    /// Opens the file whose lock decides who may delete repository copies.
    fn open_repository_lock(&self) -> io::Result<File> {
        private_files::create_dir_all(&self.directory)?;
        private_files::create(&self.directory.join(CLEANUP_LOCK_FILE))
    }

    /// Keeps repository copies from being deleted. Waits until a cleanup that is running has ended.
    pub(super) fn hold_files(&self) -> io::Result<FileHold> {
        let file = match self.open_repository_lock() {
            Ok(file) => file,
            Err(denied)
                if matches!(denied.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
            {
                // A lock may be shared by processes that can only read its file.
                let found = private_files::if_found(File::open(self.directory.join(CLEANUP_LOCK_FILE)))?;
                let Some(file) = found else { return Ok(FileHold { file: None }) };
                file
            }
            Err(cause) => return Err(cause),
        };
        file.lock_shared()?;
        Ok(FileHold { file: Some(file) })
    }

    /// Excludes holds until the returned lock is dropped. `None` if there is one.
    pub(super) fn try_lock_for_cleanup(&self) -> io::Result<Option<CleanupLock>> {
        let lock = self.open_repository_lock()?;
        for _ in 0..LOCK_ATTEMPTS {
            match lock.try_lock() {
                Ok(()) => return Ok(Some(CleanupLock { file: lock })),
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_INTERVAL),
                Err(TryLockError::Error(cause)) => return Err(cause),
            }
        }
        Ok(None)
    }

    /// Returns the directory of the files that were made for bundles.
    pub(super) fn bundle_files(&self) -> PathBuf {
        self.directory.join("bundles")
    }

    /// Deletes all repository copies for which `is_referenced` returns false. Returns their number.
    pub(super) fn cleanup_repositories(
        &self,
        _: &CleanupLock,
        is_referenced: impl Fn(Uuid, Timestamp) -> bool,
    ) -> io::Result<u64> {
        let mut deleted = 0;
        for entry in list_dir(&self.directory.join(REPOSITORIES))? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let parts =
                name.split_once('.').and_then(|(asset, at)| Some((asset.parse().ok()?, at.parse().ok()?)));
            if !parts.is_some_and(|(asset, at)| is_referenced(asset, Timestamp(at))) {
                fs::remove_dir_all(entry.path())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// Creates a temporary directory on the same disk. It is deleted when the value is dropped.
    pub(super) fn staging_dir(&self) -> io::Result<tempfile::TempDir> {
        let directory = self.directory.join(TEMPORARY_FILES);
        private_files::create_dir_all(&directory)?;
        private_files::temp_dir_in(&directory)
    }

    /// Deletes the temporary directories that an earlier process left.
    pub(super) fn clear_staging_dirs(&self) -> io::Result<()> {
        let left = list_dir(&self.directory.join(TEMPORARY_FILES))?;
        // A command that has ended meanwhile may have deleted one.
        left.iter().try_for_each(|entry| private_files::remove_dir_if_exists(&entry.path()))
    }

    /// Stores an upload completely or not at all.
    pub(super) fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<StoredFile> {
        let path = self.upload_path(id);
        let directory = path.parent().unwrap_or(&self.directory);
        private_files::create_dir_all(directory)?;
        let staging_dir = self.staging_dir()?;
        let file = staging_dir.path().join("upload");
        let written = copy_and_hash(source, &mut private_files::create(&file)?)?;
        persist_file(&file, &path)?;
        Ok(written)
    }

    /// Deletes an upload.
    pub(super) fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        fs::remove_file(self.upload_path(id))
    }

    /// Copies a stored upload, and returns its current size and digest.
    pub(super) fn copy_upload(&self, id: Uuid, to: &mut dyn Write) -> io::Result<StoredFile> {
        copy_and_hash(&mut File::open(self.upload_path(id))?, to)
    }
}

/// Moves a file on the same disk to its final path, and syncs it so that it survives a system crash.
pub(super) fn persist_file(from: &Path, to: &Path) -> io::Result<()> {
    let directory = to.parent().unwrap_or(Path::new("."));
    private_files::create_dir_all(directory)?;
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    File::open(directory)?.sync_all()
}

/// Returns the entries of a directory, or nothing if it does not exist.
pub(super) fn list_dir(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    private_files::if_found(fs::read_dir(directory))?.into_iter().flatten().collect()
}

/// Copies a reader to a writer, and returns the size and digest of the data.
pub fn copy_and_hash(source: &mut dyn Read, to: &mut dyn Write) -> io::Result<StoredFile> {
    let (mut digest, mut size_bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        let count = source.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        to.write_all(&chunk[..count])?;
        digest.update(&chunk[..count]);
        size_bytes += count as u64;
    }
    to.flush()?;
    Ok(StoredFile { size_bytes, sha256: format!("{:x}", digest.finalize()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upload_is_stored_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let local = LocalStore::new(directory.path().join("blobs"));
        let id = Uuid::from_u128(7);
        let written = local.put_upload(id, &mut &b"abc"[..]).unwrap();
        assert_eq!(written.size_bytes, 3);
        assert_eq!(written.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(local.copy_upload(id, &mut io::sink()).unwrap(), written);
        let names: Vec<_> = fs::read_dir(directory.path().join("blobs/uploads")).unwrap().collect();
        assert_eq!(names.len(), 1, "no temporary file is left");
        local.remove_upload(id).unwrap();
        assert!(local.copy_upload(id, &mut io::sink()).is_err());
    }
}
