//! The form that requests a withdrawal of available earnings, and its review.

use super::{
    BACK_TO_FORM, CONFIRMED,
    money_review::{self, AMOUNT},
    payout,
};
use crate::{
    console::prelude::*,
    operations::{
        money_summaries::{self, EarningsOutlook},
        payouts::{self, PayoutState},
        withdrawals,
    },
};

/// Message if there are no earnings to convert or withdraw.
pub const NOTHING_AVAILABLE: &str = "Nothing is available yet.";

/// The page.
pub struct Withdraw;

impl Page<Vendor> for Withdraw {
    const PATH: &'static str = "/selling/earnings/withdraw";
    const TITLE: &'static str = "Withdraw earnings";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        form(visit, &visit.inputs).await
    }
}

async fn form(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Answer> {
    let read = visit.read(|reader, vendor| {
        Ok((money_summaries::outlook(reader, vendor, 1)?, payouts::state(reader, vendor)?))
    });
    let (outlook, state) = read.await?;
    let balances = outlook.balances;
    let context = &visit.context;
    let form = html! {
        (money_review::amount_field(balances.available).show(inputs))
        (fields::buttons(context, "Review the withdrawal", ("Back to the earnings", paths::EARNINGS)))
    };
    let body = html! {
        (payout::message(context, &state))
        @if state.is_set { (earliest(&outlook, &state)) }
        (tables::facts(&[
            ("Available earnings", html! { (text::money(balances.available)) }),
            ("Pending earnings", html! { (text::money(balances.pending)) }),
        ]))
        @if state.is_set && state.waits_until.is_none() { (fields::form(context, Withdraw::PATH, &form)) }
        @else { div.row { a.button href=(context.links.to(paths::EARNINGS)) { "Back to the earnings" } } }
        (consequences())
    };
    Ok(Content::new(Withdraw::TITLE, body).with_parent("Earnings", paths::EARNINGS).narrow().into())
}

fn consequences() -> Markup {
    html! { div.prose { p {
        "The amount leaves your available earnings at once. The market then pays it the way that your team has stated. If that fails, \
         the amount comes back. A request cannot be taken back."
    } } }
}

/// Returns why nothing can be withdrawn now; `None` if a withdrawal is possible.
pub fn refusal(available: Cents, state: &PayoutState) -> Option<Markup> {
    match state {
        PayoutState { is_set: false, .. } => Some(html! { "State first how the market pays your team." }),
        PayoutState { waits_until: Some(until), .. } => {
            Some(html! { "Possible again from " (text::day(*until)) " on." })
        }
        _ => (available.0 <= 0).then(|| html! { (NOTHING_AVAILABLE) }),
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
    let released = Cents(amount.0 - available.0.max(0));
    html! { p {
        "Earliest withdrawal: " b { (text::day(at)) ", " (text::money(amount)) }
        @if available.0 > 0 && released.0 > 0 { ", including " (text::money(released)) " released until then" }
        "."
    } }
}

impl FormPage<Vendor> for Withdraw {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(BACK_TO_FORM) {
            return form(visit, &Inputs::kept(fields.clone())).await;
        }
        let amount = fields.required_amount(AMOUNT)?;
        if !fields.is_checked(CONFIRMED) {
            let read = visit.read(move |reader, vendor| withdrawals::before_request(reader, vendor, amount));
            let balances = [("Earnings, available", read.await?.available, Cents(-amount.0))];
            let label = format!("Withdraw {}", text::money(amount));
            let shown = (amount, label.as_str());
            return Ok(money_review::page(&visit.context, shown, &balances, &consequences()).into());
        }
        let change = Change::new("request_withdrawal", "team", visit.access.team().id);
        let requested = changes::perform(visit, fields, change, move |writer, vendor| {
            withdrawals::request(writer, vendor, amount).map(|withdrawal| withdrawal.id)
        });
        requested.await?;
        Ok(Answer::done(paths::WITHDRAWALS, Notice::WithdrawalRequested))
    }
}
