//! The objects of a backup: files that are named by the SHA-256 digest of their contents and never changed.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read, Write},
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
    /// Digest and size of the objects whose contents are known to have that digest.
    intact: HashMap<String, u64>,
    /// Number of bytes that were written to new objects.
    pub(super) new_bytes: u64,
    /// Number of damaged objects that were replaced.
    pub(super) repaired: u64,
}

impl Objects {
    /// Returns the objects in the directory of a backup, which need not exist yet.
    pub(super) fn new(directory: &Path) -> Objects {
        Objects { directory: directory.to_owned(), intact: HashMap::new(), new_bytes: 0, repaired: 0 }
    }

    /// Returns the path of an object.
    pub(super) fn path(&self, object: &StoredFile) -> PathBuf {
        self.directory.join("objects").join(&object.sha256[..2]).join(&object.sha256)
    }

    /// Whether there is a file with the name of the object, whatever it contains.
    pub(super) fn has_file(&self, object: &StoredFile) -> bool {
        self.path(object).exists()
    }

    /// Whether the object exists and is intact. Its contents are read once: an object of an earlier backup
    /// may have been damaged since, and each later backup would contain the damage.
    pub(super) fn contains(&mut self, object: &StoredFile) -> bool {
        if self.intact.get(&object.sha256) == Some(&object.size_bytes) {
            return true;
        }
        let read = self.open(object).and_then(|mut file| blobs::copy_and_hash(&mut file, &mut io::sink()));
        let is_intact = read.is_ok_and(|found| found == *object);
        if is_intact {
            self.intact.insert(object.sha256.clone(), object.size_bytes);
        }
        is_intact
    }

    /// Opens an object. Fails if its size is another one, or if it is anything but a regular file, such as a
    /// pipe that never ends.
    pub(super) fn open(&self, object: &StoredFile) -> io::Result<impl Read + use<>> {
        let file = open_regular_file(&self.path(object))?;
        if file.metadata()?.len() != object.size_bytes {
            return Err(io::Error::other("it is damaged: its size differs from the recorded one"));
        }
        // One byte more, so that the digest of a file that grows meanwhile differs.
        Ok(file.take(object.size_bytes.saturating_add(1)))
    }

    /// Stores bytes as an object.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) -> Result<StoredFile> {
        let sha256 = format!("{:x}", Sha256::digest(bytes));
        let object = StoredFile { size_bytes: bytes.len() as u64, sha256 };
        if !self.contains(&object) {
            let incoming = self.incoming_path();
            let write = || create_new(&incoming)?.write_all(bytes);
            write().map_err(cannot("write", &incoming))?;
            self.keep_incoming(&object)?;
        }
        Ok(object)
    }

    /// Stores what `copy` writes as an object, if `is_wanted` accepts it. Returns the result of `copy`. The
    /// outer error is that of writing to the backup.
    pub(super) fn put(
        &mut self,
        copy: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<StoredFile>,
        is_wanted: impl FnOnce(&StoredFile) -> bool,
    ) -> Result<io::Result<StoredFile>> {
        let incoming = self.incoming_path();
        let file = create_new(&incoming).map_err(cannot("write", &incoming))?;
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

    /// Deletes all objects that are not in the given list, and what an interrupted backup left. Files that
    /// are not named like objects stay, and so does everything behind links.
    pub(super) fn retain<'a>(&self, objects: impl Iterator<Item = &'a StoredFile>) -> io::Result<()> {
        let kept: HashSet<&str> = objects.map(|object| object.sha256.as_str()).collect();
        for directory in fs::read_dir(self.directory.join("objects"))? {
            let directory = directory?;
            if !directory.file_type()?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(directory.path())? {
                let entry = entry?;
                let name = entry.file_name();
                let is_superfluous =
                    name.to_str().is_some_and(|name| is_digest(name) && !kept.contains(name));
                if is_superfluous && !entry.file_type()?.is_dir() {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        remove_if_exists(&self.incoming_path())
    }

    /// Writes an object, and fails if its contents differ from its digest.
    pub(super) fn read(&self, object: &StoredFile, to: &mut dyn Write) -> Result<()> {
        let path = self.path(object);
        let mut file = self.open(object).map_err(cannot("read", &path))?;
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
        let is_repair = fs::symlink_metadata(&path).is_ok();
        let keep = || -> io::Result<()> {
            private_files::create_dir_all(path.parent().unwrap_or(&self.directory))?;
            fs::rename(self.incoming_path(), &path)
        };
        keep().map_err(cannot("write", &path))?;
        self.intact.insert(object.sha256.clone(), object.size_bytes);
        self.new_bytes += object.size_bytes;
        self.repaired += u64::from(is_repair);
        Ok(())
    }
}

/// Whether a text is a SHA-256 digest as objects are named.
pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Opens a file of a backup to read it. Fails for links, pipes, and devices.
pub(super) fn open_regular_file(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}

/// Creates a file of a backup, and replaces one that an interrupted backup left. Never writes through a link.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    remove_if_exists(path)?;
    private_files::open_options().write(true).create_new(true).open(path)
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
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
