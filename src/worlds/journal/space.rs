//! Limits on the size of journals of worlds, in memory and in files: of each journal, and in total.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Maximum number of requests that the journal of a world keeps.
pub const MAX_ENTRIES: usize = 5_000;

/// Maximum memory in bytes of the journal of a world.
pub const MAX_MEMORY: u64 = 8 << 20;

/// Memory in bytes of all journals from which each may have only its share.
const SHARED_MEMORY: u64 = 64 << 20;

/// Maximum size in bytes of the files of the journal of a world.
pub const MAX_FILES: u64 = 256 << 20;

/// Maximum size in bytes of the files of all journals, if the disk for worlds has no limit.
const MAX_SHARED_FILES: u64 = 4 << 30;

/// The part of the disk for worlds that all journals may use.
const SHARE_OF_DISK: u64 = 4;

/// What the journals of all worlds use.
#[derive(Debug)]
pub struct SharedSpace {
    max_files: u64,
    memory: AtomicU64,
    files: AtomicU64,
    journals: AtomicU64,
}

impl SharedSpace {
    /// Creates the space of a server whose worlds may use this many bytes of the disk; 0 for no limit.
    pub fn new(disk_bytes: u64) -> Arc<SharedSpace> {
        let max_files = if disk_bytes == 0 { MAX_SHARED_FILES } else { disk_bytes / SHARE_OF_DISK };
        Arc::new(SharedSpace {
            max_files,
            memory: AtomicU64::new(0),
            files: AtomicU64::new(0),
            journals: AtomicU64::new(0),
        })
    }
}

/// What the journal of one world uses.
#[derive(Debug)]
pub struct Space {
    shared: Arc<SharedSpace>,
    memory: AtomicU64,
    files: AtomicU64,
}

impl Space {
    /// Creates the space of another journal.
    pub fn new(shared: Arc<SharedSpace>) -> Arc<Space> {
        shared.journals.fetch_add(1, Relaxed);
        Arc::new(Space { shared, memory: AtomicU64::new(0), files: AtomicU64::new(0) })
    }

    /// Whether the journal must drop entries. Together, journals use at most twice the memory from which each may have
    /// only its share.
    pub fn is_exceeded(&self) -> bool {
        let own = self.memory.load(Relaxed);
        let is_scarce = self.shared.memory.load(Relaxed) > SHARED_MEMORY;
        let share = SHARED_MEMORY / self.shared.journals.load(Relaxed).max(1);
        own > MAX_MEMORY || is_scarce && own > share
    }

    /// Counts memory until the charge is dropped.
    pub fn charge(self: &Arc<Space>, bytes: usize) -> Charge {
        let mut charge = Charge { space: Arc::clone(self), bytes: 0 };
        charge.grow(bytes);
        charge
    }

    /// Counts bytes of a file. Returns whether there is space for them.
    pub fn take_file_bytes(&self, bytes: u64) -> bool {
        let add = |of: &AtomicU64, max: u64| {
            of.fetch_update(Relaxed, Relaxed, |used| Some(used + bytes).filter(|sum| *sum <= max)).is_ok()
        };
        if !add(&self.files, MAX_FILES) {
            return false;
        }
        let is_taken = add(&self.shared.files, self.shared.max_files);
        if !is_taken {
            self.files.fetch_sub(bytes, Relaxed);
        }
        is_taken
    }

    /// Gives back bytes of a file that was deleted.
    pub fn give_back_file_bytes(&self, bytes: u64) {
        self.files.fetch_sub(bytes, Relaxed);
        self.shared.files.fetch_sub(bytes, Relaxed);
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        self.shared.journals.fetch_sub(1, Relaxed);
    }
}

/// Memory that a part of a journal uses.
#[derive(Debug)]
pub struct Charge {
    space: Arc<Space>,
    bytes: u64,
}

impl Charge {
    /// Counts more memory.
    pub fn grow(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.bytes += bytes;
        self.space.memory.fetch_add(bytes, Relaxed);
        self.space.shared.memory.fetch_add(bytes, Relaxed);
    }

    /// Counts no memory any more.
    pub fn clear(&mut self) {
        self.space.memory.fetch_sub(self.bytes, Relaxed);
        self.space.shared.memory.fetch_sub(self.bytes, Relaxed);
        self.bytes = 0;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_share_memory_and_files() {
        let shared = SharedSpace::new(400);
        let one = Space::new(Arc::clone(&shared));
        let charge = one.charge(MAX_MEMORY as usize);
        assert!(!one.is_exceeded());
        drop(one.charge(1));
        assert!(!one.is_exceeded());
        let more = one.charge(1);
        assert!(one.is_exceeded());
        drop((charge, more));
        assert!(one.take_file_bytes(60));
        let other = Space::new(Arc::clone(&shared));
        assert!(!other.take_file_bytes(41) && other.take_file_bytes(40));
        one.give_back_file_bytes(60);
        assert!(other.take_file_bytes(41));
    }

    #[test]
    fn journal_with_more_than_its_share_drops_entries_if_memory_is_scarce() {
        let shared = SharedSpace::new(0);
        let spaces: Vec<_> = (0..20).map(|_| Space::new(Arc::clone(&shared))).collect();
        let charges: Vec<_> = spaces[..9].iter().map(|space| space.charge(MAX_MEMORY as usize)).collect();
        let small = spaces[10].charge(1 << 20);
        assert!(spaces[..9].iter().all(|space| space.is_exceeded()) && !spaces[10].is_exceeded());
        drop(charges);
        assert!(spaces.iter().all(|space| !space.is_exceeded()));
        drop(small);
    }
}
