//! Work that becomes due by time alone: due steps, background jobs, and deliveries to webhooks, each at its own due time.
//! Nothing here knows worlds, so tests run it on the directory of any market with a simulated clock.

use std::cell::Cell;

use super::job_places::JobPlaces;
use crate::{
    clock::{Clock, SimulatedClock},
    domain::{
        due_steps::StepKind,
        events::{ClockAdvancedData, EventData, EventType},
        jobs::{JobKind, Queue},
        time::Timestamp,
        webhooks::DeliveryStatus,
    },
    error::{Error, Result},
    market::{Market, Requester},
    operations::{
        access::Platform,
        audit,
        child_processes::ChildProcesses,
        cleanup,
        jobs::{self, AttemptEnd},
        webhook_inbox::{self, Receive},
    },
    store::{self, records},
    string_enum::{StringEnum, string_enum},
};

/// The record that events and audit entries about the clock are about.
const CLOCK: &str = "clock";

/// What audit entries call an advance.
const ADVANCE_OPERATION: &str = "advance_clock";

/// The kind of work that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A due step.
    Step(StepKind),
    /// An attempt of a background job.
    Job(JobKind),
    /// An attempt to deliver an event of this type to a webhook.
    Delivery(EventType),
}

impl WorkKind {
    /// Returns the name of the group of kinds: `step`, `job`, or `delivery`.
    pub const fn group(self) -> &'static str {
        match self {
            WorkKind::Step(_) => "step",
            WorkKind::Job(_) => "job",
            WorkKind::Delivery(_) => "delivery",
        }
    }

    /// Returns the name of the kind within its group; of a delivery, the type of the event.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkKind::Step(kind) => kind.as_str(),
            WorkKind::Job(kind) => kind.as_str(),
            WorkKind::Delivery(event_type) => event_type.as_str(),
        }
    }
}

string_enum! {
    /// What came of work that was due.
    WorkOutcome {
        /// It is done.
        Completed = "completed",
        /// This attempt failed, and a later one is due.
        Retried = "retried",
        /// It failed, and is not repeated.
        Failed = "failed",
    }
}

/// Work that was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneWork {
    /// Kind of the work.
    pub kind: WorkKind,
    /// ID or slug of the record that it was about: what a step changes, what a job works on, or the delivery. Empty if
    /// there is none.
    pub subject_id: String,
    /// Time at which it was due. Work that was overdue at the start of an advance was carried out then.
    pub due_at: Timestamp,
    /// What came of it.
    pub outcome: WorkOutcome,
}

string_enum! {
    /// When the jobs of a world run.
    JobTiming {
        /// Before the next request, if they are due then.
        BeforeRequests = "before_requests",
        /// When the clock is advanced, even by nothing.
        OnAdvance = "on_advance",
    }
}

/// How due work is carried out.
#[derive(Clone, Copy)]
pub struct DueWork<'a> {
    /// The market.
    pub market: &'a Market,
    /// Whether jobs run.
    pub has_jobs: bool,
    /// The places of worlds that run jobs.
    pub job_places: &'a JobPlaces,
    /// How webhooks answer.
    pub receive: Receive<'a>,
    /// Whether an attempt of a job of a kind fails without being executed; `None` if none fails.
    pub fails_job: Option<&'a dyn Fn(JobKind) -> bool>,
    /// Called after each piece of work, in their order.
    pub on_done: &'a dyn Fn(DoneWork),
}

impl DueWork<'_> {
    /// Carries out everything that is due now, including work that becomes due by it. Writes do not move the clock meanwhile.
    /// Must not be called by two threads at once; a leased job is treated as a job of a killed process.
    pub fn run(&self) -> Result<()> {
        let _ticks = simulated(self.market)?.pause_ticks();
        self.market.record_done_steps();
        let result = self.run_recorded();
        self.take_steps(true);
        result
    }

    fn run_recorded(&self) -> Result<()> {
        let market = self.market;
        if self.has_jobs && market.read_blocking(|reader| store::jobs::is_any_leased(reader.rows))? {
            market.write_blocking(|writer| store::jobs::release_all(writer.rows))?;
        }
        loop {
            market.run_due_steps()?;
            self.take_steps(false);
            let has_run_jobs = self.has_jobs && self.run_jobs()?;
            if !self.deliver()? && !has_run_jobs {
                return Ok(());
            }
        }
    }

    /// Moves the clock to a time, and carries out everything that is due until then, in the order of the times when it
    /// is due. A time in the past has no effect, except that what is due now is carried out. Returns the time before.
    ///
    /// Appends an event and an audit entry about this, for the request of `requester`.
    pub fn advance_to(&self, target: Timestamp, requester: Requester) -> Result<Timestamp> {
        let clock = simulated(self.market)?;
        let was_running = clock.is_running();
        // Otherwise it would be later than the due time of a job when the job runs.
        clock.set_running(false);
        let advanced = self.advance_stopped(clock, target, requester);
        clock.set_running(was_running);
        advanced
    }

    fn advance_stopped(
        &self,
        clock: &SimulatedClock,
        target: Timestamp,
        requester: Requester,
    ) -> Result<Timestamp> {
        let _ticks = clock.pause_ticks();
        let from = clock.now();
        if target <= from {
            self.run()?;
            return Ok(from);
        }
        self.market.write_blocking(|writer| cleanup::enqueue_next_if_none(writer))?;
        let (counts, swept_at) = (Counts::default(), Cell::new(None));
        let on_done = |done: DoneWork| {
            if done.kind == WorkKind::Job(JobKind::Cleanup) && done.outcome == WorkOutcome::Completed {
                swept_at.set(Some(self.commits()));
            }
            (self.on_done)(counts.add(done));
        };
        let counted = DueWork { on_done: &on_done, ..*self };
        counted.run()?;
        while let Some(at) = next_due_at(self.market, self.has_jobs)?.filter(|at| *at <= target) {
            if at <= clock.now() {
                return Err(Error::internal(format!("what is due at {at} is not carried out")));
            }
            if swept_at.get() == Some(self.commits()) && counted.skip_idle_cleanups(clock, target)? {
                continue;
            }
            clock.set(at);
            counted.run()?;
        }
        clock.set(target);
        report_advance(self.market, counts.into_event(from, target), requester)?;
        // The event may have webhooks.
        self.run()?;
        Ok(from)
    }

    /// Skips the next cleanups that would find nothing: moves the clock to the last one, as if they had been carried out.
    /// Requires that nothing was committed since the last cleanup. Returns whether there were any.
    fn skip_idle_cleanups(&self, clock: &SimulatedClock, target: Timestamp) -> Result<bool> {
        if !self.has_jobs || self.fails_job.is_some() {
            return Ok(false);
        }
        let found = self.market.read_blocking(|reader| cleanup::find_idle(reader, target))?;
        let Some((idle, last)) = found.and_then(|idle| Some((idle, idle.times().last()?))) else {
            return Ok(false);
        };
        clock.set(last);
        self.market.write_blocking(|writer| idle.skip(writer))?;
        for due_at in idle.times() {
            let kind = WorkKind::Job(JobKind::Cleanup);
            (self.on_done)(DoneWork {
                kind,
                subject_id: String::new(),
                due_at,
                outcome: WorkOutcome::Completed,
            });
        }
        Ok(true)
    }

    /// Returns the number of commits so far.
    fn commits(&self) -> u64 {
        *self.market.commits().borrow()
    }

    fn run_jobs(&self) -> Result<bool> {
        let market = self.market;
        let (mut children, mut place) = (None, None);
        for queue in Queue::ALL.iter().copied() {
            while let Some(job) = jobs::claim(market, queue, 0)? {
                let subject =
                    market.read_blocking(|reader| records::jobs::find_subject(reader.rows, job.id()))?;
                let (kind, due_at) = (WorkKind::Job(job.kind), job.due_at);
                place.get_or_insert_with(|| self.job_places.take());
                let children = children.get_or_insert_with(|| ChildProcesses::new(market));
                let ended = if self.fails_job.is_some_and(|fails| fails(job.kind)) {
                    jobs::fail(market, job, children)?
                } else {
                    jobs::run(market, job, children, &|| true)?
                };
                let outcome = match ended {
                    AttemptEnd::Completed => WorkOutcome::Completed,
                    AttemptEnd::Retried => WorkOutcome::Retried,
                    AttemptEnd::GivenUp => WorkOutcome::Failed,
                };
                self.take_steps(false);
                let subject_id = subject.map(|id| id.to_string()).unwrap_or_default();
                (self.on_done)(DoneWork { kind, subject_id, due_at, outcome });
            }
        }
        Ok(children.is_some())
    }

    fn deliver(&self) -> Result<bool> {
        let delivered = webhook_inbox::deliver_due(self.market, self.receive)?;
        let has_delivered = !delivered.is_empty();
        self.take_steps(false);
        for attempt in delivered {
            (self.on_done)(DoneWork {
                kind: WorkKind::Delivery(attempt.message.event_type),
                subject_id: attempt.message.delivery.to_string(),
                due_at: attempt.message.due_at,
                outcome: match attempt.status {
                    DeliveryStatus::Succeeded => WorkOutcome::Completed,
                    DeliveryStatus::Pending => WorkOutcome::Retried,
                    DeliveryStatus::Failed => WorkOutcome::Failed,
                },
            });
        }
        Ok(has_delivered)
    }

    /// Passes on the steps that were carried out, by whatever write.
    fn take_steps(&self, is_last: bool) {
        for done in self.market.take_done_steps(is_last) {
            (self.on_done)(DoneWork {
                kind: WorkKind::Step(done.step.kind),
                subject_id: done.subject_id,
                due_at: done.step.due_at,
                outcome: if done.is_failed { WorkOutcome::Failed } else { WorkOutcome::Completed },
            });
        }
    }
}

/// Returns when something is due in a market that is not due yet, or that was not carried out; `None` if nothing is. Jobs count
/// if `has_jobs` is set.
pub fn next_due_at(market: &Market, has_jobs: bool) -> Result<Option<Timestamp>> {
    market.read_blocking(|reader| {
        let step = store::due_steps::next_due_at(reader.rows)?;
        let job = if has_jobs { store::jobs::next_due_at(reader.rows, reader.now)? } else { None };
        let delivery = webhook_inbox::next_due_at(reader)?;
        Ok(step.into_iter().chain(job).chain(delivery).min())
    })
}

/// How much was carried out during an advance.
#[derive(Default)]
struct Counts {
    steps: Cell<u64>,
    jobs: Cell<u64>,
    deliveries: Cell<u64>,
}

impl Counts {
    fn add(&self, done: DoneWork) -> DoneWork {
        let count = match done.kind {
            WorkKind::Step(_) => &self.steps,
            WorkKind::Job(_) => &self.jobs,
            WorkKind::Delivery(_) => &self.deliveries,
        };
        count.set(count.get() + 1);
        done
    }

    fn into_event(self, from: Timestamp, to: Timestamp) -> ClockAdvancedData {
        let Counts { steps, jobs, deliveries } = self;
        ClockAdvancedData { from, to, steps: steps.get(), jobs: jobs.get(), deliveries: deliveries.get() }
    }
}

fn report_advance(market: &Market, data: ClockAdvancedData, requester: Requester) -> Result<()> {
    let platform = Platform::of_process();
    market.write_blocking_for(requester, |writer| {
        audit::record_of_process(writer, platform, ADVANCE_OPERATION, CLOCK)?;
        writer.emit(None, CLOCK, &EventData::ClockAdvanced(data))
    })?;
    simulated(market)?.count_report();
    Ok(())
}

/// Returns the clock of a market that its owner moves.
pub fn simulated(market: &Market) -> Result<&SimulatedClock> {
    match &**market.clock() {
        Clock::Simulated(clock) => Ok(clock),
        Clock::System | Clock::Shifted(_) => {
            Err(Error::internal("the clock of the system cannot be advanced"))
        }
    }
}
