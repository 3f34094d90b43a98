//! The engine's directory, with files that only the owner of the process can access, whatever its umask is.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
    error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// A memory-mapped directory whose new files have mode 0600.
#[derive(Clone, Debug)]
pub(crate) struct PrivateDirectory {
    inner: MmapDirectory,
    path: PathBuf,
}

impl PrivateDirectory {
    /// Opens a directory that exists.
    pub(crate) fn open(path: &Path) -> Result<PrivateDirectory, OpenDirectoryError> {
        Ok(PrivateDirectory { inner: MmapDirectory::open(path)?, path: path.to_owned() })
    }
}

/// Restricts a file to its owner.
pub(crate) fn restrict_file(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o600))
}

/// Creates a directory with mode 0700, with its parents, if it does not exist.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

impl Directory for PrivateDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let writer = self.inner.open_write(path)?;
        match restrict_file(&self.path.join(path)) {
            Ok(()) => Ok(writer),
            Err(cause) => {
                Err(OpenWriteError::IoError { io_error: Arc::new(cause), filepath: path.to_owned() })
            }
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        // Writes a temporary file, which has mode 0600, and renames it.
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let acquired = self.inner.acquire_lock(lock)?;
        // The file is empty, and a process that only reads may not be allowed to change it.
        let _ = restrict_file(&self.path.join(&lock.filepath));
        Ok(acquired)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(watch_callback)
    }
}
