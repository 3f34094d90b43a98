//! Copies of data directories. Files that are never changed in place are shared by hard links, and the others are copied.

use std::{
    ffi::OsStr,
    fs,
    io::{self, ErrorKind},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use marketplace_index::UNSYNCED_FILE;

use crate::{
    blobs,
    market::{DATABASE_FILE, INDEX_DIRECTORY, SERVE_LOCK_FILE, SOCKET_FILE},
    operations::world_repositories,
    private_files,
};

/// A directory that is deleted when this value is dropped.
#[derive(Debug)]
pub struct TempDirectory(pub PathBuf);

impl Drop for TempDirectory {
    fn drop(&mut self) {
        // The next process deletes files that cannot be deleted now.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Like [`copy`], for the directory of a template, which must exist as long as the target: repositories, which have many
/// directories, are symbolic links to those of the template.
pub fn fork(from: &Path, to: &Path) -> io::Result<()> {
    copy_with(&std::path::absolute(from)?, to, |source, target| symlink(source, target))
}

/// Copies the data directory of a market that is not open, or that is [paused](crate::market::Market::pause). The target must
/// not exist. Writes of a world's market to one directory are not visible in the other.
///
/// The database is linked: the market of a world does not change its file, since all writes go to its log.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_with(from, to, link_tree)
}

fn copy_with(from: &Path, to: &Path, share_repository: fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    copy_entries(from, to, |name, source, target| {
        if name == INDEX_DIRECTORY {
            link_tree(source, target)
        } else if name == blobs::DIRECTORY {
            copy_blobs_with(source, target, share_repository)
        } else if name == world_repositories::DIRECTORY {
            link_all(source, target)
        } else if name == DATABASE_FILE {
            link_or_copy(source, target)
        } else if is_of_one_process(name) {
            Ok(())
        } else {
            fs::copy(source, target).map(drop)
        }
    })
}

/// Whether a file belongs to the process that has the market open.
fn is_of_one_process(name: &OsStr) -> bool {
    name == SERVE_LOCK_FILE || name == SOCKET_FILE || name.to_str() == Some(&format!("{DATABASE_FILE}-shm"))
}

/// Copies the files of a market that may be open.
pub(super) fn copy_blobs(from: &Path, to: &Path) -> io::Result<()> {
    copy_blobs_with(from, to, link_tree)
}

fn copy_blobs_with(
    from: &Path,
    to: &Path,
    share_repository: fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    copy_entries(from, to, |name, source, target| {
        if name == blobs::STAGED {
            copy_tree(source, target)
        } else if name == blobs::REPOSITORIES {
            copy_entries(source, target, |_, source, target| share_repository(source, target))
        } else if name == blobs::TEMPORARY_FILES {
            Ok(())
        } else if source.is_dir() {
            link_tree(source, target)
        } else {
            // A lock, which is created when it is needed.
            Ok(())
        }
    })
}

/// Links the files of a directory, except for locks and unfinished files, whose names begin with a period, and for the marker
/// that the index has reached the disk.
pub(super) fn link_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_entries(from, to, |name, source, target| {
        if source.is_dir() {
            link_tree(source, target)
        } else if name == UNSYNCED_FILE || name.as_encoded_bytes().starts_with(b".") {
            Ok(())
        } else {
            link_or_copy(source, target)
        }
    })
}

/// Links all files of a directory.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    copy_entries(from, to, |_, source, target| {
        if source.is_dir() { link_all(source, target) } else { link_or_copy(source, target) }
    })
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_entries(from, to, |_, source, target| {
        if source.is_dir() { copy_tree(source, target) } else { fs::copy(source, target).map(drop) }
    })
}

/// Creates a directory, and calls `copy` with the name, the source, and the target of each entry.
fn copy_entries(
    from: &Path,
    to: &Path,
    copy: impl Fn(&OsStr, &Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    private_files::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&name, &from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// Links a file, or copies it where the file system cannot link it.
fn link_or_copy(source: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(source, target) {
        Err(cause)
            if matches!(
                cause.kind(),
                ErrorKind::CrossesDevices | ErrorKind::Unsupported | ErrorKind::TooManyLinks
            ) =>
        {
            fs::copy(source, target).map(drop)
        }
        result => result,
    }
}
