//! Pages of operators, who run the market.

mod announcements;
mod asset_types;
mod assets;
mod audit;
mod balances;
mod bids;
mod credit_purchases;
mod deliveries;
mod estimations;
mod events;
mod field_changes;
mod figures;
mod grants;
mod hidden_listings;
mod inputs;
mod jobs;
mod keys;
mod ledger;
mod listing_forms;
mod listing_steps;
mod listings;
mod maintenance;
mod market;
mod money_previews;
mod notifications;
mod opportunities;
mod opportunity_forms;
mod paths;
mod prelude;
mod project_bids;
mod purchases;
mod quality_runs;
mod review;
mod search;
mod settings;
mod start;
mod tasks;
mod tasksets;
mod taxonomy;
mod team_details;
mod teams;
mod uploads;
mod wallet_changes;
mod wallets;
mod webhook_forms;
mod webhooks;
mod withdrawals;
mod worlds;

use crate::console::{navigation::PageRow, resources};

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    [
        start_rows(),
        review::rows(),
        market::rows(),
        resources::rows::<bids::Bids>(),
        figures::rows(),
        money(),
        system(),
        market::taxonomy(),
    ]
    .concat()
}

/// Returns the rows of the start page and the search.
fn start_rows() -> Vec<PageRow> {
    vec![PageRow::page(start::Start), PageRow::page(search::SearchPage)]
}

/// Returns the rows of what is about money.
fn money() -> Vec<PageRow> {
    let mut rows: Vec<PageRow> = [
        resources::rows::<purchases::Purchases>(),
        resources::rows::<credit_purchases::CreditPurchases>(),
        resources::rows::<withdrawals::Withdrawals>(),
        resources::rows::<wallets::Wallets>(),
        resources::rows::<wallet_changes::Adjustments>(),
        resources::rows::<wallet_changes::Conversions>(),
        resources::rows::<ledger::LedgerEntries>(),
    ]
    .concat();
    rows.push(PageRow::page(balances::Balances));
    rows
}

/// Returns the rows of what runs the market.
fn system() -> Vec<PageRow> {
    let mut rows = resources::rows::<jobs::Jobs>();
    rows.extend(webhook_forms::rows());
    rows.extend(resources::rows::<deliveries::Deliveries>());
    rows.extend([
        PageRow::page(events::list::Events).of_kind(events::EVENT),
        PageRow::page(events::live::LiveEvents),
        PageRow::page(events::detail::EventPage),
    ]);
    rows.extend(resources::rows::<audit::Audit>());
    rows.extend(resources::rows::<notifications::Notifications>());
    rows.extend([
        PageRow::page(announcements::Announcements),
        PageRow::form(announcements::Announce),
        PageRow::action(announcements::DeleteAnnouncement),
        PageRow::form(maintenance::StartMaintenance),
        PageRow::action(maintenance::EndMaintenance),
        PageRow::page(settings::Settings),
    ]);
    rows.extend(worlds::rows());
    rows
}
