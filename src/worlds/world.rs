//! A world: a market with a clock that its owner moves.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::{Notify, watch};

use super::{
    current_market::CurrentMarket,
    details::WorldDetails,
    due_work::{self, DoneWork, DueWork, JobTiming},
    error::{WorldError, WorldResult},
    exports::ExportedState,
    faults::{Faults, Moment},
    files::TempDirectory,
    inbox::Inbox,
    journal::{self, Journal},
    opener::Opener,
    request_order::{RequestOrder, Turn},
    settings::{GivenSettings, WorldSettings},
    template::{Template, WorldKey},
};
use crate::{
    blobs::{DiskUsage, list_disk_files},
    clock::{ClockState, SimulatedClock},
    config::Settings,
    domain::{time::Timestamp, webhooks::AttemptResult},
    error::{Error, ErrorChain, Result},
    market::{Market, Requester},
    operations::webhook_inbox::{self, OutgoingMessage},
    private_files,
};

/// The directory of the bodies of the journal, next to those of the markets.
const JOURNAL: &str = "journal";

/// A function that gets the messages to the webhooks of a world, and returns their answers. It runs inside a write, so it must
/// not use the market.
pub type Receiver = Arc<dyn Fn(&OutgoingMessage) -> AttemptResult + Send + Sync>;

/// A private copy of a market.
pub struct World {
    details: WorldDetails,
    opener: Opener,
    /// What it was forked from, with the clock that it had then.
    start: Template,
    /// The settings that it had then.
    settings: WorldSettings,
    current: Mutex<CurrentMarket>,
    /// Whether the world has ended. Requests in progress may still keep it.
    end: watch::Sender<bool>,
    request_order: RequestOrder,
    /// Locked while due work is carried out, so that each piece of it is carried out once.
    working: Mutex<()>,
    job_timing: Mutex<JobTiming>,
    receiver: Mutex<Receiver>,
    inbox: Arc<Inbox>,
    faults: Arc<Faults>,
    journal: Arc<Journal>,
    /// The state in which nothing was due.
    settled: Mutex<Option<Settled>>,
    /// Notified when the clock began to run or was stopped, and after a reset.
    changed: Arc<Notify>,
    /// The directory of its journal and its markets: one, or two during a reset. This is the last field, so the directory is
    /// deleted after everything in the world that writes to it was dropped.
    directory: TempDirectory,
}

/// The state in which nothing more was due: the number of resets, the number of commits, and the time. Other work can be due
/// only after one of them changes.
type Settled = (u64, u64, Timestamp);

impl World {
    /// Forks a template. The directory must not exist; it is deleted with the world. `journal` returns the journal for a
    /// directory.
    pub(super) fn fork(
        details: WorldDetails,
        opener: &Opener,
        start: Template,
        settings: WorldSettings,
        directory: PathBuf,
        journal: impl FnOnce(PathBuf) -> Arc<Journal>,
    ) -> WorldResult<World> {
        let (directory, faults) = (TempDirectory(directory), Arc::default());
        let market = directory.0.join("0");
        let current = CurrentMarket::open(opener, &start, &settings, market, (0, &faults))?;
        let current = Mutex::new(current);
        let end = watch::Sender::default();
        let journal = journal(directory.0.join(JOURNAL));
        Ok(World {
            details,
            opener: opener.clone(),
            start,
            settings,
            current,
            end,
            request_order: RequestOrder::default(),
            working: Mutex::default(),
            job_timing: Mutex::new(JobTiming::BeforeRequests),
            receiver: Mutex::new(Arc::new(|_| webhook_inbox::accept())),
            inbox: Arc::default(),
            faults,
            journal,
            settled: Mutex::default(),
            changed: Arc::default(),
            directory,
        })
    }

    /// Returns the name, which is part of the paths of the world.
    pub fn name(&self) -> &str {
        &self.details.name
    }

    /// Returns what is known of the world besides its market.
    pub const fn details(&self) -> &WorldDetails {
        &self.details
    }

    /// Returns the API keys that were valid when the world began, or that it was imported with.
    pub fn keys(&self) -> Arc<[WorldKey]> {
        Arc::clone(self.lock().template.keys())
    }

    /// Returns the settings of the market that the world began with.
    pub fn start_settings(&self) -> &Settings {
        &self.settings.resolved
    }

    /// Returns the seed of the world when it began.
    pub const fn seed(&self) -> u64 {
        self.start.clock().seed
    }

    /// Calls `read` with the market that the world began with, its clock, its keys, and its given settings. It is opened in a
    /// directory that does not exist.
    pub(super) fn with_start<T>(
        &self,
        directory: &Path,
        read: impl FnOnce(&Market, ExportedState) -> T,
    ) -> WorldResult<T> {
        let (faults, place) = (Arc::default(), directory.to_owned());
        let current = CurrentMarket::open(&self.opener, &self.start, &self.settings, place, (0, &faults));
        let state = ExportedState {
            clock: self.start.clock().clone(),
            settings: Arc::clone(&self.settings.given),
            keys: Arc::clone(self.start.keys()),
        };
        let result = current.map(|current| read(&current.market, state));
        private_files::remove_dir_if_exists(directory).map_err(WorldError::Files)?;
        result
    }

    /// Returns the settings that differ from those of other worlds, in the order of their keys.
    pub fn given_settings(&self) -> GivenSettings {
        Arc::clone(&self.lock().given_settings)
    }

    /// Whether the time to live is over.
    pub fn is_expired(&self) -> bool {
        self.details.time_left().is_some_and(|left| left.is_zero())
    }

    /// Ends waiting requests, which would otherwise keep the world alive. The world must already be unregistered.
    pub(super) fn end(&self) {
        self.end.send_replace(true);
    }

    /// Whether the world was deleted. Requests that began before may still finish.
    pub fn has_ended(&self) -> bool {
        *self.end.borrow()
    }

    /// Returns a receiver that has true, or fails, when the world has ended.
    pub fn subscribe_to_end(&self) -> watch::Receiver<bool> {
        self.end.subscribe()
    }

    /// Returns a receiver that fails when the market that the world has now was replaced by a reset, or is dropped with the
    /// world.
    pub fn subscribe_to_end_of_market(&self) -> watch::Receiver<()> {
        self.lock().end.subscribe()
    }

    /// Returns the value that a higher layer attaches to the world's current market. It is created at first use, and dropped
    /// when the world is reset or ends. All calls must use the same type.
    pub fn attached<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Market) -> T) -> Arc<T> {
        let current = self.lock();
        let attachment = current.attachment.get_or_init(|| Arc::new(make(&current.market)));
        Arc::clone(attachment).downcast().expect("all attachments have the same type")
    }

    /// Returns the market. After a reset, it is another one.
    pub fn market(&self) -> Market {
        self.lock().market.clone()
    }

    /// Adds the files of the world, and of what it was forked from.
    pub fn add_disk_usage(&self, usage: &mut DiskUsage) -> WorldResult<()> {
        usage.add(self.start.disk_files()?);
        usage.add(&self.market().disk_files()?);
        usage.add(&list_disk_files(self.journal.bodies().directory()).map_err(WorldError::Files)?);
        Ok(())
    }

    /// Returns the world to the state in which it was forked: data, clock, counters, and settings. The clock is stopped at the time
    /// of the fork, even if it was advanced when the world was created.
    pub fn reset(&self) -> WorldResult<()> {
        self.replace(&self.start, &self.settings)
    }

    /// Replaces the market by a copy of another one, with its clock. A later reset still returns to the fork.
    pub(super) fn replace(&self, template: &Template, settings: &WorldSettings) -> WorldResult<()> {
        let mut current = self.lock();
        let resets = current.resets + 1;
        let directory = self.market_directory(resets);
        let next =
            CurrentMarket::open(&self.opener, template, settings, directory.clone(), (resets, &self.faults));
        let next = next.inspect_err(|_| {
            // Nothing uses it, and the next attempt needs its place.
            let _ = std::fs::remove_dir_all(directory);
        })?;
        let earlier = std::mem::replace(&mut *current, next);
        drop(current);
        // Requests in progress may still use it. On Unix, they can until they end.
        let directory = self.market_directory(earlier.resets);
        drop(earlier);
        self.inbox.clear();
        self.faults.clear();
        self.changed.notify_one();
        std::fs::remove_dir_all(directory).map_err(WorldError::Files)
    }

    /// Calls `copy` with the market and the state of its clock. The caller has the turn, so no request changes them
    /// meanwhile.
    pub(super) fn copy<T>(&self, copy: impl FnOnce(&Market, ClockState) -> T) -> Result<T> {
        self.settle()?;
        let _working = lock(&self.working);
        let market = self.market();
        let clock = simulated(&market).state();
        Ok(copy(&market, clock))
    }

    /// Returns the state of the clock.
    pub fn clock(&self) -> ClockState {
        simulated(&self.market()).state()
    }

    /// Lets the clock run as fast as the time of the machine, or stops it.
    pub fn set_running(&self, is_running: bool) {
        simulated(&self.market()).set_running(is_running);
        self.changed.notify_one();
    }

    /// Carries out what becomes due while the clock runs, until the world is dropped. At most one such task per world; it
    /// sleeps while nothing is due, and does nothing while the clock is stopped. It does not keep the world alive.
    pub async fn follow_clock(world: Weak<World>) {
        let Some(changed) = world.upgrade().map(|world| Arc::clone(&world.changed)) else { return };
        while let Some(current) = world.upgrade() {
            let (_, market) = current.current();
            let signals = [market.background_signal(), market.webhook_signal()].map(Arc::clone);
            let is_running = simulated(&market).is_running();
            drop(market);
            if !is_running {
                drop(current);
                changed.notified().await;
                continue;
            }
            // As before a request.
            drop(current.admit().await);
            // Also drops the world there, if it has ended meanwhile.
            let next = match tokio::task::spawn_blocking(move || current.next_due_at()).await {
                Ok(Ok(next)) => next,
                Ok(Err(cause)) => {
                    tracing::error!(cause = %ErrorChain(&cause), "the next due work of a world is unknown");
                    None
                }
                Err(_) => break,
            };
            tokio::select! {
                () = signals[0].wait(next) => {}
                () = signals[1].wait(None) => {}
                () = changed.notified() => {}
            }
        }
    }

    /// Returns when something is due that is not due yet; `None` if nothing is.
    fn next_due_at(&self) -> Result<Option<Timestamp>> {
        due_work::next_due_at(&self.market(), self.runs_jobs_before_requests())
    }

    fn runs_jobs_before_requests(&self) -> bool {
        *lock(&self.job_timing) == JobTiming::BeforeRequests
    }

    /// Sets when jobs run.
    pub fn set_job_timing(&self, timing: JobTiming) {
        *lock(&self.job_timing) = timing;
        *lock(&self.settled) = None;
    }

    /// Returns what the webhooks got. A reset deletes it.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Returns the journal. A reset does not clear it.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Returns the faults. A reset deletes them.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Returns the time and the seed of the world, for the choice of a fault.
    pub fn moment(&self) -> Moment {
        Moment::of(self.market().clock())
    }

    /// Sets the function that gets the events for webhooks besides the inbox, and that decides the answers. Without it, the
    /// events are accepted.
    pub fn set_receiver(&self, receiver: Receiver) {
        *lock(&self.receiver) = receiver;
    }

    /// Waits until a request may run. Requests run one at a time, in the order in which this is called. First, the
    /// times at which earlier requests used their keys are written, and what is due is carried out; a failure of that is
    /// logged.
    pub async fn admit(self: &Arc<World>) -> Result<Turn> {
        let guard = self.request_order.wait().await;
        if self.is_settled() {
            self.note_admission();
            return Ok(Turn::new(guard));
        }
        let world = Arc::clone(self);
        // The turn lasts as long as the work, even if the request is dropped meanwhile.
        let settle = move || {
            if let Err(cause) = world.settle() {
                tracing::error!(world = world.name(), cause = %ErrorChain(&cause), "due work of a world failed");
            }
            guard
        };
        let guard = tokio::task::spawn_blocking(settle).await.map_err(Error::internal)?;
        self.note_admission();
        Ok(Turn::new(guard))
    }

    /// Numbers the request in the journal, if it is one to the sandbox API.
    fn note_admission(&self) {
        journal::note_admission(&self.journal, || self.market().clock().now());
    }

    /// Brings the market up to date between two requests: writes when keys were used, and carries out what is due. A copy
    /// of the market is complete only after this.
    pub fn settle(&self) -> Result<()> {
        let _working = lock(&self.working);
        let (resets, market) = self.current();
        market.record_key_uses()?;
        let (receive, fails_job) = (self.receive(&market), self.faults.job_check(&market));
        let commits = *market.commits().borrow();
        let work = DueWork {
            market: &market,
            has_jobs: self.runs_jobs_before_requests(),
            job_places: self.opener.job_places(),
            receive: &receive,
            fails_job: self.faults.has_job_rules().then_some(&fails_job),
            on_done: &|_| {},
        };
        work.run()?;
        // If something was committed meanwhile, here or by a request that has released its turn, more work may be due.
        *lock(&self.settled) = Some((resets, commits, market.clock().now()));
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let (resets, market) = self.current();
        let state = (resets, *market.commits().borrow(), market.clock().now());
        *lock(&self.settled) == Some(state) && !market.key_cache().has_unwritten_uses()
    }

    /// Moves the clock to a time. Before it returns, everything that is due until then is carried out, in the order of the
    /// times when it is due. A time in the past has no effect, except that what is due now is carried out. Returns what
    /// was carried out, in its order.
    pub fn advance_to(&self, target: Timestamp) -> Result<Vec<DoneWork>> {
        self.advance_to_for(target, Requester::process())
    }

    /// Like [`World::advance_to`], for a request.
    pub fn advance_to_for(&self, target: Timestamp, requester: Requester) -> Result<Vec<DoneWork>> {
        self.advance(|_| target, requester)
    }

    /// Like [`World::advance_to`], by `micros` microseconds, for a request.
    pub fn advance_by(&self, micros: i64, requester: Requester) -> Result<Vec<DoneWork>> {
        self.advance(|now| now.plus_micros(micros), requester)
    }

    /// Moves the clock to the time that `target` returns for the current one.
    fn advance(
        &self,
        target: impl FnOnce(Timestamp) -> Timestamp,
        requester: Requester,
    ) -> Result<Vec<DoneWork>> {
        let _working = lock(&self.working);
        let market = self.market();
        market.record_key_uses()?;
        let (receive, fails_job) = (self.receive(&market), self.faults.job_check(&market));
        let done = RefCell::default();
        let on_done = |work| RefCell::<Vec<DoneWork>>::borrow_mut(&done).push(work);
        let work = DueWork {
            market: &market,
            has_jobs: true,
            job_places: self.opener.job_places(),
            receive: &receive,
            fails_job: self.faults.has_job_rules().then_some(&fails_job),
            on_done: &on_done,
        };
        work.advance_to(target(market.clock().now()), requester)?;
        Ok(done.into_inner())
    }

    /// Returns how webhooks answer: what they get is kept in the inbox.
    fn receive(&self, market: &Market) -> impl Fn(&OutgoingMessage) -> AttemptResult + use<> {
        let (receiver, inbox) = (Arc::clone(&*lock(&self.receiver)), Arc::clone(&self.inbox));
        let accept = move |message: &OutgoingMessage| {
            inbox.add(message);
            receiver(message)
        };
        self.faults.receiver(market, accept)
    }

    /// Returns the number of resets so far, and the current market.
    pub fn current(&self) -> (u64, Market) {
        let current = self.lock();
        (current.resets, current.market.clone())
    }

    fn market_directory(&self, resets: u64) -> PathBuf {
        self.directory.0.join(resets.to_string())
    }

    fn lock(&self) -> MutexGuard<'_, CurrentMarket> {
        lock(&self.current)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.changed.notify_one();
    }
}

/// Returns the clock of a world's market.
fn simulated(market: &Market) -> &SimulatedClock {
    due_work::simulated(market).expect("worlds are opened with a simulated clock")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
