//! The list of a buyer's opportunities.

use super::{kind_word, status_badge, status_word};
use crate::{
    console::prelude::*,
    domain::opportunities::{OpportunityKind, OpportunityStatus},
    store::records::team_lists::opportunities::TeamOpportunity,
};

/// The list.
pub struct Opportunities;

impl List<Buyer> for Opportunities {
    const PATH: &'static str = paths::OPPORTUNITIES;
    const TITLE: &'static str = "Opportunities";
    const FILE_NAME: &'static str = "opportunities";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Opportunities"));

    type Row = TeamOpportunity;

    fn columns() -> Vec<Column<TeamOpportunity>> {
        vec![
            Column::new(Head::text("Opportunity"), title, |row| row.title.clone()),
            Column::words("Kind", |row| kind_word(row.kind).to_owned()),
            Column::new(
                Head::text("Status"),
                |context, row| status_badge(row.status, row.deadline, context.now()),
                |row| status_word(row.status, None, Timestamp::default()).to_owned(),
            ),
            Column::new(Head::number("Bids"), bids, |row| row.bid_count.to_string()),
            Column::count("To decide", |row| row.submitted_bid_count),
            Column::optional_time("Deadline", |row| row.deadline, text::optional_deadline),
            Column::day("Written", |row| row.created_at),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("kind", "Kind", || text::choices(kind_word)),
        ListFilter::choice("status", "Status", statuses),
        ListFilter::text("text", "Title contains"),
    ];

    fn load(reader: &Reader, buyer: &Buyer, request: &ListRequest) -> Result<TeamPage<TeamOpportunity>> {
        team_records::page(reader, buyer, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "You have not asked vendors for anything yet",
            "If the catalog does not have what you need, describe it here: listings that you would buy, or tasks that are made for \
             you. Vendors see it once you publish it.",
            Some(("Write an opportunity", &context.links.to(super::compose::NEW))),
        )
    }

    fn finish(context: &Context, content: Content) -> Content {
        let new = context.links.to(super::compose::NEW);
        content
            .with_note(
                html! { "What you ask vendors for: listings to buy, and projects for which they bid." },
            )
            .with_actions(html! { a.button.primary href=(new) { "Write an opportunity" } })
            .with_request("/v2/buyer/opportunities")
    }
}

fn title(context: &Context, row: &TeamOpportunity) -> Markup {
    html! { a.long href=(context.links.to(&paths::opportunity(row.id))) { bdi { (row.title) } } }
}

fn bids(_: &Context, row: &TeamOpportunity) -> Markup {
    html! {
        @if row.kind == OpportunityKind::Project { (text::grouped(row.bid_count)) } @else { (text::MISSING) }
    }
}

fn statuses() -> Vec<(&'static str, String)> {
    let word = |status: OpportunityStatus| status_word(status, None, Timestamp::default()).to_owned();
    text::choices(word)
}
