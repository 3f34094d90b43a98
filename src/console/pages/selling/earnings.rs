//! The earnings of the team: what is available, what is on hold and until when, and the months.

use super::{action, convert, earnings_chart, hold_text, payout, refund_rule, release_text, withdraw};
use crate::{
    console::{pages::wallet::entries, prelude::*},
    operations::{
        money_summaries::{self, EarningsOutlook},
        payouts,
    },
    store::money_summaries::Release,
};

/// Number of months of the chart.
const MONTHS: u32 = 12;

/// The page.
pub struct Earnings;

impl Page<Vendor> for Earnings {
    const PATH: &'static str = paths::EARNINGS;
    const TITLE: &'static str = "Earnings";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Earnings"));

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let read = visit.read(|reader, vendor| {
            Ok((money_summaries::outlook(reader, vendor, MONTHS)?, payouts::state(reader, vendor)?))
        });
        let (outlook, payout) = read.await?;
        let context = &visit.context;
        let link = |path: &str| context.links.to(path);
        let body = html! {
            (payout::message(context, &payout))
            (figures(&outlook))
            (earnings_chart(&outlook.by_month))
            (tables::section("releases", "Earnings on hold", &html! {
                (releases(context, &outlook))
                div.note { (refund_rule(context)) }
            }))
            (tables::section("more", "More", &html! { ul {
                li { a href=(link(entries::EarningsEntries::PATH)) { "All entries of the earnings" } ", also as a file" }
                li { a href=(link(paths::SALES)) { "Sales" } }
                li { a href=(link(paths::WITHDRAWALS)) { "Withdrawals" } }
                li { a href=(link(paths::PAYOUT_SETUP)) { "How the market pays your team" } }
            } }))
        };
        let available = outlook.balances.available;
        let (nothing, refusal) = (
            (available.0 <= 0).then(|| html! { (withdraw::NOTHING_AVAILABLE) }),
            withdraw::refusal(available, &payout),
        );
        let actions = html! {
            (action(context, ("Convert into credits", convert::Convert::PATH), "button", nothing))
            (action(context, ("Withdraw", withdraw::Withdraw::PATH), "button primary", refusal))
        };
        let note =
            html! { "What you earn from sales, after the fee of the market. All amounts are in US dollars." };
        Ok(Content::new(Self::TITLE, body)
            .with_note(note)
            .with_actions(actions)
            .with_request("/v2/wallet/earnings")
            .into())
    }
}

fn figures(outlook: &EarningsOutlook) -> Markup {
    let balances = &outlook.balances;
    let next = match outlook.releases.first() {
        Some(release) => html! { "next release: " (release_text(release)) },
        None => html! { "nothing is on hold" },
    };
    tables::figures(&[
        (
            "Available",
            html! { (text::money(balances.available)) },
            html! { "can be converted into credits or withdrawn" },
        ),
        ("Pending", html! { (text::money(balances.pending)) }, next),
        ("Earned so far", html! { (text::money(balances.earned)) }, html! { "after fees and refunds" }),
    ])
}

fn releases(context: &Context, outlook: &EarningsOutlook) -> Markup {
    let hold = hold_text(context.market().settings().payouts.hold_days);
    let row = |release: &Release| {
        let amount = Head::number("Amount, USD").cell(text::money(release.amount));
        [Head::text("Available from").cell(text::moment(release.at)), amount]
    };
    html! {
        @if outlook.releases.is_empty() { p.note { "Nothing is on hold now. Earnings of a sale are on hold for " (hold) " after its payment." } }
        @else {
            (tables::of("Earnings on hold", &outlook.releases, row))
            p.note { "Earnings of a sale are on hold for " (hold) " after its payment. The next releases are shown." }
        }
    }
}
