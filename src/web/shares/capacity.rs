//! Limits the number of concurrent requests and the time to respond. Excess requests are rejected at once, so
//! that accepted requests finish soon.
//!
//! A request occupies its slot until its work ends, even if the client has disconnected. While a body is
//! being received there is no work, so the request gives up its slot.
//!
//! Slots are shared fairly: a request counts for the network of its client, and for its principal as soon as
//! the key is checked. Each may occupy as many slots as are free, and at least one. So there is a slot for
//! another as long as there are more slots than owners of requests. Otherwise their requests take
//! turns, and those that wait too long are rejected.
//!
//! Requests that change something have slots of their own. They wait for each other and for the disk, and would
//! otherwise occupy the slots of requests that only read.

#[cfg(test)]
mod sharing_tests;
#[cfg(test)]
mod tests;

use std::{
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use poem::{Endpoint, Request, Response};
use tokio::{runtime::Handle, time::timeout};

use crate::{
    clock::Stopwatch,
    config::Settings,
    domain::principals::Principal,
    error::{Error, Result},
    http_server::trusted_proxies::TrustedProxies,
    market::{Activity, MarketId, Permit, Requester, Scheduler, Share, WorkOwner},
    web::{
        problem,
        request_id::{self, RequestId},
    },
};

/// The `Retry-After` of a request that was rejected because the server is at capacity.
const RETRY_SECONDS: u64 = 1;

/// The `Retry-After` of a request whose response took too long, while its work continues.
const SLOW_RETRY_SECONDS: u64 = 10;

/// Slots by what the requests do.
#[derive(Clone, Debug)]
struct Slots {
    /// For requests that only read, and for those of which it is not known yet.
    reads: Scheduler,
    changes: Scheduler,
}

/// The server's slots for concurrent requests.
#[derive(Clone, Debug)]
pub struct Capacity {
    slots: Slots,
    /// Maximum time that a request waits in the queue of an overloaded server.
    queue_timeout: Duration,
    /// Maximum time to respond; none means unlimited.
    response_timeout: Option<Duration>,
    proxies: TrustedProxies,
    /// Numbers of rejected requests: those that only read, and those that change something.
    rejected: [Arc<AtomicU64>; 2],
}

impl Capacity {
    /// Creates the slots that the settings specify.
    pub fn new(settings: &Settings, stopwatch: Stopwatch) -> Capacity {
        let (limits, seconds) = (&settings.limits, settings.server.answer_seconds);
        let (count, queue) = (limits.slots(), limits.queue as usize);
        let burst = Duration::from_millis(limits.burst_milliseconds.into());
        let slots = |stopwatch| {
            Scheduler::new(Activity::Request, count, queue, Share::AsManyAsFree, stopwatch).with_burst(burst)
        };
        Capacity {
            slots: Slots { reads: slots(stopwatch.clone()), changes: slots(stopwatch) },
            queue_timeout: Duration::from_millis(limits.queue_milliseconds.into()),
            response_timeout: (seconds > 0).then(|| Duration::from_secs(seconds.into())),
            proxies: settings.proxies(),
            rejected: Default::default(),
        }
    }

    /// Returns how many slots are occupied, and how many requests wait for one: first those that only read, then those that
    /// change something.
    pub fn loads(&self) -> [(usize, usize); 2] {
        [self.slots.reads.load(), self.slots.changes.load()]
    }

    /// Returns the numbers of requests that were rejected for lack of a slot: reads, then changes.
    pub fn rejected(&self) -> [u64; 2] {
        self.rejected.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Whether requests are in progress.
    pub fn has_requests(&self) -> bool {
        self.slots.reads.is_in_use() || self.slots.changes.is_in_use()
    }

    /// Middleware that processes a request in a slot, or responds 503 if none is available.
    pub async fn layer<E: Endpoint<Output = Response> + 'static>(
        self,
        inner: Arc<E>,
        mut request: Request,
    ) -> poem::Result<Response> {
        let id = RequestId::from_request(&request);
        let deadline = self.response_timeout;
        let client = WorkOwner::Client(self.proxies.client_network(&request));
        // Only the wait for a slot is counted: a slow client or a slow disk is not charged to the budget.
        let client = match request_id::cost_meter(&request) {
            Some(cost) => Requester::new(client, cost),
            None => Requester::unmetered(client),
        };
        let slot = match self.acquire(client, false).await {
            Ok(permit) => Slot {
                capacity: self,
                permit: Arc::new(Mutex::new(Some(permit))),
                is_change: Arc::default(),
                has_no_deadline: Arc::default(),
            },
            Err(full) => return Ok(problem::error_response(&full, id.as_str())),
        };
        request.set_data(slot.clone());
        let has_no_deadline = Arc::clone(&slot.has_no_deadline);
        let mut response = RunToCompletion::new(async move {
            let response = inner.as_ref().call(request).await;
            drop(slot);
            response
        });
        let Some(deadline) = deadline else { return response.await };
        match timeout(deadline, &mut response).await {
            Ok(response) => response,
            Err(_) if has_no_deadline.load(Ordering::Relaxed) => response.await,
            Err(_) => {
                let timeout_error = Error::ResponseTimeout { retry_seconds: SLOW_RETRY_SECONDS };
                Ok(problem::error_response(&timeout_error, id.as_str()))
            }
        }
    }

    /// Acquires a slot, after a wait if all are taken or the requester has its share.
    ///
    /// A burst of requests waits until it is served. Only the queue of an overloaded server, which would delay all requests, is kept
    /// short, as with controlled delay (RFC 8289), and the newest requests are served first: the others would be answered late, or
    /// refused after they have waited.
    async fn acquire(&self, requester: Requester, is_change: bool) -> Result<Permit> {
        let slots = if is_change { &self.slots.changes } else { &self.slots.reads };
        if let Some(permit) = slots.try_acquire(&requester) {
            return Ok(permit);
        }
        let wait = async {
            let mut permit = pin!(slots.acquire(requester));
            loop {
                match timeout(self.queue_timeout, &mut permit).await {
                    Ok(permit) => return permit,
                    // If nothing waits any more, the slot is on its way.
                    Err(_) if !slots.is_overloaded() => {}
                    Err(_) => return Err(Error::AtCapacity { retry_seconds: RETRY_SECONDS }),
                }
            }
        };
        // Boxed, since the future of every request has room for those that are not.
        Box::pin(wait).await.inspect_err(|_| {
            self.rejected[usize::from(is_change)].fetch_add(1, Ordering::Relaxed);
        })
    }
}

/// The slot of a request.
#[derive(Clone, Debug)]
pub struct Slot {
    capacity: Capacity,
    permit: Arc<Mutex<Option<Permit>>>,
    /// Whether the request changes something.
    is_change: Arc<AtomicBool>,
    has_no_deadline: Arc<AtomicBool>,
}

impl Slot {
    /// Counts a request for its principal from now on. If the principal has its share of the slots, the
    /// request gives up its slot, and waits for another one for a short time.
    pub async fn assign_to_principal(
        request: &Request,
        market: MarketId,
        principal: Principal,
    ) -> Result<()> {
        let Some(slot) = request.data::<Slot>() else { return Ok(()) };
        let Some(permit) = slot.replace_permit(None) else { return Ok(()) };
        let for_principal = permit.requester().clone().into_principal(market, principal);
        let permit = match permit.try_transfer(for_principal.clone()) {
            Ok(permit) => permit,
            Err(permit) => {
                drop(permit);
                slot.acquire(for_principal).await?
            }
        };
        slot.replace_permit(Some(permit));
        Ok(())
    }

    /// Moves a request that changes something to a slot for such requests. Without a free one, the request waits for a short time.
    pub async fn move_to_changes(request: &Request) -> Result<()> {
        let Some(slot) = request.data::<Slot>() else { return Ok(()) };
        slot.is_change.store(true, Ordering::Relaxed);
        Slot::release_during(request, async {}).await
    }

    /// Releases the request's slot while it waits, for instance for its body, and acquires one again afterwards. Something
    /// else must limit the number of requests that wait so: [`super::transfer_limits`] or [`super::held_requests`].
    pub async fn release_during<T>(request: &Request, wait: impl Future<Output = T>) -> Result<T> {
        let Some(slot) = request.data::<Slot>() else { return Ok(wait.await) };
        let Some(permit) = slot.replace_permit(None) else { return Ok(wait.await) };
        let requester = permit.requester().clone();
        drop(permit);
        let result = wait.await;
        slot.replace_permit(Some(slot.acquire(requester).await?));
        Ok(result)
    }

    /// Releases the request's slot and does the rest of its work, such as receiving its body, after which nothing
    /// follows except the response. Work that was done therefore never fails for lack of a slot. Something else
    /// must limit the number of such requests, as in [`Slot::release_during`].
    pub async fn release_for_rest<T>(request: &Request, rest: impl Future<Output = T>) -> T {
        if let Some(slot) = request.data::<Slot>() {
            drop(slot.replace_permit(None));
        }
        rest.await
    }

    /// Removes the time limit of the response. The caller must check that data keeps moving.
    pub fn remove_deadline(request: &Request) {
        if let Some(slot) = request.data::<Slot>() {
            slot.has_no_deadline.store(true, Ordering::Relaxed);
        }
    }

    async fn acquire(&self, requester: Requester) -> Result<Permit> {
        self.capacity.acquire(requester, self.is_change.load(Ordering::Relaxed)).await
    }

    fn replace_permit(&self, permit: Option<Permit>) -> Option<Permit> {
        std::mem::replace(&mut *self.permit.lock().unwrap_or_else(PoisonError::into_inner), permit)
    }
}

/// A future that continues in the background after it is dropped. Work on blocking threads cannot be stopped,
/// so the request's slot must stay occupied until that work has ended.
struct RunToCompletion<F: Future<Output: Send> + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future<Output: Send> + Send + 'static> RunToCompletion<F> {
    fn new(work: F) -> RunToCompletion<F> {
        RunToCompletion(Some(Box::pin(work)))
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for RunToCompletion<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // A future that panics is not stored again, so it is not polled again on drop.
        let mut work = self.0.take().expect("not polled after completion");
        let output = work.as_mut().poll(context);
        if output.is_pending() {
            self.0 = Some(work);
        }
        output
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for RunToCompletion<F> {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}
