//! The objects of a backup: files that are named by the SHA-256 digest of their contents and never changed.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read, Write},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use super::{
    files::{create_new, open_regular_file},
    place::Place,
};
use crate::{
    blobs::{self, ObjectReader, ObjectWriter, StoredFile},
    error::{Error, Result},
    private_files,
};

/// Name of the object that is being written to a directory.
const INCOMING: &str = "incoming";

/// The directory of objects in a place.
const DIRECTORY: &str = "objects";

/// The objects in a place.
#[derive(Debug)]
pub(super) struct Objects {
    place: Place,
    /// Digest and size of the objects whose contents are known to have that digest.
    intact: HashMap<String, u64>,
    /// Names and sizes of the objects of a bucket when this value was created. Objects of a directory are not listed.
    listed: HashMap<String, u64>,
    /// Number of bytes that were written to new objects.
    pub(super) new_bytes: u64,
    /// Number of damaged objects that were replaced.
    pub(super) repaired: u64,
}

impl Objects {
    /// Returns the objects in a place, to read them.
    pub(super) fn new(place: &Place) -> Objects {
        let (intact, listed) = (HashMap::new(), HashMap::new());
        Objects { place: place.clone(), intact, listed, new_bytes: 0, repaired: 0 }
    }

    /// Returns the objects in a place, which need not exist yet, to add to them.
    pub(super) fn to_extend(place: &Place) -> Result<Objects> {
        let mut objects = Objects::new(place);
        if let Place::Bucket { store, .. } = place {
            objects.listed = store.list_objects(DIRECTORY).map_err(place.cannot("list", DIRECTORY))?;
        }
        Ok(objects)
    }

    /// Returns the location of an object, for messages.
    pub(super) fn location(&self, object: &StoredFile) -> String {
        self.place.location(&object_name(object))
    }

    /// Whether there is a file with the name of the object. Does not check its content.
    pub(super) fn has_file(&self, object: &StoredFile) -> bool {
        let name = object_name(object);
        match &self.place {
            Place::Directory(path) => path.join(name).exists(),
            Place::Bucket { .. } => self.listed.contains_key(&name),
        }
    }

    /// Whether the object exists and is intact. In a directory, its contents are read once: an object of an earlier backup
    /// may have been damaged since, and each later backup would contain the damage. In a bucket, only the size is
    /// compared, since the store is trusted to keep objects intact.
    pub(super) fn contains(&mut self, object: &StoredFile) -> bool {
        if self.intact.get(&object.sha256) == Some(&object.size_bytes) {
            return true;
        }
        let is_intact = match &self.place {
            Place::Bucket { .. } => self.listed.get(&object_name(object)) == Some(&object.size_bytes),
            Place::Directory(_) => {
                let read =
                    self.open(object).and_then(|mut file| blobs::copy_and_hash(&mut file, &mut io::sink()));
                read.is_ok_and(|found| found == *object)
            }
        };
        if is_intact {
            self.intact.insert(object.sha256.clone(), object.size_bytes);
        }
        is_intact
    }

    /// Opens an object. Fails if its size is another one, or if it is anything but a regular file, such as a
    /// pipe that never ends.
    pub(super) fn open(&self, object: &StoredFile) -> io::Result<Box<dyn Read + Send>> {
        let name = object_name(object);
        let damaged = || io::Error::other("it is damaged: its size differs from the recorded one");
        match &self.place {
            Place::Directory(path) => {
                let file = open_regular_file(&path.join(name))?;
                if file.metadata()?.len() != object.size_bytes {
                    return Err(damaged());
                }
                // One byte more, so that the digest of a file that grows meanwhile differs.
                Ok(Box::new(file.take(object.size_bytes.saturating_add(1))))
            }
            Place::Bucket { store, .. } => match store.object_size(&name)? {
                None => Err(io::ErrorKind::NotFound.into()),
                Some(size) if size != object.size_bytes => Err(damaged()),
                Some(size) => Ok(Box::new(ObjectReader::new(Arc::clone(store), &name, size))),
            },
        }
    }

    /// Stores bytes as an object.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) -> Result<StoredFile> {
        let sha256 = format!("{:x}", Sha256::digest(bytes));
        let object = StoredFile { size_bytes: bytes.len() as u64, sha256 };
        if !self.contains(&object) {
            let mut incoming = self.start(&object)?;
            incoming.write_all(bytes).map_err(self.cannot_store())?;
            self.keep(incoming, &object)?;
        }
        Ok(object)
    }

    /// Stores the output of `copy` as an object, unless its digest differs from `wanted`. Returns the result of `copy`. The
    /// outer error is an error of writing to the backup. `copy` may be called twice.
    pub(super) fn put(
        &mut self,
        copy: impl Fn(&mut (dyn Write + Send)) -> io::Result<StoredFile>,
        wanted: Option<&StoredFile>,
    ) -> Result<io::Result<StoredFile>> {
        // Objects in a bucket get their names when they are started.
        let known = match (&self.place, wanted) {
            (_, Some(wanted)) => wanted.clone(),
            (Place::Directory(_), None) => StoredFile { size_bytes: 0, sha256: String::new() },
            (Place::Bucket { .. }, None) => match copy(&mut io::sink()) {
                Ok(object) if self.contains(&object) => return Ok(Ok(object)),
                Ok(object) => object,
                Err(cause) => return Ok(Err(cause)),
            },
        };
        let mut target = Target { file: self.start(&known)?, error: None };
        let copied = copy(&mut target);
        if let Some(cause) = target.error {
            return Err(self.cannot_store()(cause));
        }
        let is_any = wanted.is_none() && matches!(self.place, Place::Directory(_));
        let object = match copied {
            Ok(object) if is_any || object == known => object,
            // The file changed while it was copied to a bucket.
            Ok(_) if wanted.is_none() => {
                return Ok(Err(io::Error::other("it was changed while it was copied")));
            }
            other => return Ok(other),
        };
        if !self.contains(&object) {
            self.keep(target.file, &object)?;
        }
        Ok(Ok(object))
    }

    /// Deletes all objects that are not in the given list, and what an interrupted backup left. Files that
    /// are not named like objects stay, and so does everything behind links.
    pub(super) fn retain(&self, kept: &HashSet<String>) -> io::Result<()> {
        let is_superfluous = |name: &str| is_digest(name) && !kept.contains(name);
        let directory = match &self.place {
            Place::Directory(path) => path,
            Place::Bucket { store, .. } => {
                let digest = |name: &str| name.rsplit('/').next().is_some_and(is_superfluous);
                return self
                    .listed
                    .keys()
                    .filter(|name| digest(name))
                    .try_for_each(|name| store.delete_object(name));
            }
        };
        for entries in fs::read_dir(directory.join(DIRECTORY))? {
            let entries = entries?;
            if !entries.file_type()?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(entries.path())? {
                let entry = entry?;
                if entry.file_name().to_str().is_some_and(is_superfluous) && !entry.file_type()?.is_dir() {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        private_files::remove_if_exists(&directory.join(INCOMING))
    }

    /// Writes an object, and fails if its contents differ from its digest.
    pub(super) fn read(&self, object: &StoredFile, to: &mut dyn Write) -> Result<()> {
        let cannot_read = self.place.cannot("read", &object_name(object));
        let mut file = self.open(object).map_err(&cannot_read)?;
        let mut target = Target { file: to, error: None };
        let copied = blobs::copy_and_hash(&mut file, &mut target);
        match (target.error, copied) {
            (Some(cause), _) => Err(Error::Conflict(format!("cannot write to the data directory: {cause}"))),
            (None, Err(cause)) => Err(cannot_read(cause)),
            (None, Ok(found)) if found == *object => Ok(()),
            (None, Ok(_)) => Err(Error::Conflict(format!(
                "{} is damaged: its contents differ from its digest",
                self.location(object)
            ))),
        }
    }

    /// Starts the object that is written next.
    fn start(&self, object: &StoredFile) -> Result<Incoming> {
        match &self.place {
            Place::Directory(path) => {
                create_new(&path.join(INCOMING)).map(Incoming::File).map_err(self.cannot_store())
            }
            Place::Bucket { store, .. } => {
                Ok(Incoming::Object(Box::new(ObjectWriter::new(Arc::clone(store), &object_name(object)))))
            }
        }
    }

    /// Gives the object that was written its name.
    fn keep(&mut self, incoming: Incoming, object: &StoredFile) -> Result<()> {
        let name = object_name(object);
        let is_repair = match &self.place {
            Place::Directory(path) => fs::symlink_metadata(path.join(&name)).is_ok(),
            Place::Bucket { .. } => self.listed.contains_key(&name),
        };
        let keep = || match (incoming, &self.place) {
            (Incoming::Object(writer), _) => writer.finish(),
            (Incoming::File(_), Place::Directory(directory)) => {
                let path = directory.join(&name);
                private_files::create_dir_all(path.parent().unwrap_or(directory))?;
                fs::rename(directory.join(INCOMING), &path)
            }
            (Incoming::File(_), Place::Bucket { .. }) => Ok(()),
        };
        keep().map_err(self.place.cannot("write", &name))?;
        self.intact.insert(object.sha256.clone(), object.size_bytes);
        self.new_bytes += object.size_bytes;
        self.repaired += u64::from(is_repair);
        Ok(())
    }

    fn cannot_store(&self) -> impl Fn(io::Error) -> Error + use<> {
        self.place.cannot("write", INCOMING)
    }
}

/// Returns the name of an object in its place.
fn object_name(object: &StoredFile) -> String {
    format!("{DIRECTORY}/{}/{}", &object.sha256[..2], object.sha256)
}

/// The object that is being written.
enum Incoming {
    File(File),
    Object(Box<ObjectWriter>),
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Incoming::File(file) => file.write(bytes),
            Incoming::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a text is a SHA-256 digest in the form that names objects.
pub(super) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
