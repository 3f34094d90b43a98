//! The form that requests a withdrawal of available earnings.

use super::payout;
use crate::{
    console::prelude::*,
    domain::money::Cents,
    operations::{
        money_summaries::{self, EarningsOutlook},
        payouts::{self, PayoutState},
        withdrawals,
    },
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
            Ok((money_summaries::outlook(reader, vendor, 1)?, payouts::state(reader, vendor)?))
        });
        let (outlook, state) = read.await?;
        let balances = outlook.balances;
        let context = &visit.context;
        let hint = html! { "For example 27000. At most " (text::money(balances.available)) "." };
        let amount = Field::decimal("amount", "Amount, USD").hint(hint).required();
        let form = html! {
            (amount.show(&visit.inputs))
            (fields::buttons(context, "Request the withdrawal", ("Back to the earnings", paths::EARNINGS)))
        };
        let body = html! {
            (payout::message(context, &state))
            @if state.is_set { (earliest(&outlook, &state)) }
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

/// If nothing can be withdrawn now, says when something can, and how much. Two waits have to end: the hold of earnings,
/// and the wait after a change of the payout details.
fn earliest(outlook: &EarningsOutlook, state: &PayoutState) -> Markup {
    let available = outlook.balances.available;
    let (at, amount) = match (state.waits_until, outlook.releases.first()) {
        (Some(until), _) if available.0 > 0 => {
            let released = outlook.releases.iter().filter(|release| release.at <= until);
            (until, Cents(available.0 + released.map(|release| release.amount.0).sum::<i64>()))
        }
        (None, Some(release)) if available.0 == 0 => (release.at, release.amount),
        (Some(until), Some(first)) => {
            let at = until.max(first.at);
            let released = outlook.releases.iter().filter(|release| release.at <= at);
            (at, Cents(released.map(|release| release.amount.0).sum()))
        }
        _ => return Markup::default(),
    };
    html! { p { "Earliest withdrawal: " b { (text::day(at)) ", " (text::money(amount)) } "." } }
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
