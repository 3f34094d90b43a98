//! Whether the files of an index have reached the disk.
//!
//! Writing a file and waiting for the disk takes most of the time of a small commit, so a writer does not
//! wait. Other processes see its files at once, and a kill loses nothing. If the machine fails, files may be
//! lost in part and in any order. So while files may be missing on the disk, the directory has a marker with
//! the ID of the boot that wrote them; under another boot the index is verified before it is used.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tantivy::directory::ManagedDirectory;
use tantivy::index::SegmentComponent;
use tantivy::{Directory, IndexMeta};

use crate::columns::EXTENSION as COLUMNS;
use crate::error::Error;
use crate::panics::catch_panics;
use crate::private_directory::replace_file;

/// File in the directory that contains the ID of the boot under which the files were written, until all of
/// them are on the disk.
pub const UNSYNCED_FILE: &str = "unsynced-since-boot";

/// Extensions of the files that each segment has.
const SEGMENT_EXTENSIONS: [&str; 7] = ["term", "idx", "pos", "fieldnorm", "fast", "store", COLUMNS];

/// Returns an ID that differs after each start of the operating system; `None` if the system has none.
fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Returns whether some files of an index may be lost: they were written before the last boot, and nobody waited
/// for the disk.
pub(crate) fn may_be_torn(directory: &Path) -> Result<bool, Error> {
    match fs::read(directory.join(UNSYNCED_FILE)) {
        Ok(marker) => Ok(boot_id().is_none_or(|current| marker != current.as_bytes())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Records that files will be written without waiting for the disk. The caller has verified the index if
/// [`may_be_torn`] said so.
pub(crate) fn mark_unsynced(directory: &Path) -> io::Result<()> {
    let (marker, current) = (directory.join(UNSYNCED_FILE), boot_id().unwrap_or_default());
    if fs::read(&marker).is_ok_and(|marker| marker == current.as_bytes()) {
        return Ok(());
    }
    replace_file(&marker, current.as_bytes(), true)
}

/// Waits until all files are on the disk, and records that. Only the process that holds the writer's lock may
/// call this, while it writes nothing.
pub(crate) fn sync(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(directory)?.sync_all()?;
    match fs::remove_file(directory.join(UNSYNCED_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Verifies the checksum of every file of a commit. Reads each file once.
pub(crate) fn verify(directory: &ManagedDirectory, meta: &IndexMeta) -> Result<(), Error> {
    match find_damage(directory, meta)?.into_iter().next() {
        Some(damage) => Err(Error::Corrupt(damage)),
        None => Ok(()),
    }
}

/// Verifies the checksum of every file of a commit, and returns what is wrong with each file that is damaged.
pub(crate) fn find_damage(directory: &ManagedDirectory, meta: &IndexMeta) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for segment in &meta.segments {
        let deletes = segment.delete_opstamp().map(|_| SegmentComponent::Delete);
        let own = SEGMENT_EXTENSIONS.map(|extension| SegmentComponent::Custom(extension.to_owned()));
        for path in own.into_iter().chain(deletes).map(|component| segment.relative_path(component)) {
            // The engine panics on some files that are truncated.
            let verified = catch_panics(|| Ok(directory.validate_checksum(&path)?));
            let damage = match verified {
                Ok(true) => continue,
                Ok(false) => "has a wrong checksum",
                Err(Error::Corrupt(_) | Error::Panicked(_)) if !directory.exists(&path)? => "is missing",
                Err(Error::Corrupt(_) | Error::Panicked(_)) => "is truncated or has a damaged footer",
                Err(other) => return Err(other),
            };
            found.push(format!("{} {damage}", path.display()));
        }
    }
    Ok(found)
}
