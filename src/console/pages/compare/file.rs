//! The comparison as a CSV file: a row for each listing, with all that is compared.

use super::found::{Found, check_labels, format_names, price_for_lines, verdict};
use crate::console::{
    csv,
    parts::{
        listing_cells,
        listing_view::{Delivery, Details, ListingView},
    },
    prelude::*,
};

/// Answers with the file.
pub fn answer(context: &Context, found: &Found) -> Answer {
    let labels = check_labels(found);
    let mut heads = listing_cells::heads();
    heads.extend(COLUMNS.iter().map(|(head, _)| (*head).to_owned()));
    heads.extend(labels.iter().map(|(_, label)| (*label).to_owned()));
    let row = |listing: &ListingView| {
        let mut row = listing_cells::cells(context, listing);
        let cell = |column: Column| {
            listing.details.as_ref().map(|details| column(listing, details)).unwrap_or_default()
        };
        row.extend(COLUMNS.iter().map(|(_, column)| cell(*column)));
        let result = |key: &str| verdict(found, listing, key).map_or("Not run", |(_, word)| word).to_owned();
        row.extend(labels.iter().map(|(key, _)| result(key)));
        row
    };
    csv::whole("comparison", heads, found.listings.iter().map(row).collect())
}

/// What returns a cell of a column.
type Column = fn(&ListingView, &Details) -> String;

/// The columns that files of the catalog do not have: heads, and cells.
const COLUMNS: [(&str, Column); 11] = [
    ("Price for 1,000 lines, USD", |listing, details| text::plain_amount(price_for_lines(listing, details))),
    ("Waiting bids", |_, details| details.active_bid_count.to_string()),
    ("Languages", |listing, _| listing.main_languages(usize::MAX)),
    ("Raw data, files", |listing, _| listing.summary.scale.zip_file_count.to_string()),
    ("Raw data, bytes", |listing, _| listing.summary.scale.zip_size_bytes.to_string()),
    ("File types", |_, details| details.file_extensions.join(", ")),
    ("Robotics formats", |_, details| format_names(details).join(", ")),
    ("Capabilities", |_, details| details.capabilities.join(", ")),
    ("Terms", |_, details| details.terms.trim().to_owned()),
    ("Delivery", |_, details| details.delivery.map(Delivery::text).unwrap_or_default()),
    ("Available from", |_, details| {
        details.available_from.map_or_else(|| "Now".to_owned(), |time| time.day().to_string())
    }),
];
