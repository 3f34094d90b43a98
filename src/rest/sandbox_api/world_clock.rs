//! The clock of a world.

use std::sync::Arc;

use poem::Request;

use super::{
    access::{WorldOperator, WorldReader},
    worlds::{change, read},
};
use crate::{
    domain::{
        clock_modes::ClockMode,
        durations,
        time::{MICROS_PER_DAY, Timestamp},
    },
    error::{Problem, Result},
    market::Requester,
    operations::access::PrincipalProof as _,
    rest::{
        prelude::*,
        shapes::{RequestTime, strings::DurationText},
    },
    worlds::{self, DoneWork, MAX_ADVANCE_DAYS, WorkOutcome, World},
};

/// Maximum duration of an advance in microseconds.
const MAX_ADVANCE: i64 = MAX_ADVANCE_DAYS * MICROS_PER_DAY;

/// Maximum number of pieces of work that a response lists.
const MAX_LISTED: usize = 1_000;

/// The clock of a world.
#[derive(Debug, Object, Serialize)]
pub struct WorldClock {
    /// Time of the clock.
    pub now: UtcTime,
    /// How the clock moves.
    pub mode: EnumValue<ClockMode>,
}

/// The clock of a world after a change, with what was carried out.
#[derive(Debug, Object, Serialize)]
pub struct ChangedWorldClock {
    /// Time of the clock.
    pub now: UtcTime,
    /// How the clock moves.
    pub mode: EnumValue<ClockMode>,
    /// What was carried out, in its order, up to 1,000 pieces of work.
    pub done: Vec<WorkOut>,
    /// Number of pieces of work that were carried out.
    pub done_total: u64,
}

/// Work that was due and was carried out.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "DoneWork")]
pub struct WorkOut {
    /// `step` for a change that time alone makes, `job` for background work, or `delivery` to a webhook.
    pub group: String,
    /// Kind of the work within its group; of a delivery, the type of the event.
    pub kind: String,
    /// ID or slug of the record that it was about; null if there is none.
    pub subject_id: Option<String>,
    /// Time at which it was due.
    pub due_at: UtcTime,
    /// What came of it.
    pub outcome: EnumValue<WorkOutcome>,
}

impl WorkOut {
    fn new(work: &DoneWork) -> WorkOut {
        WorkOut {
            group: work.kind.group().to_owned(),
            kind: work.kind.as_str().to_owned(),
            subject_id: Some(work.subject_id.clone()).filter(|id| !id.is_empty()),
            due_at: work.due_at.into(),
            outcome: EnumValue(work.outcome),
        }
    }
}

/// A change of the clock of a world: exactly one of the fields.
#[derive(Debug, Object)]
pub struct WorldClockIn {
    /// Time to which the clock is set, not before its time now.
    set: Option<RequestTime>,
    /// Duration by which the clock is advanced, such as `90d` or `1h30m`.
    advance: Option<DurationText>,
    /// How the clock moves from now on.
    mode: Option<EnumValue<ClockMode>>,
}

/// What a request does with a clock.
#[derive(Clone, Copy)]
enum ClockChange {
    Set(Timestamp),
    Advance(i64),
    Mode(ClockMode),
}

impl WorldClockIn {
    fn into_change(self) -> Result<ClockChange> {
        match (self.set, self.advance, self.mode) {
            (Some(set), None, None) => Ok(ClockChange::Set(set.0)),
            (None, Some(advance), None) => parse_duration(&advance.0).map(ClockChange::Advance),
            (None, None, Some(mode)) => Ok(ClockChange::Mode(mode.0)),
            _ => {
                let message = "The body must have exactly one of `set`, `advance`, and `mode`.";
                Err(Error::invalid(Problem::body(&[], "value_error", message)))
            }
        }
    }
}

/// Parses the duration of an advance, in microseconds.
fn parse_duration(text: &str) -> Result<i64> {
    durations::parse(text).filter(|micros| *micros <= MAX_ADVANCE).ok_or_else(|| {
        Error::invalid(Problem::body(&["advance"], "value_error", "`advance` must be at most 36500d."))
    })
}

impl ClockChange {
    /// Changes the clock, and returns the work that was carried out. The change records no request ID, since the ID of a request to
    /// the server would make identical worlds differ.
    fn apply(self, world: &World) -> Result<Vec<DoneWork>> {
        let now = world.clock().now;
        let (field, target) = match self {
            ClockChange::Mode(mode) => {
                world.set_running(mode == ClockMode::Running);
                return Ok(Vec::new());
            }
            ClockChange::Set(target) => ("set", target),
            ClockChange::Advance(micros) => ("advance", now.plus_micros(micros)),
        };
        if target < now {
            let message = format!(
                "The clock is at {now}, and never goes back. To go back, reset the world or fork it again."
            );
            return Err(Error::invalid(Problem::body(&[field], "greater_than_equal", message)));
        }
        worlds::check_advance(field, now, target)?;
        match self {
            ClockChange::Advance(micros) => world.advance_by(micros, Requester::process()),
            ClockChange::Set(_) | ClockChange::Mode(_) => world.advance_to(target),
        }
    }
}

impl ChangedWorldClock {
    fn new(world: &World, done: &[DoneWork]) -> ChangedWorldClock {
        let WorldClock { now, mode } = WorldClock::new(world);
        let listed = done.iter().take(MAX_LISTED).map(WorkOut::new).collect();
        ChangedWorldClock { now, mode, done: listed, done_total: done.len() as u64 }
    }
}

impl WorldClock {
    fn new(world: &World) -> WorldClock {
        let clock = world.clock();
        let mode = if clock.is_running { ClockMode::Running } else { ClockMode::Frozen };
        WorldClock { now: clock.now.into(), mode: EnumValue(mode) }
    }
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl WorldClockApi {
    /// Get the clock of a world
    ///
    /// Returns the time of the world, and how it moves.
    #[get("/worlds/{world}/clock", read(Target::World))]
    async fn get_world_clock(
        call: Call<WorldReader>,
        /// Name of the world.
        world: Path<String>,
    ) -> JsonResult<WorldClock> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || Ok(WorldClock::new(&*sandbox.worlds().require(&world.0)?));
        Json::of_blocking(&call.served, read).await
    }

    /// Change the clock of a world
    ///
    /// Sets the clock, advances it by a duration, or changes how it moves. Before the response, everything that is due until
    /// the new time is carried out, in the order in which it is due, each at its own time, however long that takes: wait for
    /// the response without a time limit. A clock never goes back.
    #[post("/worlds/{world}/clock", change(Target::World))]
    async fn change_world_clock(
        call: Call<WorldOperator>,
        request: &Request,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        #[example(json!({"advance": "30d"}))] body: Body<WorldClockIn>,
    ) -> JsonResult<ChangedWorldClock> {
        let world: Arc<World> = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let Call { served, access, .. } = call;
        let holder = (world.market().id(), access.principal());
        let change = async {
            let Body { value, source } = body;
            let turn = world.admit().await?;
            let work = move |_: &WorldOperator| {
                let _turn = turn;
                let done = value.into_change()?.apply(&world)?;
                Ok(ChangedWorldClock::new(&world, &done))
            };
            idempotent.run(&served, access, source, work).await
        };
        served.held_requests().finish(request, holder, change).await
    }
}
