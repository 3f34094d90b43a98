//! Pages about a vendor's sales: its start page, bids, sales, earnings, and withdrawals. No page here names a buyer.

mod asked;
pub mod bids;
pub mod convert;
pub mod earnings;
mod money_review;
mod needs;
pub mod payout;
pub mod sale;
pub mod sales;
pub mod start;
pub mod withdraw;
pub mod withdrawals;

use crate::{
    console::{
        parts::charts::{self, Bar, Chart},
        prelude::*,
    },
    operations::money_summaries::MonthlyEarnings,
    store::money_summaries::Release,
};

/// Returns the form below a review. It sends the reviewed field again. The labels are those of the buttons that carry the change out,
/// and that lead back to the form, and of the link that leaves everything as it is.
fn review_form(
    context: &Context,
    (name, value): (&str, &str),
    [confirm, change, leave]: [&str; 3],
) -> Markup {
    let content = html! {
        input type="hidden" name=(name) value=(value);
        div.row {
            button.primary name=(CONFIRMED) value="yes" { (confirm) }
            button name=(BACK_TO_FORM) value="yes" { (change) }
            a.button.quiet href=(context.links.to(paths::EARNINGS)) { (leave) }
        }
    };
    fields::form(context, &context.path, &content)
}

/// Field of the button that carries out what was reviewed.
const CONFIRMED: &str = "confirmed";

/// Field of the button that leads from the review back to the form.
const BACK_TO_FORM: &str = "again";

/// Shows earnings by month.
fn earnings_chart(by_month: &[MonthlyEarnings]) -> Markup {
    let sum = Cents(by_month.iter().map(|month| month.earned.net().0).sum());
    let since =
        by_month.first().map(|month| format!(" since 1 {}", text::month_text(month.year, month.month).0));
    let note = format!(
        "US dollars, after the fee of the market and refunds. {}{}",
        text::money(sum),
        since.unwrap_or_default()
    );
    let bar = |month: &MonthlyEarnings| {
        let (label, short) = text::month_text(month.year, month.month);
        Bar { label, short: short.to_owned(), value: Some(month.earned.net().0) }
    };
    let chart = Chart {
        title: "Earnings by month",
        note: &note,
        heads: ["Month", "Earnings, USD"],
        text: charts::amount_text,
        tick: charts::amount_tick,
        unit: 100,
    };
    chart.show(&by_month.iter().map(bar).collect::<Vec<_>>())
}

/// Returns a link styled as a button. With a refusal, the link is disabled, and the refusal is shown next to it.
fn action(context: &Context, (label, path): (&str, &str), class: &str, refusal: Option<Markup>) -> Markup {
    html! { @match refusal {
        None => { a class=(class) href=(context.links.to(path)) { (label) } }
        Some(reason) => { a.button role="link" aria-disabled="true" { (label) } span.note { (reason) } }
    } }
}

/// Shows what becomes available next, such as `$412.50 on 3 Mar 2026`.
fn release_text(release: &Release) -> Markup {
    html! { (text::money(release.amount)) " on " (text::day(release.at)) }
}

/// Returns the days that earnings are on hold, in words.
fn hold_text(days: u32) -> String {
    text::counted(u64::from(days), "day", "days")
}

/// What a refund of a sale takes back, and from where.
const REFUND_SOURCE: &str = "A refund takes back what you earned with the sale: from its own hold, or else from your available \
    earnings, then from the holds of other sales. Money that was paid out to you stays yours: if these earnings are not enough, the market \
    cannot refund the sale.";

/// Says how long future sales can be refunded. Shows nothing if the market refunds none.
fn refund_rule(context: &Context) -> Markup {
    let days = context.market().settings().purchases.refund_days;
    html! { @if days > 0 {
        p { "The market can refund a sale for " (text::counted(u64::from(days), "day", "days")) " after its payment. " (REFUND_SOURCE) }
    } }
}

/// Returns the last time at which a sale that was paid at this time can be refunded.
fn refundable_until(context: &Context, paid_at: Timestamp) -> Timestamp {
    paid_at.plus_days(i64::from(context.market().settings().purchases.refund_days))
}
