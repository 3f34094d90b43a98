//! Bulk writes: the index is updated once, at the end.

use std::cell::Cell;

use super::{Market, Writer, entry_points::WriteCause};
use crate::{error::Result, search::Progress, store::BulkGuard};

/// A bulk write in progress. Each transaction is committed on its own, but only [`BulkWriter::finish`]
/// updates the index. If it is never called, the next process that opens the market updates the index.
pub struct BulkWriter<'a> {
    market: &'a Market,
    last_change: Cell<Option<i64>>,
    bulk: BulkGuard<'a>,
}

impl<'a> BulkWriter<'a> {
    pub(super) fn new(market: &'a Market) -> Result<BulkWriter<'a>> {
        Ok(BulkWriter { market, last_change: Cell::new(None), bulk: market.inner.store.start_bulk()? })
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
        match &self.market.inner.updater {
            Some(updater) => {
                updater.wait_until_indexed(change as u64)?;
                updater.commit()
            }
            None => {
                // The index needs memory, and what is written meanwhile is in the order of the table.
                self.bulk.shrink_cache()?;
                self.market.update_index(change as u64, progress)
            }
        }
    }
}
