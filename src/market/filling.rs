//! Bulk writes: the index is updated once, at the end, and with more memory than a server would spend that
//! handles requests at the same time.

use std::cell::Cell;

use super::{Market, Writer, writer_size};
use crate::{
    error::Result,
    search::{Progress, WriterSize},
    store::Bulk,
};

/// Minimum size of the index's write buffer per thread, in bytes. Large segments are merged less often.
const INDEX_BYTES: usize = 300_000_000;

/// A bulk write in progress. Each transaction is committed on its own, but only [`Filling::finish`] updates
/// the index. If it is never called, the next process that opens the market updates the index.
pub struct Filling<'a> {
    market: &'a Market,
    change: Cell<Option<i64>>,
    _bulk: Bulk<'a>,
}

impl<'a> Filling<'a> {
    pub(super) fn begin(market: &'a Market) -> Result<Filling<'a>> {
        Ok(Filling { market, change: Cell::new(None), _bulk: market.inner.store.bulk()? })
    }

    /// Runs a write operation in one transaction, on the current thread.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let (answer, change) = self.market.write_unshown(work)?;
        self.change.set(change.or(self.change.get()));
        Ok(answer)
    }

    /// Updates the index with everything that was written.
    pub fn finish(self, progress: &dyn Progress) -> Result<()> {
        let Some(change) = self.change.get() else { return Ok(()) };
        let inner = &self.market.inner;
        match &inner.worker {
            Some(worker) => worker.show(change as u64),
            None => {
                let WriterSize { memory_bytes, threads } = writer_size(&inner.settings);
                let size = WriterSize { memory_bytes: memory_bytes.max(INDEX_BYTES * threads), threads };
                self.market.carry_over(change as u64, size, progress)
            }
        }
    }
}
