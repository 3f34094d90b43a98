//! Where backups are kept: a directory, or a bucket of an S3-compatible store.

use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::files::{cannot, create_new, open_regular_file};
use crate::{
    blobs::{ObjectReader, ObjectWriter, S3, sync_filesystem},
    config::{BackupSettings, BlobKind, BlobSettings, Settings},
    error::{Error, Result},
    private_files,
};

/// The prefix of the address of a bucket.
const BUCKET_SCHEME: &str = "s3://";

/// Where the backups of a market are kept.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory.
    Directory(PathBuf),
    /// Objects in a bucket whose keys begin with a prefix.
    Bucket {
        /// The bucket and the prefix.
        store: Arc<S3>,
        /// The address as it was given.
        address: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Directory(path) => path.display().fmt(f),
            Place::Bucket { address, .. } => f.write_str(address),
        }
    }
}

impl Place {
    /// Returns the place with this name: `s3://bucket/prefix`, or the path of a directory. Contacts no other machine.
    pub fn open(name: &Path, settings: &Settings) -> Result<Place> {
        Place::open_with(name, settings, S3::new)
    }

    /// Like [`Place::open`], with requests that are not repeated and have a time limit.
    pub fn open_impatient(name: &Path, settings: &Settings, timeout: Duration) -> Result<Place> {
        Place::open_with(name, settings, |blobs| S3::impatient(blobs, timeout))
    }

    fn open_with(
        name: &Path,
        settings: &Settings,
        connect: impl Fn(&BlobSettings) -> io::Result<S3>,
    ) -> Result<Place> {
        let Some(address) = name.to_str().and_then(|name| name.strip_prefix(BUCKET_SCHEME)) else {
            return match unusable_start(&name.to_string_lossy()) {
                Some(start) => Err(Error::Conflict(format!(
                    "the place of a backup cannot begin with {start:?}; write the path of a directory, or \
                     {BUCKET_SCHEME}bucket/prefix"
                ))),
                None => Ok(Place::Directory(name.to_owned())),
            };
        };
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        let prefix = prefix.trim_matches('/');
        if !is_key_prefix(prefix) {
            return Err(Error::Conflict(format!(
                "the prefix of {BUCKET_SCHEME}{address} can have only the letters a to z and A to Z, digits, `-`, `_`, `.`, \
                 and single slashes between them, as in {BUCKET_SCHEME}backups/market-1"
            )));
        }
        let blobs = bucket_settings(&settings.backups, &settings.blobs, bucket, prefix);
        if bucket.is_empty() || blobs.access_key_id.is_empty() || blobs.secret_access_key.reveal().is_none() {
            return Err(Error::Conflict(format!(
                "{BUCKET_SCHEME}{address} needs the name of a bucket, and an access key in [backups] of the settings"
            )));
        }
        let store = connect(&blobs).map_err(|cause| {
            Error::Conflict(format!(
                "the store of {BUCKET_SCHEME}{address} cannot be used: {cause}; check [backups] in the settings"
            ))
        })?;
        Ok(Place::Bucket { store: Arc::new(store), address: format!("{BUCKET_SCHEME}{address}") })
    }

    /// Returns the location of a file, for messages.
    pub(super) fn location(&self, name: &str) -> String {
        match self {
            Place::Directory(path) => path.join(name).display().to_string(),
            Place::Bucket { address, .. } => format!("{}/{name}", address.trim_end_matches('/')),
        }
    }

    /// Returns a function that converts the cause of a failure to do something with a file.
    pub(super) fn cannot(&self, verb: &str, name: &str) -> impl Fn(io::Error) -> Error + use<> {
        cannot(verb, Path::new(&self.location(name)))
    }

    /// Reads a file of at most this size; of a larger file, one byte more than that. `None` if the file does not exist.
    pub(super) fn read(&self, name: &str, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        let read = match self {
            Place::Directory(path) => open_regular_file(&path.join(name))
                .and_then(|file| file.take(max_bytes.saturating_add(1)).read_to_end(&mut text)),
            Place::Bucket { store, .. } => match store.object_size(name)? {
                None => return Ok(None),
                Some(size) => {
                    ObjectReader::new(Arc::clone(store), name, size.min(max_bytes + 1)).read_to_end(&mut text)
                }
            },
        };
        Ok(private_files::if_found(read)?.map(|_| text))
    }

    /// Replaces a file with the content that `write` writes. Even after a failure of the machine, the file is either
    /// the earlier one or complete.
    pub(super) fn replace(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Place::Directory(directory) => {
                let (path, new) = (directory.join(name), directory.join(format!("{name}.new")));
                let parent = path.parent().unwrap_or(directory);
                private_files::create_dir_all(parent)?;
                let mut file = BufWriter::new(create_new(&new)?);
                write(&mut file)?;
                file.flush()?;
                file.get_ref().sync_all()?;
                fs::rename(&new, &path)?;
                File::open(parent)?.sync_all()
            }
            Place::Bucket { store, .. } => {
                let mut object = BufWriter::new(ObjectWriter::new(Arc::clone(store), name));
                write(&mut object)?;
                object.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
            }
        }
    }

    /// Creates a file, unless it exists. Returns whether it was created. If several processes create it at the same time,
    /// exactly one succeeds.
    pub fn create(&self, name: &str, content: &[u8]) -> io::Result<bool> {
        let created = match self {
            Place::Directory(directory) => {
                let path = directory.join(name);
                private_files::create_dir_all(path.parent().unwrap_or(directory))?;
                create_new(&path).and_then(|mut file| {
                    file.write_all(content)?;
                    file.sync_all()
                })
            }
            Place::Bucket { store, .. } => store.create_object(name, content),
        };
        match created {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            created => created.map(|()| true),
        }
    }

    /// Returns the names of the files in a directory of the place, without the directory.
    pub fn list(&self, directory: &str) -> io::Result<Vec<String>> {
        match self {
            Place::Directory(path) => {
                let entries = private_files::if_found(fs::read_dir(path.join(directory)))?;
                let names = entries.into_iter().flatten().map(|entry| entry.map(|entry| entry.file_name()));
                let names = names.collect::<io::Result<Vec<_>>>()?;
                Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
            }
            Place::Bucket { store, .. } => {
                let prefix = format!("{directory}/");
                let objects = store.list_objects(directory)?;
                Ok(objects
                    .into_keys()
                    .filter_map(|name| name.strip_prefix(&prefix).map(str::to_owned))
                    .collect())
            }
        }
    }

    /// Whether a directory of the place has a file.
    pub fn has_any(&self, directory: &str) -> io::Result<bool> {
        match self {
            Place::Directory(_) => Ok(!self.list(directory)?.is_empty()),
            Place::Bucket { store, .. } => store.has_objects(directory),
        }
    }

    /// Deletes a file.
    pub(super) fn delete(&self, name: &str) -> io::Result<()> {
        match self {
            Place::Directory(path) => fs::remove_file(path.join(name)),
            Place::Bucket { store, .. } => store.delete_object(name),
        }
    }

    /// Waits until everything that was written survives a failure of the machine.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Place::Directory(path) => sync_filesystem(path),
            Place::Bucket { .. } => Ok(()),
        }
    }
}

/// Returns the start of a name that would become the name of a new directory below the working directory, although something else
/// is meant: `~`, which a shell would have replaced, and what an address begins with, such as `file://`.
fn unusable_start(name: &str) -> Option<&str> {
    if name.starts_with('~') {
        return Some("~");
    }
    let (scheme, _) = name.split_once("://")?;
    (!scheme.is_empty() && !scheme.contains('/')).then(|| &name[..scheme.len() + "://".len()])
}

/// Whether keys can begin with this prefix, apart from the last slash. The library for buckets encodes other characters
/// in keys, so it would list objects under other names than they were written with.
fn is_key_prefix(prefix: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(is_plain);
    prefix.is_empty() || prefix.split('/').all(is_part)
}

/// Returns the settings of a bucket of backups: the values of `[backups]`, or else those of `[blobs]`.
pub fn bucket_settings(
    backups: &BackupSettings,
    blobs: &BlobSettings,
    bucket: &str,
    prefix: &str,
) -> BlobSettings {
    let or = |own: &str, other: &str| if own.is_empty() { other.to_owned() } else { own.to_owned() };
    let has_key = !backups.access_key_id.is_empty();
    BlobSettings {
        kind: BlobKind::S3,
        endpoint: or(&backups.endpoint, &blobs.endpoint),
        region: or(&backups.region, &blobs.region),
        bucket: bucket.to_owned(),
        prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
        access_key_id: or(&backups.access_key_id, &blobs.access_key_id),
        secret_access_key: if has_key { &backups.secret_access_key } else { &blobs.secret_access_key }
            .clone(),
        max_upload_bytes: blobs.max_upload_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_have_plain_parts() {
        for prefix in ["", "market", "backups/market-1_x.2", "a/b/c"] {
            assert!(is_key_prefix(prefix), "{prefix}");
        }
        for prefix in ["a//b", "~market", "a%20b", "a b", "[a]", "{a}", "#1", "a/../b", ".", "märkte"] {
            assert!(!is_key_prefix(prefix), "{prefix}");
        }
        let error =
            Place::open(Path::new("s3://backups/~market"), &Settings::default()).map(drop).unwrap_err();
        assert!(error.message().contains("the prefix of s3://backups/~market"), "{}", error.message());
    }

    #[test]
    fn names_that_mean_something_else_are_no_directories() {
        let open = |name: &str| Place::open(Path::new(name), &Settings::default());
        for (name, start) in [
            ("~/backups", "~"),
            ("file:///mnt/backup", "file://"),
            ("S3://backups/market", "S3://"),
            ("s3:https://store.example/backups", "s3:https://"),
            ("sftp://ann:secret@host.example/backups", "sftp://"),
        ] {
            let message = open(name).map(drop).unwrap_err().message();
            assert!(message.contains(&format!("{start:?}")) && !message.contains("secret"), "{message}");
        }
        for path in ["backups", "/mnt/backups", "./~", "./file://a", "a/b://c", "2026:11:30", "://a"] {
            assert!(matches!(open(path), Ok(Place::Directory(_))), "{path}");
        }
    }
}
