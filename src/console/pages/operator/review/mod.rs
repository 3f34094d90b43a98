//! The review of listings: the queue, and a page for each listing on which a reviewer decides.

mod case;
mod decision;
mod facts;
mod filters;
mod queue;

use crate::console::navigation::PageRow;

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![PageRow::list(queue::ReviewQueue), PageRow::form(case::CasePage)]
}
