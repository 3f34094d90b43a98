//! The credits that a team has bought or asked for.

use super::where_to_pay;
use crate::{
    console::prelude::*,
    domain::{
        credit_purchases::{CreditPurchaseOperation, CreditPurchaseStatus},
        state_machine::StateMachine,
    },
    operations::credit_purchases,
    store::records::team_lists::credit_purchases::TeamCreditPurchase,
};

/// The list.
pub struct CreditPurchases;

impl List<Member> for CreditPurchases {
    const PATH: &'static str = paths::CREDIT_PURCHASES;
    const TITLE: &'static str = "Requests for credits";

    type Row = TeamCreditPurchase;

    fn columns() -> Vec<Column<TeamCreditPurchase>> {
        vec![
            Column::moment(Head::text("Requested"), |row| row.created_at),
            Column::money("Amount, USD", |row| row.amount),
            Column::badge("Status", |row| state(row.status)),
            Column::optional_day("Decided", |row| row.decided_at),
            Column::id("Reference", |row| row.id),
            Column::new(Head::text("Request"), cancel_link, |_| String::new()),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[ListFilter::choice("status", "Status", states)];

    fn load(reader: &Reader, member: &Member, request: &ListRequest) -> Result<TeamPage<TeamCreditPurchase>> {
        team_records::page(reader, member, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        let link = context.links.to(paths::BUY_CREDITS);
        tables::empty(
            "Your team has not bought credits yet",
            "You ask for an amount, pay it outside the market, and get the credits when the market has your payment.",
            Some(("Buy credits", &link)),
        )
    }

    fn finish(context: &Context, mut content: Content) -> Content {
        let buy = context.links.to(paths::BUY_CREDITS);
        content.body =
            html! { (content.body) (tables::section("payment", "Payment", &where_to_pay(context))) };
        content
            .with_parent("Wallet", paths::WALLET)
            .with_actions(html! { a.button.primary href=(buy) { "Buy credits" } })
    }
}

/// Returns the look and the word of the status of a request.
pub const fn state(status: CreditPurchaseStatus) -> (Tone, &'static str) {
    match status {
        CreditPurchaseStatus::Pending => (Tone::Waiting, "Waits for payment"),
        CreditPurchaseStatus::Completed => (Tone::Good, "Completed"),
        CreditPurchaseStatus::Rejected => (Tone::Bad, "Rejected"),
        CreditPurchaseStatus::Cancelled => (Tone::Neutral, "Canceled"),
    }
}

/// Returns the statuses of requests with their words, for a choice.
pub fn states() -> Vec<(&'static str, String)> {
    text::choices(|status| state(status).1)
}

fn cancel_link(context: &Context, row: &TeamCreditPurchase) -> Markup {
    let cancel = || context.links.to(&format!("{}/{}/cancel", paths::CREDIT_PURCHASES, row.id));
    html! {
        @if row.status.allows(CreditPurchaseOperation::Cancel) {
            a href=(cancel()) { "Cancel…" span.out { " " (text::money(row.amount)) } }
        } @else { (text::MISSING) }
    }
}

/// The page on which a request is canceled.
pub struct CancelRequest;

impl ConfirmationPage<Member, TeamCreditPurchase> for CancelRequest {
    const QUESTION: Question<Member, TeamCreditPurchase> = Question {
        path: "/wallet/credit-purchases/{id}/cancel",
        title: "Cancel a request for credits",
        change: ("cancel_credit_purchase", "credit_purchase"),
        notice: Notice::CreditRequestCanceled,
        find: |context, member, id| team_records::find(context.rows, member, id),
        ask: |_, found| ask_cancel(found),
        perform: |writer, member, id| credit_purchases::cancel(writer, member, Actor::Team, id).map(drop),
        next: |_| paths::CREDIT_PURCHASES.to_owned(),
    };
}

fn ask_cancel(found: &TeamCreditPurchase) -> Confirmation {
    let lost = html! {
        p { "You asked for " b { (text::money(found.amount)) } " of credits on " (text::moment(found.created_at)) "." }
        p { "If you have paid already, do not cancel: the market could not match your payment." }
    };
    Confirmation {
        page: Content::new(CancelRequest::QUESTION.title, Markup::default())
            .with_parent("Wallet", paths::WALLET)
            .with_parent("Requests for credits", paths::CREDIT_PURCHASES),
        prompt: if found.status.allows(CreditPurchaseOperation::Cancel) {
            Ok((lost, "danger", "Cancel the request".to_owned()))
        } else {
            Err(html! { "It cannot be canceled: its status is “" (state(found.status).1) "”." })
        },
        leave: ("Back to the requests", paths::CREDIT_PURCHASES.to_owned()),
    }
}
