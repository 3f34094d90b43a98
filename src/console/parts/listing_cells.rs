//! Listings as rows of CSV files.

use super::listing_view::{Details, ListingView, bids_text};
use crate::console::{address::PREFIX, csv::Row, paths, text, visit::Context};

/// Returns the heads of the columns.
pub fn heads() -> Row {
    let heads = [
        "Title",
        "Vendor",
        "Vendor tier",
        "Contents",
        "Price, USD",
        "Sample price, USD",
        "Price for each task, USD",
        "Lines of code",
        "Tasks",
        "Certified",
        "Bids",
        "Published",
        "Address",
    ];
    heads.map(str::to_owned).to_vec()
}

/// Returns a row. Without the details, their cells are empty. So is the address, which the reader may not open.
pub fn cells(context: &Context, listing: &ListingView) -> Row {
    let summary = &listing.summary;
    let detail = |cell: &dyn Fn(&Details) -> String| listing.details.as_ref().map(cell).unwrap_or_default();
    vec![
        summary.title.clone(),
        summary.team_name.clone(),
        detail(&|details| details.vendor_tier.to_string()),
        summary.scale.contents(),
        detail(&|details| text::plain_amount(details.price)),
        detail(&|details| text::plain_amount(details.sample_price)),
        detail(&|details| text::plain_amount(details.price_per_task)),
        count(summary.scale.loc),
        count(summary.scale.task_count),
        detail(&|details| if details.is_certified { "Yes" } else { "No" }.to_owned()),
        detail(&|details| bids_text(details.accepts_bids).to_owned()),
        detail(&|details| details.published_at.map(|at| at.day().to_string()).unwrap_or_default()),
        detail(&|_| format!("{}{PREFIX}{}", context.base_url, paths::listing(summary.id))),
    ]
}

/// Returns a number of things. The cell of a listing without such things is empty, so that it does not count in averages.
fn count(number: u64) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}
