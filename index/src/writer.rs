//! The one writer of an index.

use tantivy::{IndexWriter, TantivyDocument};

use crate::Index;
use crate::document::{ListingDocument, ListingNumber};
use crate::error::Error;
use crate::merging::Growing;

/// What the search engine demands at least for each indexing thread.
const LEAST_THREAD_BYTES: usize = 15_000_000;

/// What it takes at most.
const MOST_THREAD_BYTES: usize = 4_000_000_000;

/// Changes the index; there is at most one for a folder, among all processes. Nothing is seen before it is committed,
/// and what is not committed is lost when the writer is dropped.
pub struct Writer {
    index: Index,
    writer: IndexWriter<TantivyDocument>,
}

impl Writer {
    pub(crate) fn open(index: &Index, memory_bytes: usize, threads: usize) -> Result<Writer, Error> {
        let threads = threads.max(1);
        let bytes = (memory_bytes / threads).clamp(LEAST_THREAD_BYTES, MOST_THREAD_BYTES) * threads;
        let writer = index.engine().writer_with_num_threads(threads, bytes)?;
        writer.set_merge_policy(Box::new(Growing));
        // What a killed writer left would be in the way: the engine names files by operation numbers, which go on from the
        // last commit, and refuses to write one that exists.
        writer.garbage_collect_files().wait()?;
        // The first operation would get the number of the last commit, and a merge that aims at that commit would take it
        // for a part of it: in some segments only, after which the others never hear of it. So nothing gets that number.
        writer.run(std::iter::empty())?;
        Ok(Writer { index: index.clone(), writer })
    }

    /// Adds a listing, in place of its earlier document.
    pub fn put(&mut self, doc: &ListingDocument) -> Result<(), Error> {
        self.remove(doc.listing)?;
        self.writer.add_document(self.index.fields().document(doc))?;
        Ok(())
    }

    /// Removes a listing, if the index has it.
    // Removing cannot fail in this engine; adding can, and callers should not have to know the difference.
    #[allow(clippy::unnecessary_wraps)]
    pub fn remove(&mut self, listing: ListingNumber) -> Result<(), Error> {
        self.writer.delete_term(self.index.fields().listing(listing));
        Ok(())
    }

    /// Makes what was put and removed durable, as everything up to this change number, and shows it: when this returns,
    /// [`Index::snapshot`] has it.
    pub fn commit(&mut self, change: u64) -> Result<(), Error> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&change.to_string());
        commit.commit()?;
        self.index.reload()?;
        Ok(())
    }

    /// Ends writing when running merges are done, and takes up what they made.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.wait_merging_threads()?;
        self.index.reload()?;
        Ok(())
    }
}
