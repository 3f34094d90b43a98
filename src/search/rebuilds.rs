//! Rebuilds of the index by the process that serves it: after an upgrade of the schema, and after a failure.
//!
//! An index whose files are damaged has failed: it is neither searched nor updated until the new one is in use. If a search
//! fails although all files are intact, the index stays in use, since the fault may concern few searches.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use marketplace_index::Error as IndexError;

use super::{
    directory::{self, IndexDirectory, OpenedIndex, WriterOptions},
    indexer::{Indexer, Progress},
};
use crate::error::{Error, ErrorChain, Result, sources};

/// Minimum time between two examinations of an index whose files were intact. They read all of it.
const EXAMINATION_INTERVAL: Duration = Duration::from_mins(1);

/// Time after which a rebuild of a failed index that did not succeed is tried again: at first, and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Maximum number of damaged files that a log line names.
const MAX_LOGGED_FILES: usize = 3;

/// Why the index may have to be rebuilt.
#[derive(Clone, Copy, Debug)]
pub(super) enum RebuildCause {
    /// It has an older schema version. It is used until the new one is built.
    OlderSchema,
    /// A search or an update failed.
    Failure,
}

/// The updates of an index that go on during a rebuild. A rebuild that is canceled ends soon.
pub(super) trait Updates: Progress {
    /// Uses the index that was swapped in, after applying the changes that it lacks.
    fn follow(&self) -> Result<()>;

    /// Waits. Returns early if the rebuild is canceled.
    fn wait(&self, time: Duration);
}

/// Rebuilds the index of a directory.
pub(super) struct Rebuilder {
    indexer: Indexer,
    directory: Arc<IndexDirectory>,
    options: WriterOptions,
    /// When the files were last found to be intact. Locked while they are read.
    last_intact: Mutex<Option<Instant>>,
    /// Whether an index with intact files was rebuilt because a search failed. Another rebuild would not help.
    has_replaced_intact: AtomicBool,
}

impl Rebuilder {
    pub(super) fn new(
        indexer: Indexer,
        directory: &Arc<IndexDirectory>,
        options: WriterOptions,
    ) -> Rebuilder {
        Rebuilder {
            indexer,
            directory: Arc::clone(directory),
            options,
            last_intact: Mutex::default(),
            has_replaced_intact: AtomicBool::default(),
        }
    }

    /// Whether an index is the current one.
    pub(super) fn is_current(&self, opened: &Arc<OpenedIndex>) -> bool {
        Arc::ptr_eq(opened, &self.directory.opened())
    }

    /// Whether the current index has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.directory.opened().has_failed()
    }

    /// Reads all files of the current index. Records that it has failed if any is damaged, and returns whether it has.
    fn examine(&self) -> bool {
        let mut last_intact = self.last_intact.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.directory.opened();
        if opened.has_failed() {
            return true;
        }
        if last_intact.is_some_and(|at| at.elapsed() < EXAMINATION_INTERVAL) {
            return false;
        }
        let damage = opened.find_damage();
        if damage.is_empty() {
            *last_intact = Some(Instant::now());
            return false;
        }
        let (count, first) = (damage.len(), damage.iter().take(MAX_LOGGED_FILES));
        let files = first.map(String::as_str).collect::<Vec<_>>().join("; ");
        tracing::error!(count, files, "the search index is damaged; it is rebuilt from the database");
        opened.mark_failed();
        true
    }

    /// Reads all files of the current index after an update failed with this error. Returns whether newly found damage marks
    /// the index as failed.
    pub(super) fn examine_after(&self, error: &Error) -> bool {
        let is_of_index = sources(error).any(|source| {
            source.downcast_ref::<IndexError>().is_some_and(|error| !matches!(error, IndexError::Busy))
        });
        is_of_index && !self.has_failed() && self.examine()
    }

    /// Rebuilds the index if the cause requires it.
    pub(super) fn run(&self, cause: RebuildCause, updates: &dyn Updates) {
        match cause {
            RebuildCause::OlderSchema => {
                tracing::info!("the search index has an older schema; it is used while a new one is built");
                if let Err(error) = self.rebuild(updates) {
                    tracing::error!(
                        cause = %ErrorChain(&error),
                        "building a new search index failed; the one with the older schema stays in use"
                    );
                }
            }
            RebuildCause::Failure if self.examine() => self.replace_failed(updates),
            RebuildCause::Failure => self.replace_intact(updates),
        }
    }

    /// Rebuilds a failed index, and retries until that succeeds.
    fn replace_failed(&self, updates: &dyn Updates) {
        let mut delay = FIRST_RETRY;
        while let Err(error) = self.rebuild(updates) {
            let cause = ErrorChain(&error);
            tracing::error!(%cause, seconds = delay.as_secs(), "rebuilding the search index failed; trying it again");
            updates.wait(delay);
            if updates.is_canceled() {
                return;
            }
            delay = (2 * delay).min(LAST_RETRY);
        }
    }

    /// Rebuilds an index whose files are intact, once.
    fn replace_intact(&self, updates: &dyn Updates) {
        if self.has_replaced_intact.swap(true, Ordering::Relaxed) {
            tracing::error!("a search failed, although the files of the search index are intact");
            return;
        }
        tracing::error!("a search failed, although the files of the search index are intact; it is rebuilt");
        if let Err(error) = self.rebuild(updates) {
            tracing::error!(cause = %ErrorChain(&error), "rebuilding the search index failed");
        }
    }

    /// Builds an index, swaps it in, and uses it.
    fn rebuild(&self, updates: &dyn Updates) -> Result<()> {
        let Rebuilder { indexer, directory, options, .. } = self;
        let listings = directory::rebuild_index(directory.path(), indexer, *options, updates)?;
        updates.follow()?;
        tracing::info!(listings, "the search index was rebuilt");
        Ok(())
    }
}
