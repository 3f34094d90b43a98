//! Updates of the index of a serving process. Only one thread makes them at a time.

use std::sync::Arc;

use marketplace_index::{EngineWriter, Writer};

use super::{
    directory::{IndexDirectory, WriterOptions},
    indexer::Indexer,
};
use crate::error::Result;

/// What an update of the index needs.
pub(super) struct Updater {
    indexer: Indexer,
    directory: Arc<IndexDirectory>,
    options: WriterOptions,
    /// `None` after an error, or while another process holds the writer.
    writer: Option<Writer>,
}

impl Updater {
    /// Creates the updates of an index. Its writer is opened for the first update.
    pub(super) const fn new(
        indexer: Indexer,
        directory: Arc<IndexDirectory>,
        options: WriterOptions,
    ) -> Updater {
        Updater { indexer, directory, options, writer: None }
    }

    /// Opens the index writer, and brings the index up to date. Other indexes in the directory are deleted.
    pub(super) fn open_writer(&mut self) -> Result<()> {
        let mut writer = self.options.open(&self.directory.index()?)?;
        self.directory.remove_stale();
        self.indexer.drain(&mut writer, &())?;
        self.writer = Some(writer);
        Ok(())
    }

    /// Returns the number of the last change that the index shows.
    pub(super) fn last_change(&self) -> u64 {
        self.directory.opened().snapshot().change()
    }

    /// Returns whether the index shows changes that other processes do not see.
    pub(super) fn is_ahead(&self) -> bool {
        self.writer.as_ref().is_some_and(Writer::is_ahead)
    }

    /// Brings the current index up to date with the changes up to the number `last`, and returns the number
    /// of the last change that it has. Returns `None` while another process holds the writer, as a command
    /// may do with an index that was just swapped in. An index that has failed is not updated any more.
    pub(super) fn update(&mut self, last: u64) -> Result<Option<u64>> {
        if self.has_failed() {
            return Ok(Some(self.last_change()));
        }
        let index = self.directory.index()?;
        // After an error, uncommitted changes are lost with the writer.
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => match self.options.open(&index) {
                Err(marketplace_index::Error::Busy) => return Ok(None),
                other => other?,
            },
        };
        self.indexer.show_until(last, &mut writer, &())?;
        self.writer = Some(writer);
        Ok(Some(index.snapshot().change()))
    }

    /// Returns whether the current index has failed. Its writer is closed then.
    fn has_failed(&mut self) -> bool {
        let has_failed = self.directory.opened().has_failed();
        if has_failed {
            self.writer = None;
        }
        has_failed
    }

    /// Commits the changes that the index shows, so that other processes see them.
    pub(super) fn commit(&mut self) -> Result<Option<u64>> {
        if !self.has_failed()
            && let Some(mut writer) = self.writer.take()
        {
            self.indexer.flush(&mut writer)?;
            self.writer = Some(writer);
        }
        Ok(Some(self.last_change()))
    }

    /// Commits and closes the writer.
    pub(super) fn close(&mut self) -> Result<()> {
        let committed = self.commit();
        self.writer = None;
        committed.map(drop)
    }

    /// Like [`Updater::update`], for all changes, and with the index that another process may have swapped
    /// in. Other processes see the changes.
    pub(super) fn follow(&mut self) -> Result<Option<u64>> {
        if let Some(newer) = self.directory.open_newer()? {
            // Applied before the index is used, so that it does not show an older state than the index that it
            // replaces.
            let mut writer = match self.options.open(&newer.index) {
                Err(marketplace_index::Error::Busy) => return Ok(None),
                other => other?,
            };
            self.indexer.drain(&mut writer, &())?;
            self.directory.replace(newer);
            self.writer = Some(writer);
            tracing::info!("rebuilt search index was swapped in");
            self.directory.remove_stale();
        }
        match self.update(u64::MAX)? {
            None => Ok(None),
            Some(_) => self.commit(),
        }
    }

    /// Returns the engine's writer, to close it, unless there are changes that it has not committed.
    pub(super) fn unused_engine(&self) -> Option<Arc<EngineWriter>> {
        self.writer.as_ref().filter(|writer| !writer.is_ahead()).map(Writer::engine)
    }

    /// Closes the writer of a private index if its engine is open, after a commit. A few changes that only searches show
    /// need no engine.
    pub(super) fn close_idle(&mut self) -> Result<()> {
        let Some(writer) = &self.writer else { return Ok(()) };
        if writer.is_engine_open() {
            self.commit()?;
            if let Some(writer) = self.writer.take() {
                writer.finish()?;
            }
        } else if !writer.is_ahead() {
            self.writer = None;
        }
        Ok(())
    }

    /// Whether the files of the index still exist.
    pub(super) fn has_files(&self) -> bool {
        self.directory.path().exists()
    }

    /// Closes files that merges have replaced since the last commit.
    pub(super) fn release_merged_files(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.release_merged_files();
        }
    }
}
