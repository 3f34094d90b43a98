//! The list of the team's purchases.

use super::deals;
use crate::{
    console::prelude::*, domain::purchases::PurchaseStatus,
    store::records::team_lists::purchases::TeamPurchase,
};

/// The list.
pub struct Purchases;

impl List<Buyer> for Purchases {
    const PATH: &'static str = paths::PURCHASES;
    const TITLE: &'static str = "Purchases";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Purchases"));
    const BUDGET: Budget = Budget::Purchases;

    type Row = TeamPurchase;

    fn columns() -> Vec<Column<TeamPurchase>> {
        vec![
            Column::link("Listing", |row| paths::purchase(row.id), |row| row.listing_title.clone()),
            Column::words("Kind", |row| deals::kind(row.kind, row.scope).to_owned()),
            Column::badge("Status", |row| tone_and_label(row.status)),
            Column::money("Price, USD", |row| row.price),
            Column::money("Fee, USD", |row| row.buyer_fee),
            Column::money("Total, USD", TeamPurchase::total),
            Column::day("Ordered", |row| row.created_at),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] =
        &[ListFilter::text("text", "Listing contains"), ListFilter::choice("status", "Status", statuses)];

    fn load(reader: &Reader, buyer: &Buyer, request: &ListRequest) -> Result<TeamPage<TeamPurchase>> {
        team_records::page(reader, buyer, &request.record_filters(), request.page)
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

/// Returns the tone and the label of the status of a purchase.
pub const fn tone_and_label(status: PurchaseStatus) -> (Tone, &'static str) {
    match status {
        PurchaseStatus::Pending => (Tone::Waiting, "Waits for payment"),
        PurchaseStatus::Completed => (Tone::Good, "Completed"),
        PurchaseStatus::Cancelled => (Tone::Neutral, "Canceled"),
        PurchaseStatus::Refunded => (Tone::Warning, "Refunded"),
    }
}

/// Returns the statuses of purchases with their words, for a choice.
pub fn statuses() -> Vec<(&'static str, String)> {
    text::choices(|status| tone_and_label(status).1)
}
