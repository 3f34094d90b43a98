//! What requests hold while they transfer data: slots for receiving bodies and sending downloads, memory for bodies and responses,
//! and temporary files for large responses. Each is limited in total and shared fairly.
//!
//! Memory that a request uses for less than its lifetime, such as for a list that is being serialized, is
//! limited by the number of requests that work at the same time; see [`crate::web::shares::capacity`].

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    clock::Stopwatch,
    config::{LimitSettings, Settings},
    domain::principals::Principal,
    error::{Error, Result},
    http_server::response_body::{self, SharedBody},
    market::{Activity, MarketId, Permit, Requester, Scheduler, Share},
    string_enum::{StringEnum, string_enum},
    web::{
        limits::RequestLimits,
        problem,
        request_id::RequestId,
        shares::holders::{FairLimit, FairPermit, Holder, Maxima, ShareOwner},
    },
};
use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    http::{Method, header},
};

/// The `Retry-After` of a request that is rejected because its resources are not available.
const RETRY_SECONDS: u64 = 1;

/// Size in bytes from which a response counts towards the limit. Smaller ones fit into the buffers of a
/// connection.
const MIN_COUNTED_RESPONSE: usize = 64 * 1024;

/// Maximum number of large bodies that are parsed and of large responses that are compressed at the same
/// time: those that are too large for the threads that serve requests.
const MAX_HEAVY_WORK: usize = 2;

/// What all requests of a server may hold.
#[derive(Debug)]
pub struct TransferLimits {
    /// By [`TransferLimit`].
    limits: [FairLimit; TRANSFER_LIMITS],
    heavy_work: Scheduler,
    /// Maximum time that a request waits for memory.
    wait: Duration,
    settings: Settings,
    /// How often each limit had no room, by [`TransferLimit`].
    rejected: [AtomicU64; TRANSFER_LIMITS],
}

string_enum! {
    /// What is limited.
    TransferLimit {
        /// Bodies that are being received.
        Bodies = "bodies",
        /// Bundles that are being sent.
        Downloads = "downloads",
        /// Bytes of memory.
        Memory = "memory",
        /// Bytes of temporary files.
        TemporaryFiles = "temporary_files",
    }
}

/// Number of limits.
const TRANSFER_LIMITS: usize = TransferLimit::ALL.len();

/// How much of a limit is in use.
#[derive(Clone, Copy, Debug)]
pub struct TransferLoad {
    /// The limit.
    pub limit: TransferLimit,
    /// What requests hold.
    pub used: u64,
    /// Maximum of what they may hold; 0 for no limit.
    pub max: u64,
    /// How often there was no room.
    pub rejected: u64,
}

/// Returns the limits that the settings specify, in the order of [`TransferLimit`].
fn maxima(limits: &LimitSettings) -> [Maxima; TRANSFER_LIMITS] {
    let megabytes = |number: u32| Maxima::quarter_per_principal(u64::from(number) << 20);
    [
        Maxima::new(limits.bodies.into(), limits.bodies_per_team.into(), limits.bodies_per_address.into()),
        Maxima::new(
            limits.downloads.into(),
            limits.downloads_per_team.into(),
            limits.downloads_per_address.into(),
        ),
        megabytes(limits.memory_mb),
        megabytes(limits.spool_mb),
    ]
}

impl TransferLimits {
    /// Creates the limits that the settings specify.
    pub fn new(settings: &Settings, stopwatch: Stopwatch) -> TransferLimits {
        let limits = &settings.limits;
        let queue = limits.queue as usize;
        TransferLimits {
            limits: maxima(limits).map(FairLimit::with_maxima),
            heavy_work: Scheduler::new(
                Activity::Compute,
                MAX_HEAVY_WORK,
                queue,
                Share::LeaveOneForOthers,
                stopwatch,
            ),
            wait: Duration::from_millis(limits.queue_milliseconds.into()),
            settings: settings.clone(),
            rejected: Default::default(),
        }
    }

    /// Changes the limits to those of other settings.
    pub fn follow(&self, settings: &Settings) {
        for (limit, maxima) in self.limits.iter().zip(maxima(&settings.limits)) {
            limit.set_maxima(maxima);
        }
    }

    /// Returns how much of each limit is in use.
    pub fn loads(&self) -> [TransferLoad; TRANSFER_LIMITS] {
        std::array::from_fn(|index| {
            let (used, max) = self.limits[index].load();
            let rejected = self.rejected[index].load(Ordering::Relaxed);
            TransferLoad { limit: TransferLimit::ALL[index], used, max, rejected }
        })
    }

    /// Counts that a limit has no room, and returns the error.
    fn reject(&self, limit: TransferLimit) -> Error {
        self.rejected[limit as usize].fetch_add(1, Ordering::Relaxed);
        Error::AtCapacity { retry_seconds: RETRY_SECONDS }
    }

    /// Middleware that lets a request take its share of the limits, and counts its response until it is written. It is
    /// outside of all layers that change a response.
    pub async fn layer<E: Endpoint<Output = Response>>(
        self: Arc<Self>,
        inner: Arc<E>,
        mut request: Request,
    ) -> poem::Result<Response> {
        let id = RequestId::from_request(&request);
        let network = self.settings.proxies().client_network(&request);
        let requester = RequestLimits::client_requester(&request, &self.settings);
        let transfers = RequestTransfers(Arc::new(Inner {
            shared: self,
            network,
            requester,
            principal: OnceLock::new(),
            is_read: matches!(*request.method(), Method::GET | Method::HEAD),
            memory: Mutex::default(),
        }));
        request.set_data(transfers.clone());
        let mut response = inner.as_ref().call(request).await?;
        // Another encoding of a response that was counted is in memory of its own.
        let is_counted = response.data::<Counted>().is_some()
            && !response.headers().contains_key(header::CONTENT_ENCODING);
        if is_counted {
            return Ok(response);
        }
        match transfers.count_response(&mut response).await {
            Ok(()) => Ok(response),
            Err(error) => Ok(problem::error_response(&error, id.as_str())),
        }
    }
}

/// What one request may hold, in the request's data.
#[derive(Clone, Debug)]
pub struct RequestTransfers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    shared: Arc<TransferLimits>,
    network: IpAddr,
    /// The client, and the meter of the request's cost.
    requester: Requester,
    principal: OnceLock<ShareOwner>,
    /// Whether the request changes nothing, so that its response may be replaced by an error.
    is_read: bool,
    /// The memory of the request's body, held until the response is complete.
    memory: Mutex<Option<MemoryUse>>,
}

impl RequestTransfers {
    /// Records the principal of a request, once it is known. What the request takes from then on counts for
    /// it.
    pub fn set_principal(request: &Request, market: MarketId, principal: Principal) {
        if let Some(transfers) = request.data::<RequestTransfers>() {
            let _ = transfers.0.principal.set((market, principal));
        }
    }

    fn principal(&self) -> Option<Holder> {
        self.0.principal.get().copied().map(Holder::Principal)
    }

    /// Returns for whom it counts: for the principal, or, while it is not known, for the client network and for all
    /// clients without a key. So what other teams at the same address hold does not count for a team.
    fn holders(&self) -> [Option<Holder>; 2] {
        match self.principal() {
            Some(principal) => [Some(principal), None],
            None => [Some(Holder::Network(self.0.network)), Some(Holder::Anonymous)],
        }
    }

    /// Takes a slot for receiving a body.
    pub fn body_slot(&self) -> Result<FairPermit> {
        self.take(TransferLimit::Bodies, 1)
    }

    /// Takes a slot for sending a download.
    pub fn download_slot(&self) -> Result<FairPermit> {
        self.take(TransferLimit::Downloads, 1)
    }

    /// Starts counting memory.
    pub fn memory(&self) -> MemoryUse {
        let permit = self.take(TransferLimit::Memory, 0);
        MemoryUse { permit: permit.expect("nothing is always available"), shared: Arc::clone(&self.0.shared) }
    }

    /// Takes space for a temporary file.
    pub fn spool(&self, bytes: u64) -> Result<FairPermit> {
        self.take(TransferLimit::TemporaryFiles, bytes)
    }

    fn take(&self, limit: TransferLimit, amount: u64) -> Result<FairPermit> {
        let shared = &self.0.shared;
        let taken = shared.limits[limit as usize].try_acquire(self.holders(), amount);
        taken.ok_or_else(|| shared.reject(limit))
    }

    /// Keeps memory until the response is complete.
    pub fn keep(&self, memory: MemoryUse) {
        *self.kept() = Some(memory);
    }

    /// Adds to the memory that is kept until the response is complete.
    pub async fn keep_more(&self, bytes: u64) -> Result<()> {
        let Some(mut memory) = self.kept().take() else { return Ok(()) };
        let grown = memory.grow(bytes).await;
        self.keep(memory);
        grown
    }

    fn kept(&self) -> MutexGuard<'_, Option<MemoryUse>> {
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a large body may be parsed, or a large response compressed. Principals, and client
    /// networks without a key, take turns, and pay for the time until the permit is dropped. Fails if too
    /// many wait.
    pub async fn heavy_work(&self) -> Result<Permit> {
        let requester = self.0.requester.clone();
        let requester = match self.0.principal.get() {
            Some((market, principal)) => requester.into_principal(*market, *principal),
            None => requester,
        };
        self.0.shared.heavy_work.acquire(requester).await
    }

    /// Releases the memory of the request's body, and returns whether the response counts towards the limit.
    pub fn must_count(&self, response: &mut Response) -> bool {
        drop(self.kept().take());
        // Shared bytes and their encodings exist once, however many responses have them.
        response.data::<SharedBody>().is_none()
            && response_body::in_memory_length(response).is_some_and(|length| length >= MIN_COUNTED_RESPONSE)
    }

    /// Counts the memory of a response until its last byte is written or its connection is closed. The
    /// response to a write is counted even if that exceeds the limits, since its client must learn of the
    /// outcome.
    pub async fn count_response(&self, response: &mut Response) -> Result<()> {
        if !self.must_count(response) {
            return Ok(());
        }
        // Boxed, since the future of every request has room for those that are not.
        Box::pin(self.count_large_response(response)).await
    }

    async fn count_large_response(&self, response: &mut Response) -> Result<()> {
        let Some(bytes) = response_body::take_in_memory(response).await else { return Ok(()) };
        let mut memory = self.memory();
        if let Err(error) = memory.grow(bytes.len() as u64).await {
            if self.0.is_read {
                return Err(error);
            }
            memory.permit.grow_beyond_limits(bytes.len() as u64);
        }
        response.set_data(Counted);
        response.set_body(Bytes::from_owner(CountedBytes { bytes, _permit: memory.permit }));
        Ok(())
    }
}

/// Returns what a request may hold, if the server limits it.
pub fn of_request(request: &Request) -> Option<&RequestTransfers> {
    request.data::<RequestTransfers>()
}

/// Memory that a request uses.
#[derive(Debug)]
pub struct MemoryUse {
    permit: FairPermit,
    shared: Arc<TransferLimits>,
}

impl MemoryUse {
    /// Takes more memory, after a short wait if it is not available.
    pub async fn grow(&mut self, bytes: u64) -> Result<()> {
        if self.permit.grow(bytes, self.shared.wait).await {
            Ok(())
        } else {
            Err(self.shared.reject(TransferLimit::Memory))
        }
    }
}

/// Marks a response whose memory is counted.
#[derive(Clone, Copy, Debug)]
struct Counted;

/// Bytes that count towards the limit while any part of them is in use, also in the buffers of a connection.
struct CountedBytes {
    bytes: Bytes,
    _permit: FairPermit,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
pub mod tests;
