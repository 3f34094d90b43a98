//! The list of the team's purchases.

use super::deals;
use crate::{
    console::prelude::*,
    domain::purchases::PurchaseStatus,
    operations::team_records,
    store::records::{Filters, pages::TeamPage, team_lists::purchases::TeamPurchase},
};

/// The list.
pub struct Purchases;

impl List for Purchases {
    const PATH: &'static str = paths::PURCHASES;
    const TITLE: &'static str = "Purchases";
    const FILE_NAME: &'static str = "purchases";
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Buying, label: "Purchases" });
    const BUDGET: Budget = Budget::Purchases;

    type Access = Buyer;
    type Row = TeamPurchase;

    fn columns() -> Vec<Column<TeamPurchase>> {
        vec![
            Column::new(
                Head::text("Listing"),
                |context, row| {
                    html! {
                        a href=(context.links.to(&paths::purchase(row.id))) { bdi { (row.listing_title) } }
                    }
                },
                |row| row.listing_title.clone(),
            ),
            Column::words("Kind", |row| deals::kind(row.kind, row.scope).to_owned()),
            Column::new(
                Head::text("Status"),
                |_, row| badge(row.status),
                |row| look(row.status).1.to_owned(),
            ),
            Column::money("Price, USD", |row| row.price),
            Column::money("Fee, USD", |row| row.buyer_fee),
            Column::money("Total, USD", TeamPurchase::total),
            Column::day("Ordered", |row| row.created_at),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter { name: "text", label: "Listing contains", values: Vec::new },
        ListFilter { name: "status", label: "Status", values: statuses },
    ];

    fn load(reader: &Reader, buyer: &Buyer, asked: &Asked) -> Result<TeamPage<TeamPurchase>> {
        let chosen = asked.filters.pairs();
        let filters = chosen.fold(Filters::default(), |filters, (name, value)| filters.with(name, value));
        team_records::page(reader, buyer, &filters, asked.page)
    }

    fn empty(context: &Context) -> Markup {
        let advice = "What your team buys appears here, with its receipt and its download.";
        tables::empty(
            "No purchases yet",
            advice,
            Some(("Search the catalog", &context.links.to(paths::CATALOG))),
        )
    }

    fn finish(_: &Context, content: Content) -> Content {
        content.with_request("/v2/listings/browse/purchases")
    }
}

/// Returns the look and the word of the status of a purchase.
pub const fn look(status: PurchaseStatus) -> (Tone, &'static str) {
    match status {
        PurchaseStatus::Pending => (Tone::Waiting, "Waits for payment"),
        PurchaseStatus::Completed => (Tone::Good, "Completed"),
        PurchaseStatus::Cancelled => (Tone::Neutral, "Canceled"),
        PurchaseStatus::Refunded => (Tone::Warning, "Refunded"),
    }
}

/// Returns the status of a purchase as a badge.
pub fn badge(status: PurchaseStatus) -> Markup {
    let (tone, word) = look(status);
    badges::badge(tone, word)
}

/// Returns the statuses of purchases with their words, for a choice.
pub fn statuses() -> Vec<(&'static str, String)> {
    text::choices(|status| look(status).1)
}
