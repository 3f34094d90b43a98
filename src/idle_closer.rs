//! Closes what was not used for a short while. One thread does so for all markets that share an [`IdleCloser`]. It runs only
//! while something is open.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::Duration,
};

/// Interval at which open resources are looked at. What is idle is closed after one to two intervals.
const INTERVAL: Duration = Duration::from_secs(1);

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
    /// Locked while resources are closed.
    closing: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// What is open. A resource that was dropped needs no closing.
    open: Vec<Weak<dyn CloseWhenIdle>>,
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
        state.open.push(resource);
        if state.is_running {
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
            thread::sleep(INTERVAL);
            self.close_idle();
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
}
