//! Keeps the index of a serving process up to date. A write that needs the index updates it on its own thread.
//! Writes that arrive meanwhile wait, and share the next update. Updates are visible in this process at once. A
//! thread, which runs only for a few seconds after an update, commits them for other processes.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::{
    directory::{IndexDirectory, OpenedIndex, WriterOptions},
    indexer::{Indexer, Progress},
    rebuilds::{RebuildCause, Rebuilder, Updates},
    updater::Updater,
};
use crate::{
    error::{Error, ErrorChain, Result},
    idle_closer::{CloseWhenIdle, IdleCloser},
};

/// Interval at which the committing thread commits, and repeats an update that failed.
const COMMIT_INTERVAL: Duration = Duration::from_millis(250);

/// Number of intervals without an update after which the committing thread closes the engine's writer and
/// ends.
const MAX_IDLE_INTERVALS: u32 = 8;

/// Delay before the index is tried again while another process holds its writer.
const BUSY_DELAY: Duration = Duration::from_millis(20);

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
    /// Number of updates so far.
    updates: u64,
    /// Number of updates that failed.
    failures: u64,
    /// The error of the last update, if it failed.
    error: Option<Arc<Error>>,
    /// Whether the changes of other processes have to be applied.
    must_follow: bool,
    is_stopping: bool,
    /// Whether a thread rebuilds the index, or looks whether it has to.
    is_rebuilding: bool,
    /// That thread, or the last one.
    rebuilding: Option<JoinHandle<()>>,
    /// The thread that commits, if it runs.
    committing: Option<JoinHandle<()>>,
    /// Whether the idle closer looks at a private index.
    is_watched: bool,
    /// The number of updates when it last did.
    watched_updates: u64,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    rebuilder: Rebuilder,
    /// Locked by the thread that set `is_updating`, and to close the engine's writer.
    updater: Mutex<Updater>,
    /// Closes the writer of a private index, which no other process sees; `None` for other indexes.
    idle_closer: Option<IdleCloser>,
}

/// The updates of an index, shared by the threads that need them. Dropping it ends its threads after the
/// current update, or the current batch of a rebuild, and commits.
pub struct SharedUpdater {
    shared: Arc<Shared>,
}

impl SharedUpdater {
    /// Opens the index writer and brings the index up to date.
    ///
    /// If the index has an older schema version, it is used until a thread has built a new one. Until then,
    /// `options` apply to two writers. If it turns out to be damaged, it is rebuilt by a thread, too.
    pub fn open(
        indexer: Indexer,
        directory: &Arc<IndexDirectory>,
        options: WriterOptions,
    ) -> Result<SharedUpdater> {
        let shared = Arc::new(Shared::new(indexer, directory, options, None));
        let opened = shared.lock_updater().open_writer();
        if let Err(error) = opened
            && !shared.rebuild_if_damaged(&error)
        {
            return Err(error);
        }
        let indexed = shared.lock_updater().last_change();
        shared.lock().indexed = indexed;
        // Closes the engine's writer if opening the index needed it.
        shared.start_committing(&mut shared.lock());
        if directory.index()?.is_outdated() {
            shared.start_rebuild(RebuildCause::OlderSchema);
        }
        Ok(SharedUpdater { shared })
    }

    /// Creates the updates of a private index, which is a complete copy of another one. There is no thread: changes are written
    /// when there are many of them, and the writer is closed when it is idle. Changes that were not written are lost when this
    /// value is dropped.
    pub fn open_private(
        indexer: Indexer,
        directory: &Arc<IndexDirectory>,
        options: WriterOptions,
        idle_closer: IdleCloser,
    ) -> SharedUpdater {
        SharedUpdater { shared: Arc::new(Shared::new(indexer, directory, options, Some(idle_closer))) }
    }

    /// Reports that a search of an index has failed. If the index is still in use, a thread looks for the cause, and rebuilds
    /// the index.
    pub fn report_failed_search(&self, opened: &Arc<OpenedIndex>) {
        if self.shared.rebuilder.is_current(opened) {
            self.shared.start_rebuild(RebuildCause::Failure);
        }
    }

    /// Runs `work` after everything was written to the files of a private index, which do not change meanwhile.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        self.commit()?;
        let mut updater = self.shared.lock_updater();
        updater.commit()?;
        updater.close_idle()?;
        Ok(work())
    }

    /// Returns when the index includes a change: updates it on this thread, or waits for another thread that
    /// does. Does not wait for an index that has failed: nothing searches it before it is rebuilt.
    pub fn wait_until_indexed(&self, change: u64) -> Result<()> {
        let shared = &self.shared;
        let mut state = shared.lock();
        state.requested = state.requested.max(change);
        let failures = state.failures;
        while state.indexed < change && !shared.rebuilder.has_failed() {
            if state.failures != failures {
                return Err(state.unindexed_error());
            }
            state = if state.is_updating {
                shared.wait(state)
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
        while state.is_ahead || state.error.is_some() {
            if state.failures != failures {
                return Err(state.unindexed_error());
            }
            // After an error, the changes that the index showed have to be applied again.
            let update = if state.error.is_some() { Updater::follow } else { Updater::commit };
            state =
                if state.is_updating { self.shared.wait(state) } else { self.shared.update(state, update) };
        }
        Ok(())
    }

    /// Applies the changes of other processes, and uses the index that one of them may have swapped in. After
    /// an error, this is tried again in the background.
    pub fn follow(&self) -> Result<()> {
        self.shared.follow()
    }
}

impl Drop for SharedUpdater {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_stopping = true;
        let (committing, rebuilding) = (state.committing.take(), state.rebuilding.take());
        drop(state);
        self.shared.changed.notify_all();
        for thread in [committing, rebuilding].into_iter().flatten() {
            let _ = thread.join();
        }
        if self.shared.idle_closer.is_some() {
            // Waits for the idle closer, which may be writing. Afterwards, nothing uses the files.
            drop(self.shared.lock_updater());
            return;
        }
        if let Err(error) = self.shared.lock_updater().close() {
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
    fn new(
        indexer: Indexer,
        directory: &Arc<IndexDirectory>,
        options: WriterOptions,
        idle_closer: Option<IdleCloser>,
    ) -> Shared {
        let updater = Updater::new(indexer.clone(), Arc::clone(directory), options);
        let state = State { indexed: updater.last_change(), ..State::default() };
        Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            rebuilder: Rebuilder::new(indexer, directory, options),
            updater: Mutex::new(updater),
            idle_closer,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_updater(&self) -> MutexGuard<'_, Updater> {
        self.updater.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the index on this thread, and records the result. No other thread may be updating it. While
    /// another process holds the writer, waits a little instead.
    fn update<'s>(
        self: &'s Arc<Self>,
        mut state: MutexGuard<'s, State>,
        update: impl FnOnce(&mut Updater) -> Result<Option<u64>>,
    ) -> MutexGuard<'s, State> {
        state.is_updating = true;
        drop(state);
        let turn = Turn(self);
        let mut updater = self.lock_updater();
        let result = update(&mut updater);
        let is_ahead = updater.is_ahead();
        drop(updater);
        let result = result.or_else(|error| {
            // Nobody waits for an index that has failed.
            if self.rebuild_if_damaged(&error) { Ok(None) } else { Err(error) }
        });
        if matches!(result, Ok(None)) {
            thread::sleep(BUSY_DELAY);
        }
        let mut state = self.lock();
        state.is_ahead = is_ahead;
        state.updates += 1;
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
        self.start_committing(&mut state);
        drop(state);
        drop(turn);
        self.lock()
    }

    /// See [`SharedUpdater::follow`].
    fn follow(self: &Arc<Self>) -> Result<()> {
        let mut state = self.lock();
        state.must_follow = true;
        let failures = state.failures;
        let mut is_done = false;
        while !is_done && !state.is_stopping {
            if state.is_updating {
                state = self.wait(state);
                continue;
            }
            state = self.update(state, |updater| {
                let result = updater.follow();
                is_done = matches!(result, Ok(Some(_)));
                result
            });
            if !is_done && state.failures != failures {
                return Err(state.unindexed_error());
            }
        }
        state.must_follow = !is_done;
        Ok(())
    }

    /// Begins to rebuild the index if an update failed because it is damaged. Returns whether it is.
    fn rebuild_if_damaged(self: &Arc<Self>, error: &Error) -> bool {
        let is_damaged = self.rebuilder.examine_after(error);
        if is_damaged {
            tracing::error!(cause = %ErrorChain(error), "updating the search index failed");
            self.start_rebuild(RebuildCause::Failure);
        }
        is_damaged
    }

    /// Starts the thread that rebuilds the index, unless it runs.
    fn start_rebuild(self: &Arc<Self>, cause: RebuildCause) {
        let mut state = self.lock();
        if state.is_rebuilding || state.is_stopping {
            return;
        }
        let shared = Arc::clone(self);
        let work = move || {
            let rebuilding = Rebuilding(&shared);
            shared.rebuilder.run(cause, &rebuilding);
        };
        match thread::Builder::new().name("index-rebuild".to_owned()).spawn(work) {
            Ok(thread) => (state.is_rebuilding, state.rebuilding) = (true, Some(thread)),
            // The next search that fails tries again.
            Err(cause) => tracing::error!(%cause, "cannot start the thread that rebuilds the search index"),
        }
    }

    /// Starts the thread that commits, unless it runs. A private index is closed by the idle closer instead.
    fn start_committing(self: &Arc<Self>, state: &mut State) {
        if let Some(closer) = &self.idle_closer {
            if !std::mem::replace(&mut state.is_watched, true) {
                let shared: Weak<Shared> = Arc::downgrade(self);
                closer.watch(shared);
            }
            return;
        }
        if state.committing.is_some() || state.is_stopping {
            return;
        }
        let shared = Arc::clone(self);
        let commit = move || {
            // A panic has printed its message. Each call waits before it does anything.
            while catch_unwind(AssertUnwindSafe(|| shared.commit_until_idle())).is_err() {}
        };
        match thread::Builder::new().name("index-commit".to_owned()).spawn(commit) {
            Ok(thread) => state.committing = Some(thread),
            // The next update tries again.
            Err(cause) => tracing::error!(%cause, "cannot start the thread that commits the search index"),
        }
    }

    /// Commits the changes of this process, and repeats updates that failed. Ends when there was no update
    /// for some time.
    fn commit_until_idle(self: &Arc<Self>) {
        let mut state = self.lock();
        let (mut updates, mut idle_intervals) = (state.updates, 0);
        loop {
            let waited = self.changed.wait_timeout_while(state, COMMIT_INTERVAL, |state| !state.is_stopping);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            while state.is_updating && !state.is_stopping {
                state = self.wait(state);
            }
            if state.is_stopping {
                return;
            }
            if state.error.is_some() || state.must_follow {
                drop(state);
                // The error is logged.
                let _ = self.follow();
                state = self.lock();
            } else if state.is_ahead {
                state = self.update(state, Updater::commit);
            } else if state.updates == updates && idle_intervals >= MAX_IDLE_INTERVALS {
                drop(state);
                self.close_engine();
                state = self.lock();
                if state.updates == updates {
                    state.committing = None;
                    return;
                }
            }
            idle_intervals = if state.updates == updates { idle_intervals + 1 } else { 0 };
            updates = state.updates;
        }
    }

    /// Closes the engine's writer. Updates that need it meanwhile wait.
    fn close_engine(self: &Arc<Self>) {
        let updater = self.lock_updater();
        let Some(engine) = updater.unused_engine() else { return };
        // No update can leave uncommitted changes between this check and the next line.
        let closing = engine.close();
        drop(updater);
        if let Err(error) = closing.finish() {
            let error = Error::from(error);
            tracing::error!(cause = %ErrorChain(&error), "closing the search index failed");
            self.rebuild_if_damaged(&error);
        }
        self.lock_updater().release_merged_files();
    }
}

impl CloseWhenIdle for Shared {
    fn close_if_idle(&self) -> bool {
        let mut state = self.lock();
        let is_idle = state.updates == state.watched_updates && !state.is_updating;
        state.watched_updates = state.updates;
        if !is_idle {
            return false;
        }
        state.is_watched = false;
        drop(state);
        // An update that begins now waits, or is written, too.
        let mut updater = self.lock_updater();
        if self.lock().is_stopping {
            return true;
        }
        // Requests can outlive the files of their world.
        if let Err(error) = updater.close_idle()
            && updater.has_files()
        {
            tracing::error!(cause = %ErrorChain(&error), "closing a private search index failed");
        }
        true
    }
}

/// The turn of the thread that updates the index. It ends even if the update panics.
struct Turn<'s>(&'s Arc<Shared>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_updating = false;
        if thread::panicking() {
            state.failures += 1;
            state.error = Some(Arc::new(Error::internal("an update of the search index panicked")));
            self.0.start_committing(&mut state);
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

/// The thread that rebuilds the index. It stops when the updater is dropped.
struct Rebuilding<'s>(&'s Arc<Shared>);

impl Progress for Rebuilding<'_> {
    fn advance(&self, _: u64, _: u64) {}

    fn is_canceled(&self) -> bool {
        self.0.lock().is_stopping
    }
}

impl Updates for Rebuilding<'_> {
    fn follow(&self) -> Result<()> {
        self.0.follow()
    }

    fn wait(&self, time: Duration) {
        drop(self.0.changed.wait_timeout_while(self.0.lock(), time, |state| !state.is_stopping));
    }
}

impl Drop for Rebuilding<'_> {
    fn drop(&mut self) {
        self.0.lock().is_rebuilding = false;
    }
}
