//! Free space of the disk with the data directory. A reserve of it is kept for what frees space.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
};

/// Writes everything that was written to the file system of a directory to its disk.
pub fn sync_filesystem(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(directory)?)?)
}

/// Returns the number of bytes that are free on the disk with a directory.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(directory)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// How long a measurement of the free space is used, in microseconds.
const MEASUREMENT_MICROS: i64 = 1_000_000;

/// The free space of the disk, measured at most once per second, and what work in progress will write.
#[derive(Debug)]
pub struct DiskSpace {
    directory: PathBuf,
    reserve_bytes: u64,
    /// Time and result of the last measurement.
    measured: Mutex<Option<(Timestamp, u64)>>,
    /// Bytes that are reserved and not yet written.
    reserved: Arc<AtomicU64>,
}

/// Space for data that is being written. Dropping it returns what was not written.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: u64,
    reserved: Arc<AtomicU64>,
}

impl DiskSpace {
    /// Creates the state for the disk with `directory`. With a reserve of 0 bytes, nothing is checked.
    pub fn new(directory: PathBuf, reserve_bytes: u64) -> DiskSpace {
        DiskSpace { directory, reserve_bytes, measured: Mutex::default(), reserved: Arc::default() }
    }

    /// Checks that the disk has `bytes` free in addition to the reserve and to what is reserved for others.
    pub fn ensure(&self, bytes: u64, now: Timestamp) -> Result<()> {
        if self.reserve_bytes == 0 {
            return Ok(());
        }
        let reserved = self.reserved.load(Ordering::Relaxed);
        let required = self.reserve_bytes.saturating_add(reserved).saturating_add(bytes);
        let free = self.free_bytes(now).map_err(Error::internal)?;
        if free < required { Err(Error::storage_full()) } else { Ok(()) }
    }

    /// Reserves space for `bytes`, so that other work cannot use it. Fails like [`DiskSpace::ensure`].
    pub fn reserve(&self, bytes: u64, now: Timestamp) -> Result<Reservation> {
        // Reserved before the check, so that concurrent reservations cannot share the same space.
        self.reserved.fetch_add(bytes, Ordering::Relaxed);
        let reservation = Reservation { bytes, reserved: Arc::clone(&self.reserved) };
        self.ensure(0, now)?;
        Ok(reservation)
    }

    /// Returns the number of bytes that stay free.
    pub const fn reserve_bytes(&self) -> u64 {
        self.reserve_bytes
    }

    /// Returns the number of bytes that were free at the last measurement, at most one second ago.
    pub fn free_bytes(&self, now: Timestamp) -> io::Result<u64> {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, free)) = *measured
            && (at.0..at.0 + MEASUREMENT_MICROS).contains(&now.0)
        {
            return Ok(free);
        }
        let free = free_bytes(&self.directory)?;
        *measured = Some((now, free));
        Ok(free)
    }
}

impl Reservation {
    /// Records that bytes were written: measurements of the free space see them from now on.
    pub fn use_bytes(&mut self, bytes: u64) {
        let used = bytes.min(self.bytes);
        self.bytes -= used;
        self.reserved.fetch_sub(used, Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn code(result: Result<impl Sized>) -> Option<Code> {
        result.err().and_then(|error| error.code())
    }

    #[test]
    fn reserve_and_reservations_are_kept_free() {
        let directory = tempfile::tempdir().unwrap();
        let disk = DiskSpace::new(directory.path().to_owned(), 100);
        *disk.measured.lock().unwrap() = Some((Timestamp(0), 1_000));
        let now = Timestamp(MEASUREMENT_MICROS - 1);
        disk.ensure(900, now).unwrap();
        assert_eq!(code(disk.ensure(901, now)), Some(Code::StorageFull));
        let mut upload = disk.reserve(600, now).unwrap();
        assert_eq!(code(disk.reserve(301, now)), Some(Code::StorageFull));
        disk.ensure(300, now).unwrap();
        upload.use_bytes(200);
        disk.ensure(500, now).unwrap();
        drop(upload);
        disk.ensure(900, now).unwrap();
        // Later, the space is measured again.
        disk.ensure(0, Timestamp(MEASUREMENT_MICROS)).unwrap();
        assert_ne!(disk.measured.lock().unwrap().unwrap().1, 1_000);
    }

    #[test]
    fn reserve_of_zero_disables_the_check() {
        let disk = DiskSpace::new("/nowhere".into(), 0);
        disk.ensure(u64::MAX, Timestamp(0)).unwrap();
        let disk = DiskSpace::new("/tmp".into(), u64::MAX);
        assert_eq!(code(disk.ensure(0, Timestamp(0))), Some(Code::StorageFull));
    }
}
