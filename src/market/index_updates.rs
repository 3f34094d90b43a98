//! How changes get into the search index: by the updater of a serving process, or by a command.

use std::{
    path::Path,
    sync::PoisonError,
    time::{Duration, Instant},
};

use marketplace_index::Index;

use super::{INDEX_DIRECTORY, Market, opening::index_writer_options, other_processes};
use crate::{
    clock::Clock,
    domain::{catalog::CatalogEntry, time::Timestamp},
    error::{Error, Result},
    search::{self, Progress, RenderedListing, SharedUpdater, Taxonomy},
    store,
};

/// How long a command waits for the server on the same directory to index more changes.
const INDEX_TIMEOUT: Duration = Duration::from_mins(1);

/// Interval at which a command that waits notifies the server again.
const NOTICE_INTERVAL: Duration = Duration::from_secs(1);

impl Market {
    /// Waits until the index contains a change. If this process has no updater, then either this process
    /// applies the change or the server on the same directory does, depending on which of them holds the
    /// index writer.
    pub(super) fn wait_until_indexed(&self, change: u64) -> Result<()> {
        match &self.inner.updater {
            Some(updater) => updater.wait_until_indexed(change),
            None => self.update_index(change, &()),
        }
    }

    /// Commits the index, so that other processes see all changes so far. A server does this on its own
    /// within a moment.
    pub fn commit_index(&self) -> Result<()> {
        self.inner.updater.as_ref().map_or(Ok(()), SharedUpdater::commit)
    }

    /// Updates the index from a command, or waits until the server on the same directory has done so.
    pub fn update_index(&self, change: u64, progress: &dyn Progress) -> Result<()> {
        let inner = &self.inner;
        let options = index_writer_options(inner.settings.current());
        let (mut last_progress, mut last_notice, mut seen) = (Instant::now(), Instant::now(), 0);
        loop {
            inner.index_dir.reload()?;
            let index = inner.index_dir.index()?;
            index.reload()?;
            let indexed = index.snapshot().change();
            if indexed >= change {
                return Ok(());
            }
            if indexed != seen {
                (seen, last_progress) = (indexed, Instant::now());
            }
            match options.open(&index) {
                Ok(mut writer) => {
                    inner.indexer.drain(&mut writer, progress).map_err(|cause| {
                        let message = "the search index could not be updated; what was written is stored; repair the \
                                       index with `marketplace reindex`";
                        Error::internal_with_source(message, cause)
                    })?;
                    writer.finish()?;
                }
                Err(marketplace_index::Error::Busy) if last_progress.elapsed() < INDEX_TIMEOUT => {
                    // The server may have missed the first notification, or have been started since.
                    if last_notice.elapsed() >= NOTICE_INTERVAL {
                        other_processes::notify_server(&inner.data_dir);
                        last_notice = Instant::now();
                    }
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

    /// Picks up the changes of other processes. A process that only reads calls this before each request. A
    /// server does it [on its own](super::follow_processes), so there the call has no effect.
    pub fn refresh(&self) -> Result<()> {
        let inner = &self.inner;
        if inner.updater.is_some() {
            return Ok(());
        }
        self.has_foreign_commit()?;
        if inner.index_dir.reload()? || inner.index_dir.opened().has_failed() {
            return Ok(());
        }
        inner.index_dir.index()?.reload()?;
        Ok(())
    }

    /// Picks up the changes of other processes in a server.
    pub fn pick_up_changes(&self) -> Result<()> {
        let inner = &self.inner;
        let picked_up = self.has_foreign_commit().and_then(|is_changed| {
            if is_changed {
                self.wake_background();
            }
            if let Some(updater) = &inner.updater
                && (is_changed || inner.index_dir.has_newer_index()?)
            {
                updater.follow()?;
            }
            Ok(())
        });
        // The next call repeats what failed.
        picked_up.inspect_err(|_| *inner.seen_version.lock().unwrap_or_else(PoisonError::into_inner) = None)
    }

    /// Writes when sessions and keys were used, if that is due. Does nothing at a replica, which reports uses to the primary. If
    /// uses cannot be written, a later call tries again.
    pub fn record_pending_uses(&self) -> Result<()> {
        let inner = &self.inner;
        if self.is_replica() {
            return Ok(());
        }
        let sessions = inner.key_cache.flush_session_uses(&inner.store, Clock::System.now());
        // Keys are recorded even if sessions cannot be.
        sessions.and(inner.key_cache.flush_uses(&inner.store, inner.clock.now()))
    }

    /// Writes the times at which keys were used, without moving the clock. A server does it about once a minute; a world
    /// does it between two requests.
    pub fn record_key_uses(&self) -> Result<()> {
        self.inner.key_cache.flush_all_uses(&self.inner.store)
    }

    /// Writes rows that are no part of the state of the market: those of sessions. It is no write of the market, so no clock is
    /// moved, nothing is carried out that is due, and no event is possible. Must not be called on a thread that serves
    /// requests.
    pub fn write_sessions<T>(&self, work: impl FnOnce(&store::Writer) -> Result<T>) -> Result<T> {
        self.inner.store.write(work).map(|(result, _)| result)
    }

    /// Returns whether another process has committed since the last call, and clears the cached keys if so.
    fn has_foreign_commit(&self) -> Result<bool> {
        // Held until the cached keys are cleared, so that no other thread continues with outdated keys.
        let mut seen = self.inner.seen_version.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.inner.store.data_version()?;
        let is_changed = seen.replace(version) != Some(version);
        if is_changed {
            self.inner.key_cache.clear();
            self.inner.notify_of_commit();
        }
        Ok(is_changed)
    }

    /// Whether this process keeps the index up to date.
    pub fn updates_index(&self) -> bool {
        self.inner.updater.is_some()
    }

    /// Returns what is wrong with the files of the index. Reads all of them, and changes nothing.
    pub fn find_index_damage(&self) -> Vec<String> {
        self.inner.index_dir.find_damage()
    }

    /// Returns the JSON that is stored for a listing, rendered anew.
    pub fn render_listing(
        &self,
        entry: &CatalogEntry,
        taxonomy: &Taxonomy,
        now: Timestamp,
    ) -> RenderedListing {
        self.inner.indexer.render(entry, taxonomy, now)
    }

    /// Creates an empty index in a directory, with the schema version of the market's own.
    pub fn create_index(&self, path: &Path) -> Result<Index> {
        Ok(Index::create_with_version(path, self.inner.index_dir.index()?.version())?)
    }

    /// Opens the writer of an index that is not the market's own.
    pub fn open_index_writer(&self, index: &Index) -> Result<marketplace_index::Writer> {
        Ok(index_writer_options(self.inner.settings.current()).open(index)?)
    }

    /// Rebuilds the index and swaps it in. A server on the same directory switches to the new index and
    /// continues. Returns the number of listings in it.
    pub fn reindex(&self, progress: &dyn Progress) -> Result<u64> {
        let inner = &self.inner;
        let options = index_writer_options(inner.settings.current());
        let count =
            search::rebuild_index(&inner.data_dir.join(INDEX_DIRECTORY), &inner.indexer, options, progress)?;
        match &inner.updater {
            Some(updater) => updater.follow()?,
            None => {
                other_processes::notify_server(&inner.data_dir);
                self.update_index(self.latest_change()?, &())?;
            }
        }
        Ok(count)
    }
}
