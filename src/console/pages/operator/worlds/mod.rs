//! Worlds: private copies of a market for trying things out, where the server has a sandbox.

mod clock;
mod detail;
mod fault_form;
mod fault_input;
mod fault_words;
mod faults;
mod inbox;
mod list;
mod new;

use std::sync::Arc;

use crate::{
    console::{answer::Content, page::PageRow, visit::Context},
    error::{Error, Result},
    worlds::World,
};

/// Path of the list.
const WORLDS: &str = "/operator/worlds";

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![
        PageRow::page::<list::WorldList>(),
        PageRow::form::<new::NewWorldPage>(),
        PageRow::page::<detail::WorldPage>(),
        PageRow::form::<detail::ResetWorld>(),
        PageRow::form::<detail::DeleteWorld>(),
        PageRow::form::<clock::MoveClock>(),
        PageRow::action::<clock::SetMode>(),
        PageRow::page::<faults::FaultList>(),
        PageRow::form::<fault_form::NewFaultPage>(),
        PageRow::action::<faults::DeleteFault>(),
        PageRow::action::<faults::DeleteFaults>(),
        PageRow::page::<inbox::InboxPage>(),
    ]
}

/// Returns the path of a world, or of a page below it.
fn path(name: &str, below: &str) -> String {
    format!("{WORLDS}/{name}{below}")
}

/// Returns the world in the path. Where there is no sandbox, there is no such page.
fn find(context: &Context) -> Result<Arc<World>> {
    let sandbox = context.served.sandbox().ok_or_else(|| Error::not_found("page"))?;
    let found = sandbox.worlds().find(context.parameter(0));
    found.ok_or_else(|| Error::not_found("world"))
}

/// Puts a page below that of a world.
fn below_world(content: Content, world: &World) -> Content {
    content.below("Worlds", WORLDS).below(world.name(), path(world.name(), ""))
}
