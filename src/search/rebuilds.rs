//! Rebuilds of the index by the process that serves it: of one with an older schema, and of one that has failed.
//!
//! An index whose files are damaged has failed: it is neither searched nor updated until the new one is in use. If a search
//! fails although all files are intact, the index stays in use, since the fault may concern few searches.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use marketplace_index::Error as IndexError;

use super::{
    directory::{self, IndexDirectory, OpenedIndex},
    indexer::Indexer,
    shared_updater::Shared,
    updater::WriterOptions,
};
use crate::error::{Error, ErrorChain, sources};

/// Minimum time between two examinations of an index whose files were intact. They read all of it.
const EXAMINATION_INTERVAL: Duration = Duration::from_mins(1);

/// Time after which a rebuild of a failed index that did not succeed is tried again: at first, and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_mins(1);

/// Maximum number of damaged files that a log line names.
const MAX_LOGGED_FILES: usize = 3;

/// Why the index is rebuilt, or may have to be.
#[derive(Clone, Debug)]
pub(super) enum RebuildCause {
    /// It has an older schema version. It is used until the new one is built.
    OlderSchema,
    /// A search failed. What is wrong is not known yet.
    FailedSearch,
    /// Its files are damaged.
    Damage,
}

/// The rebuild that runs, if any.
#[derive(Debug, Default)]
pub(super) struct RebuildState {
    is_running: bool,
    thread: Option<JoinHandle<()>>,
    /// Whether an index with intact files was rebuilt because a search failed. Another rebuild would not help.
    has_replaced_intact: bool,
}

impl RebuildState {
    pub(super) fn take_thread(&mut self) -> Option<JoinHandle<()>> {
        self.thread.take()
    }
}

/// What a rebuild needs.
pub(super) struct Rebuilder {
    indexer: Indexer,
    directory: Arc<IndexDirectory>,
    options: WriterOptions,
    /// When the files were last found to be intact. Locked while they are read.
    last_intact: Mutex<Option<Instant>>,
}

impl Rebuilder {
    pub(super) fn new(
        indexer: Indexer,
        directory: &Arc<IndexDirectory>,
        options: WriterOptions,
    ) -> Rebuilder {
        Rebuilder { indexer, directory: Arc::clone(directory), options, last_intact: Mutex::default() }
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
}

impl Shared {
    /// See [`SharedUpdater::report_failed_search`](super::SharedUpdater::report_failed_search).
    pub(super) fn report_failed_search(self: &Arc<Self>, opened: &Arc<OpenedIndex>) {
        if Arc::ptr_eq(opened, &self.rebuilder.directory.opened()) {
            self.start_rebuild(RebuildCause::FailedSearch);
        }
    }

    /// Whether an update failed because the current index is damaged, which was not known before. Then it is rebuilt.
    pub(super) fn is_index_damaged(self: &Arc<Self>, error: &Error) -> bool {
        let is_of_index = sources(error).any(|source| {
            source.downcast_ref::<IndexError>().is_some_and(|error| !matches!(error, IndexError::Busy))
        });
        let is_damaged = is_of_index && !self.rebuilder.has_failed() && self.rebuilder.examine();
        if is_damaged {
            tracing::error!(cause = %ErrorChain(error), "updating the search index failed");
            self.start_rebuild(RebuildCause::Damage);
        }
        is_damaged
    }

    /// Starts the thread that rebuilds the index, unless it runs.
    pub(super) fn start_rebuild(self: &Arc<Self>, cause: RebuildCause) {
        let mut state = self.lock();
        if state.rebuilds.is_running || state.is_stopping {
            return;
        }
        let shared = Arc::clone(self);
        let work = move || {
            let _running = Running(&shared);
            shared.rebuild(&cause);
        };
        match thread::Builder::new().name("index-rebuild".to_owned()).spawn(work) {
            Ok(thread) => {
                state.rebuilds.is_running = true;
                state.rebuilds.thread = Some(thread);
            }
            // The next search that fails tries again.
            Err(cause) => tracing::error!(%cause, "cannot start the thread that rebuilds the search index"),
        }
    }

    fn rebuild(self: &Arc<Self>, cause: &RebuildCause) {
        match cause {
            RebuildCause::OlderSchema => {
                tracing::info!("the search index has an older schema; it is used while a new one is built");
                if let Err(error) = self.rebuild_once() {
                    tracing::error!(
                        cause = %ErrorChain(&error),
                        "building a new search index failed; the one with the older schema stays in use"
                    );
                }
            }
            RebuildCause::FailedSearch | RebuildCause::Damage => {
                if self.rebuilder.examine() {
                    self.replace_failed();
                } else {
                    self.replace_intact();
                }
            }
        }
    }

    /// Rebuilds an index that has failed. Does not give up before that has succeeded.
    fn replace_failed(self: &Arc<Self>) {
        let mut delay = FIRST_RETRY;
        while let Err(error) = self.rebuild_once() {
            let cause = ErrorChain(&error);
            tracing::error!(%cause, seconds = delay.as_secs(), "rebuilding the search index failed; trying it again");
            let waited = self.changed.wait_timeout_while(self.lock(), delay, |state| !state.is_stopping);
            if waited.unwrap_or_else(PoisonError::into_inner).0.is_stopping {
                return;
            }
            delay = (2 * delay).min(LAST_RETRY);
        }
    }

    /// Rebuilds an index whose files are intact, once.
    fn replace_intact(self: &Arc<Self>) {
        if std::mem::replace(&mut self.lock().rebuilds.has_replaced_intact, true) {
            tracing::error!("a search failed, although the files of the search index are intact");
            return;
        }
        tracing::error!("a search failed, although the files of the search index are intact; it is rebuilt");
        if let Err(error) = self.rebuild_once() {
            tracing::error!(cause = %ErrorChain(&error), "rebuilding the search index failed");
        }
    }

    /// Builds an index, swaps it in, and uses it.
    fn rebuild_once(self: &Arc<Self>) -> crate::error::Result<()> {
        let Rebuilder { indexer, directory, options, .. } = &self.rebuilder;
        let (memory_bytes, threads) = (options.memory_bytes, options.threads);
        let listings = directory::rebuild_index(directory.path(), indexer, memory_bytes, threads, &**self)?;
        self.follow()?;
        tracing::info!(listings, "the search index was rebuilt");
        Ok(())
    }
}

/// A rebuild that runs. It ends even if it panics.
struct Running<'s>(&'s Arc<Shared>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().rebuilds.is_running = false;
    }
}
