//! The free disk space of a market.

use std::sync::{Mutex, PoisonError};

use super::Market;
use crate::{
    blobs::{Reservation, UploadActivities, own_bytes},
    error::{Error, Result},
};

/// The last measurement of the bytes that a market occupies, and what had been written then.
#[derive(Debug, Default)]
pub(super) struct DiskUsage {
    measured: Mutex<Option<(Written, u64)>>,
}

/// What may have changed the files of a market.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    commits: u64,
    uploads: UploadActivities,
}

impl Market {
    /// Checks that the disk has `bytes` free in addition to its reserve. Fails with
    /// [`Error::StorageFull`](crate::error::Error::StorageFull).
    pub fn ensure_space(&self, bytes: u64) -> Result<()> {
        self.inner.disk_space.ensure(bytes, self.inner.clock.now())
    }

    /// Returns the number of bytes that are free on the disk, and of those that stay free for what frees space.
    pub fn free_space(&self) -> Result<(u64, u64)> {
        let free = self.inner.disk_space.free_bytes(self.inner.clock.now()).map_err(Error::internal)?;
        Ok((free, self.inner.disk_space.reserve_bytes()))
    }

    /// Returns the number of bytes of the files that only this market has. Those that are linked to other directories do
    /// not count. Measured again only if the market was written to, or receives an upload. What a job writes counts when
    /// the job ends.
    pub fn own_disk_bytes(&self) -> Result<u64> {
        let uploads = self.inner.blobs.upload_activities();
        let is_uploading = uploads.running > 0;
        let written = Written { commits: self.commit_count(), uploads };
        let mut measured = self.inner.disk_usage.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, bytes)) = &*measured
            && *at == written
            && !is_uploading
        {
            return Ok(*bytes);
        }
        let bytes = own_bytes(&self.inner.data_dir).map_err(Error::internal)?;
        *measured = Some((written, bytes));
        Ok(bytes)
    }

    /// Reserves disk space for `bytes` that are going to be written. Fails like [`Market::ensure_space`].
    pub fn reserve_space(&self, bytes: u64) -> Result<Reservation> {
        self.inner.disk_space.reserve(bytes, self.inner.clock.now())
    }
}
