//! The clock of a world, which operators of the server move.

use std::sync::Arc;

use super::{
    list::clock_badge,
    place::{audit, below_world, find, path},
};
use crate::{
    clock::ClockState,
    console::{
        pages::world_clock::{STEPS, target},
        prelude::*,
    },
    domain::{clock_modes::ClockMode, time::Timestamp},
    market::Market,
    operations::access::ActingOperator,
    string_enum::StringEnum,
    worlds::World,
};

/// The page.
pub struct MoveClock;

/// The button that stops the clock, or lets it run.
pub struct SetMode;

/// Reads a clock.
async fn clock(context: &Context, world: &Arc<World>) -> Result<ClockState> {
    let world = Arc::clone(world);
    context.market().spawn_blocking(move |_: &Market| Ok(world.clock())).await
}

impl Page for MoveClock {
    const PATH: &'static str = "/operator/worlds/{world}/clock";
    const TITLE: &'static str = "Clock of a world";
    const OPERATIONS: &'static [&'static str] = &["change_world_clock", "get_world_clock"];

    type Access = ActingOperator;

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let clock = clock(&visit.context, &world).await?;
        let facts = [("Its time", text::moment(clock.now)), ("Clock", clock_badge(clock.is_running))];
        let body = html! {
            (tables::facts(&facts))
            (forms(&visit.context, world.name(), &clock))
        };
        Ok(below_world(Content::new("Clock", body), &world).narrow().into())
    }
}

fn forms(context: &Context, world: &str, clock: &ClockState) -> Markup {
    let (own, inputs) = (path(world, "/clock"), &context.inputs);
    let from = html! { input type="hidden" name="from" value=(clock.now); };
    let steps =
        html! { (from) @for (value, label) in STEPS { button name="advance" value=(value) { (label) } } };
    let exactly = html! {
        (from)
        (Field::text("advance", "By a duration").hint(html! { "For example 30d or 1d12h." }).at_most(40).show(inputs))
        (Field::moment("set", "Or to a time").hint(html! { "In UTC, for example 2026-04-01 09:00. A clock never goes back." }).show(inputs))
        div.row { button.primary { "Move the clock" } }
        p.note { "The page answers when everything that is due was done. A long way takes a while." }
    };
    let (mode, label) = if clock.is_running {
        (ClockMode::Frozen, "Stop the clock")
    } else {
        (ClockMode::Running, "Let the clock run")
    };
    let switch = html! { input type="hidden" name="mode" value=(mode.as_str()); button { (label) } };
    html! {
        (tables::section("steps", "Move it ahead by", &fields::form_with_class(context, &own, "row", &steps)))
        (tables::section("exactly", "Move it exactly", &fields::form(context, &own, &exactly)))
        (tables::section("mode", "Run or stop", &fields::form_with_class(context, &path(world, "/clock/mode"), "row", &switch)))
    }
}

impl FormPage for MoveClock {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let page = path(world.name(), "");
        let target = target(clock(&visit.context, &world).await?.now, fields)?;
        let change = Change::new(Self::OPERATIONS[0], "world", world.name());
        let target = changes::perform(visit, fields, change, move |_, _| Ok(target.0)).await?;
        let turn = world.admit().await?;
        let advance = move |_: &Market| {
            let _turn = turn;
            // A form that is sent again finds the clock there, or later.
            if world.clock().now >= Timestamp(target) {
                return Ok(());
            }
            // Without the ID of this request, which would differ in worlds that are made alike.
            world.advance_to(Timestamp(target)).map(drop)
        };
        visit.market().spawn_blocking(advance).await?;
        Ok(Answer::done(&page, Notice::ClockChanged))
    }
}

impl Action for SetMode {
    const PATH: &'static str = "/operator/worlds/{world}/clock/mode";
    const TITLE: &'static str = "Stop the clock of a world, or let it run";
    const OPERATIONS: &'static [&'static str] = &["change_world_clock"];

    type Access = ActingOperator;

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let page = path(world.name(), "");
        let mode = fields.get("mode").and_then(ClockMode::parse);
        let mode = mode.ok_or_else(|| Error::invalid(problem("mode", "Stop the clock, or let it run.")))?;
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        let set = move |_: &Market| {
            world.set_running(mode == ClockMode::Running);
            Ok(())
        };
        visit.market().spawn_blocking(set).await?;
        Ok(Answer::done(&page, Notice::ClockChanged))
    }
}
