//! The free disk space of a market.

use std::sync::{Arc, Mutex, PoisonError};

use super::Market;
use crate::{
    blobs::{DiskFile, Reservation, Reservations, UploadActivities, list_disk_files},
    error::{Error, Result},
};

/// The free space and the reserve that a world reports. Real values would make identical worlds differ.
const SPACE_OF_WORLD: (u64, u64) = (1_000_000_000_000, 0);

/// The files of a market when they were last listed, and what had been written then.
#[derive(Debug, Default)]
pub(super) struct ListedFiles(Mutex<Option<(Written, Arc<[DiskFile]>)>>);

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
        self.inner.disk_space.ensure(bytes)
    }

    /// Returns the number of free bytes on the disk, and the number of bytes that are reserved for operations that free space. In a
    /// world, both are constants.
    pub fn free_space(&self) -> Result<(u64, u64)> {
        let disk = &self.inner.disk_space;
        if self.clock().is_of_world() {
            return Ok(SPACE_OF_WORLD);
        }
        Ok((disk.free_bytes().map_err(Error::internal)?, disk.reserve_bytes()))
    }

    /// Returns what is reserved on the disk, for worlds of the market, whose files are on the same disk.
    pub fn reservations(&self) -> Reservations {
        self.inner.disk_space.reservations().clone()
    }

    /// Returns the files in the data directory, for [`DiskUsage`](crate::blobs::DiskUsage). They are listed again only if the
    /// market was written to, or receives an upload. What a job writes is listed when the job ends.
    pub fn disk_files(&self) -> Result<Arc<[DiskFile]>> {
        let uploads = self.inner.blobs.upload_activities();
        let is_uploading = uploads.running > 0;
        let written = Written { commits: self.commit_count(), uploads };
        let mut listed = self.inner.listed_files.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, files)) = &*listed
            && *at == written
            && !is_uploading
        {
            return Ok(Arc::clone(files));
        }
        let files: Arc<[DiskFile]> = list_disk_files(&self.inner.data_dir).map_err(Error::internal)?.into();
        *listed = Some((written, Arc::clone(&files)));
        Ok(files)
    }

    /// Reserves disk space for `bytes` that are going to be written. Fails like [`Market::ensure_space`].
    pub fn reserve_space(&self, bytes: u64) -> Result<Reservation> {
        self.inner.disk_space.reserve(bytes)
    }
}
