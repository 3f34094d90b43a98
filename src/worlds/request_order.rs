//! The order of the requests of a world: they run one at a time, as they are admitted.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Lets the requests of a world run one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestOrder(Arc<tokio::sync::Mutex<()>>);

impl RequestOrder {
    /// Waits until it is the caller's turn. Waiters get their turns in the order of their arrival.
    pub(super) async fn wait(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0).lock_owned().await
    }
}

/// The turn of a request. The next request runs when all clones are dropped, or one of them was released. A request that
/// waits, streams, or transfers releases it first.
#[derive(Clone, Debug)]
pub struct Turn(Arc<Mutex<Option<OwnedMutexGuard<()>>>>);

impl Turn {
    pub(super) fn new(guard: OwnedMutexGuard<()>) -> Turn {
        Turn(Arc::new(Mutex::new(Some(guard))))
    }

    /// Lets the next request run. Calls after the first have no effect.
    pub fn release(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Whether the turn was released.
    pub fn is_released(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}
