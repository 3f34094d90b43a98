//! Closes what was not used for a short while, or what was not used for the longest time if too much is open. One thread does so
//! for all markets that share an [`IdleCloser`]. It runs only while something is open.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::Duration,
};

/// Interval of the checks for idle resources. An idle resource is closed after one to two intervals.
const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of open resources that are not in use. Each has up to a few megabytes of memory, most of which the process
/// keeps after it was closed, for the next ones.
const MAX_OPEN: usize = 64;

/// How long the thread waits before it looks again for a resource to close, if all are in use.
const RETRY: Duration = Duration::from_millis(10);

/// A resource that is opened when it is needed.
pub trait CloseWhenIdle: Send + Sync {
    /// Closes the resource, unless it is in use, or was used since the last call. Returns whether it is closed.
    fn close_if_idle(&self) -> bool;
}

/// Closes resources that are idle. Clones share the thread.
#[derive(Clone, Default)]
pub struct IdleCloser {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when there are too many open resources.
    exceeded: Condvar,
    /// Locked while resources are closed.
    closing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The open resources, in the order in which they were opened or last checked. A dropped resource is not closed again.
    open: VecDeque<Weak<dyn CloseWhenIdle>>,
    is_running: bool,
}

impl std::fmt::Debug for IdleCloser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IdleCloser({} open)", self.lock().open.len())
    }
}

impl IdleCloser {
    /// Closes a resource once it is idle. Called whenever it was opened.
    pub fn watch(&self, resource: Weak<dyn CloseWhenIdle>) {
        let mut state = self.lock();
        state.open.push_back(resource);
        if state.is_running {
            if state.open.len() > MAX_OPEN {
                self.shared.exceeded.notify_one();
            }
            return;
        }
        let closer = self.clone();
        match thread::Builder::new().name("idle-closer".to_owned()).spawn(move || closer.run()) {
            Ok(_) => state.is_running = true,
            // The next resource that is opened tries again.
            Err(cause) => tracing::error!(%cause, "cannot start the thread that closes what is idle"),
        }
    }

    /// Returns the number of resources that are open, or were dropped a moment ago.
    pub fn open_count(&self) -> usize {
        let _closing = self.lock_closing();
        self.lock().open.len()
    }

    /// Closes everything that is not in use now.
    pub fn close_all(&self) {
        // The first call may only note that the resource was used.
        self.close_idle();
        self.close_idle();
    }

    fn run(&self) {
        loop {
            let may_wait = |state: &mut State| state.open.len() <= MAX_OPEN;
            let waited = self.shared.exceeded.wait_timeout_while(self.lock(), INTERVAL, may_wait);
            let is_over = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
            if is_over {
                self.close_idle();
            } else if !self.close_longest_unused() {
                thread::sleep(RETRY);
            }
            let mut state = self.lock();
            if state.open.is_empty() {
                state.is_running = false;
                return;
            }
        }
    }

    fn close_idle(&self) {
        let _closing = self.lock_closing();
        // Closing takes time. Resources that are opened meanwhile are added to an empty list.
        let mut open = std::mem::take(&mut self.lock().open);
        open.retain(|resource| resource.upgrade().is_some_and(|resource| !resource.close_if_idle()));
        self.lock().open.append(&mut open);
    }

    /// Closes resources until their number is within the limit. A resource that was used since its last check is checked again
    /// after all others. Returns false if too many are in use.
    fn close_longest_unused(&self) -> bool {
        let _closing = self.lock_closing();
        let mut open = std::mem::take(&mut self.lock().open);
        let looks = 2 * open.len();
        for _ in 0..looks {
            if open.len() <= MAX_OPEN {
                break;
            }
            let Some(weak) = open.pop_front() else { break };
            if weak.upgrade().is_some_and(|resource| !resource.close_if_idle()) {
                open.push_back(weak);
            }
        }
        let is_enough = open.len() <= MAX_OPEN;
        let mut state = self.lock();
        open.append(&mut state.open);
        state.open = open;
        is_enough
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_closing(&self) -> MutexGuard<'_, ()> {
        self.shared.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A resource that was used a number of times.
    struct Used(AtomicU32);

    impl CloseWhenIdle for Used {
        fn close_if_idle(&self) -> bool {
            self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_err()
        }
    }

    #[test]
    fn idle_and_dropped_resources_are_forgotten() {
        let closer = IdleCloser::default();
        // Runs by hand, so that the test does not wait.
        closer.lock().is_running = true;
        let used = [0, 1, 9].map(|count| Arc::new(Used(AtomicU32::new(count))));
        for resource in &used {
            let resource: Weak<Used> = Arc::downgrade(resource);
            closer.watch(resource);
        }
        closer.close_idle();
        assert_eq!(closer.open_count(), 2);
        closer.close_idle();
        assert_eq!(closer.open_count(), 1);
        drop(used);
        closer.close_idle();
        assert_eq!(closer.open_count(), 0);
    }

    #[test]
    fn those_that_were_not_used_for_the_longest_time_are_closed_if_there_are_too_many() {
        let closer = IdleCloser::default();
        closer.lock().is_running = true;
        let watch = |uses: u32| {
            let used = Arc::new(Used(AtomicU32::new(uses)));
            let resource: Weak<Used> = Arc::downgrade(&used);
            closer.watch(resource);
            used
        };
        // One is always in use.
        let busy = watch(u32::MAX);
        let others: Vec<_> = (0..MAX_OPEN).map(|_| watch(1)).collect();
        assert!(closer.close_longest_unused());
        assert_eq!(closer.open_count(), MAX_OPEN);
        let looked_at = others.iter().filter(|used| used.0.load(Ordering::SeqCst) == 0).count();
        assert_eq!(looked_at, MAX_OPEN, "each was used, and was kept once");
        assert!(busy.0.load(Ordering::SeqCst) < u32::MAX);
        let more: Vec<_> = (0..MAX_OPEN).map(|_| watch(0)).collect();
        assert!(closer.close_longest_unused());
        assert_eq!(closer.open_count(), MAX_OPEN);
        drop((others, more));
        let in_use: Vec<_> = (0..=MAX_OPEN).map(|_| watch(u32::MAX)).collect();
        assert!(!closer.close_longest_unused(), "all are in use");
        drop(in_use);
        assert!(closer.close_longest_unused());
    }
}
