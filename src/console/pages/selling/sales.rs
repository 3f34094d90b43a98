//! The sales of the team.

use std::borrow::Cow;

use crate::{
    console::{pages::deals, prelude::*},
    domain::{purchases::PaidStatus, record_filters::Period},
    store::records::team_lists::sales::TeamSale,
};

/// The list.
pub struct Sales;

impl List<Vendor> for Sales {
    const PATH: &'static str = paths::SALES;
    const TITLE: &'static str = "Sales";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Sales"));
    const BUDGET: Budget = Budget::Sales;

    type Row = TeamSale;

    fn columns() -> Vec<Column<TeamSale>> {
        vec![
            Column::link("Listing", |row| path(row.id), |row| row.listing_title.clone()),
            // On a narrow screen, the first columns are visible.
            Column::money("Earnings, USD", TeamSale::earnings),
            Column::new(Head::text("Status"), |_, row| badge(row), |row| word(row).into_owned()),
            Column::money("Price, USD", |row| row.price),
            Column::money("Fee, USD", |row| row.platform_fee),
            Column::words("Kind", |row| deals::kind(row.kind, row.scope).to_owned()),
            Column::day("Sold", |row| row.paid_at),
            Column::optional_day("Available from", TeamSale::available_from),
            Column::id("ID", |row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("text", "Listing contains"),
        ListFilter::choice("kind", "Kind", deals::kinds),
        ListFilter::choice("status", "Status", || text::choices(status_word)),
        ListFilter::day("sold_from", "Sold from the day (UTC)"),
        ListFilter::day("sold_until", "Sold until the day (UTC)"),
    ];

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<TeamSale>> {
        let mut filters = request.record_filters_of(&["text", "kind", "status"]);
        // The list has already refused invalid days.
        let day = |name: &str| request.filters.get(name);
        let period = Period::parse(day("sold_from"), day("sold_until")).unwrap_or_default();
        for (name, time) in [("since", period.since), ("end", period.end)] {
            if let Some(time) = time {
                filters = filters.with(name, time.0);
            }
        }
        team_records::page(reader, vendor, &filters, request.page)
    }

    fn empty(context: &Context) -> Markup {
        let advice = "Each sale of a published listing appears here, with what you earn and when it becomes available.";
        tables::empty("No sales yet", advice, Some(("Your listings", &context.links.to(paths::OWN_LISTINGS))))
    }

    fn finish(_: &Context, content: Content) -> Content {
        content.with_request("/v2/listings/sales")
    }
}

/// Returns the path of a sale.
pub fn path(id: Uuid) -> String {
    format!("{}/{id}", paths::SALES)
}

/// Returns the time until which the earnings of a sale are on hold; `None` if they are not.
fn held_until(sale: &TeamSale) -> Option<Timestamp> {
    sale.available_at.filter(|_| sale.held.is_some() && sale.status == PaidStatus::Completed)
}

/// Returns the word for a status, by which the list is filtered.
const fn status_word(status: PaidStatus) -> &'static str {
    match status {
        PaidStatus::Completed => "Paid",
        PaidStatus::Refunded => "Refunded",
    }
}

/// Returns the words for the state of a sale in a file.
fn word(sale: &TeamSale) -> Cow<'static, str> {
    match held_until(sale) {
        Some(until) => format!("Paid, on hold until {}", text::day_text(until)).into(),
        None => status_word(sale.status).into(),
    }
}

/// Returns the state of a sale as a badge.
pub fn badge(sale: &TeamSale) -> Markup {
    let held_until = held_until(sale);
    let tone = match sale.status {
        PaidStatus::Refunded => Tone::Warning,
        PaidStatus::Completed if held_until.is_some() => Tone::Waiting,
        PaidStatus::Completed => Tone::Good,
    };
    let words = html! {
        (status_word(sale.status))
        @if let Some(until) = held_until { ", on hold until " (text::day(until)) }
    };
    badges::badge_of(tone, &words)
}
