//! The manifest of a backup: what it contains, and the objects with the contents.

use std::{
    io::{self, Write},
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{objects::is_digest, place::Place, state::MarketState};
use crate::{
    blobs::StoredFile,
    domain::time::Timestamp,
    error::{Error, Result},
};

/// Name of the manifest of the newest backup in a place.
pub(super) const MANIFEST_FILE: &str = "backup.json";

/// The version of the format. It increases when an older program could misunderstand a backup.
const FORMAT: u32 = 1;

/// Maximum size of a manifest in bytes, which is held in memory. The manifest of a database of 1 TB has half of
/// this size.
const MAX_MANIFEST_BYTES: u64 = 1 << 30;

/// What a backup contains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The version of the format.
    pub(super) format: u32,
    /// Version of the program that made the backup.
    pub(super) program: String,
    /// Time of the backup in RFC 3339 format. It contains everything that was committed before.
    pub(super) created_at: String,
    /// The market, so that a backup does not replace that of another one, or of a later state.
    #[serde(flatten)]
    pub(super) state: MarketState,
    /// The database file, in consecutive objects.
    pub(super) database: Vec<StoredFile>,
    /// The uploads.
    pub(super) uploads: Vec<UploadEntry>,
    /// The repository copies.
    pub(super) repositories: Vec<RepositoryEntry>,
    /// The files that were made for bundles. Backups of earlier versions have none.
    #[serde(default)]
    pub(super) bundle_files: Vec<StoredFile>,
}

/// An upload in a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UploadEntry {
    /// ID of the upload.
    pub(super) id: Uuid,
    /// The object with its contents.
    #[serde(flatten)]
    pub(super) object: StoredFile,
}

/// A repository copy in a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RepositoryEntry {
    /// ID of the asset that the repository is linked to.
    pub(super) asset: Uuid,
    /// Time at which it was linked, in microseconds.
    pub(super) attached_at: i64,
    /// Relative paths of its directories, parents first.
    pub(super) directories: Vec<String>,
    /// Its files.
    pub(super) files: Vec<FileEntry>,
}

/// A file of a repository copy in a backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FileEntry {
    /// Relative path.
    pub(super) path: String,
    /// Modification time of the file that was copied, in nanoseconds since 1970. A file with the same path,
    /// size, and time is not read again.
    pub(super) modified: u64,
    /// The object with its contents.
    #[serde(flatten)]
    pub(super) object: StoredFile,
}

/// The part of a manifest that every version of the format has.
#[derive(Deserialize)]
struct Header {
    format: u32,
    program: String,
}

impl Manifest {
    /// Creates the manifest of a market, without contents.
    pub(super) fn new(state: MarketState, created_at: String) -> Manifest {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Manifest {
            format: FORMAT,
            program,
            created_at,
            state,
            database: Vec::new(),
            uploads: Vec::new(),
            repositories: Vec::new(),
            bundle_files: Vec::new(),
        }
    }

    /// Reads and checks the manifest with this name. `None` if there is none.
    pub(super) fn read(place: &Place, name: &str) -> Result<Option<Manifest>> {
        let Some(text) = place.read(name, MAX_MANIFEST_BYTES).map_err(place.cannot("read", name))? else {
            return Ok(None);
        };
        let invalid = |problem: String| Error::Conflict(format!("{} {problem}", place.location(name)));
        let damaged = |cause: String| {
            invalid(format!(
                "is damaged: {cause}; restore another backup, or, to make a new one here, delete this file first"
            ))
        };
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(damaged(format!("it has more than {MAX_MANIFEST_BYTES} bytes")));
        }
        // The version first, since another format may have other fields.
        let header: Header = serde_json::from_slice(&text).map_err(|cause| damaged(cause.to_string()))?;
        if header.format != FORMAT {
            return Err(invalid(format!("was written by marketplace {}; use that version", header.program)));
        }
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|cause| damaged(cause.to_string()))?;
        match manifest.find_invalid_name() {
            None => Ok(Some(manifest)),
            Some(name) => Err(damaged(format!("{name:?} is not a valid name"))),
        }
    }

    /// Replaces the manifest with this name.
    pub(super) fn write(&self, place: &Place, name: &str) -> Result<()> {
        let write = |to: &mut dyn Write| {
            let mut counted = CountedWriter { to, bytes: 0 };
            serde_json::to_writer(&mut counted, self)?;
            if counted.bytes > MAX_MANIFEST_BYTES {
                return Err(io::Error::other(format!("it would have more than {MAX_MANIFEST_BYTES} bytes")));
            }
            Ok(())
        };
        place.replace(name, write).map_err(place.cannot("write", name))
    }

    /// Returns the time of the backup. `None` if it is damaged.
    pub(super) fn made_at(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.created_at)
    }

    /// Returns all objects that the manifest names, with repetitions.
    pub(super) fn objects(&self) -> impl Iterator<Item = &StoredFile> {
        let files = self.repositories.iter().flat_map(|repository| &repository.files);
        let others = self.uploads.iter().map(|upload| &upload.object).chain(files.map(|file| &file.object));
        self.database.iter().chain(others).chain(&self.bundle_files)
    }

    /// Returns the size of everything in bytes.
    pub(super) fn total_bytes(&self) -> u64 {
        // A damaged manifest may have sizes of any number.
        self.objects().fold(0, |total, object| total.saturating_add(object.size_bytes))
    }

    /// Returns a digest or path that would name a file outside of its directory.
    fn find_invalid_name(&self) -> Option<&str> {
        let is_relative = |text: &str| {
            let mut parts = Path::new(text).components().peekable();
            parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let mut digests = self.objects().map(|object| object.sha256.as_str());
        let mut paths = self.repositories.iter().flat_map(|repository| {
            let files = repository.files.iter().map(|file| &file.path);
            repository.directories.iter().chain(files).map(String::as_str)
        });
        digests.find(|digest| !is_digest(digest)).or_else(|| paths.find(|path| !is_relative(path)))
    }
}

/// Counts the bytes that are written.
struct CountedWriter<'a> {
    to: &'a mut dyn Write,
    bytes: u64,
}

impl Write for CountedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_that_leave_the_directory_are_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::Directory(directory.path().to_owned());
        let file = |path: &str, sha256: &str| FileEntry {
            path: path.to_owned(),
            modified: 0,
            object: StoredFile { size_bytes: 0, sha256: sha256.to_owned() },
        };
        let digest = "0".repeat(64);
        let state = MarketState { market: "m".to_owned(), copy: String::new(), counters: BTreeMap::new() };
        let mut manifest = Manifest::new(state, "now".to_owned());
        let (asset, directories) = (Uuid::nil(), vec!["refs".to_owned()]);
        manifest.repositories.push(RepositoryEntry { asset, attached_at: 1, directories, files: vec![] });
        for (path, sha256, is_valid) in [
            ("refs/main", digest.as_str(), true),
            ("../main", &digest, false),
            ("/etc/passwd", &digest, false),
            ("", &digest, false),
            ("refs/main", "../../etc/passwd", false),
        ] {
            manifest.repositories[0].files = vec![file(path, sha256)];
            manifest.write(&place, MANIFEST_FILE).unwrap();
            assert_eq!(Manifest::read(&place, MANIFEST_FILE).is_ok(), is_valid, "{path} {sha256}");
        }
        manifest.format = FORMAT + 1;
        manifest.write(&place, MANIFEST_FILE).unwrap();
        let error = Manifest::read(&place, MANIFEST_FILE).unwrap_err().message();
        assert!(error.contains("use that version"), "{error}");
    }
}
