//! The engine's writer, which is open only while it is needed, since it has threads of its own.

use std::fs::{File, TryLockError};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tantivy::indexer::IndexWriterOptions;
use tantivy::{IndexWriter, TantivyDocument};

use crate::Index;
use crate::durability;
use crate::error::Error;
use crate::merge_policy::GrowingSegments;
use crate::panics::catch_panics;

/// Minimum memory per indexing thread, as required by the search engine, in bytes.
const MIN_THREAD_BYTES: usize = 15_000_000;

/// Maximum memory per indexing thread that the search engine accepts, in bytes.
const MAX_THREAD_BYTES: usize = 4_000_000_000;

/// Number of threads that merge segments.
const MERGE_THREADS: usize = 1;

/// The engine's writer of an index. Opens it on first use, and again after it was closed.
pub struct EngineWriter {
    index: Index,
    memory_bytes: usize,
    threads: usize,
    open: Mutex<Option<IndexWriter<TantivyDocument>>>,
    /// Excludes all other writers, in this process and in others, even while the engine's writer is closed. A private index has
    /// no other writers.
    _lock: Option<File>,
}

/// The engine's writer while it is being closed. Nothing can use it meanwhile.
pub struct ClosingEngine<'a> {
    index: &'a Index,
    open: MutexGuard<'a, Option<IndexWriter<TantivyDocument>>>,
}

impl EngineWriter {
    /// Locks the index for writing. Fails with [`Error::Busy`] if another writer has locked it.
    pub(crate) fn lock(index: &Index, memory_bytes: usize, threads: usize) -> Result<EngineWriter, Error> {
        let lock = if index.is_private() { None } else { Some(index.directory().open_writer_lock()?) };
        match lock.as_ref().map_or(Ok(()), File::try_lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let threads = threads.max(1);
        Ok(EngineWriter { index: index.clone(), memory_bytes, threads, open: Mutex::default(), _lock: lock })
    }

    /// Uses the writer. Waits while it is being closed, and opens it if it is not open.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut IndexWriter<TantivyDocument>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *open {
            Some(writer) => work(writer),
            None => work(open.insert(self.open_writer()?)),
        }
    }

    fn open_writer(&self) -> Result<IndexWriter<TantivyDocument>, Error> {
        let memory_per_thread = (self.memory_bytes / self.threads).clamp(MIN_THREAD_BYTES, MAX_THREAD_BYTES);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(self.threads)
            .memory_budget_per_thread(memory_per_thread)
            .num_merge_threads(MERGE_THREADS)
            .build();
        let writer = self.index.engine().writer_with_options(options)?;
        if !self.index.is_private() {
            durability::mark_unsynced(self.index.dir())?;
        }
        writer.set_merge_policy(Box::new(GrowingSegments));
        // Files that a killed writer left have to be deleted: the engine names files by operation numbers,
        // which continue after the last commit, and refuses to write a file that exists.
        writer.garbage_collect_files().wait()?;
        // The first operation would get the operation number of the last commit, and a merge that targets
        // that commit would treat it as part of it, but only in some segments; the others would never apply
        // it. This no-op takes the number instead.
        writer.run(std::iter::empty())?;
        Ok(writer)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Begins to close the engine's writer, which must have no uncommitted changes.
    pub fn close(&self) -> ClosingEngine<'_> {
        ClosingEngine { index: &self.index, open: self.open.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl ClosingEngine<'_> {
    /// Waits for running merges, ends the engine's threads, and waits until all files are on the disk, unless the index is
    /// private.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some(writer) = self.open.take() {
            catch_panics(|| Ok(writer.wait_merging_threads()?))?;
            if !self.index.is_private() {
                durability::sync(self.index.dir())?;
            }
        }
        self.index.reload()?;
        Ok(())
    }
}
