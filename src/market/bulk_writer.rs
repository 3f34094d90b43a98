//! Bulk writes: the index is updated once, at the end, and with more memory than a server would spend that
//! handles requests at the same time.

use std::cell::Cell;

use super::{Market, Writer, entry_points::WriteCause, opening::index_writer_size};
use crate::{
    error::Result,
    search::{Progress, WriterOptions},
    store::BulkGuard,
};

/// Minimum size of the index's write buffer per thread, in bytes. Large segments are merged less often.
const MIN_INDEX_BYTES_PER_THREAD: usize = 300_000_000;

/// A bulk write in progress. Each transaction is committed on its own, but only [`BulkWriter::finish`]
/// updates the index. If it is never called, the next process that opens the market updates the index.
pub struct BulkWriter<'a> {
    market: &'a Market,
    last_change: Cell<Option<i64>>,
    _bulk: BulkGuard<'a>,
}

impl<'a> BulkWriter<'a> {
    pub(super) fn new(market: &'a Market) -> Result<BulkWriter<'a>> {
        Ok(BulkWriter { market, last_change: Cell::new(None), _bulk: market.inner.store.start_bulk()? })
    }

    /// Runs a write operation in one transaction, on the current thread.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let (result, change) = self.market.write_unindexed(WriteCause::default(), work)?;
        self.last_change.set(change.or(self.last_change.get()));
        Ok(result)
    }

    /// Updates the index with everything that was written. Other processes see it, too.
    pub fn finish(self, progress: &dyn Progress) -> Result<()> {
        let Some(change) = self.last_change.get() else { return Ok(()) };
        let inner = &self.market.inner;
        match &inner.updater {
            Some(updater) => {
                updater.wait_until_indexed(change as u64)?;
                updater.commit()
            }
            None => {
                let WriterOptions { memory_bytes, threads } = index_writer_size(inner.settings.current());
                let size = WriterOptions {
                    memory_bytes: memory_bytes.max(MIN_INDEX_BYTES_PER_THREAD * threads),
                    threads,
                };
                self.market.apply_changes(change as u64, size, progress)
            }
        }
    }
}
