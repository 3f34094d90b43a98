//! The queue of listings in review.

use super::filters::{KIND, REVIEWED_BEFORE, VENDOR, filters_of, path_of};
use crate::{
    console::pages::{operator::prelude::*, own_listings::title_of},
    operations::review_queue,
    store::review_queue::WaitingListing,
};

/// The list.
pub struct ReviewQueue;

impl List<Operator> for ReviewQueue {
    const PATH: &'static str = REVIEW;
    const TITLE: &'static str = "Review";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Review"));

    type Row = WaitingListing;

    fn columns() -> Vec<Column<WaitingListing>> {
        vec![
            Column::new(Head::text("Listing"), title, |waiting| waiting.title.clone()),
            Column::link(
                "Vendor",
                |waiting| format!("{TEAMS}/{}", waiting.vendor),
                |waiting| waiting.vendor_name.clone(),
            ),
            Column::words("Kind", kinds_of),
            Column::count("Assets", |waiting| waiting.asset_count),
            Column::optional_money("Price, USD", |waiting| waiting.price),
            Column::moment(Head::number("Submitted"), |waiting| waiting.submitted_at),
            Column::figures("Round", |waiting| waiting.round.to_string()),
            Column::ids_in_file(|waiting| waiting.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text(VENDOR, "Vendor, by name or ID"),
        ListFilter::choice(KIND, "Has a", kinds::choices),
        ListFilter::choice(REVIEWED_BEFORE, "Was reviewed before", resources::yes_or_no),
    ];

    fn load(reader: &Reader, operator: &Operator, request: &ListRequest) -> Result<TeamPage<WaitingListing>> {
        review_queue::page(reader, operator.platform(), &filters_of(&request.filters), request.page)
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "No listing waits for a review",
            "Listings appear here when their vendors submit them.",
            Some(("See all listings", &context.links.to(LISTINGS))),
        )
    }

    fn finish(_: &Context, content: Content) -> Content {
        content
            .with_note(html! { "Listings that vendors have submitted. The one that has waited longest comes first." })
            .with_request("/operator/v1/listings?review_status=in_review")
    }
}

fn title(context: &Context, waiting: &WaitingListing) -> Markup {
    let path = path_of(waiting.id, &filters_of(&context.query));
    html! { a.long href=(context.links.to(&path)) { bdi { (title_of(&waiting.title)) } } }
}

fn kinds_of(waiting: &WaitingListing) -> String {
    let words: Vec<String> = waiting.kinds.iter().map(|kind| text::words(kinds::words(*kind).0)).collect();
    words.join(", ")
}
