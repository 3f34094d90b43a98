//! Fair sharing of slots: connections for reading, the one for writing, and requests in progress.
//!
//! Start-time fair queuing: each owner has a queue and a virtual time, which advances by the time for
//! which it occupies slots. A free slot goes to the waiting owner whose virtual time is least, so
//! owners that wait get equal time, whatever the number and the cost of their requests. Waiting occupies
//! no thread.

mod queues;
mod share;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use tokio::{runtime::Handle, sync::oneshot};

use self::queues::{Granted, Queues, WaiterId};
pub use self::share::Share;
use super::{
    cost_meter::Activity,
    requester::{Requester, WorkOwner},
};
use crate::{
    clock::Stopwatch,
    error::{Error, Result},
};

/// The `Retry-After` of work that finds its queue full.
const RETRY_SECONDS: u64 = 1;

/// A number of slots that owners share. Clones share the same slots.
#[derive(Clone, Debug)]
pub struct Scheduler {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queues: Mutex<Queues<Waiter>>,
    stopwatch: Stopwatch,
    activity: Activity,
}

/// Work that waits for a slot.
struct Waiter {
    requester: Requester,
    /// When it began to wait.
    since: Duration,
    /// Called with the slot, without the lock.
    start: Box<dyn FnOnce(Permit) + Send>,
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Queues<Waiter>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot. Dropping it gives the slot to the next waiter.
#[derive(Debug)]
pub struct Permit {
    inner: Arc<Inner>,
    requester: Requester,
    /// What the owner's virtual time was advanced by when the permit was granted.
    charged: Duration,
    /// How long the requester waited for it.
    waited: Duration,
    granted_at: Duration,
}

/// A place in a queue. Dropping it leaves the queue, unless the work has started.
#[derive(Debug)]
struct QueuePlace {
    inner: Arc<Inner>,
    waiter: Option<(WorkOwner, WaiterId)>,
}

impl Scheduler {
    /// Creates a scheduler with `slots` slots, for which at most `max_waiting` pieces of work wait. Their
    /// requesters' meters count the time in the slots, and the time until they get one, as that of
    /// `activity`.
    pub fn new(
        activity: Activity,
        slots: usize,
        max_waiting: usize,
        share: Share,
        stopwatch: Stopwatch,
    ) -> Scheduler {
        let queues = Mutex::new(Queues::new(slots, max_waiting, share));
        Scheduler { inner: Arc::new(Inner { queues, stopwatch, activity }) }
    }

    /// Sets for how long some work may wait at every moment until the scheduler is overloaded. From then on, the newest work of an
    /// owner is next. Without this, a scheduler is never overloaded.
    #[must_use]
    pub fn with_burst(self, burst: Duration) -> Scheduler {
        self.inner.lock().set_burst(burst);
        self
    }

    /// Returns a slot if one is free for the owner.
    pub fn try_acquire(&self, requester: &Requester) -> Option<Permit> {
        let now = self.inner.stopwatch.elapsed();
        let charged = self.inner.lock().try_take(requester.owner(), now)?;
        Some(self.permit(requester.clone(), charged, None))
    }

    /// Waits for a slot. Fails if too much work waits already.
    pub async fn acquire(&self, requester: Requester) -> Result<Permit> {
        if let Some(permit) = self.try_acquire(&requester) {
            return Ok(permit);
        }
        let (sender, receiver) = oneshot::channel();
        // If the receiver is gone, the permit is dropped, and the slot goes to the next waiter.
        let _place = self.submit(requester, move |permit| drop(sender.send(permit)))?;
        receiver.await.map_err(Error::internal)
    }

    /// Waits for a slot on the current thread. The number of threads bounds the number of such waits, so they
    /// are accepted even if too much work waits already. The thread must be one of its own or belong to
    /// [`super::Market::spawn_blocking`], which leaves threads for the work that occupies the slots.
    pub fn acquire_blocking(&self, requester: Requester) -> Result<Permit> {
        if let Some(permit) = self.try_acquire(&requester) {
            return Ok(permit);
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let start = move |permit| drop(sender.send(permit));
        let _place = self.enqueue(requester, start, true)?;
        receiver.recv().map_err(Error::internal)
    }

    /// Runs work in a slot, on a thread that does not serve requests. The thread is occupied only while the
    /// work runs. If the returned future is dropped, work that has not started never does.
    pub async fn run<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(Permit) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let runtime = Handle::current();
        let start = move |permit| {
            runtime.spawn_blocking(move || drop(sender.send(work(permit))));
        };
        let _place = self.submit(requester, start)?;
        receiver.await.map_err(|_| Error::internal("the work panicked or the process is stopping"))?
    }

    /// Calls `start` as soon as the owner gets a slot: now, or on the thread that releases one.
    fn submit(
        &self,
        requester: Requester,
        start: impl FnOnce(Permit) + Send + 'static,
    ) -> Result<Option<QueuePlace>> {
        if let Some(permit) = self.try_acquire(&requester) {
            start(permit);
            return Ok(None);
        }
        self.enqueue(requester, start, false).map(Some)
    }

    fn enqueue(
        &self,
        requester: Requester,
        start: impl FnOnce(Permit) + Send + 'static,
        is_exempt: bool,
    ) -> Result<QueuePlace> {
        let owner = requester.owner();
        let start = Box::new(start);
        let now = self.inner.stopwatch.elapsed();
        let mut queues = self.inner.lock();
        let id = queues
            .push(owner, Waiter { requester, since: now, start }, is_exempt, now)
            .map_err(|_| Error::AtCapacity { retry_seconds: RETRY_SECONDS })?;
        // A slot may have become free since the caller tried to take one.
        let granted = queues.grant_waiting(now);
        drop(queues);
        self.start(granted);
        Ok(QueuePlace { inner: Arc::clone(&self.inner), waiter: Some((owner, id)) })
    }

    /// Returns a granted slot. `waiting_since` is when the requester began to wait, if it did.
    fn permit(&self, requester: Requester, charged: Duration, waiting_since: Option<Duration>) -> Permit {
        let granted_at = self.inner.stopwatch.elapsed();
        let waited = waiting_since.map_or(Duration::ZERO, |since| granted_at.saturating_sub(since));
        if waiting_since.is_some() {
            requester.count_wait(self.inner.activity, waited);
        }
        Permit { inner: Arc::clone(&self.inner), requester, charged, waited, granted_at }
    }

    /// Starts work that has been granted a slot. Must be called without the lock, since the work may end at
    /// once.
    fn start(&self, granted: Vec<Granted<Waiter>>) {
        for Granted { work: Waiter { requester, since, start }, charged } in granted {
            start(self.permit(requester, charged, Some(since)));
        }
    }

    /// Whether any slot is occupied.
    pub fn is_in_use(&self) -> bool {
        self.inner.lock().is_in_use()
    }

    /// Returns how many slots are occupied, and how much work waits for one.
    pub fn load(&self) -> (usize, usize) {
        self.inner.lock().load()
    }

    /// Whether some work has been waiting at every moment for longer than a burst.
    pub fn is_overloaded(&self) -> bool {
        let now = self.inner.stopwatch.elapsed();
        self.inner.lock().is_overloaded(now)
    }

    /// Number of slots that an owner occupies.
    #[cfg(test)]
    pub fn held(&self, owner: WorkOwner) -> usize {
        self.inner.lock().held(owner)
    }
}

impl Permit {
    /// Returns on whose behalf the slot is occupied.
    pub const fn requester(&self) -> &Requester {
        &self.requester
    }

    /// Returns how long the requester waited for the slot.
    pub const fn waited(&self) -> Duration {
        self.waited
    }

    /// Assigns the slot to another requester, if that one may have another slot now. Otherwise returns the
    /// permit unchanged.
    pub fn try_transfer(mut self, requester: Requester) -> std::result::Result<Permit, Permit> {
        let (from, to) = (self.requester.owner(), requester.owner());
        if from == to {
            return Ok(self);
        }
        let scheduler = Scheduler { inner: Arc::clone(&self.inner) };
        let now = scheduler.inner.stopwatch.elapsed();
        let mut queues = scheduler.inner.lock();
        let Some(charged) = queues.transfer(from, self.charged, to, now) else {
            drop(queues);
            return Err(self);
        };
        let granted = queues.grant_waiting(now);
        drop(queues);
        self.requester = requester;
        self.charged = charged;
        scheduler.start(granted);
        Ok(self)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let scheduler = Scheduler { inner: Arc::clone(&self.inner) };
        let now = scheduler.inner.stopwatch.elapsed();
        let cost = now.saturating_sub(self.granted_at);
        self.requester.count_work(self.inner.activity, cost);
        let mut queues = scheduler.inner.lock();
        queues.release(self.requester.owner(), self.charged, cost, now);
        let granted = queues.grant_waiting(now);
        drop(queues);
        scheduler.start(granted);
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        if let Some((owner, id)) = self.waiter {
            let waiter = self.inner.lock().remove(owner, id);
            if let Some(Waiter { requester, since, .. }) = &waiter {
                let waited = self.inner.stopwatch.elapsed().saturating_sub(*since);
                requester.count_wait(self.inner.activity, waited);
            }
            // Dropped without the lock: what the work owns may be a permit.
            drop(waiter);
        }
    }
}
