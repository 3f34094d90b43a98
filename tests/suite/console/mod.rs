//! The web app, used as by a browser without scripts.

mod access;
mod adding;
mod assets;
mod attacks;
mod bulk_changes;
mod bulk_jobs;
mod buying;
mod catalog;
mod estimations;
mod figures;
mod forms;
mod inventory;
mod maintenance;
mod meanwhile;
mod operators;
mod opportunities;
mod own_listings;
mod quality_runs;
mod requests;
mod review;
mod selling;
mod sessions;
mod settings;
mod wallet;
mod words;

use marketplace::{
    console::{self, PREFIX, PageRow},
    web::Audience,
};
use uuid::Uuid;

/// Keys of the demo.
const BUYER: &str = "mkt_demo_buyer";
const VENDOR: &str = "mkt_demo_vendor";
const BOTH: &str = "mkt_demo_both";
const NO_NDA: &str = "mkt_demo_no_nda";
const NO_ROLE: &str = "mkt_demo_no_role";
const OPERATOR: &str = "mkt_demo_operator";

/// Returns the table of pages.
fn rows() -> impl Iterator<Item = PageRow> {
    console::pages().into_iter()
}

fn is_for_operators(row: &PageRow) -> bool {
    row.access.is_some_and(|access| access.audience() == Audience::Operators)
}

/// Returns the path of a page, with an ID that nothing has for each parameter.
fn path_of(row: &PageRow) -> String {
    let segments = row.path.split('/').map(|segment| {
        if segment.starts_with('{') { Uuid::from_u128(7).to_string() } else { segment.to_owned() }
    });
    format!("{PREFIX}{}", segments.collect::<Vec<_>>().join("/"))
}
