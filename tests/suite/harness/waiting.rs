//! Waiting for what other threads and processes do.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long a test waits before it fails: far longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Pause between two checks by a thread.
const PAUSE: Duration = Duration::from_millis(1);

/// Checks until there is a value, and returns it.
pub fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(PAUSE);
    }
}

/// Like [`wait_for`], while other tasks of the runtime go on.
pub async fn poll_for<T>(what: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find().await {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::task::yield_now().await;
    }
}

/// Checks until a condition is met.
pub fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    wait_for(what, || is_met().then_some(()));
}

/// Like [`wait_until`], while other tasks of the runtime go on.
pub async fn poll_until(what: &str, mut is_met: impl AsyncFnMut() -> bool) {
    poll_for(what, async || is_met().await.then_some(())).await;
}
