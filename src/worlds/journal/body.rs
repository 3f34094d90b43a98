//! The bodies of requests and responses, kept while they are transferred. Short ones are in memory, and longer ones in files.
//! If a body is too long, only its beginning is kept.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::space::{Charge, Space};
use crate::private_files;

/// Maximum size in bytes of a body that is kept in memory, and of the beginning of one that is not kept.
pub const INLINE_BYTES: usize = 64 * 1024;

/// Maximum size in bytes of a body that is kept in a file.
pub const MAX_BODY_BYTES: u64 = 64 << 20;

/// Where the bodies of a journal are kept.
#[derive(Debug)]
pub struct BodyStore {
    space: Arc<Space>,
    directory: PathBuf,
    files: AtomicU64,
}

impl BodyStore {
    /// Creates the store of a journal. The directory is created with the first file.
    pub const fn new(space: Arc<Space>, directory: PathBuf) -> BodyStore {
        BodyStore { space, directory, files: AtomicU64::new(0) }
    }

    /// Returns the directory of the files, which need not exist.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn create_file(&self) -> io::Result<(PathBuf, File)> {
        private_files::create_dir_all(&self.directory)?;
        let path = self.directory.join(self.files.fetch_add(1, Ordering::Relaxed).to_string());
        let file = private_files::open_options().write(true).create_new(true).open(&path)?;
        Ok((path, file))
    }
}

/// A body that is being transferred, or was.
pub struct RecordedBody {
    store: Arc<BodyStore>,
    state: Mutex<State>,
}

impl fmt::Debug for RecordedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordedBody({} bytes)", self.lock().length)
    }
}

struct State {
    kept: Kept,
    charge: Charge,
    length: u64,
    /// The hash of a body that is not in memory.
    hash: Option<Box<Xxh3>>,
    end: End,
}

#[derive(Debug)]
enum Kept {
    /// The whole body so far.
    InMemory(Vec<u8>),
    /// The whole body so far.
    InFile(BodyFile),
    /// Only the beginning.
    Beginning(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is still being transferred.
    Open,
    /// It was transferred to its end.
    Complete,
    /// The transfer ended before the end of the body.
    Broken,
}

/// A file with a body, which is deleted with this value.
#[derive(Debug)]
struct BodyFile {
    space: Arc<Space>,
    path: PathBuf,
    /// Closed at the end of the transfer.
    file: Option<File>,
    bytes: u64,
}

impl BodyFile {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        let bytes = chunk.len() as u64;
        if self.bytes + bytes > MAX_BODY_BYTES || !self.space.take_file_bytes(bytes) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.bytes += bytes;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(chunk))
    }

    fn read_beginning(&self) -> io::Result<Vec<u8>> {
        let mut beginning = Vec::new();
        File::open(&self.path)?.take(INLINE_BYTES as u64).read_to_end(&mut beginning)?;
        Ok(beginning)
    }
}

impl Drop for BodyFile {
    fn drop(&mut self) {
        self.space.give_back_file_bytes(self.bytes);
        // It may have been deleted with the directory of the world.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What is known of a body at some time.
#[derive(Clone, Debug)]
pub struct BodySnapshot {
    /// The beginning of the body, up to [`INLINE_BYTES`].
    pub beginning: Vec<u8>,
    /// Number of bytes that were transferred.
    pub length: u64,
    /// Whether it was transferred to its end.
    pub is_complete: bool,
    /// Whether all bytes that were transferred are kept.
    pub is_kept: bool,
    /// XXH3 hash of the bytes that were transferred.
    pub hash: u128,
}

/// All bytes of a body.
#[derive(Debug)]
pub enum WholeBody {
    /// A short body.
    InMemory(Vec<u8>),
    /// A long body, with its length.
    InFile(File, u64),
}

impl RecordedBody {
    /// Creates a body of which nothing was transferred.
    pub fn new(store: Arc<BodyStore>) -> Arc<RecordedBody> {
        let state = State {
            kept: Kept::InMemory(Vec::new()),
            charge: store.space.charge(0),
            length: 0,
            hash: None,
            end: End::Open,
        };
        Arc::new(RecordedBody { store, state: Mutex::new(state) })
    }

    /// Adds bytes that were transferred.
    pub fn append(&self, chunk: &[u8]) {
        let mut state = self.lock();
        let State { kept, charge, length, hash, .. } = &mut *state;
        *length += chunk.len() as u64;
        if let Some(hash) = hash {
            hash.update(chunk);
        }
        match kept {
            Kept::InMemory(bytes) if bytes.len() + chunk.len() <= INLINE_BYTES => {
                bytes.extend_from_slice(chunk);
                charge.grow(chunk.len());
            }
            Kept::InMemory(bytes) => {
                let mut started = Box::new(Xxh3::new());
                started.update(bytes);
                started.update(chunk);
                *hash = Some(started);
                let bytes = std::mem::take(bytes);
                *kept = self.move_to_file(bytes, chunk, charge);
            }
            Kept::InFile(file) => {
                if file.write(chunk).is_err() {
                    let beginning = file.read_beginning().unwrap_or_default();
                    charge.grow(beginning.len());
                    *kept = Kept::Beginning(beginning);
                }
            }
            Kept::Beginning(_) => {}
        }
    }

    /// Moves a body from memory to a file, with another chunk. Keeps the beginning if there is no space for it.
    fn move_to_file(&self, mut bytes: Vec<u8>, chunk: &[u8], charge: &mut Charge) -> Kept {
        let create = || {
            let (path, file) = self.store.create_file()?;
            let space = Arc::clone(&self.store.space);
            let mut file = BodyFile { space, path, file: Some(file), bytes: 0 };
            file.write(&bytes)?;
            file.write(chunk)?;
            Ok::<_, io::Error>(file)
        };
        match create() {
            Ok(file) => {
                charge.clear();
                Kept::InFile(file)
            }
            Err(_) => {
                let added = chunk.len().min(INLINE_BYTES - bytes.len());
                bytes.extend_from_slice(&chunk[..added]);
                charge.grow(added);
                Kept::Beginning(bytes)
            }
        }
    }

    /// Says that the transfer has ended: with the end of the body, or earlier. Calls after the first have no effect.
    pub fn end(&self, is_complete: bool) {
        let mut state = self.lock();
        if state.end == End::Open {
            state.end = if is_complete { End::Complete } else { End::Broken };
            if let Kept::InFile(file) = &mut state.kept {
                file.file = None;
            }
        }
    }

    /// Returns the kept part of the body. Reads a file if the body is in one.
    pub fn snapshot(&self) -> BodySnapshot {
        let state = self.lock();
        let (beginning, is_kept) = match &state.kept {
            Kept::InMemory(bytes) => (bytes.clone(), true),
            Kept::InFile(file) => (file.read_beginning().unwrap_or_default(), true),
            Kept::Beginning(bytes) => (bytes.clone(), false),
        };
        let hash = state.hash.as_ref().map_or_else(|| xxh3_128(&beginning), |hash| hash.digest128());
        let is_complete = state.end == End::Complete;
        BodySnapshot { beginning, length: state.length, is_complete, is_kept, hash }
    }

    /// Returns all bytes that were transferred; `None` if they are not kept.
    pub fn whole(&self) -> io::Result<Option<WholeBody>> {
        Ok(match &self.lock().kept {
            Kept::InMemory(bytes) => Some(WholeBody::InMemory(bytes.clone())),
            Kept::InFile(file) => Some(WholeBody::InFile(File::open(&file.path)?, file.bytes)),
            Kept::Beginning(_) => None,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worlds::journal::space::SharedSpace;

    fn store(disk_bytes: u64) -> (tempfile::TempDir, Arc<BodyStore>) {
        let directory = tempfile::tempdir().unwrap();
        let space = Space::new(SharedSpace::new(disk_bytes));
        let store = BodyStore::new(space, directory.path().join("bodies"));
        (directory, Arc::new(store))
    }

    fn files(store: &BodyStore) -> usize {
        std::fs::read_dir(store.directory()).map_or(0, Iterator::count)
    }

    #[test]
    fn short_body_is_in_memory_and_a_longer_one_in_a_file() {
        let (_directory, store) = store(0);
        let body = RecordedBody::new(Arc::clone(&store));
        let chunk = vec![7; INLINE_BYTES / 2];
        body.append(&chunk);
        body.append(&chunk);
        assert_eq!((files(&store), body.snapshot().beginning.len()), (0, INLINE_BYTES));
        body.append(&chunk);
        body.end(true);
        let snapshot = body.snapshot();
        assert_eq!((files(&store), snapshot.beginning.len()), (1, INLINE_BYTES));
        assert_eq!((snapshot.length, snapshot.is_complete, snapshot.is_kept), (98_304, true, true));
        assert_eq!(snapshot.hash, xxh3_128(&vec![7; 98_304]));
        let Some(WholeBody::InFile(mut file, 98_304)) = body.whole().unwrap() else { panic!() };
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert_eq!(read, vec![7; 98_304]);
        drop(body);
        assert_eq!(files(&store), 0);
    }

    #[test]
    fn beginning_is_kept_if_there_is_no_space() {
        let (_directory, store) = store(4 * 80_000);
        let body = RecordedBody::new(Arc::clone(&store));
        body.append(&vec![1; 70_000]);
        assert!(body.snapshot().is_kept);
        body.append(&vec![2; 20_000]);
        body.end(false);
        let snapshot = body.snapshot();
        assert_eq!((snapshot.beginning, files(&store)), (vec![1; INLINE_BYTES], 0));
        assert_eq!((snapshot.length, snapshot.is_complete, snapshot.is_kept), (90_000, false, false));
        assert!(body.whole().unwrap().is_none());
        // The space is free again.
        let other = RecordedBody::new(store);
        other.append(&vec![3; 80_000]);
        assert!(other.snapshot().is_kept);
    }
}
