//! Writing a great many records: the index is brought up to date once, at the end, and with more memory than a server
//! that answers meanwhile would spend.

use std::cell::Cell;

use super::{Market, Writer, writer_size};
use crate::{
    error::Result,
    search::{Progress, WriterSize},
    store::Bulk,
};

/// Bytes that the index gathers for each thread at least, before it writes a segment: large ones are merged less often.
const INDEX_BYTES: usize = 300_000_000;

/// A filling under way. What it wrote is kept at each transaction's end, but shown by [`Filling::finish`] only: where that
/// is never reached, the next to open the market carries it over.
pub struct Filling<'a> {
    market: &'a Market,
    change: Cell<Option<i64>>,
    _bulk: Bulk<'a>,
}

impl<'a> Filling<'a> {
    pub(super) fn begin(market: &'a Market) -> Result<Filling<'a>> {
        Ok(Filling { market, change: Cell::new(None), _bulk: market.inner.store.bulk()? })
    }

    /// Writes in one transaction, on this thread.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let (answer, change) = self.market.write_unshown(work)?;
        self.change.set(change.or(self.change.get()));
        Ok(answer)
    }

    /// Brings the index up to date with everything that was written.
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
