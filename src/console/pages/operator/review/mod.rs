//! The review of listings: the queue, and a page for each listing on which a reviewer decides.

mod case;
mod decision;
mod facts;
mod queue;

use super::{LISTINGS, REVIEW, RUNS, TEAMS, quality_runs};
use crate::{
    console::{address::Query, page::PageRow, prelude::*},
    domain::assets::Kind,
    operations::review_queue::Filters,
    string_enum::StringEnum,
};

/// Names of the fields of the query with the filters of the queue. One who works on a part of the queue stays in it.
const VENDOR: &str = "team";
const KIND: &str = "kind";
const AGAIN: &str = "again";

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![PageRow::page::<queue::ReviewQueue>(), PageRow::form::<case::CasePage>()]
}

/// Reads the filters of a query, or of the fields of a form.
fn filters_of(query: &Query) -> Filters {
    Filters {
        vendor: query.get(VENDOR).map(str::to_owned),
        kind: query.get(KIND).and_then(Kind::parse),
        is_again: query.get(AGAIN).map(|again| again == "true"),
    }
}

/// Returns the query that states filters.
fn query_of(filters: &Filters) -> Query {
    let again = filters.is_again.map_or("", |is_again| if is_again { "true" } else { "false" });
    Query::default()
        .with(VENDOR, filters.vendor.as_deref().unwrap_or_default())
        .with(KIND, filters.kind.map_or("", |kind| kind.as_str()))
        .with(AGAIN, again)
}

/// Returns the path of the page of a listing in review, with the filters of the queue.
fn path_of(listing: Uuid, filters: &Filters) -> String {
    query_of(filters).at(&format!("{REVIEW}/{listing}"))
}

/// Returns the title of a listing, or what is shown in place of it.
fn title_of(title: &str) -> &str {
    if title.trim().is_empty() { "Listing without a title" } else { title }
}
