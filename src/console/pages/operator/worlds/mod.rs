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
pub mod place;

use crate::console::navigation::PageRow;

/// The kind of worlds in the search. Worlds are not records of the market.
pub const WORLD: &str = "world";

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![
        PageRow::page(list::WorldList).of_kind(WORLD),
        PageRow::form(new::NewWorldPage),
        PageRow::page(detail::WorldPage),
        PageRow::form(detail::ResetWorld),
        PageRow::form(detail::DeleteWorld),
        PageRow::form(clock::MoveClock),
        PageRow::action(clock::SetMode),
        PageRow::page(faults::FaultList),
        PageRow::form(fault_form::NewFaultPage),
        PageRow::action(faults::DeleteFault),
        PageRow::action(faults::DeleteFaults),
        PageRow::page(inbox::InboxPage),
    ]
}
