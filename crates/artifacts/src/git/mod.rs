//! Repositories: makes bare copies of them from their Git hosts, and reads those copies. Nothing is ever
//! checked out, so the hooks, filters, links and submodules of a repository have no effect here.

pub mod bundle;
mod commits;
mod copy;
mod files;
mod formats;
mod history;
mod http_transport;
mod index_pack;
mod local;
mod receive_pack;
mod zipped;

use std::{fmt, path::Path};

pub use copy::{CopyResult, PackToIndex, copy_repository};
pub use files::visit_files;
pub use history::{History, UnusualCommits, read_history};
pub use index_pack::{IndexedPack, index_pack};
pub use local::is_repository;
pub use receive_pack::RemoteRepository;
pub use zipped::{REPACKED, RepackedRepository, repack};

use gix::{hash::oid, objs::FindHeader};
use marketplace_domain::error_sources::{self, BoxedError};
use serde::{Deserialize, Serialize};

use super::{ReadError, Rejection};

/// The ref of the newest commit in a copy.
const SNAPSHOT_REF: &str = "refs/heads/snapshot";

/// Limits on copying and reading a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum size of the copy in bytes, both as transferred and on disk.
    pub bytes: u64,
    /// Maximum number of files and directories in the newest commit.
    pub files: u64,
    /// Maximum size of one file in bytes. Larger files are not source code; a repository that has one is not
    /// copied.
    pub file_bytes: u64,
    /// Timeout in seconds while the host sends nothing.
    pub idle_seconds: u32,
}

/// Whose repository is copied, which decides the advice if that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// One that was linked, or was given to the server in another way.
    Linked,
    /// One on the machine of the person who reads the messages.
    Local,
}

/// A copied repository, opened at its newest commit.
pub struct Repository {
    inner: gix::Repository,
    head: gix::ObjectId,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repository({} at {})", self.inner.path().display(), self.head)
    }
}

impl Repository {
    /// Opens the bare copy in a directory.
    pub fn open(directory: &Path, limits: Limits) -> Result<Repository, ReadError> {
        let mut inner =
            index_pack::open_options(limits).open(directory).map_err(damaged_copy)?.to_thread_local();
        // Files of one directory are often stored as deltas of each other.
        inner.object_cache_size(Some(OBJECT_CACHE_BYTES));
        let head = inner.head_id().map_err(damaged_copy)?.detach();
        Ok(Repository { inner, head })
    }

    /// Opens the bare copy in a directory at a commit, given in hexadecimal.
    pub fn open_at(directory: &Path, limits: Limits, commit: &str) -> Result<Repository, ReadError> {
        let repository = Repository::open(directory, limits)?;
        let head = gix::ObjectId::from_hex(commit.as_bytes()).map_err(damaged_copy)?;
        Ok(Repository { head, ..repository })
    }

    /// Returns the ID of the newest commit in hexadecimal.
    pub fn commit_sha(&self) -> String {
        self.head.to_string()
    }

    /// Returns the size of an object in bytes; 0 if there is no such object.
    fn object_size(&self, id: &oid) -> Result<u64, ReadError> {
        let header = self.inner.objects.try_header(id).map_err(damaged_copy)?;
        Ok(header.map_or(0, |header| header.size))
    }
}

/// Size in bytes of the cache of unpacked objects; the objects of one directory are often read repeatedly.
const OBJECT_CACHE_BYTES: usize = 4 << 20;

/// Converts an error in reading a copy. Unless the operating system reported it, the host did not send all
/// objects, or sent wrong ones.
fn damaged_copy(error: impl Into<BoxedError>) -> ReadError {
    let error = error.into();
    let is_from_system = error_sources::sources(error.as_ref()).any(|source| {
        source.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.raw_os_error().is_some())
    });
    if is_from_system {
        return ReadError::Io(std::io::Error::other(error));
    }
    let message = "The repository is damaged or incomplete. Check it with `git fsck`, then detach it and link it again.";
    Rejection(message.to_owned()).into()
}

#[cfg(test)]
mod tests;
