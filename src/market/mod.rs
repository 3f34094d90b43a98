//! A market: the state of one running instance, and the two entry points to it, `read` and `write`.
//!
//! The entry points own the connection, the transaction, the blocking thread, the commit, and the wait until
//! the search index contains the change. There is no global state: a process can hold many markets.

mod background_signal;
mod bulk_writer;
mod cost_meter;
mod counters;
mod derived_ids;
mod descriptor_limit;
mod directory_names;
mod due_steps;
mod entry_points;
mod index_updates;
mod key_cache;
mod lock;
mod open_options;
mod opening;
mod other_processes;
mod replication;
mod requester;
mod scheduler;
mod search_index;
mod space;
mod upgrading;
mod webhook_queue;
mod world_markets;

use std::{
    cell::{Cell, RefCell},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
};

use marketplace_index::{CursorKey, Snapshot};
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

pub use background_signal::BackgroundSignal;
pub use bulk_writer::BulkWriter;
pub use cost_meter::{Activity, CostMeter, CostTimes, milliseconds};
pub use counters::{AttemptCounters, JobOutcome, PoolLoad};
pub use derived_ids::DerivedIds;
pub use descriptor_limit::raise_descriptor_limit;
pub use directory_names::{DATABASE_FILE, INDEX_DIRECTORY, RESTORE_MARKER, SUPERSEDED_MARKER};
pub use due_steps::{DoneStep, StepRunner};
pub use entry_points::{ReadWork, WriteWork};
pub use key_cache::{CachedKey, KeyCache};
pub use lock::{SERVE_LOCK_FILE, ServeLock, running_server_url};
pub use open_options::{OpenError, OpenMode, OpenOptions, this_program};
pub use opening::{build_runtime, check_not_foreign, max_blocking_threads};
pub use other_processes::{SOCKET_FILE, follow_processes, log_unrecorded};
pub use replication::{MAX_REPORTED_USES, Uses};
pub use requester::{MarketId, Requester, UsedKey, WorkOwner};
pub use scheduler::{Permit, Scheduler, Share};
pub use search_index::SearchIndex;
pub use upgrading::{copy_before_upgrade, copy_database, required_bytes};
pub use world_markets::{HostCheck, WorldOptions};

use crate::{
    blobs::{Blobs, DiskSpace},
    clock::{Clock, Entropy, PendingIds, Stopwatch},
    config::{LiveSettings, Settings},
    domain::{
        collections::Collection,
        events::{EventData, EventSubject},
        jobs::{JobKind, JobSubject},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    search::{IndexDirectory, Indexer, SharedUpdater},
    store::{self, Store, collected_events::CollectedEvents, events::NewEvent},
};

/// Name of the secret that signs cursors. Each market has its own from its first start.
pub const CURSOR_SECRET: &str = "cursor";

/// A handle on a market. Clones refer to the same market.
#[derive(Clone)]
pub struct Market {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Market {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Market({})", self.inner.data_dir.display())
    }
}

struct Inner {
    // Fields are dropped in this order: the updater stops before anything that it uses is dropped; the lock
    // goes last.
    updater: Option<SharedUpdater>,
    indexer: Indexer,
    index_dir: Arc<IndexDirectory>,
    store: Arc<Store>,
    /// The shares of the read connections.
    readers: Scheduler,
    /// The shares of the write connection.
    writers: Scheduler,
    key_cache: Arc<KeyCache>,
    clock: Arc<Clock>,
    entropy: Entropy,
    cursor_key: CursorKey,
    blob_secret: [u8; 32],
    /// The secret that encrypts positions; `None` if commits are not counted.
    position_secret: Option<[u8; 32]>,
    settings: LiveSettings,
    background_signal: Arc<BackgroundSignal>,
    attempts: AttemptCounters,
    /// Number of commits that were noticed.
    commits: watch::Sender<u64>,
    webhook_signal: Arc<BackgroundSignal>,
    run_step: StepRunner,
    /// The steps that were carried out while they are recorded.
    done_steps: Mutex<Option<Vec<DoneStep>>>,
    blobs: Blobs,
    disk_space: DiskSpace,
    data_dir: PathBuf,
    program: PathBuf,
    listed_files: space::ListedFiles,
    host_check: OnceLock<HostCheck>,
    /// The threads of [`Market::spawn_blocking`].
    waiting_threads: Arc<Semaphore>,
    /// The database version seen by the last [`Market::refresh`].
    seen_version: Mutex<Option<i64>>,
    serve_lock: Option<ServeLock>,
}

/// The context of a read operation: rows and index of one point in time, the current time, and the settings.
pub struct Reader<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Reader<'a>,
    /// The index. This snapshot is older than the transaction, so the rows of every listing in it exist.
    pub index: SearchIndex<'a>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings of the market.
    pub settings: &'a Settings,
    /// The key that signs cursors.
    pub cursor_key: &'a CursorKey,
    /// The IDs for checks of a request that changes nothing. They are never counted.
    ids: PendingIds<'a>,
}

/// The context in which an operation checks a request before it changes anything: a read, if the request is
/// known to be invalid, or else the write that follows.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Reader<'a>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings of the market.
    pub settings: &'a Settings,
    ids: Ids<'a>,
}

/// The source of the IDs of new records.
#[derive(Clone, Copy)]
enum Ids<'a> {
    /// The market's clock.
    Pending(&'a PendingIds<'a>),
    /// The step or the job that is being carried out.
    Derived(&'a DerivedIds),
    /// IDs that were stated in advance.
    Stated(&'a StatedIds<'a>),
}

impl Ids<'_> {
    fn new_id(self, collection: Collection) -> Uuid {
        match self {
            Ids::Pending(pending) => pending.new_id(collection),
            Ids::Derived(derived) => derived.new_id(collection),
            Ids::Stated(stated) => stated.new_id(collection),
        }
    }
}

/// The IDs that an operation gives to what it creates, where they were stated in advance; see
/// [`Writer::with_ids`].
pub struct StatedIds<'a> {
    stated: RefCell<Vec<(Collection, Uuid)>>,
    others: Ids<'a>,
}

impl StatedIds<'_> {
    /// Returns the next ID that was stated for the collection, or else a new one.
    fn new_id(&self, collection: Collection) -> Uuid {
        let mut stated = self.stated.borrow_mut();
        match stated.iter().position(|(of, _)| *of == collection) {
            Some(position) => stated.remove(position).1,
            None => self.others.new_id(collection),
        }
    }
}

impl CheckContext<'_> {
    /// Returns a new ID for a record.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        self.ids.new_id(collection)
    }
}

impl Reader<'_> {
    /// Returns the context for checks of a request that changes nothing.
    pub const fn check_context(&self) -> CheckContext<'_> {
        let Reader { rows, now, settings, ref ids, .. } = *self;
        CheckContext { rows, now, settings, ids: Ids::Pending(ids) }
    }
}

/// The context of a write operation.
pub struct Writer<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Writer<'a>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings of the market.
    pub settings: &'a Settings,
    /// The source of new secrets.
    pub entropy: &'a Entropy,
    /// The store of the market's files. Other requests wait for the transaction, so it must not transfer
    /// anything.
    pub blobs: &'a Blobs,
    /// Whether the operation repeats a change that was recorded earlier; see [`Writer::replay_at`].
    pub is_replay: bool,
    ids: Ids<'a>,
    is_quiet: bool,
    /// Whether the operation has an earlier time than its transaction.
    is_past: bool,
    run_step: StepRunner,
    /// Whether the operation has enqueued a job or scheduled a step.
    has_enqueued: &'a Cell<bool>,
    webhooks: &'a webhook_queue::WebhookQueue,
    /// Number of earlier events that do not count in the IDs of deliveries; see [`Clock::report_count`].
    report_count: u64,
    /// Where the steps that this transaction carries out are recorded; `None` if they are not.
    done_steps: Option<&'a RefCell<Vec<DoneStep>>>,
    /// Where events are collected instead of being appended to the outbox.
    collected_events: Option<&'a CollectedEvents>,
    /// ID of the request that the operation belongs to; `None` if it belongs to none.
    pub request_id: Option<&'a str>,
}

impl<'a> Writer<'a> {
    /// Returns the context for checks in this transaction.
    pub fn check_context(&self) -> CheckContext<'a> {
        let Writer { rows, now, settings, ids, .. } = *self;
        CheckContext { rows, now, settings, ids }
    }

    /// Returns a writer of the same transaction that repeats a recorded change of an earlier time. The
    /// operation writes that time, and nothing that the recorder stores itself: no notifications and no
    /// quality runs.
    #[must_use]
    pub fn replay_at(&self, at: Timestamp) -> Writer<'a> {
        Writer { now: at, is_replay: true, is_past: true, ..*self }
    }

    /// Returns a writer of the same transaction that acts as of an earlier time, and notifies teams.
    #[must_use]
    pub fn as_of(&self, at: Timestamp) -> Writer<'a> {
        Writer { now: at, is_past: true, is_quiet: false, ..*self }
    }

    /// Returns a writer of the same transaction that notifies nobody.
    #[must_use]
    pub fn quiet(self) -> Writer<'a> {
        Writer { is_quiet: true, ..self }
    }

    /// Returns a writer of the same transaction that collects events, so that they can be appended to the outbox in
    /// the order of their times.
    #[must_use]
    pub fn collecting_events<'c>(&'c self, events: &'c CollectedEvents) -> Writer<'c> {
        Writer { collected_events: Some(events), ..*self }
    }

    /// States the IDs of the first records that an operation creates in some collections, in their order. Other
    /// records get IDs from the same source as with this writer.
    pub fn state_ids(&self, ids: impl Into<Vec<(Collection, Uuid)>>) -> StatedIds<'a> {
        StatedIds { stated: RefCell::new(ids.into()), others: self.ids }
    }

    /// Returns a writer of the same transaction that gives stated IDs to what it creates.
    #[must_use]
    pub fn with_ids<'i>(&'i self, ids: &'i StatedIds<'i>) -> Writer<'i> {
        Writer { ids: Ids::Stated(ids), ..*self }
    }

    /// Returns a writer of the same transaction whose records get IDs that are derived from the work that creates them.
    #[must_use]
    pub fn with_derived_ids<'i>(&'i self, ids: &'i DerivedIds) -> Writer<'i> {
        Writer { ids: Ids::Derived(ids), ..*self }
    }

    /// Returns a new ID for a record.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        self.ids.new_id(collection)
    }

    /// Whether the operation has an earlier time than its transaction, so that later changes may be recorded already.
    pub const fn is_past(&self) -> bool {
        self.is_past
    }

    /// Whether nobody is notified of the change: it is a step that was overdue when the market was upgraded, or a step
    /// of the past that a fixture set brought.
    pub const fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Appends an event to the outbox: what happened to a record, as a team may know it. A change that affects
    /// several teams has an event for each of them. `team` is `None` if no team is affected. The event is enqueued
    /// for the webhooks that get it, unless events are collected.
    pub fn emit(
        &self,
        team: Option<TeamRowId>,
        subject: impl Into<EventSubject>,
        data: &EventData,
    ) -> Result<()> {
        let (subject, request_id) = (&subject.into(), self.request_id);
        let event = NewEvent { team, subject, occurred_at: self.now, data, request_id };
        match self.collected_events {
            Some(collected) => collected.add(&event),
            None => {
                let data = data.to_json().map_err(Error::internal)?;
                let row_id = store::events::insert(self.rows, &event, &data)?;
                self.enqueue_deliveries(&event, row_id, &data)
            }
        }
    }

    /// Enqueues a job. It is due as soon as this transaction is committed.
    pub fn enqueue(&self, kind: JobKind, subject: impl Into<JobSubject>) -> Result<()> {
        self.enqueue_at(kind, subject, self.now)
    }

    /// Enqueues a job that is due at the given time. The commit of this transaction wakes background work.
    pub fn enqueue_at(&self, kind: JobKind, subject: impl Into<JobSubject>, at: Timestamp) -> Result<()> {
        self.has_enqueued.set(true);
        store::jobs::enqueue(self.rows, kind, subject.into(), at)
    }
}

impl Inner {
    /// Notifies those who wait for commits. Without any, it costs next to nothing.
    fn notify_of_commit(&self) {
        self.commits.send_modify(|count| *count += 1);
    }
}

impl Market {
    /// Returns which of the open markets of the process it is.
    pub fn id(&self) -> MarketId {
        MarketId(Arc::as_ptr(&self.inner).addr())
    }

    /// Starts a bulk write of many records. Its transactions become visible in the index together, at the
    /// end.
    pub fn bulk_writer(&self) -> Result<BulkWriter<'_>> {
        BulkWriter::new(self)
    }

    /// Returns the number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        self.inner.indexer.latest_change()
    }

    /// Returns the current index snapshot, whether or not the index has failed. Operations use [`Market::search_index`].
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.index_dir.opened().snapshot()
    }

    /// Returns the cache of API keys.
    pub fn key_cache(&self) -> &KeyCache {
        &self.inner.key_cache
    }

    /// Returns the MAC over the bytes of a cursor.
    pub fn sign_cursor(&self, bytes: &[u8]) -> [u8; 32] {
        self.inner.cursor_key.sign(bytes)
    }

    /// Returns the secret that signs blob URLs.
    pub fn blob_secret(&self) -> &[u8; 32] {
        &self.inner.blob_secret
    }

    /// Returns the source of secrets.
    pub fn entropy(&self) -> &Entropy {
        &self.inner.entropy
    }

    /// Returns the store of the market's files.
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// Returns the number of SQL statements executed so far. The cost of a request is the difference.
    pub fn statement_count(&self) -> u64 {
        self.inner.store.statement_count()
    }

    /// Returns the number of commits of the database and of the index so far. The cost of a request is the
    /// difference.
    pub fn commit_count(&self) -> u64 {
        self.inner.store.commit_count() + self.inner.indexer.commit_count()
    }

    /// Lets background work look for jobs, and for events to send to webhooks. Commits of this market that enqueue
    /// one do this themselves; call this if another process may have enqueued one.
    pub fn wake_background(&self) {
        self.inner.background_signal.notify();
        self.inner.webhook_signal.notify();
    }

    /// Returns the signal that wakes background work.
    pub fn background_signal(&self) -> &Arc<BackgroundSignal> {
        &self.inner.background_signal
    }

    /// Returns a receiver that is notified of commits: after those of this market, and after those of other
    /// processes once [`follow_processes`] has noticed them. Commits while nobody waits count as one.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.inner.commits.subscribe()
    }

    /// Returns the signal that wakes the task that sends events to webhooks.
    pub fn webhook_signal(&self) -> &Arc<BackgroundSignal> {
        &self.inner.webhook_signal
    }

    /// Returns the settings of the market. They do not change while the reference is in use.
    pub fn settings(&self) -> &Settings {
        self.inner.settings.current()
    }

    /// Returns the settings of the market, with the parts that depend on them.
    pub fn live_settings(&self) -> &LiveSettings {
        &self.inner.settings
    }

    /// Returns the clock of the market.
    pub fn clock(&self) -> &Arc<Clock> {
        &self.inner.clock
    }

    /// Starts a stopwatch on the market's clock.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start(Arc::clone(&self.inner.clock))
    }

    /// Returns a stopwatch for limits on the time that work takes. In a world, it measures the time of the machine, since the
    /// clock of the world may stand still.
    pub fn work_stopwatch(&self) -> Stopwatch {
        if self.clock().is_of_world() { Stopwatch::start(Arc::new(Clock::System)) } else { self.stopwatch() }
    }

    /// Returns the program that child processes run.
    pub fn program(&self) -> &std::path::Path {
        &self.inner.program
    }

    /// Whether the file of the database was found damaged since the market was opened.
    pub fn is_database_damaged(&self) -> bool {
        self.inner.store.is_damaged()
    }

    /// Returns the data directory of the market.
    pub fn data_dir(&self) -> &std::path::Path {
        &self.inner.data_dir
    }

    /// Records the URL of the server of this market in the data directory, where [`running_server_url`] finds it.
    pub fn record_server_url(&self, url: &str) -> std::io::Result<()> {
        self.inner.serve_lock.as_ref().map_or(Ok(()), |lock| lock.write_url(url))
    }
}

/// Runs blocking work on a thread that does not serve requests.
async fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => Err(Error::internal(panic)),
    }
}
