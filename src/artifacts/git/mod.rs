//! Repositories: copied bare from the host that they live at, and read where they then lie. Nothing is ever checked out, so
//! that hooks, filters, links and submodules of a repository do nothing here.

mod addresses;
mod copy;
mod files;
mod history;
mod network;

use std::{fmt, path::Path};

pub use addresses::{PublicOnly, is_public, names_private};
pub use copy::{Copied, Source, copy};
pub use files::visit;
pub use history::{History, history};

use super::Unread;

/// How much of a repository is copied and read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the copy at most, as they come and as they lie.
    pub bytes: u64,
    /// Files of the newest commit at most.
    pub files: u64,
    /// Bytes of one file at most; what is larger is no source code, and is not copied.
    pub file_bytes: u64,
    /// Seconds that the host may say nothing.
    pub idle_seconds: u32,
}

/// A repository that was copied, at its newest commit.
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
    /// Opens a copy.
    pub fn open(folder: &Path, limits: Limits) -> Result<Repository, Unread> {
        let mut inner = copy::options(limits).open(folder).map_err(broken)?.to_thread_local();
        // Files of one folder are often written as differences of each other.
        inner.object_cache_size(Some(OBJECT_CACHE));
        let head = inner.head_id().map_err(broken)?.detach();
        Ok(Repository { inner, head })
    }

    /// The commit that the repository stands at, in hexadecimal.
    pub fn commit_sha(&self) -> String {
        self.head.to_string()
    }
}

/// Bytes of unpacked objects that are kept, as a folder's are asked for again.
const OBJECT_CACHE: usize = 4 << 20;

/// The copy is not as it was received: our disk's fault, not the vendor's.
fn broken(error: impl fmt::Display) -> Unread {
    Unread::Broken(std::io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests;
