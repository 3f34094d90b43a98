//! The results as a CSV file: all that match, in the order of the pages.

use std::sync::Arc;

use super::state::State;
use crate::{
    console::{
        csv::{self, Part},
        parts::{
            listing_cells::{cells, heads},
            listing_view::ListingView,
        },
        prelude::*,
    },
    operations::{
        access::CatalogViewer,
        browse::{self, PageRequest},
    },
};

/// Name of the file.
const NAME: &str = "listings";

/// Maximum number of listings in a file.
const MAX_LISTINGS: usize = 10_000;

/// Number of listings that are read at once.
const LISTINGS_PER_PART: usize = 250;

/// Where a part begins, and how many listings may follow there.
#[derive(Debug, PartialEq, Eq)]
struct Position {
    cursor: Option<String>,
    left: usize,
}

/// Answers with a file for a team for which the catalog is not locked.
pub async fn answer(visit: &Visit<CatalogViewer>, state: &State) -> Result<Answer> {
    let (context, all) = (Arc::clone(&visit.context), state.count_request());
    let first = Position { cursor: None, left: MAX_LISTINGS };
    csv::in_parts(visit, NAME, heads(), first, move |reader, viewer, position: Position| {
        let Position { cursor, left } = position;
        let request = PageRequest { cursor, limit: left.min(LISTINGS_PER_PART), ..all.clone() };
        let page = browse::search_listings(reader, viewer, request)?;
        let renderings = browse::renderings(reader, &page.listings)?;
        let row = |rendering| ListingView::full(rendering).map(|listing| cells(&context, &listing));
        let mut rows = renderings.iter().map(row).collect::<Result<Vec<_>>>()?;
        let (next, note) = after(page.next_cursor, left.saturating_sub(page.listings.len()));
        rows.extend(note.map(last_row));
        Ok(Part { rows, next })
    })
    .await
}

/// Answers with a file of the listings that a team sees for which the catalog is locked.
pub fn locked(visit: &Visit<CatalogViewer>, listings: &[ListingView]) -> Answer {
    csv::whole(NAME, heads(), listings.iter().map(|listing| cells(&visit.context, listing)).collect())
}

/// Returns the start of the next part, or the last line of the file if more listings match than it can have.
fn after(next_cursor: Option<String>, left: usize) -> (Option<Position>, Option<String>) {
    match next_cursor {
        Some(_) if left == 0 => {
            let max = text::grouped(MAX_LISTINGS as u64);
            let note = format!(
                "More listings match. A file has the first {max}: search for less to get the others."
            );
            (None, Some(note))
        }
        Some(cursor) => (Some(Position { cursor: Some(cursor), left }), None),
        None => (None, None),
    }
}

/// Returns the row with a note. It has as many cells as all rows.
fn last_row(note: String) -> csv::Row {
    let mut row = vec![String::new(); heads().len()];
    row[0] = note;
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_ends_early_says_so() {
        let next = Some("x".to_owned());
        assert_eq!(after(None, 5), (None, None));
        assert_eq!(after(None, 0), (None, None), "exactly as many as fit");
        assert_eq!(after(next.clone(), 5), (Some(Position { cursor: next.clone(), left: 5 }), None));
        let (position, note) = after(next, 0);
        assert!(position.is_none() && note.unwrap().contains("the first 10,000"));
    }
}
