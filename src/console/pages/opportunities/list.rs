//! The list of a buyer's opportunities.

use maud::{Markup, html};

use super::{kind_word, status_badge, status_word};
use crate::{
    console::{
        answer::Content,
        lists::{Asked, Column, List, ListFilter},
        navigation::{NavigationItem, Section},
        parts::{
            tables::{self, Head},
            text,
        },
        paths,
        visit::Context,
    },
    domain::{
        opportunities::{OpportunityKind, OpportunityStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    operations::{access::Buyer, team_records},
    store::records::{Filters, pages::TeamPage, team_lists::opportunities::TeamOpportunity},
    string_enum::StringEnum,
};

/// The list.
pub struct Opportunities;

impl List for Opportunities {
    const PATH: &'static str = paths::OPPORTUNITIES;
    const TITLE: &'static str = "Opportunities";
    const FILE_NAME: &'static str = "opportunities";
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Buying, label: "Opportunities" });

    type Access = Buyer;
    type Row = TeamOpportunity;

    fn columns() -> Vec<Column<TeamOpportunity>> {
        vec![
            Column { head: Head::text("Opportunity"), show: title, text: |row| row.title.clone() },
            Column {
                head: Head::text("Kind"),
                show: |_, row| html! { (kind_word(row.kind)) },
                text: |row| kind_word(row.kind).to_owned(),
            },
            Column {
                head: Head::text("State"),
                show: |context, row| status_badge(row.status, row.deadline, context.now()),
                // A file says what is stored, whenever it is read.
                text: |row| status_word(row.status, None, Timestamp::default()).to_owned(),
            },
            Column { head: Head::number("Bids"), show: bids, text: |row| row.bid_count.to_string() },
            Column {
                head: Head::number("To decide"),
                show: |_, row| html! { (text::grouped(row.submitted_bid_count)) },
                text: |row| row.submitted_bid_count.to_string(),
            },
            Column {
                head: Head::number("Deadline"),
                show: |_, row| text::optional_day(row.deadline),
                text: |row| optional_time(row.deadline),
            },
            Column {
                head: Head::number("Written"),
                show: |_, row| text::day(row.created_at),
                text: |row| row.created_at.to_string(),
            },
        ]
    }

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter { name: "kind", label: "Kind", values: kinds },
            ListFilter { name: "status", label: "State", values: statuses },
            ListFilter { name: "text", label: "Title contains", values: Vec::new },
        ]
    }

    fn load(reader: &Reader, buyer: &Buyer, asked: &Asked) -> Result<TeamPage<TeamOpportunity>> {
        let filters = ["kind", "status", "text"].into_iter().fold(Filters::default(), |filters, name| {
            match asked.filters.get(name) {
                Some(value) => filters.with(name, value),
                None => filters,
            }
        });
        team_records::page(reader, buyer, &filters, asked.page)
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

fn optional_time(time: Option<Timestamp>) -> String {
    time.map(|time| time.to_string()).unwrap_or_default()
}

fn kinds() -> Vec<(&'static str, String)> {
    OpportunityKind::ALL.iter().map(|kind| (kind.as_str(), kind_word(*kind).to_owned())).collect()
}

fn statuses() -> Vec<(&'static str, String)> {
    let word = |status: OpportunityStatus| status_word(status, None, Timestamp::default()).to_owned();
    OpportunityStatus::ALL.iter().map(|status| (status.as_str(), word(*status))).collect()
}
