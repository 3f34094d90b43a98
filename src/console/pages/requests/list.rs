//! The list of requests that a vendor can answer.

use super::status_words;
use crate::{
    console::{
        pages::opportunities::{budget, kind_word},
        prelude::*,
    },
    domain::{assets::Kind, opportunities::BudgetUnit, typed_numbers::parse_amount},
    operations::opportunities,
    store::records::team_lists::requests::OpenRequest,
};

/// The list.
pub struct Requests;

impl List<Vendor> for Requests {
    const PATH: &'static str = paths::DATA_REQUESTS;
    const TITLE: &'static str = "Requests for data";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Requests"));

    type Row = OpenRequest;

    fn columns() -> Vec<Column<OpenRequest>> {
        vec![
            Column::new(Head::text("Request"), title, |row| row.title.clone()),
            Column::words_in_file("Buyer", |row| row.owner_name.clone()),
            Column::words("What is wanted", |row| kind_word(row.kind).to_owned()),
            Column::words("Kinds of data", |row| accepted(&row.accepted_asset_types)),
            Column::figures("Budget, USD", |row: &OpenRequest| budget(&row.metadata)).only_in_table(),
            Column::amounts_in_file("Budget from, USD", |row| {
                row.metadata.budget_min.and_then(Cents::from_dollars)
            }),
            Column::amounts_in_file("Budget to, USD", |row| {
                row.metadata.budget_max.and_then(Cents::from_dollars)
            }),
            Column::words_in_file("Budget", unit),
            Column::new(
                Head::text("Tags"),
                |_, row| html! { bdi.long { (row.metadata.tags.join(", ")) } },
                |row| row.metadata.tags.join(", "),
            ),
            Column::optional_time("Deadline", |row| row.deadline, text::optional_deadline),
            Column::new(Head::text("Your bid"), own_bid, own_bid_text),
            Column::day("Published", |row| row.published_at),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("text", "Title, tags, or buyer contain"),
        ListFilter::choice("kind", "What is wanted", || text::choices(kind_word)),
        ListFilter::choice("asset_type", "Kind of data", || text::choices(kinds::plural)),
        ListFilter::choice("budget_unit", "Budget", || text::choices(unit_words)),
        ListFilter::amount("max_budget", "Budget starts at or below, USD"),
    ];

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<OpenRequest>> {
        let mut filters = request.record_filters_of(&["text", "kind", "asset_type", "budget_unit"]);
        if let Some(amount) = request.filters.get("max_budget").and_then(parse_amount) {
            filters = filters.with("max_budget", amount.0);
        }
        opportunities::requests_page(reader, vendor, &filters, request.page)
    }

    fn empty(_: &Context) -> Markup {
        let advice = "Buyers who do not find something in the catalog ask for it here. You are notified when a buyer publishes a request.";
        tables::empty("There are no open requests", advice, None)
    }

    fn finish(context: &Context, content: Content) -> Content {
        let bids = context.links.to(paths::PROJECT_BIDS);
        content
            .with_note(html! { "What buyers look for: listings that they would buy, and projects on which you can bid." })
            .with_actions(html! { a.button href=(bids) { "Your bids on projects" } })
            .with_request("/v2/opportunities?sort=recent")
    }
}

fn title(context: &Context, row: &OpenRequest) -> Markup {
    html! {
        a.long href=(context.links.to(&paths::data_request(row.id))) { bdi { (row.title) } }
        span.note { " of " bdi { (row.owner_name) } }
    }
}

/// Returns the kinds of data that a request accepts, in words.
fn accepted(kinds: &[Kind]) -> String {
    if kinds.is_empty() {
        return "any".to_owned();
    }
    kinds.iter().map(|kind| kinds::words(*kind).1).collect::<Vec<_>>().join(", ")
}

fn own_bid(_: &Context, row: &OpenRequest) -> Markup {
    html! { @match row.own_bid { Some(status) => (badges::of(status_words(status))), None => (text::MISSING) } }
}

fn own_bid_text(row: &OpenRequest) -> String {
    row.own_bid.map(|status| status_words(status).1.to_owned()).unwrap_or_default()
}

fn unit(row: &OpenRequest) -> String {
    row.metadata.budget_unit.map(unit_words).unwrap_or_default().to_owned()
}

const fn unit_words(unit: BudgetUnit) -> &'static str {
    match unit {
        BudgetUnit::PerTask => "For each task",
        BudgetUnit::Total => "In total",
    }
}
