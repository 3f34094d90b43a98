//! A world: its addresses, its keys, and the actions on it.

use std::sync::Arc;

use super::place::{WORLDS, audit, find, path, question};
use crate::{
    clock::ClockState,
    console::{
        address::PREFIX,
        pages::{operator::prelude::*, world_clock::clock_badge},
    },
    web::world_host::SandboxHost,
    worlds::{World, WorldKey},
};

/// The page of a world.
pub struct WorldPage;

/// The page that asks before a world is reset.
pub struct ResetWorld;

/// The page that asks before a world is deleted.
pub struct DeleteWorld;

impl Page<Operator> for WorldPage {
    const PATH: &'static str = "/operator/worlds/{world}";
    const TITLE: &'static str = "World";
    const OPERATIONS: &'static [&'static str] = &["get_world"];

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let read = Arc::clone(&world);
        let work = move |_: &crate::market::Market| Ok((read.clock(), read.keys()));
        let (clock, keys) = visit.market().spawn_blocking(work).await?;
        let context = &visit.context;
        let body = html! {
            (tables::facts(&facts(context, &world, &clock)))
            (tables::section("world-keys", "Keys", &self::keys(&keys)))
            (tables::section("more", "Look closer", &html! {
                ul.row {
                    li { a.chip href=(context.links.to(&path(world.name(), "/faults"))) { "Faults" } }
                    li { a.chip href=(context.links.to(&path(world.name(), "/inbox"))) { "Messages to webhooks" } }
                }
            }))
            @if context.may_act() { (tables::section("end", "Start again, or end it", &html! {
                div.row {
                    a.button.danger href=(context.links.to(&path(world.name(), "/reset"))) { "Reset the world…" }
                    a.button.danger href=(context.links.to(&path(world.name(), "/delete"))) { "Delete the world…" }
                }
            })) }
        };
        let request = format!("/sandbox/v1/worlds/{}", world.name());
        let content = Content::new(world.name(), body).with_parent("Worlds", WORLDS).with_request(request);
        if !context.may_act() {
            return Ok(content.into());
        }
        let clock = context.links.to(&path(world.name(), "/clock"));
        Ok(content.with_actions(html! { a.button.primary href=(clock) { "Move its clock" } }).into())
    }
}

fn facts(context: &Context, world: &World, clock: &ClockState) -> Vec<(&'static str, Markup)> {
    let address = SandboxHost::world_url(&context.base_url, world);
    let console = format!("{address}{PREFIX}");
    let link = context.links.outside(&format!("/w/{}{PREFIX}", world.name()));
    let settings = world.given_settings();
    let mut facts = vec![
        ("Address", html! { span.mono.long { (address) } }),
        ("Its pages", html! { a.long href=(link) { (console) } }),
        ("Copied from", html! { (world.details().origin.source) }),
        ("Clock", clock_badge(clock.is_running)),
        ("Its time", text::moment(clock.now)),
        ("Seed", html! { (clock.seed) }),
        (
            "Ends",
            html! { @match world.details().expires_at { Some(at) => (text::moment(at)), None => "Not by itself" } },
        ),
        ("ID", html! { span.mono.long { (world.details().id) } }),
    ];
    if let Some(port) = SandboxHost::port_url(&context.base_url, world) {
        facts.insert(1, ("Address of its own port", html! { span.mono.long { (port) } }));
    }
    if !settings.is_empty() {
        let list =
            html! { ul { @for (key, value) in settings.iter() { li.mono.long { (key) " = " (value) } } } };
        facts.push(("Settings of its own", list));
    }
    facts
}

fn keys(keys: &[WorldKey]) -> Markup {
    if keys.is_empty() {
        return html! { p { "None were valid when it began." } };
    }
    let row = |key: &WorldKey| {
        [
            Head::text("Acts for").cell(html! { span.long { bdi { (key.description) } } }),
            Head::text("Key").cell(html! { span.mono.long { (key.key) } }),
        ]
    };
    html! {
        p.note { "They were valid when the world began, and work in it only." }
        (tables::of("Keys", keys, row))
    }
}

impl Page<ActingOperator> for ResetWorld {
    const PATH: &'static str = "/operator/worlds/{world}/reset";
    const TITLE: &'static str = "Reset a world";
    const OPERATIONS: &'static [&'static str] = &["reset_world"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let lost = "The world returns to where it was forked: data, clock, and settings. Its clock is stopped, and its faults are removed.";
        question(visit, "Reset this world?", lost, "Reset the world")
    }
}

impl FormPage<ActingOperator> for ResetWorld {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        let page = path(world.name(), "");
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        let (sandbox, turn) = (visit.served.require_sandbox()?, world.admit().await?);
        let reset = move |_: &crate::market::Market| {
            let _turn = turn;
            Ok(sandbox.worlds().reset(&world)?)
        };
        visit.market().spawn_blocking(reset).await?;
        Ok(Answer::done(&page, Notice::Done))
    }
}

impl Page<ActingOperator> for DeleteWorld {
    const PATH: &'static str = "/operator/worlds/{world}/delete";
    const TITLE: &'static str = "Delete a world";
    const OPERATIONS: &'static [&'static str] = &["delete_world"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let lost = "Everything in the world is deleted, except for its snapshots. Its address stops working.";
        question(visit, "Delete this world?", lost, "Delete the world")
    }
}

impl FormPage<ActingOperator> for DeleteWorld {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let world = find(&visit.context)?;
        audit(visit, fields, Self::OPERATIONS[0], &world).await?;
        let sandbox = visit.served.require_sandbox()?;
        let name = world.name().to_owned();
        drop(world);
        let delete = move |_: &crate::market::Market| Ok(sandbox.worlds().delete(&name));
        visit.market().spawn_blocking(delete).await?;
        Ok(Answer::done(WORLDS, Notice::Done))
    }
}
