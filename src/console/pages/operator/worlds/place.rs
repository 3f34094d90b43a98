//! Where the pages of a world are, and which world a page is about.

use std::sync::Arc;

use crate::{console::pages::operator::prelude::*, worlds::World};

/// Path of the list.
pub const WORLDS: &str = "/operator/worlds";

/// Returns the path of a world, or of a page below it.
pub fn path(name: &str, below: &str) -> String {
    format!("{WORLDS}/{name}{below}")
}

/// Returns the world in the path. The page does not exist without a sandbox.
pub fn find(context: &Context) -> Result<Arc<World>> {
    let sandbox = context.served.sandbox().ok_or_else(|| Error::not_found("page"))?;
    let found = sandbox.worlds().find(context.parameter(0));
    found.ok_or_else(|| Error::not_found("world"))
}

/// Puts a page below that of a world.
pub fn below_world(content: Content, world: &World) -> Content {
    content.with_parent("Worlds", WORLDS).with_parent(world.name(), path(world.name(), ""))
}

/// Records in the audit that a form changes a world.
pub async fn audit(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    operation: &'static str,
    world: &World,
) -> Result<()> {
    let change = Change::new(operation, "world", world.name());
    changes::perform(visit, fields, change, |_, _| Ok(())).await
}

/// Returns the page that asks before something is done to a world.
pub fn question(visit: &Visit<ActingOperator>, title: &str, lost: &str, label: &str) -> Result<Answer> {
    let world = find(&visit.context)?;
    let button = ("danger primary", label);
    let body = fields::question(&visit.context, &html! { p { (lost) } }, button, &path(world.name(), ""));
    Ok(below_world(Content::new(title, body), &world).narrow().into())
}
