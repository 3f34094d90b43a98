//! The writer of an index.

use tantivy::{IndexWriter, TantivyDocument};

use crate::Index;
use crate::document::{ListingDocument, ListingRowId};
use crate::error::Error;
use crate::merge_policy::GrowingSegments;

/// Minimum memory per indexing thread, as required by the search engine, in bytes.
const MIN_THREAD_BYTES: usize = 15_000_000;

/// Maximum memory per indexing thread that the search engine accepts, in bytes.
const MAX_THREAD_BYTES: usize = 4_000_000_000;

/// Changes the index. There is at most one writer per directory, among all processes. Changes become visible
/// on commit, and uncommitted changes are lost when the writer is dropped.
pub struct Writer {
    index: Index,
    writer: IndexWriter<TantivyDocument>,
}

impl Writer {
    pub(crate) fn open(index: &Index, memory_bytes: usize, threads: usize) -> Result<Writer, Error> {
        let threads = threads.max(1);
        let bytes = (memory_bytes / threads).clamp(MIN_THREAD_BYTES, MAX_THREAD_BYTES) * threads;
        let writer = index.engine().writer_with_num_threads(threads, bytes)?;
        writer.set_merge_policy(Box::new(GrowingSegments));
        // Files that a killed writer left have to be deleted: the engine names files by operation numbers,
        // which continue after the last commit, and refuses to write a file that exists.
        writer.garbage_collect_files().wait()?;
        // The first operation would get the operation number of the last commit, and a merge that targets
        // that commit would treat it as part of it, but only in some segments; the others would never apply
        // it. This no-op takes the number instead.
        writer.run(std::iter::empty())?;
        Ok(Writer { index: index.clone(), writer })
    }

    /// Adds a listing. Replaces its earlier document.
    pub fn put(&mut self, doc: &ListingDocument) -> Result<(), Error> {
        self.remove(doc.listing)?;
        self.writer.add_document(self.index.fields().document(doc))?;
        Ok(())
    }

    /// Removes a listing, if the index has it.
    // Removal cannot fail in this engine, but additions can, and callers should not depend on the difference.
    #[allow(clippy::unnecessary_wraps)]
    pub fn remove(&mut self, listing: ListingRowId) -> Result<(), Error> {
        self.writer.delete_term(self.index.fields().listing(listing));
        Ok(())
    }

    /// Makes all changes so far durable, recorded under this change number, and visible: when this returns,
    /// [`Index::snapshot`] includes them.
    pub fn commit(&mut self, change: u64) -> Result<(), Error> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&change.to_string());
        commit.commit()?;
        self.index.reload()?;
        Ok(())
    }

    /// Waits for running merges, closes the writer, and reloads the index.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.wait_merging_threads()?;
        self.index.reload()?;
        Ok(())
    }
}
