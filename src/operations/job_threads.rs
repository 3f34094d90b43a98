//! The threads of a market's background work. A thread exists only while it has something to do.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::child_processes::ChildProcesses;
use crate::{
    domain::jobs::Queue,
    error::{Error, Result},
    market::{BackgroundSignal, Market},
    string_enum::StringEnum,
};

/// What the threads work with.
#[derive(Debug)]
pub struct Context {
    /// The market.
    pub market: Market,
    /// The child processes that jobs use.
    pub children: ChildProcesses,
}

/// Starts the threads of a market, and counts them.
#[derive(Debug)]
pub struct JobThreads {
    state: Mutex<State>,
    ended: Condvar,
    signal: Arc<BackgroundSignal>,
}

#[derive(Debug)]
struct State {
    /// `None` as soon as no other thread may start. Only threads have clones, so that the market is not in
    /// use after the last one has ended.
    context: Option<Arc<Context>>,
    /// Number of threads.
    threads: usize,
    /// Number of threads that run a job of each queue.
    jobs: [u32; Queue::ALL.len()],
}

impl JobThreads {
    /// Creates the threads of a market, none of which is running.
    pub fn new(market: &Market) -> JobThreads {
        let context = Context { market: market.clone(), children: ChildProcesses::new(market) };
        let state = State { context: Some(Arc::new(context)), threads: 0, jobs: [0; Queue::ALL.len()] };
        JobThreads {
            state: Mutex::new(state),
            ended: Condvar::new(),
            signal: Arc::clone(market.background_signal()),
        }
    }

    /// Returns the signal that wakes background work. It is given after each job.
    pub fn signal(&self) -> &BackgroundSignal {
        &self.signal
    }

    /// Starts a thread, unless the threads were stopped. Returns whether it was started.
    pub fn start(
        self: &Arc<Self>,
        name: &str,
        work: impl FnOnce(&Arc<JobThreads>, &Context) + Send + 'static,
    ) -> Result<bool> {
        self.start_thread(name.to_owned(), None, work)
    }

    /// Starts a thread that runs a job of a queue, unless the threads were stopped. Returns whether it was
    /// started.
    pub fn start_job(
        self: &Arc<Self>,
        queue: Queue,
        work: impl FnOnce(&Arc<JobThreads>, &Context) + Send + 'static,
    ) -> Result<bool> {
        self.start_thread(format!("{} job", queue.as_str()), Some(queue), work)
    }

    /// Returns the number of running jobs of a queue.
    pub fn count_jobs(&self, queue: Queue) -> u32 {
        self.lock().jobs[queue as usize]
    }

    /// Prevents new threads. Running threads end when they notice it.
    pub fn stop(&self) {
        self.lock().context = None;
    }

    /// Whether the threads were stopped.
    pub fn is_stopped(&self) -> bool {
        self.lock().context.is_none()
    }

    /// Waits until no thread is running.
    pub fn wait(&self) {
        let ended = self.ended.wait_while(self.lock(), |state| state.threads > 0);
        drop(ended.unwrap_or_else(PoisonError::into_inner));
    }

    fn start_thread(
        self: &Arc<Self>,
        name: String,
        queue: Option<Queue>,
        work: impl FnOnce(&Arc<JobThreads>, &Context) + Send + 'static,
    ) -> Result<bool> {
        let Some(thread) = self.count_thread(queue) else { return Ok(false) };
        // If there is no thread, the function is dropped without a call, and the thread no longer counts.
        let run = move || thread.run(work);
        std::thread::Builder::new().name(name).spawn(run).map_err(Error::internal)?;
        Ok(true)
    }

    /// Counts a thread that is about to start, unless the threads were stopped.
    fn count_thread(self: &Arc<Self>, queue: Option<Queue>) -> Option<RunningThread> {
        let mut state = self.lock();
        let context = Arc::clone(state.context.as_ref()?);
        state.threads += 1;
        if let Some(queue) = queue {
            state.jobs[queue as usize] += 1;
        }
        Some(RunningThread { threads: Arc::clone(self), context: Some(context), queue })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that counts as running until this is dropped.
struct RunningThread {
    threads: Arc<JobThreads>,
    context: Option<Arc<Context>>,
    queue: Option<Queue>,
}

impl RunningThread {
    fn run(self, work: impl FnOnce(&Arc<JobThreads>, &Context)) {
        if let Some(context) = &self.context {
            work(&self.threads, context);
        }
    }
}

impl Drop for RunningThread {
    fn drop(&mut self) {
        // Dropped before the count decreases: after that, the market may be closed.
        self.context = None;
        let mut state = self.threads.lock();
        state.threads -= 1;
        if let Some(queue) = self.queue {
            state.jobs[queue as usize] -= 1;
        }
        drop(state);
        self.threads.ended.notify_all();
        if self.queue.is_some() {
            // There is room for another job now.
            self.threads.signal.notify();
        }
    }
}
