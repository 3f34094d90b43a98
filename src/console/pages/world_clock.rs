//! The clock of a world, which its owner moves: an operator of the world.

use poem::Request;
use std::sync::Arc;

use crate::{
    clock::ClockState,
    console::prelude::*,
    domain::{clock_modes::ClockMode, durations, time::MICROS_PER_DAY},
    market::Requester,
    operations::access::{ActingOperator, Authenticated},
    web::{
        auth::{Policy, required_access::RequiredAccess},
        served_market::ServedMarket,
        world_host::ServedWorld,
    },
    worlds::{self, MAX_ADVANCE_DAYS, Turn, World},
};

/// Explains how to write a duration.
const HINT: &str = "Days, hours, and minutes, for example 30d or 1d12h.";

/// Durations by which a button moves the clock.
const STEPS: [(&str, &str); 4] = [("1h", "1 hour"), ("1d", "1 day"), ("7d", "1 week"), ("30d", "30 days")];

/// Proof of a visitor of a world.
#[derive(Clone)]
pub struct WorldVisitor {
    world: Arc<World>,
    /// The turn of the request, which lasts as long as what it does.
    turn: Option<Turn>,
    /// Whether the visitor may move the clock.
    is_owner: bool,
}

impl Policy for WorldVisitor {
    const REQUIRED: RequiredAccess = RequiredAccess::AnyKey;

    async fn admit(
        _: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<WorldVisitor> {
        let world = request.data::<ServedWorld>().and_then(|served| served.0.upgrade());
        let world = world.ok_or_else(|| Error::not_found("page"))?;
        let is_owner = ActingOperator::authorize(authenticated).is_ok();
        Ok(WorldVisitor { world, turn: request.data::<Turn>().cloned(), is_owner })
    }
}

impl WorldVisitor {
    const fn require_owner(&self) -> Result<()> {
        if self.is_owner { Ok(()) } else { Err(Error::OperatorRequired) }
    }
}

/// The page.
pub struct WorldClock;

/// The button that stops the clock, or lets it run.
pub struct SetMode;

impl Page<WorldVisitor> for WorldClock {
    const PATH: &'static str = paths::WORLD_CLOCK;
    const TITLE: &'static str = "Clock of this world";

    async fn show(visit: &Visit<WorldVisitor>) -> Result<Answer> {
        let world = &visit.access.world;
        let clock = world.clock();
        let facts = [
            ("World", html! { span.mono.long { (world.name()) } }),
            ("Time", text::moment(clock.now)),
            ("Clock", clock_badge(clock.is_running)),
        ];
        let body = html! {
            (tables::facts(&facts))
            p {
                "A world is a private copy of a market for trying things out. Its clock stands still until its owner moves it. Then \
                 everything that is due happens: bids expire, earnings become available, keys end."
            }
            @if visit.access.is_owner { (forms(&visit.context, (paths::WORLD_CLOCK, SetMode::PATH), &clock, HINT)) }
            @else { (badges::neutral(html! {
                "Only an operator of this world moves its clock. Its key was shown when the world was made."
            })) }
        };
        Ok(Content::new(Self::TITLE, body).narrow().into())
    }
}

/// Returns whether a clock runs, as a badge.
pub(super) fn clock_badge(is_running: bool) -> Markup {
    if is_running { badges::badge(Tone::Good, "Running") } else { badges::badge(Tone::Waiting, "Stopped") }
}

/// Returns the forms that move a clock, sent to the first path, and the form that stops or starts it, sent to the second. `hint`
/// explains how to write a duration.
pub(super) fn forms(
    context: &Context,
    (own, mode_path): (&str, &str),
    clock: &ClockState,
    hint: &str,
) -> Markup {
    let inputs = &context.inputs;
    let duration_hint = html! { (hint) };
    let time_hint = html! { "In UTC, for example 2026-04-01 09:00. A clock never goes back." };
    let from = html! { input type="hidden" name="from" value=(clock.now); };
    let steps =
        html! { (from) @for (value, label) in STEPS { button name="advance" value=(value) { (label) } } };
    let (mode, label) = if clock.is_running {
        (ClockMode::Frozen, "Stop the clock")
    } else {
        (ClockMode::Running, "Let the clock run")
    };
    html! {
        (tables::section("steps", "Move it ahead by", &fields::form_with_class(context, own, "row", &steps)))
        (tables::section("exactly", "Move it exactly", &fields::form(context, own, &html! {
            (from)
            (Field::text("advance", "By a duration").hint(duration_hint).at_most(40).show(inputs))
            (Field::moment("set", "Or to a time").hint(time_hint).show(inputs))
            div.row { button.primary { "Move the clock" } }
            p.note { "The page answers when everything that is due was done. A long way takes a while." }
        })))
        (tables::section("mode", "Run or stop", &fields::form_with_class(context, mode_path, "row", &html! {
            input type="hidden" name="mode" value=(mode.as_str());
            button { (label) }
        })))
    }
}

impl FormPage<WorldVisitor> for WorldClock {
    async fn submit(visit: &Visit<WorldVisitor>, fields: &Fields) -> Result<Answer> {
        visit.access.require_owner()?;
        let target = target(visit.access.world.clock().now, fields)?;
        let change = Change::new("move_world_clock", "world", visit.access.world.name());
        let target = changes::perform(visit, fields, change, move |_, _| Ok(target.0)).await?;
        let WorldVisitor { world, turn, .. } = visit.access.clone();
        let requester = Requester::process().with_request_id(&visit.request_id);
        let advance = move |_: &crate::market::Market| {
            let _turn = turn;
            world.advance_to_for(Timestamp(target), requester).map(drop)
        };
        visit.market().spawn_blocking(advance).await?;
        Ok(Answer::done(paths::WORLD_CLOCK, Notice::ClockChanged))
    }
}

/// Returns the time to which a form moves the clock. A duration begins at the time that the page has shown, so sending the form
/// again does not move the clock further.
pub(super) fn target(now: Timestamp, fields: &Fields) -> Result<Timestamp> {
    let duration = fields.parsed("advance", "Enter a duration, for example 30d or 1d12h.", |text| {
        durations::parse(text).filter(|micros| *micros <= MAX_ADVANCE_DAYS * MICROS_PER_DAY)
    })?;
    let time = fields.moment("set")?;
    let (field, target) = match (duration, time) {
        (Some(micros), None) => {
            let shown = fields.get("from").and_then(Timestamp::parse).filter(|shown| *shown <= now);
            ("advance", shown.unwrap_or(now).plus_micros(micros).max(now))
        }
        (None, Some(time)) => ("set", time),
        _ => return Err(invalid("advance", "Enter either a duration or a time.")),
    };
    if target < now {
        let message = format!("The clock is at {}, and never goes back.", text::moment_text(now));
        return Err(invalid("set", &message));
    }
    worlds::check_advance(field, now, target)?;
    Ok(target)
}

/// Returns the clock mode that a form sets.
pub(super) fn mode(fields: &Fields) -> Result<ClockMode> {
    let mode = fields.get("mode").and_then(ClockMode::parse);
    mode.ok_or_else(|| invalid("mode", "Stop the clock, or let it run."))
}

impl Action<WorldVisitor> for SetMode {
    const PATH: &'static str = "/world-clock/mode";
    const TITLE: &'static str = "Stop the clock, or let it run";

    async fn submit(visit: &Visit<WorldVisitor>, fields: &Fields) -> Result<Answer> {
        visit.access.require_owner()?;
        let mode = mode(fields)?;
        let change = Change::new("set_world_clock_mode", "world", visit.access.world.name());
        changes::perform(visit, fields, change, |_, _| Ok(())).await?;
        visit.access.world.set_running(mode == ClockMode::Running);
        Ok(Answer::done(paths::WORLD_CLOCK, Notice::ClockChanged))
    }
}
