//! The worlds of the server.

use super::place::{WORLDS, path};
use crate::{
    clock::ClockState,
    console::pages::{operator::prelude::*, world_clock::clock_badge},
};

/// The page.
pub struct WorldList;

/// What the list shows of a world.
struct WorldRow {
    name: String,
    source: String,
    clock: ClockState,
    expires_at: Option<Timestamp>,
}

impl Page<Operator> for WorldList {
    const PATH: &'static str = WORLDS;
    const TITLE: &'static str = "Worlds";
    const OPERATIONS: &'static [&'static str] = &["list_worlds"];
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Worlds"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let Some(sandbox) = visit.served.sandbox().cloned() else {
            return Ok(Content::new(Self::TITLE, without_sandbox(&visit.context)).into());
        };
        let list = move |_: &crate::market::Market| {
            let worlds = sandbox.worlds().list().into_iter();
            let listed = worlds.map(|world| WorldRow {
                name: world.name().to_owned(),
                source: world.details().origin.source.clone(),
                clock: world.clock(),
                expires_at: world.details().expires_at,
            });
            Ok(listed.collect::<Vec<_>>())
        };
        let worlds = visit.market().spawn_blocking(list).await?;
        let context = &visit.context;
        let body = html! {
            p { "A world is a private copy of a market, with a clock of its own, for tests and for trying things out. Nothing of it \
                 leaves it. It ends when it is deleted, and with the server." }
            (table(context, &worlds))
        };
        let content = Content::new(Self::TITLE, body).with_request("/sandbox/v1/worlds");
        if !context.may_act() {
            return Ok(content.into());
        }
        let new = context.links.to(&format!("{WORLDS}/new"));
        Ok(content.with_actions(html! { a.button.primary href=(new) { "Create a world" } }).into())
    }
}

fn without_sandbox(context: &Context) -> Markup {
    let advice = if context.market().is_world() {
        "This is a world itself. Operators of the server create worlds there."
    } else {
        "This server has none. The setting sandbox.enabled turns them on."
    };
    tables::empty("There are no worlds here", advice, None)
}

fn table(context: &Context, worlds: &[WorldRow]) -> Markup {
    if worlds.is_empty() {
        return tables::empty(
            "No worlds yet",
            "Create one to try something out, or to let a test use it.",
            None,
        );
    }
    let row = |world: &WorldRow| {
        [
            Head::text("World")
                .cell(html! { a.long href=(context.links.to(&path(&world.name, ""))) { (world.name) } }),
            Head::text("Copied from").cell(&world.source),
            Head::text("Clock").cell(clock_badge(world.clock.is_running)),
            Head::text("Its time").cell(text::moment(world.clock.now)),
            Head::text("Ends").cell(
                html! { @match world.expires_at { Some(at) => (text::moment(at)), None => "Not by itself" } },
            ),
        ]
    };
    tables::of("Worlds", worlds, row)
}
