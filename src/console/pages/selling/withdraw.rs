//! The form that requests a withdrawal of available earnings.

use super::payout;
use crate::{
    console::prelude::*,
    operations::{money_summaries, payouts, withdrawals},
};

/// Path of the page.
pub const PATH: &str = "/selling/earnings/withdraw";

/// The page.
pub struct Withdraw;

impl Page for Withdraw {
    const PATH: &'static str = PATH;
    const TITLE: &'static str = "Withdraw earnings";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let read = visit.read(|reader, vendor| {
            Ok((money_summaries::balances(reader, vendor)?, payouts::state(reader, vendor)?))
        });
        let (balances, state) = read.await?;
        let context = &visit.context;
        let hint = html! { "For example 27000. At most " (text::money(balances.available)) "." };
        let amount = Field::decimal("amount", "Amount, USD").hint(hint).required();
        let form = html! {
            (amount.show(&visit.inputs))
            (fields::buttons(context, "Request the withdrawal", ("Back to the earnings", paths::EARNINGS)))
        };
        let body = html! {
            (payout::message(context, &state))
            (tables::facts(&[
                ("Available earnings", html! { (text::money(balances.available)) }),
                ("Pending earnings", html! { (text::money(balances.pending)) }),
            ]))
            @if state.is_set && state.waits_until.is_none() { (fields::form(context, Self::PATH, &form)) }
            @else { div.row { a.button href=(context.links.to(paths::EARNINGS)) { "Back to the earnings" } } }
            div.prose { p {
                "The amount leaves your available earnings at once. The market then pays it the way that your team has stated. If that \
                 fails, the amount comes back. A request cannot be taken back."
            } }
        };
        Ok(Content::new(Self::TITLE, body).below("Earnings", paths::EARNINGS).narrow().into())
    }
}

impl FormPage for Withdraw {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let amount = fields.required_amount("amount")?;
        let change = Change::new("request_withdrawal", "team", visit.access.team().id);
        let requested = changes::perform(visit, fields, change, move |writer, vendor| {
            withdrawals::request(writer, vendor, amount).map(|withdrawal| withdrawal.id)
        });
        requested.await?;
        Ok(Answer::done(paths::WITHDRAWALS, Notice::WithdrawalRequested))
    }
}
