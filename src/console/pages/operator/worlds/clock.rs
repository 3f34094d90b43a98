//! The clock of a world, which operators of the server move.

use std::sync::Arc;

use super::place::{audit, below_world, find, path};
use crate::{
    clock::ClockState,
    console::pages::{
        operator::prelude::*,
        world_clock::{clock_badge, forms, mode, target},
    },
    domain::clock_modes::ClockMode,
    market::Market,
    worlds::World,
};

/// Explains how to write a duration.
const HINT: &str = "For example 30d or 1d12h.";

/// The page.
pub struct MoveClock;

/// The button that stops the clock, or lets it run.
pub struct SetMode;

/// Reads a clock.
async fn clock(context: &Context, world: &Arc<World>) -> Result<ClockState> {
    let world = Arc::clone(world);
    context.market().spawn_blocking(move |_: &Market| Ok(world.clock())).await
}

impl Page<ActingOperator> for MoveClock {
    const PATH: &'static str = "/operator/worlds/{world}/clock";
    const TITLE: &'static str = "Clock of a world";
    const OPERATIONS: &'static [&'static str] = &["change_world_clock", "get_world_clock"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let clock = clock(&visit.context, &world).await?;
        let facts = [("Its time", text::moment(clock.now)), ("Clock", clock_badge(clock.is_running))];
        let body = html! {
            (tables::facts(&facts))
            (forms(&visit.context, (&path(world.name(), "/clock"), &path(world.name(), "/clock/mode")), &clock, HINT))
        };
        Ok(below_world(Content::new("Clock", body), &world).narrow().into())
    }
}

impl FormPage<ActingOperator> for MoveClock {
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
            // Does not record the ID of this request, since it would make identical worlds differ.
            world.advance_to(Timestamp(target)).map(drop)
        };
        visit.market().spawn_blocking(advance).await?;
        Ok(Answer::done(&page, Notice::ClockChanged))
    }
}

impl Action<ActingOperator> for SetMode {
    const PATH: &'static str = "/operator/worlds/{world}/clock/mode";
    const TITLE: &'static str = "Stop the clock of a world, or let it run";
    const OPERATIONS: &'static [&'static str] = &["change_world_clock"];

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let page = path(world.name(), "");
        let mode = mode(fields)?;
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        let set = move |_: &Market| {
            world.set_running(mode == ClockMode::Running);
            Ok(())
        };
        visit.market().spawn_blocking(set).await?;
        Ok(Answer::done(&page, Notice::ClockChanged))
    }
}
