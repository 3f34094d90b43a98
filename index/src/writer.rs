//! The writer of an index.
//!
//! A few documents become a segment on the calling thread, since the engine's indexing threads need more
//! memory and time to start than the documents take. Only a larger batch goes to these threads.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use tantivy::TantivyDocument;
use tantivy::indexer::{AddOperation, SegmentWriter};

use crate::Index;
use crate::document::{ListingDocument, ListingRowId};
use crate::engine_writer::EngineWriter;
use crate::error::Error;
use crate::panics::catch_panics;
use crate::recent::RecentDocument;
use crate::replaced_listing::ReplacedListing;
use crate::snapshot::Snapshot;
use crate::text_analysis::Analyzers;

/// Maximum number of changes, and bytes of text, that become one segment on the calling thread.
const MAX_SMALL_BATCH: usize = 256;
const MAX_SMALL_BATCH_BYTES: usize = 1_000_000;

/// Maximum number of changes that are visible before the engine has written them. Each of them costs every
/// further one some microseconds.
const MAX_RECENT: usize = 32;

/// Maximum number of bytes of their text, which bounds the same cost for long texts.
const MAX_RECENT_BYTES: usize = 200_000;

/// Initial memory for the words of a small batch, in bytes. It grows if needed.
const SMALL_BATCH_MEMORY: usize = 200_000;

/// Changes the index. There is at most one writer per directory, among all processes. Changes become visible
/// on commit, and uncommitted changes are lost when the writer is dropped. It has to be dropped after any error.
pub struct Writer {
    index: Index,
    engine: Arc<EngineWriter>,
    /// The changes since the last commit, unless they are too many: the new document, or `None` if the
    /// listing is removed.
    batch: BTreeMap<ListingRowId, Option<RecentDocument>>,
    batch_bytes: usize,
    /// The changes that are visible, but that the engine has not written.
    recent: BTreeMap<ListingRowId, Option<RecentDocument>>,
    /// Bytes of the text of these changes, including changes that later ones have replaced.
    recent_bytes: usize,
    /// The number of the last change that this writer has shown, or else of the last commit.
    change: u64,
    /// The last commit of the engine.
    written: Arc<Snapshot>,
    analyzers: Analyzers,
    /// Whether the changes go to the engine's threads until the next commit.
    is_streaming: bool,
    /// Whether any segment exists, or will be written by the engine's threads, and applies deletions.
    has_segments: bool,
}

impl Writer {
    pub(crate) fn open(index: &Index, memory_bytes: usize, threads: usize) -> Result<Writer, Error> {
        catch_panics(|| Writer::open_at_commit(index, memory_bytes, threads))
    }

    fn open_at_commit(index: &Index, memory_bytes: usize, threads: usize) -> Result<Writer, Error> {
        let engine = Arc::new(EngineWriter::lock(index, memory_bytes, threads)?);
        // Another process may have written since; see `write_batch`.
        let written = index.load_commit(None)?;
        Ok(Writer {
            index: index.clone(),
            engine,
            batch: BTreeMap::new(),
            batch_bytes: 0,
            recent: BTreeMap::new(),
            recent_bytes: 0,
            change: written.change(),
            written,
            analyzers: index.analyzers(),
            is_streaming: false,
            has_segments: false,
        })
    }

    /// Adds a listing. Replaces its earlier document.
    pub fn put(&mut self, doc: &ListingDocument) -> Result<(), Error> {
        self.batch_bytes += doc.text.title.len() + doc.text.description.len();
        catch_panics(|| {
            if self.is_streaming {
                return self.stream(doc.listing, Some(self.index.fields().document(doc)));
            }
            let document = RecentDocument::new(doc, self.index.fields(), &mut self.analyzers);
            self.change(doc.listing, Some(document))
        })
    }

    /// Removes a listing, if the index has it.
    pub fn remove(&mut self, listing: ListingRowId) -> Result<(), Error> {
        catch_panics(|| {
            if self.is_streaming {
                return self.stream(listing, None);
            }
            self.change(listing, None)
        })
    }

    fn change(&mut self, listing: ListingRowId, doc: Option<RecentDocument>) -> Result<(), Error> {
        self.batch.insert(listing, doc);
        if self.batch.len() > MAX_SMALL_BATCH || self.batch_bytes > MAX_SMALL_BATCH_BYTES {
            self.is_streaming = true;
            self.has_segments = self.written.segments() > 0;
            let recent = mem::take(&mut self.recent);
            for (listing, doc) in recent.into_iter().chain(mem::take(&mut self.batch)) {
                self.stream(listing, doc.map(|doc| doc.document))?;
            }
        }
        Ok(())
    }

    /// Passes a change to the engine's threads.
    fn stream(&mut self, listing: ListingRowId, doc: Option<TantivyDocument>) -> Result<(), Error> {
        self.has_segments |= doc.is_some();
        self.engine.with(|engine| {
            if self.has_segments {
                engine.delete_term(self.index.fields().listing(listing));
            }
            if let Some(doc) = doc {
                engine.add_document(doc)?;
            }
            Ok(())
        })
    }

    /// Makes all changes so far visible in this process: when this returns, [`Index::snapshot`] includes
    /// them, as the state after the change of this number. A few changes are kept in memory until a
    /// [`Writer::commit`] or [`Writer::flush`]; until then, other processes do not see them, and a kill loses
    /// them.
    pub fn show(&mut self, change: u64) -> Result<(), Error> {
        let is_large = self.recent.len() + self.batch.len() > MAX_RECENT
            || self.recent_bytes + self.batch_bytes > MAX_RECENT_BYTES;
        if self.is_streaming || is_large {
            return self.commit(change);
        }
        let listings: Vec<ListingRowId> = self.batch.keys().copied().collect();
        // An earlier writer may have shown changes that this one has made again.
        let base = if self.is_ahead() { self.index.snapshot() } else { Arc::clone(&self.written) };
        self.recent.append(&mut self.batch);
        self.recent_bytes += mem::take(&mut self.batch_bytes);
        let docs: Vec<&RecentDocument> = self.recent.values().flatten().collect();
        catch_panics(|| self.index.show_recent(&base, &listings, &docs, change))?;
        self.change = change;
        Ok(())
    }

    /// Returns the number of the last change that this writer has shown, or else of the last commit.
    pub const fn last_change(&self) -> u64 {
        self.change
    }

    /// Returns whether [`Writer::show`] has shown changes that other processes do not see.
    pub fn is_ahead(&self) -> bool {
        self.change != self.written.change()
    }

    /// Writes the changes that [`Writer::show`] has shown, if there are any.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.is_ahead() { self.commit(self.change) } else { Ok(()) }
    }

    /// Makes all changes so far visible to all processes, recorded under this change number: when this
    /// returns, [`Index::snapshot`] includes them. A kill does not lose them, but a failure of the machine
    /// may, after which the index opens at an earlier commit, or is [corrupt](Error::Corrupt).
    pub fn commit(&mut self, change: u64) -> Result<(), Error> {
        catch_panics(|| self.write_commit(change))
    }

    fn write_commit(&mut self, change: u64) -> Result<(), Error> {
        self.write_batch()?;
        self.engine.with(|engine| {
            let mut commit = engine.prepare_commit()?;
            commit.set_payload(&change.to_string());
            commit.commit()?;
            Ok(())
        })?;
        self.is_streaming = false;
        self.change = change;
        self.written = self.index.load_commit(Some(&self.written))?;
        Ok(())
    }

    /// Writes the changes that did not go to the engine's threads.
    fn write_batch(&mut self) -> Result<(), Error> {
        (self.batch_bytes, self.recent_bytes) = (0, 0);
        let mut batch = mem::take(&mut self.recent);
        batch.append(&mut self.batch);
        let listings: Vec<ListingRowId> = batch.keys().copied().collect();
        let docs: Vec<TantivyDocument> = batch.into_values().flatten().map(|doc| doc.document).collect();
        let fields = self.index.fields();
        let mut replaced = Vec::new();
        for listing in listings {
            // The engine would keep a deletion that no segment applies, and apply it to segments of later
            // commits.
            if self.written.has_listing(listing)? {
                replaced.push(fields.listing(listing));
            }
        }
        // The engine deletes files that it does not know when it is opened, so the segment is written
        // afterwards.
        self.engine.with(|engine| {
            if docs.is_empty() {
                for listing in replaced {
                    engine.delete_term(listing);
                }
                return Ok(());
            }
            let count = docs.len() as u32;
            let segment = engine.new_segment();
            let mut segment_writer = SegmentWriter::for_segment(SMALL_BATCH_MEMORY, segment.clone())?;
            for document in docs {
                // Only segments that the engine's own threads write need operation numbers of documents.
                segment_writer.add_document(AddOperation { opstamp: 0, document })?;
            }
            segment_writer.finalize()?;
            for listing in replaced {
                engine.delete_query(Box::new(ReplacedListing::new(listing, segment.id())))?;
            }
            engine.add_segment(self.index.engine().new_segment_meta(segment.id(), count))?;
            Ok(())
        })
    }

    /// Returns the engine's writer, to close it while no changes are made. It is opened again when it is
    /// needed. There must be no changes since the last commit.
    pub fn engine(&self) -> Arc<EngineWriter> {
        debug_assert!(self.batch.is_empty() && !self.is_streaming && !self.is_ahead());
        Arc::clone(&self.engine)
    }

    /// Returns whether the engine's writer is open.
    pub fn is_engine_open(&self) -> bool {
        self.engine.is_open()
    }

    /// Closes the files of segments that were merged since the last commit, unless there are changes since.
    /// They are deleted, but occupy the disk while they are open.
    pub fn release_merged_files(&mut self) {
        let current = self.index.snapshot();
        if !self.is_ahead() && !current.is_ahead() {
            self.written = current;
        }
    }

    /// Commits, waits for running merges, closes the writer, and waits until everything is on the disk.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.engine.close().finish()
    }
}
