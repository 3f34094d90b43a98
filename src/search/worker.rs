//! The thread of a serving process that writes the index. It drains the queue on request, and polls a few
//! times a second for changes by other processes. Another thread replaces an index with an older schema.

use std::{
    path::Path,
    sync::{Arc, Condvar, Mutex, PoisonError},
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

/// Delay before the worker retries while another process holds the index writer.
const BUSY_DELAY: Duration = Duration::from_millis(20);

/// Memory and threads of the index writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Memory budget in bytes, for all threads together.
    pub memory_bytes: usize,
    /// Number of threads.
    pub threads: usize,
}

/// The requested and the completed work of the worker, as numbers of changes.
#[derive(Debug, Default)]
struct State {
    requested: u64,
    indexed: u64,
    is_stopping: bool,
    error: Option<Arc<Error>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Handle to the worker's threads. Dropping it stops them after the current drain, or the current batch of a
/// rebuild.
pub struct Worker {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Worker {
    /// Opens the index writer, brings the index up to date, and starts the thread. `detect_changes` is called
    /// a few times a second and before each drain; it returns whether another process changed anything.
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
        let shared = Arc::new(Shared::default());
        shared.lock().indexed = directory.index().snapshot().change();
        let mut worker = Worker { shared, threads: Vec::new() };
        if directory.index().is_outdated() {
            let (state, indexer, path) =
                (Arc::clone(&worker.shared), indexer.clone(), directory.path().to_owned());
            worker.spawn("index-rebuild", move || replace_outdated(&state, &indexer, &path, options))?;
        }
        let state = Arc::clone(&worker.shared);
        worker.spawn("index", move || {
            run_worker(&state, &indexer, &directory, writer, options, &detect_changes);
        })?;
        Ok(worker)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::internal)?;
        self.threads.push(thread);
        Ok(())
    }

    /// Waits until the index includes a change.
    pub fn wait_until_indexed(&self, change: u64) -> Result<()> {
        let mut state = self.shared.lock();
        state.requested = state.requested.max(change);
        state.error = None;
        self.shared.changed.notify_all();
        while state.indexed < change {
            if let Some(error) = &state.error {
                return Err(Error::internal_with_source(
                    "the change is stored, but the search index cannot show it",
                    Arc::clone(error),
                ));
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
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
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until work is requested or the poll interval has passed. Returns whether work is requested, or
    /// `None` if the worker must stop.
    fn wait_for_work(&self) -> Option<bool> {
        let state = self.lock();
        let idle = |state: &mut State| state.requested <= state.indexed && !state.is_stopping;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, POLL_INTERVAL, idle)
            .unwrap_or_else(PoisonError::into_inner);
        (!state.is_stopping).then_some(state.requested > state.indexed)
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

fn run_worker(
    shared: &Shared,
    indexer: &Indexer,
    directory: &IndexDirectory,
    writer: Writer,
    options: WriterOptions,
    detect_changes: &dyn Fn() -> Result<bool>,
) {
    let mut writer = Some(writer);
    // `detect_changes` reports a change only once, so this flag stays set until the index includes the
    // change.
    let mut is_behind = false;
    while let Some(is_requested) = shared.wait_for_work() {
        let result = detect_changes().and_then(|is_changed| {
            is_behind |= is_requested || is_changed || directory.has_newer_index()?;
            if is_behind { update_index(indexer, directory, &mut writer, options) } else { Ok(None) }
        });
        if is_behind && matches!(result, Ok(None)) {
            thread::sleep(BUSY_DELAY);
        }
        let mut state = shared.lock();
        match result {
            Ok(None) => continue,
            Ok(Some(change)) => {
                is_behind = false;
                state.indexed = change;
                state.error = None;
            }
            Err(error) => {
                tracing::error!(cause = %ErrorChain(&error), "updating the search index failed");
                state.error = Some(Arc::new(error));
                // Waiting callers get the error. The next iteration retries with a new writer.
                state.requested = state.indexed;
                is_behind = true;
                writer = None;
            }
        }
        drop(state);
        shared.changed.notify_all();
    }
}

/// Brings the current index up to date and returns the number of its last change. Returns `None` while
/// another process holds the writer, as a command may do with an index that was just swapped in.
fn update_index(
    indexer: &Indexer,
    directory: &IndexDirectory,
    writer: &mut Option<Writer>,
    options: WriterOptions,
) -> Result<Option<u64>> {
    if let Some(newer) = directory.open_newer()? {
        // Applied before the index is used, so that it shows no older state than the one that it replaces.
        let mut newer_writer = match newer.index.writer(options.memory_bytes, options.threads) {
            Err(marketplace_index::Error::Busy) => return Ok(None),
            other => other?,
        };
        indexer.drain(&newer.index, &mut newer_writer, &())?;
        directory.replace(newer);
        *writer = Some(newer_writer);
        tracing::info!("rebuilt search index was swapped in");
        directory.remove_stale();
    }
    let index = directory.index();
    let mut current = match writer.take() {
        Some(writer) => writer,
        None => match index.writer(options.memory_bytes, options.threads) {
            Err(marketplace_index::Error::Busy) => return Ok(None),
            other => other?,
        },
    };
    indexer.drain(&index, &mut current, &())?;
    *writer = Some(current);
    Ok(Some(index.snapshot().change()))
}
