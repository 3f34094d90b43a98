//! The credits that a team has bought or asked for.

use super::where_to_pay;
use crate::{
    console::prelude::*,
    domain::{
        credit_purchases::{CreditPurchaseOperation, CreditPurchaseStatus},
        listings::Actor,
        state_machine::StateMachine,
    },
    operations::{credit_purchases, team_records},
    store::records::{Filters, pages::TeamPage, team_lists::credit_purchases::TeamCreditPurchase},
    string_enum::StringEnum,
};

/// The list.
pub struct CreditPurchases;

impl List for CreditPurchases {
    const PATH: &'static str = paths::CREDIT_PURCHASES;
    const TITLE: &'static str = "Purchases of credits";
    const FILE_NAME: &'static str = "credit-purchases";

    type Access = Member;
    type Row = TeamCreditPurchase;

    fn columns() -> Vec<Column<TeamCreditPurchase>> {
        vec![
            Column::new(
                Head::text("Requested"),
                |_, row| text::moment(row.created_at),
                |row| row.created_at.to_string(),
            ),
            Column::money("Amount, USD", |row| row.amount),
            Column::new(
                Head::text("State"),
                |_, row| {
                    let (tone, word) = state(row.status);
                    badges::badge(tone, word)
                },
                |row| state(row.status).1.to_owned(),
            ),
            Column::new(
                Head::number("Decided"),
                |_, row| text::optional_day(row.decided_at),
                |row| row.decided_at.map(|at| at.to_string()).unwrap_or_default(),
            ),
            Column::new(
                Head::text("Reference"),
                |_, row| html! { span.mono.long { (row.id) } },
                |row| row.id.to_string(),
            ),
            Column::new(Head::text("Request"), cancel_link, |_| String::new()),
        ]
    }

    fn filters() -> Vec<ListFilter> {
        vec![ListFilter { name: "status", label: "State", values: states }]
    }

    fn load(reader: &Reader, member: &Member, asked: &Asked) -> Result<TeamPage<TeamCreditPurchase>> {
        let filters = match asked.filters.get("status") {
            Some(status) => Filters::default().with("status", status),
            None => Filters::default(),
        };
        team_records::page(reader, member, &filters, asked.page)
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
            .below("Wallet", paths::WALLET)
            .with_actions(html! { a.button.primary href=(buy) { "Buy credits" } })
    }
}

const fn state(status: CreditPurchaseStatus) -> (Tone, &'static str) {
    match status {
        CreditPurchaseStatus::Pending => (Tone::Waiting, "Waits for payment"),
        CreditPurchaseStatus::Completed => (Tone::Good, "Completed"),
        CreditPurchaseStatus::Rejected => (Tone::Bad, "Rejected"),
        CreditPurchaseStatus::Cancelled => (Tone::Neutral, "Canceled"),
    }
}

fn states() -> Vec<(&'static str, String)> {
    CreditPurchaseStatus::ALL.iter().map(|status| (status.as_str(), state(*status).1.to_owned())).collect()
}

fn cancel_path(id: uuid::Uuid) -> String {
    format!("{}/{id}/cancel", paths::CREDIT_PURCHASES)
}

fn cancel_link(context: &Context, row: &TeamCreditPurchase) -> Markup {
    html! {
        @if row.status.allows(CreditPurchaseOperation::Cancel) {
            a href=(context.links.to(&cancel_path(row.id))) { "Cancel…" span.out { " " (text::money(row.amount)) } }
        } @else { (text::MISSING) }
    }
}

/// The page on which a request is canceled.
pub struct CancelRequest;

impl Page for CancelRequest {
    const PATH: &'static str = "/wallet/credit-purchases/{id}/cancel";
    const TITLE: &'static str = "Cancel a request for credits";

    type Access = Member;

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let id = visit.id(0)?;
        let find = move |reader: &Reader, member: &Member| {
            team_records::find::<TeamCreditPurchase>(reader, member, id)
        };
        let found = visit.read(find).await?;
        let body = if found.status.allows(CreditPurchaseOperation::Cancel) {
            let lost = html! {
                    p { "You asked for " b { (text::money(found.amount)) } " of credits on " (text::moment(found.created_at)) "." }
                    p { "If you have paid already, do not cancel: the market could not match your payment." }
            };
            fields::question(&visit.context, &lost, ("danger", "Cancel the request"), paths::CREDIT_PURCHASES)
        } else {
            let (_, word) = state(found.status);
            let reason = html! { "It cannot be canceled: its state is “" (word) "”." };
            html! {
                (fields::refusal(&visit.context))
                (badges::message(Tone::Warning, &reason))
                div.row { a.button.quiet href=(visit.links.to(paths::CREDIT_PURCHASES)) { "Back to the requests" } }
            }
        };
        let content = Content::new(Self::TITLE, body)
            .below("Wallet", paths::WALLET)
            .below("Purchases of credits", paths::CREDIT_PURCHASES);
        Ok(content.narrow().into())
    }
}

impl FormPage for CancelRequest {
    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("cancel_credit_purchase", "credit_purchase", id);
        let cancel = changes::perform(visit, fields, change, move |writer, member| {
            credit_purchases::cancel(writer, member, Actor::Team, id).map(drop)
        });
        cancel.await?;
        Ok(Answer::done(paths::CREDIT_PURCHASES, Notice::CreditRequestCanceled))
    }
}
