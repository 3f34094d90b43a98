//! The filters of the queue in addresses and forms. They are kept from one listing to the next.

use crate::{console::pages::operator::prelude::*, domain::assets::Kind, operations::review_queue::Filters};

/// Field of the query with the vendor.
pub const VENDOR: &str = "team";

/// Field of the query with a kind of assets.
pub const KIND: &str = "kind";

/// Field of the query that says whether listings were reviewed before.
pub const REVIEWED_BEFORE: &str = "again";

/// Reads the filters of a query, or of the fields of a form.
pub fn filters_of(query: &Query) -> Filters {
    Filters {
        vendor: query.get(VENDOR).map(str::to_owned),
        kind: query.get(KIND).and_then(Kind::parse),
        was_reviewed: query.get(REVIEWED_BEFORE).map(|again| again == "true"),
    }
}

/// Returns the query that states filters.
pub fn query_of(filters: &Filters) -> Query {
    let again = filters.was_reviewed.map_or("", |was_reviewed| if was_reviewed { "true" } else { "false" });
    Query::default()
        .with(VENDOR, filters.vendor.as_deref().unwrap_or_default())
        .with(KIND, filters.kind.map_or("", |kind| kind.as_str()))
        .with(REVIEWED_BEFORE, again)
}

/// Returns the path of the page of a listing in review, with the filters of the queue.
pub fn path_of(listing: Uuid, filters: &Filters) -> String {
    query_of(filters).at(&format!("{REVIEW}/{listing}"))
}
