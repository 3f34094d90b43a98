//! Where the pages of a world are, and which world a page is about.

use std::sync::Arc;

use crate::{console::prelude::*, worlds::World};

/// Path of the list.
pub const WORLDS: &str = "/operator/worlds";

/// Returns the path of a world, or of a page below it.
pub fn path(name: &str, below: &str) -> String {
    format!("{WORLDS}/{name}{below}")
}

/// Returns the world in the path. Where there is no sandbox, there is no such page.
pub fn find(context: &Context) -> Result<Arc<World>> {
    let sandbox = context.served.sandbox().ok_or_else(|| Error::not_found("page"))?;
    let found = sandbox.worlds().find(context.parameter(0));
    found.ok_or_else(|| Error::not_found("world"))
}

/// Puts a page below that of a world.
pub fn below_world(content: Content, world: &World) -> Content {
    content.below("Worlds", WORLDS).below(world.name(), path(world.name(), ""))
}
