//! The free disk space of a market.

use super::Market;
use crate::{
    blobs::Reservation,
    error::{Error, Result},
};

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

    /// Reserves disk space for `bytes` that are going to be written. Fails like [`Market::ensure_space`].
    pub fn reserve_space(&self, bytes: u64) -> Result<Reservation> {
        self.inner.disk_space.reserve(bytes, self.inner.clock.now())
    }
}
