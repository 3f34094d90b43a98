//! The engine's directory. Only the owner of the process can access its files, regardless of the umask. Writes do
//! not wait for the disk.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, INDEX_WRITER_LOCK, Lock, MmapDirectory,
    TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
    error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// File in which the engine keeps a list of the files that it may delete. It would be replaced for each new
/// file; instead, the list is read from the directory.
const LIST_FILE: &str = ".managed.json";

/// Length of the names of segments, which the names of their files start with.
const SEGMENT_NAME_LENGTH: usize = 32;

/// A memory-mapped directory whose new files have mode 0600. A write is visible to all processes at once, but
/// may be lost if the machine fails; see [`durability`](crate::durability).
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

    /// Opens the file whose lock the writer of the index holds.
    pub(crate) fn open_writer_lock(&self) -> io::Result<File> {
        let path = self.path.join(&INDEX_WRITER_LOCK.filepath);
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
    }

    /// Returns the files of segments, whether or not a commit has them.
    fn segment_files(&self) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            if let Ok(name) = entry?.file_name().into_string()
                && let Some((segment, _)) = name.split_once('.')
                && segment.len() == SEGMENT_NAME_LENGTH
                && segment.bytes().all(|byte| byte.is_ascii_hexdigit())
            {
                files.push(name);
            }
        }
        Ok(files)
    }
}

/// Creates a directory with mode 0700, with its parents, if it does not exist.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Replaces a file as a whole, so that a reader sees the old or the new contents.
pub(crate) fn replace_file(path: &Path, contents: &[u8], is_synced: bool) -> io::Result<()> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
    else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    // Only the process that holds the writer's lock replaces files, so the name is free or a killed process
    // left the file.
    let temporary = directory.join(format!(".{name}.new"));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(contents)?;
    if is_synced {
        file.sync_all()?;
    }
    fs::rename(&temporary, path)?;
    if is_synced { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// A new file.
struct NewFile(File);

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for NewFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
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
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path.join(path));
        match created {
            Ok(file) => Ok(io::BufWriter::new(Box::new(NewFile(file)))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(OpenWriteError::FileAlreadyExists(path.to_owned()))
            }
            Err(cause) => {
                Err(OpenWriteError::IoError { io_error: Arc::new(cause), filepath: path.to_owned() })
            }
        }
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path != Path::new(LIST_FILE) {
            return self.inner.atomic_read(path);
        }
        let files = self.segment_files().map_err(|cause| OpenReadError::IoError {
            io_error: Arc::new(cause),
            filepath: path.to_owned(),
        })?;
        // Names of segment files have no characters that JSON escapes.
        let names: Vec<String> = files.iter().map(|name| format!("\"{name}\"")).collect();
        Ok(format!("[{}]", names.join(",")).into_bytes())
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(LIST_FILE) {
            return Ok(());
        }
        replace_file(&self.path.join(path), data, false)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        if lock.filepath == INDEX_WRITER_LOCK.filepath {
            // Only an `EngineWriter` opens the engine's writer, and it holds the lock for longer.
            return Ok(DirectoryLock::from(Box::new(())));
        }
        // The engine would create the file with the mode that the umask gives.
        let path = self.path.join(&lock.filepath);
        if !path.exists() {
            let created = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
            created.map_err(|cause| LockError::IoError(Arc::new(cause)))?;
        }
        self.inner.acquire_lock(lock)
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(watch_callback)
    }
}
