//! Formats of repositories that are not read.

use std::path::Path;

use crate::Rejection;

/// A format of repositories that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnsupportedFormat {
    /// Object IDs are SHA-256 digests.
    Sha256,
    /// Refs are in tables.
    Reftable,
}

impl UnsupportedFormat {
    /// Returns the message for the vendor.
    pub(super) fn rejection(self) -> Rejection {
        let message = match self {
            UnsupportedFormat::Sha256 => {
                "The repository has the object format SHA-256, which is not supported. Use a repository with SHA-1, or \
                 upload a zip of the files."
            }
            UnsupportedFormat::Reftable => {
                "The repository has the ref format reftable, which is not supported. Convert it with `git refs migrate \
                 --ref-format=files`."
            }
        };
        Rejection(message.to_owned())
    }

    /// Returns the format of a repository to which a file belongs, by its path in the repository.
    pub(super) fn of_file(path: &str) -> Option<UnsupportedFormat> {
        let is_sha256 =
            |digits: &str| digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if path.starts_with("reftable/") {
            return Some(UnsupportedFormat::Reftable);
        }
        let object = path.strip_prefix("objects/")?;
        let pack = object.strip_prefix("pack/pack-").and_then(|name| name.split('.').next());
        let has_sha256 = pack.map_or_else(|| is_sha256(&object.replacen('/', "", 1)), is_sha256);
        has_sha256.then_some(UnsupportedFormat::Sha256)
    }

    /// Returns the format of a repository in a directory, bare or with a worktree, if its files are enough to see that it
    /// is not supported.
    pub(super) fn of_directory(directory: &Path) -> Option<UnsupportedFormat> {
        let has_tables = |directory: &Path| directory.join("reftable/tables.list").is_file();
        (has_tables(directory) || has_tables(&directory.join(".git"))).then_some(UnsupportedFormat::Reftable)
    }
}
