//! The list of a buyer's opportunities.

use super::{kind_word, status_word, status_words};
use crate::{
    console::prelude::*,
    domain::opportunities::{OpportunityKind, OpportunityStatus},
    store::records::team_lists::opportunities::TeamOpportunity,
};

/// The list.
pub struct Opportunities;

/// An opportunity with its state at the time of the request.
pub struct Listed {
    opportunity: TeamOpportunity,
    status: (Tone, &'static str),
}

impl List<Buyer> for Opportunities {
    const PATH: &'static str = paths::OPPORTUNITIES;
    const TITLE: &'static str = "Opportunities";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Opportunities"));

    type Row = Listed;

    fn columns() -> Vec<Column<Listed>> {
        vec![
            Column::link(
                "Opportunity",
                |row| paths::opportunity(row.opportunity.id),
                |row| row.opportunity.title.clone(),
            ),
            Column::words("Kind", |row| kind_word(row.opportunity.kind).to_owned()),
            Column::badge("Status", |row| row.status),
            Column::new(Head::number("Bids"), bids, |row| {
                bid_count(row).map_or_else(String::new, |count| count.to_string())
            }),
            Column::count("To decide", |row| row.opportunity.submitted_bid_count),
            Column::optional_time("Deadline", |row| row.opportunity.deadline, text::optional_deadline),
            Column::day("Written", |row| row.opportunity.created_at),
            Column::ids_in_file(|row| row.opportunity.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("kind", "Kind", || text::choices(kind_word)),
        ListFilter::choice("status", "Status", statuses),
        ListFilter::text("text", "Title contains"),
    ];

    fn load(reader: &Reader, buyer: &Buyer, request: &ListRequest) -> Result<TeamPage<Listed>> {
        let found: TeamPage<TeamOpportunity> =
            team_records::page(reader, buyer, &request.record_filters(), request.page)?;
        Ok(found.map(|opportunity| {
            let status = status_words(opportunity.status, opportunity.deadline, reader.now);
            Listed { opportunity, status }
        }))
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "You have not asked vendors for anything yet",
            "If the catalog does not have what you need, describe it here: listings that you would buy, or tasks that are made for \
             you. Vendors see it once you publish it.",
            Some(("Write an opportunity", &context.links.to(super::compose::NewOpportunity::PATH))),
        )
    }

    fn finish(context: &Context, content: Content) -> Content {
        let new = context.links.to(super::compose::NewOpportunity::PATH);
        content
            .with_note(
                html! { "What you ask vendors for: listings to buy, and projects for which they bid." },
            )
            .with_actions(html! { a.button.primary href=(new) { "Write an opportunity" } })
            .with_request("/v2/buyer/opportunities")
    }
}

/// Returns the number of bids; `None` if vendors cannot bid.
fn bid_count(Listed { opportunity, .. }: &Listed) -> Option<u64> {
    (opportunity.kind == OpportunityKind::Project).then_some(opportunity.bid_count)
}

fn bids(_: &Context, row: &Listed) -> Markup {
    html! { (bid_count(row).map_or_else(|| text::MISSING.to_owned(), text::grouped)) }
}

fn statuses() -> Vec<(&'static str, String)> {
    let word = |status: OpportunityStatus| status_word(status, None, Timestamp::default()).to_owned();
    text::choices(word)
}
