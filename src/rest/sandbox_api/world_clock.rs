//! The clock of a world.

use std::sync::Arc;

use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;

use super::{
    access::{WorldOperator, WorldReader},
    worlds::{post, read},
};
use crate::{
    domain::{clock_modes::ClockMode, time::Timestamp},
    error::{Error, Problem, Result},
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::{Json, JsonResult},
        request_body::Body,
        route::{Call, Path, Target, routes},
        shapes::{RequestDuration, RequestTime, UtcTime},
    },
    worlds::World,
};

/// The clock of a world.
#[derive(Debug, Object, Serialize)]
pub struct WorldClock {
    /// Time of the clock.
    pub now: UtcTime,
    /// How the clock moves.
    pub mode: EnumValue<ClockMode>,
}

/// A change of the clock of a world: exactly one of the fields.
#[derive(Debug, Object)]
pub struct WorldClockIn {
    /// Time to which the clock is set, not before its time now.
    set: Option<RequestTime>,
    /// Duration by which the clock is advanced, such as `90d` or `1h30m`.
    advance: Option<RequestDuration>,
    /// How the clock moves from now on.
    mode: Option<EnumValue<ClockMode>>,
}

/// What a request does with a clock.
enum ClockChange {
    Set(Timestamp),
    Advance(i64),
    Mode(ClockMode),
}

impl WorldClockIn {
    fn into_change(self) -> Result<ClockChange> {
        match (self.set, self.advance, self.mode) {
            (Some(set), None, None) => Ok(ClockChange::Set(set.0)),
            (None, Some(advance), None) => Ok(ClockChange::Advance(advance.0)),
            (None, None, Some(mode)) => Ok(ClockChange::Mode(mode.0)),
            _ => {
                let message = "The body must have exactly one of `set`, `advance`, and `mode`.";
                Err(Error::invalid(Problem::body(&[], "value_error", message)))
            }
        }
    }
}

impl ClockChange {
    fn apply(self, world: &World) -> Result<()> {
        let now = world.clock().now;
        let target = match self {
            ClockChange::Mode(mode) => {
                world.set_running(mode == ClockMode::Running);
                return Ok(());
            }
            ClockChange::Set(target) if target < now => {
                let message = format!(
                    "The clock is at {now}, and never goes back. To go back, reset the world or fork it again."
                );
                return Err(Error::invalid(Problem::body(&["set"], "greater_than_equal", message)));
            }
            ClockChange::Set(target) => target,
            ClockChange::Advance(micros) => now.plus_micros(micros),
        };
        world.advance_to(target)
    }
}

impl WorldClock {
    fn new(world: &World) -> WorldClock {
        let clock = world.clock();
        let mode = if clock.is_running { ClockMode::Running } else { ClockMode::Frozen };
        WorldClock { now: clock.now.into(), mode: EnumValue(mode) }
    }
}

routes! {
    /// `GET /sandbox/v1/worlds/{world}/clock`
    GetWorldClock: WorldReader = read("get_world_clock", Target::World);
    /// `POST /sandbox/v1/worlds/{world}/clock`
    ChangeWorldClock: WorldOperator =
        post("change_world_clock", Target::World, Some(|| json!({"advance": "30d"})));
}

pub struct WorldClockApi;

#[OpenApi(prefix_path = "/sandbox/v1", tag = "crate::rest::tags::Tag::Worlds")]
impl WorldClockApi {
    /// Get the clock of a world
    ///
    /// Returns the time of the world, and how it moves.
    #[oai(path = "/worlds/:world/clock", method = "get", operation_id = "get_world_clock")]
    async fn get(
        &self,
        call: Call<GetWorldClock>,
        /// Name of the world.
        world: Path<String>,
    ) -> JsonResult<WorldClock> {
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        Ok(Json::from_small(&WorldClock::new(&world)))
    }

    /// Change the clock of a world
    ///
    /// Sets the clock, advances it by a duration, or changes how it moves. Before the response, everything that is due until
    /// the new time is carried out, in the order in which it is due, each at its own time. A clock never goes back.
    #[oai(path = "/worlds/:world/clock", method = "post", operation_id = "change_world_clock")]
    async fn change(
        &self,
        call: Call<ChangeWorldClock>,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        body: Body<WorldClockIn>,
    ) -> JsonResult<WorldClock> {
        let world: Arc<World> = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let Body { value, source } = body;
        let work = move |_: &WorldOperator| {
            value.into_change()?.apply(&world)?;
            Ok(WorldClock::new(&world))
        };
        idempotent.run(&call.served, call.access, source, work).await
    }
}
