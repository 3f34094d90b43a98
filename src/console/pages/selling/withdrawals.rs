//! The withdrawals of the team's earnings.

use super::withdraw;
use crate::{
    console::prelude::*, domain::withdrawals::WithdrawalStatus,
    store::records::team_lists::withdrawals::TeamWithdrawal,
};

/// The list. A team that no longer sells still sees what it has withdrawn.
pub struct Withdrawals;

impl List<Member> for Withdrawals {
    const PATH: &'static str = paths::WITHDRAWALS;
    const TITLE: &'static str = "Withdrawals";

    type Row = TeamWithdrawal;

    fn columns() -> Vec<Column<TeamWithdrawal>> {
        vec![
            Column::moment(Head::text("Requested"), |row| row.requested_at),
            Column::money("Amount, USD", |row| row.amount),
            Column::badge("Status", |row| state(row.status)),
            Column::optional_day("Paid or failed", |row| row.decided_at),
            Column::id("ID", |row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] =
        &[ListFilter::choice("status", "Status", || text::choices(|status| state(status).1))];

    fn load(reader: &Reader, member: &Member, request: &ListRequest) -> Result<TeamPage<TeamWithdrawal>> {
        team_records::page(reader, member, &request.record_filters(), request.page)
    }

    fn empty(_: &Context) -> Markup {
        tables::empty(
            "No withdrawals yet",
            "Available earnings can be withdrawn; the market pays them out.",
            None,
        )
    }

    fn finish(context: &Context, content: Content) -> Content {
        let content = if context.team().is_some_and(|team| team.is_vendor) {
            content.with_parent("Earnings", paths::EARNINGS).with_actions(
                html! { a.button.primary href=(context.links.to(withdraw::Withdraw::PATH)) { "Withdraw" } },
            )
        } else {
            content.with_parent("Wallet", paths::WALLET)
        };
        content.with_note(html! { "A withdrawal that fails is posted back to your available earnings." })
    }
}

const fn state(status: WithdrawalStatus) -> (Tone, &'static str) {
    match status {
        WithdrawalStatus::Requested => (Tone::Waiting, "Requested"),
        WithdrawalStatus::Paid => (Tone::Good, "Paid"),
        WithdrawalStatus::Failed => (Tone::Bad, "Failed, posted back"),
    }
}
