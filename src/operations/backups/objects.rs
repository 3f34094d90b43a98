//! The objects of a backup: files that are named by the SHA-256 digest of their contents and never changed.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    blobs::{self, StoredFile},
    error::{Error, Result},
    private_files,
};

/// The objects in the directory of a backup.
#[derive(Debug)]
pub(super) struct Objects {
    directory: PathBuf,
    /// Number of bytes that were written to new objects.
    pub(super) new_bytes: u64,
}

impl Objects {
    /// Returns the objects in the directory of a backup, which need not exist yet.
    pub(super) fn new(directory: &Path) -> Objects {
        Objects { directory: directory.to_owned(), new_bytes: 0 }
    }

    /// Returns the path of an object.
    pub(super) fn path(&self, object: &StoredFile) -> PathBuf {
        self.directory.join("objects").join(&object.sha256[..2]).join(&object.sha256)
    }

    /// Whether the object exists. Its contents are not read.
    pub(super) fn contains(&self, object: &StoredFile) -> bool {
        fs::metadata(self.path(object)).is_ok_and(|file| file.len() == object.size_bytes)
    }

    /// Stores bytes as an object.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) -> Result<StoredFile> {
        let sha256 = format!("{:x}", Sha256::digest(bytes));
        let object = StoredFile { size_bytes: bytes.len() as u64, sha256 };
        if !self.contains(&object) {
            let incoming = self.incoming_path();
            let write = || private_files::create(&incoming)?.write_all(bytes);
            write().map_err(cannot("write", &incoming))?;
            self.keep_incoming(&object)?;
        }
        Ok(object)
    }

    /// Stores what `copy` writes as an object, if `is_wanted` accepts it. Returns the result of `copy`. The outer
    /// error is that of writing to the backup.
    pub(super) fn put(
        &mut self,
        copy: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<StoredFile>,
        is_wanted: impl FnOnce(&StoredFile) -> bool,
    ) -> Result<io::Result<StoredFile>> {
        let incoming = self.incoming_path();
        let file = private_files::create(&incoming).map_err(cannot("write", &incoming))?;
        let mut target = Target { file, error: None };
        let copied = copy(&mut target);
        if let Some(cause) = target.error {
            return Err(cannot("write", &incoming)(cause));
        }
        let object = match copied {
            Ok(object) if is_wanted(&object) => object,
            other => return Ok(other),
        };
        if !self.contains(&object) {
            self.keep_incoming(&object)?;
        }
        Ok(Ok(object))
    }

    /// Deletes all objects that are not in the given list, and what an interrupted backup left.
    pub(super) fn retain<'a>(&self, objects: impl Iterator<Item = &'a StoredFile>) -> io::Result<()> {
        let kept: HashSet<&str> = objects.map(|object| object.sha256.as_str()).collect();
        for directory in fs::read_dir(self.directory.join("objects"))? {
            for entry in fs::read_dir(directory?.path())? {
                let entry = entry?;
                if !entry.file_name().to_str().is_some_and(|name| kept.contains(name)) {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        match fs::remove_file(self.incoming_path()) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
            _ => Ok(()),
        }
    }

    /// Writes an object, and fails if its contents differ from its digest.
    pub(super) fn read(&self, object: &StoredFile, to: &mut dyn Write) -> Result<()> {
        let path = self.path(object);
        let mut file = File::open(&path).map_err(cannot("read", &path))?;
        let mut target = Target { file: to, error: None };
        let copied = blobs::copy_and_hash(&mut file, &mut target);
        match (target.error, copied) {
            (Some(cause), _) => Err(Error::Conflict(format!("cannot write to the data directory: {cause}"))),
            (None, Err(cause)) => Err(cannot("read", &path)(cause)),
            (None, Ok(found)) if found == *object => Ok(()),
            (None, Ok(_)) => Err(Error::Conflict(format!(
                "{} is damaged: its contents differ from its digest",
                path.display()
            ))),
        }
    }

    /// Returns the path of the object that is being written.
    fn incoming_path(&self) -> PathBuf {
        self.directory.join("incoming")
    }

    /// Gives the object that was written its name.
    fn keep_incoming(&mut self, object: &StoredFile) -> Result<()> {
        let path = self.path(object);
        let keep = || -> io::Result<()> {
            private_files::create_dir_all(path.parent().unwrap_or(&self.directory))?;
            fs::rename(self.incoming_path(), &path)
        };
        keep().map_err(cannot("write", &path))?;
        self.new_bytes += object.size_bytes;
        Ok(())
    }
}

/// Distinguishes errors of writing from those of what is copied.
struct Target<W> {
    file: W,
    error: Option<io::Error>,
}

impl<W: Write> Write for Target<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|cause| {
            let kind = cause.kind();
            if kind != io::ErrorKind::Interrupted {
                self.error = Some(cause);
            }
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns a function that converts the cause of a failure to do something with a file.
pub(super) fn cannot(verb: &str, path: &Path) -> impl Fn(io::Error) -> Error {
    let failure = format!("cannot {verb} {}", path.display());
    move |cause| Error::Conflict(format!("{failure}: {cause}"))
}
