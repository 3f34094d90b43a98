//! Free space of the disk with the data directory. A reserve is kept for operations that free space.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::error::{Error, Result};

/// Writes everything that was written to the file system of a directory to its disk.
pub fn sync_filesystem(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(directory)?)?)
}

/// Returns the number of bytes that are free on the disk with a directory.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(directory)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The free space of the disk, and the space that work in progress will need.
///
/// The space is measured for each check: a measurement costs one system call, and an older one would miss later writes of this
/// process and others.
pub struct DiskSpace {
    measure: Box<dyn Fn() -> io::Result<u64> + Send + Sync>,
    reserve_bytes: u64,
    reservations: Reservations,
}

/// Bytes that are reserved and not yet written. Clones count the same bytes, for markets on the same disk.
#[derive(Clone, Debug, Default)]
pub struct Reservations(Arc<AtomicU64>);

/// Space for data that is being written. Dropping it releases the unused part.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: u64,
    all: Reservations,
}

impl fmt::Debug for DiskSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiskSpace({} bytes in reserve)", self.reserve_bytes)
    }
}

impl DiskSpace {
    /// Creates the state for the disk with `directory`. With a reserve of 0 bytes, nothing is checked.
    pub fn new(directory: PathBuf, reserve_bytes: u64, reservations: Reservations) -> DiskSpace {
        DiskSpace { measure: Box::new(move || free_bytes(&directory)), reserve_bytes, reservations }
    }

    /// Checks that the disk has `bytes` free in addition to the reserve and to the reservations of others.
    pub fn ensure(&self, bytes: u64) -> Result<()> {
        if self.reserve_bytes == 0 {
            return Ok(());
        }
        // Read before the measurement, so that bytes that are written in between count twice and not zero times.
        let reserved = self.reservations.0.load(Ordering::SeqCst);
        let required = self.reserve_bytes.saturating_add(reserved).saturating_add(bytes);
        let free = self.free_bytes().map_err(Error::internal)?;
        if free < required { Err(Error::storage_full()) } else { Ok(()) }
    }

    /// Reserves space for `bytes`, so that other work cannot use it. Fails like [`DiskSpace::ensure`].
    pub fn reserve(&self, bytes: u64) -> Result<Reservation> {
        // Reserved before the check, so that concurrent reservations cannot share the same space.
        self.reservations.0.fetch_add(bytes, Ordering::SeqCst);
        let reservation = Reservation { bytes, all: self.reservations.clone() };
        self.ensure(0)?;
        Ok(reservation)
    }

    /// Returns the number of bytes that stay free.
    pub const fn reserve_bytes(&self) -> u64 {
        self.reserve_bytes
    }

    /// Returns what is reserved, for other markets on the same disk.
    pub const fn reservations(&self) -> &Reservations {
        &self.reservations
    }

    /// Returns the number of bytes that are free now.
    pub fn free_bytes(&self) -> io::Result<u64> {
        (self.measure)()
    }
}

impl Reservation {
    /// Records that bytes were written: measurements of the free space see them from now on.
    pub fn use_bytes(&mut self, bytes: u64) {
        let used = bytes.min(self.bytes);
        self.bytes -= used;
        self.all.0.fetch_sub(used, Ordering::SeqCst);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.use_bytes(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn code(result: Result<impl Sized>) -> Option<Code> {
        result.err().and_then(|error| error.code())
    }

    /// A disk with this number of free bytes, including a reserve of one hundred. Returns the free bytes.
    fn disk(free: u64) -> (Arc<AtomicU64>, DiskSpace) {
        let free = Arc::new(AtomicU64::new(free));
        let measured = Arc::clone(&free);
        let measure = Box::new(move || Ok(measured.load(Ordering::SeqCst)));
        (free, DiskSpace { measure, reserve_bytes: 100, reservations: Reservations::default() })
    }

    #[test]
    fn reserve_and_reservations_are_kept_free() {
        let (free, disk) = disk(1_000);
        disk.ensure(900).unwrap();
        assert_eq!(code(disk.ensure(901)), Some(Code::StorageFull));
        let mut upload = disk.reserve(600).unwrap();
        assert_eq!(code(disk.reserve(301)), Some(Code::StorageFull));
        disk.ensure(300).unwrap();
        free.fetch_sub(200, Ordering::SeqCst);
        upload.use_bytes(200);
        disk.ensure(300).unwrap();
        assert_eq!(code(disk.ensure(301)), Some(Code::StorageFull));
        drop(upload);
        disk.ensure(700).unwrap();
        assert_eq!(code(disk.ensure(701)), Some(Code::StorageFull));
    }

    /// Work is admitted only while the reserve remains, for every order in which it reserves, writes, and ends.
    #[test]
    fn reserve_is_kept_by_work_of_every_kind() {
        type Work = fn(&AtomicU64, &DiskSpace) -> Option<Vec<Reservation>>;
        fn write(free: &AtomicU64, reservation: &mut Reservation, bytes: u64) {
            free.fetch_sub(bytes, Ordering::SeqCst);
            reservation.use_bytes(bytes);
        }
        let one_after_another: Work = |free, disk| {
            let mut reservation = disk.reserve(30).ok()?;
            write(free, &mut reservation, 30);
            Some(Vec::new())
        };
        let at_the_same_time: Work = |free, disk| {
            let mut reservation = disk.reserve(30).ok()?;
            write(free, &mut reservation, 10);
            Some(vec![reservation])
        };
        let not_recorded: Work = |free, disk| {
            let reservation = disk.reserve(30).ok()?;
            free.fetch_sub(30, Ordering::SeqCst);
            drop(reservation);
            Some(Vec::new())
        };
        let without_a_reservation: Work = |free, disk| {
            disk.ensure(30).ok()?;
            free.fetch_sub(30, Ordering::SeqCst);
            Some(Vec::new())
        };
        let besides_another_process: Work = |free, disk| {
            let mut reservation = disk.reserve(30).ok()?;
            write(free, &mut reservation, 30);
            free.fetch_sub(15, Ordering::SeqCst);
            Some(Vec::new())
        };
        for (name, work, expected) in [
            ("one after another", one_after_another, 30),
            ("at the same time", at_the_same_time, 30),
            ("not recorded", not_recorded, 30),
            ("without a reservation", without_a_reservation, 30),
            ("besides another process", besides_another_process, 20),
        ] {
            let (free, disk) = disk(1_000);
            let mut held = Vec::new();
            let mut count = 0;
            while let Some(reservations) = work(&free, &disk) {
                held.extend(reservations);
                count += 1;
            }
            assert_eq!(count, expected, "{name}");
            for reservation in &mut held {
                write(&free, reservation, 20);
            }
            let left = free.load(Ordering::SeqCst);
            assert_eq!(left, 100, "{name}");
        }
    }

    #[test]
    fn markets_on_one_disk_share_reservations() {
        let (free, root) = disk(1_000);
        let measured = Arc::clone(&free);
        let world = DiskSpace {
            measure: Box::new(move || Ok(measured.load(Ordering::SeqCst))),
            reserve_bytes: 100,
            reservations: root.reservations().clone(),
        };
        let held = root.reserve(600).unwrap();
        assert_eq!(code(world.reserve(301)), Some(Code::StorageFull));
        drop(held);
        world.reserve(900).unwrap();
    }

    #[test]
    fn reserve_of_zero_disables_the_check() {
        let disk = DiskSpace::new("/nowhere".into(), 0, Reservations::default());
        disk.ensure(u64::MAX).unwrap();
        let disk = DiskSpace::new("/tmp".into(), u64::MAX, Reservations::default());
        assert_eq!(code(disk.ensure(0)), Some(Code::StorageFull));
    }
}
