//! How a serving process keeps the index up to date. A write that needs the index updates it on its own thread.
//! Writes that arrive meanwhile wait, and share the next update. Updates are visible in this process at once; a
//! thread commits them for other processes a few times a second, and polls for their changes. Another thread
//! replaces an index with an older schema.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use marketplace_index::Writer;

use super::{
    directory::{self, IndexDirectory},
    indexer::{Indexer, Progress},
};
use crate::error::{Error, ErrorChain, Result};

/// Interval at which the worker polls for changes by other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Delay before the index is tried again while another process holds its writer.
const BUSY_DELAY: Duration = Duration::from_millis(20);

/// Memory and threads of the index writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Memory budget in bytes, for all threads together.
    pub memory_bytes: usize,
    /// Number of threads.
    pub threads: usize,
}

/// The state of the index. Numbers are those of changes.
#[derive(Debug, Default)]
struct State {
    /// The last change that a write waits for.
    requested: u64,
    /// The last change that the index has.
    indexed: u64,
    /// Whether the index shows changes that other processes do not see yet.
    is_ahead: bool,
    /// Whether a thread updates the index now.
    is_updating: bool,
    /// Number of updates that failed, and the error of the last one.
    failures: u64,
    error: Option<Arc<Error>>,
    is_stopping: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Locked only by the thread that set `is_updating`.
    updater: Mutex<Updater>,
}

/// What an update of the index needs.
struct Updater {
    indexer: Indexer,
    directory: Arc<IndexDirectory>,
    options: WriterOptions,
    /// `None` after an error, or while another process holds the writer.
    writer: Option<Writer>,
}

/// Handle to the worker's threads. Dropping it stops them after the current update, or the current batch of a
/// rebuild.
pub struct Worker {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Worker {
    /// Opens the index writer, brings the index up to date, and starts the thread. `detect_changes` is called
    /// a few times a second; it returns whether another process changed anything.
    ///
    /// If the index has an older schema version, it is used until a thread has built a new one. Until then,
    /// `options` apply to two writers.
    pub fn start(
        indexer: Indexer,
        directory: Arc<IndexDirectory>,
        options: WriterOptions,
        detect_changes: impl Fn() -> Result<bool> + Send + 'static,
    ) -> Result<Worker> {
        let mut writer = directory.index().writer(options.memory_bytes, options.threads)?;
        directory.remove_stale();
        indexer.drain(&directory.index(), &mut writer, &())?;
        let state = State { indexed: directory.index().snapshot().change(), ..State::default() };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            updater: Mutex::new(Updater {
                indexer: indexer.clone(),
                directory: Arc::clone(&directory),
                options,
                writer: Some(writer),
            }),
        });
        let mut worker = Worker { shared, threads: Vec::new() };
        if directory.index().is_outdated() {
            let (shared, path) = (Arc::clone(&worker.shared), directory.path().to_owned());
            worker.spawn("index-rebuild", move || replace_outdated(&shared, &indexer, &path, options))?;
        }
        let shared = Arc::clone(&worker.shared);
        worker.spawn("index", move || shared.poll(&directory, &detect_changes))?;
        Ok(worker)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::internal)?;
        self.threads.push(thread);
        Ok(())
    }

    /// Returns when the index includes a change: updates it on this thread, or waits for another thread that does.
    pub fn wait_until_indexed(&self, change: u64) -> Result<()> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        state.requested = state.requested.max(change);
        let failures = state.failures;
        while state.indexed < change {
            if state.failures != failures {
                return Err(state.unindexed_error());
            }
            state = if state.is_updating {
                shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                // Changes beyond that number may not be prepared yet; see `Indexer::keep_prepared`.
                let last = state.requested;
                shared.update(state, |updater| updater.update(last))
            };
        }
        Ok(())
    }

    /// Commits the changes that the index shows, so that other processes see them.
    pub fn commit(&self) -> Result<()> {
        let mut state = self.shared.lock();
        let failures = state.failures;
        while state.is_ahead {
            if state.failures != failures {
                return Err(state.unindexed_error());
            }
            state = if state.is_updating {
                self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.shared.update(state, Updater::flush)
            };
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let mut updater = self.shared.updater.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = updater.flush() {
            tracing::error!(cause = %ErrorChain(&error), "committing the search index failed");
        }
    }
}

impl State {
    /// Returns the error of a write that the last update would have shown.
    fn unindexed_error(&self) -> Error {
        let message = "the change is stored, but the search index cannot show it";
        match &self.error {
            Some(cause) => Error::internal_with_source(message, Arc::clone(cause)),
            None => Error::internal(message),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the index on this thread, which must find that no other one does, and records the result. While
    /// another process holds the writer, waits a little instead.
    fn update<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        update: impl FnOnce(&mut Updater) -> Result<Option<u64>>,
    ) -> MutexGuard<'s, State> {
        state.is_updating = true;
        drop(state);
        let turn = Turn(self);
        let mut updater = self.updater.lock().unwrap_or_else(PoisonError::into_inner);
        let result = update(&mut updater);
        let is_ahead = updater.writer.as_ref().is_some_and(Writer::is_ahead);
        drop(updater);
        if matches!(result, Ok(None)) {
            thread::sleep(BUSY_DELAY);
        }
        let mut state = self.lock();
        state.is_ahead = is_ahead;
        match result {
            Ok(None) => {}
            Ok(Some(change)) => {
                state.indexed = change;
                state.error = None;
            }
            Err(error) => {
                tracing::error!(cause = %ErrorChain(&error), "updating the search index failed");
                state.failures += 1;
                state.error = Some(Arc::new(error));
            }
        }
        drop(state);
        drop(turn);
        self.lock()
    }

    /// Polls for changes by other processes, and commits the changes of this one, until the worker stops.
    fn poll(&self, directory: &IndexDirectory, detect_changes: &dyn Fn() -> Result<bool>) {
        // `detect_changes` reports a change only once, so this flag stays set until the index includes the
        // change.
        let mut is_behind = false;
        loop {
            let state = self.lock();
            let waited = self.changed.wait_timeout_while(state, POLL_INTERVAL, |state| !state.is_stopping);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.is_stopping {
                return;
            }
            is_behind |= state.error.is_some();
            drop(state);
            let detected =
                detect_changes().and_then(|is_changed| Ok(is_changed || directory.has_newer_index()?));
            match detected {
                Ok(is_detected) => is_behind |= is_detected,
                Err(error) => {
                    tracing::error!(cause = %ErrorChain(&error), "looking for changes of other processes failed");
                }
            }
            let state = self.lock();
            if state.is_ahead && !state.is_updating {
                drop(self.update(state, Updater::flush));
            } else {
                drop(state);
            }
            while is_behind {
                let state = self.lock();
                let waited = self.changed.wait_while(state, |state| state.is_updating && !state.is_stopping);
                let state = waited.unwrap_or_else(PoisonError::into_inner);
                if state.is_stopping {
                    return;
                }
                let mut is_done = false;
                let state = self.update(state, |updater| {
                    let result = updater.follow();
                    is_done = matches!(result, Ok(Some(_)));
                    result
                });
                if is_done {
                    is_behind = false;
                } else if state.error.is_some() {
                    break; // Tried again after the poll interval.
                }
            }
        }
    }
}

/// The turn of the thread that updates the index. It ends even if the update panics.
struct Turn<'s>(&'s Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().is_updating = false;
        self.0.changed.notify_all();
    }
}

/// Stops a rebuild when the worker stops.
impl Progress for Shared {
    fn advance(&self, _: u64, _: u64) {}

    fn is_canceled(&self) -> bool {
        self.lock().is_stopping
    }
}

/// Builds an index with the current schema and swaps it in, which the worker then notices. If this fails, the
/// older index stays in use until the next start.
fn replace_outdated(shared: &Shared, indexer: &Indexer, path: &Path, options: WriterOptions) {
    tracing::info!("the search index has an older schema; it is used while a new one is built");
    if let Err(error) = directory::rebuild_index(path, indexer, options.memory_bytes, options.threads, shared)
    {
        tracing::error!(
            cause = %ErrorChain(&error),
            "building a new search index failed; the one with the older schema stays in use"
        );
    }
}

impl Updater {
    /// Brings the current index up to date with the changes up to the number `last`, and returns the number of the
    /// last change that it has. Returns `None` while another process holds the writer, as a command may do with an
    /// index that was just swapped in.
    fn update(&mut self, last: u64) -> Result<Option<u64>> {
        let index = self.directory.index();
        // After an error, uncommitted changes are lost with the writer.
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => match index.writer(self.options.memory_bytes, self.options.threads) {
                Err(marketplace_index::Error::Busy) => return Ok(None),
                other => other?,
            },
        };
        self.indexer.show_until(last, &index, &mut writer, &())?;
        self.writer = Some(writer);
        Ok(Some(index.snapshot().change()))
    }

    /// Commits the changes that the index shows, so that other processes see them.
    fn flush(&mut self) -> Result<Option<u64>> {
        if let Some(mut writer) = self.writer.take() {
            self.indexer.flush(&mut writer)?;
            self.writer = Some(writer);
        }
        Ok(Some(self.directory.index().snapshot().change()))
    }

    /// Like [`Updater::update`], for all changes, and with the index that another process may have swapped in.
    fn follow(&mut self) -> Result<Option<u64>> {
        if let Some(newer) = self.directory.open_newer()? {
            // Applied before the index is used, so that it shows no older state than the one that it replaces.
            let mut writer = match newer.index.writer(self.options.memory_bytes, self.options.threads) {
                Err(marketplace_index::Error::Busy) => return Ok(None),
                other => other?,
            };
            self.indexer.drain(&newer.index, &mut writer, &())?;
            self.directory.replace(newer);
            self.writer = Some(writer);
            tracing::info!("rebuilt search index was swapped in");
            self.directory.remove_stale();
        }
        self.update(u64::MAX)
    }
}
