//! The space on the disk that a backup is written to, or restored to.

use std::path::Path;

use super::files::cannot;
use crate::{
    blobs,
    error::{Error, Result},
};

/// Checks that the disk with a directory has this number of bytes free, before anything is written.
pub(super) fn ensure_free(directory: &Path, required: u64) -> Result<()> {
    let free = blobs::free_bytes(directory).map_err(cannot("read", directory))?;
    if required <= free {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(Error::Conflict(format!(
        "the disk with {} has {} MB free, and at least {} MB are needed; free space, or choose another directory",
        directory.display(),
        megabytes(free),
        megabytes(required)
    )))
}
