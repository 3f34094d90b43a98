//! How changes get into the search index: by the updater of a serving process, or by a command.

use std::{sync::PoisonError, time::Duration};

use super::{Market, index_writer_size, other_processes, record_retirements};
use crate::{
    error::{Error, Result},
    search::{SharedUpdater, WriterOptions},
};

/// How long a command waits until the server on the same directory has indexed a change.
const INDEX_TIMEOUT: Duration = Duration::from_mins(1);

impl Market {
    /// Waits until the index contains a change. If this process has no updater, then either this process
    /// applies the change or the server on the same directory does, depending on which of them holds the
    /// index writer.
    pub(super) fn wait_until_indexed(&self, change: u64) -> Result<()> {
        match &self.inner.updater {
            Some(updater) => updater.wait_until_indexed(change),
            None => self.apply_changes(change, index_writer_size(&self.inner.settings), &()),
        }
    }

    /// Commits the index, so that other processes see all changes so far. A server does this on its own within a
    /// moment.
    pub fn commit_index(&self) -> Result<()> {
        self.inner.updater.as_ref().map_or(Ok(()), SharedUpdater::commit)
    }

    /// Updates the index from a command, or waits until the server on the same directory has done so.
    pub fn update_index(&self, change: u64, progress: &dyn crate::search::Progress) -> Result<()> {
        self.apply_changes(change, index_writer_size(&self.inner.settings), progress)
    }

    pub(super) fn apply_changes(
        &self,
        change: u64,
        size: WriterOptions,
        progress: &dyn crate::search::Progress,
    ) -> Result<()> {
        let inner = &self.inner;
        let deadline = std::time::Instant::now() + INDEX_TIMEOUT;
        loop {
            inner.index_dir.reload()?;
            let index = inner.index_dir.index();
            index.reload()?;
            if index.snapshot().change() >= change {
                return Ok(());
            }
            match index.writer(size.memory_bytes, size.threads) {
                Ok(mut writer) => {
                    inner.indexer.drain(&index, &mut writer, progress)?;
                    writer.finish()?;
                }
                Err(marketplace_index::Error::Busy) if std::time::Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(marketplace_index::Error::Busy) => {
                    return Err(Error::internal(
                        "the change is stored, but the process that owns the search index has not applied it",
                    ));
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Picks up the changes of other processes, and what the clock has changed. A process that only reads calls
    /// this before each request. A server calls it when [another process notifies it](super::follow_processes).
    pub fn refresh(&self) -> Result<()> {
        let inner = &self.inner;
        // Held until the cached keys are cleared, so that no other thread continues with outdated keys.
        let mut seen = inner.seen_version.lock().unwrap_or_else(PoisonError::into_inner);
        let version = inner.store.data_version()?;
        let is_changed = seen.replace(version) != Some(version);
        if is_changed {
            inner.key_cache.clear();
        }
        drop(seen);
        let Some(updater) = &inner.updater else {
            inner.index_dir.reload()?;
            inner.index_dir.index().reload()?;
            return Ok(());
        };
        let is_retired = record_retirements(&inner.store, inner.clock.now())?;
        inner.key_cache.flush_uses(&inner.store, inner.clock.now())?;
        if is_changed {
            self.wake_background();
        }
        if is_changed || is_retired || inner.index_dir.has_newer_index()? {
            updater.follow()?;
        }
        Ok(())
    }

    /// Rebuilds the index and swaps it in. A server on the same directory switches to the new index and
    /// continues. Returns the number of listings in it.
    pub fn reindex(&self, progress: &dyn crate::search::Progress) -> Result<u64> {
        let size = index_writer_size(&self.inner.settings);
        let path = self.inner.data_dir.join("index");
        let count = crate::search::rebuild_index(
            &path,
            &self.inner.indexer,
            size.memory_bytes,
            size.threads,
            progress,
        )?;
        match &self.inner.updater {
            Some(updater) => updater.follow()?,
            None => {
                other_processes::notify_server(&self.inner.data_dir);
                self.update_index(self.latest_change()?, &())?;
            }
        }
        Ok(count)
    }
}
