//! The wallet of a team: balances, entries, and the credits that it asks for.

pub mod buy_credits;
pub mod credit_purchases;
pub mod entries;

use super::deals;
use crate::{
    console::prelude::*,
    domain::credit_purchases::CreditPurchaseStatus,
    operations::{team_records::WalletLine, wallet},
    store::{
        records::{
            Filters,
            pages::{Start, TeamPageRequest},
            team_lists::credit_purchases::TeamCreditPurchase,
        },
        wallet::Balances,
    },
};

/// Number of the latest entries on the page of the wallet.
const LATEST: u32 = 10;

/// The page of the wallet.
pub struct WalletPage;

/// What the page shows.
struct Wallet {
    balances: Balances,
    credits: Vec<WalletLine>,
    /// Empty for a team that does not sell.
    earnings: Vec<WalletLine>,
    pending: Vec<TeamCreditPurchase>,
}

impl Page<Member> for WalletPage {
    const PATH: &'static str = paths::WALLET;
    const TITLE: &'static str = "Wallet";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Buying.link("Wallet"));

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let found = visit.read(read).await?;
        let context = &visit.context;
        let buy = context.links.to(paths::BUY_CREDITS);
        let content = Content::new(Self::TITLE, content(context, &found))
            .with_note(html! { "Credits pay for what your team buys. All amounts are in US dollars." })
            .with_actions(html! { a.button.primary href=(buy) { "Buy credits" } })
            .with_request("/v2/wallet");
        Ok(content.into())
    }
}

fn read(reader: &Reader, member: &Member) -> Result<Wallet> {
    let latest = |limit: u32| TeamPageRequest { start: Start::Newest, limit, counts: false };
    let all = Filters::default();
    let pending = Filters::default().with("status", CreditPurchaseStatus::Pending.as_str());
    let earnings = if member.team().is_vendor {
        team_records::earnings_page(reader, member, &all, latest(LATEST))?.rows
    } else {
        Vec::new()
    };
    Ok(Wallet {
        balances: wallet::balances(reader, member)?,
        credits: team_records::credits_page(reader, member, &all, latest(LATEST))?.rows,
        earnings,
        pending: team_records::page(reader, member, &pending, latest(50))?.rows,
    })
}

fn content(context: &Context, found: &Wallet) -> Markup {
    let is_vendor = context.team().is_some_and(|team| team.is_vendor);
    html! {
        (figures(found, is_vendor))
        @if !found.pending.is_empty() {
            (tables::section("requested", "Requested credits", &requested(context, &found.pending)))
        }
        (tables::section("credits", "Latest entries of the credits", &html! {
            @if found.credits.is_empty() {
                p.note { "Nothing has moved your credits yet." }
            } @else {
                (entries::table(context, "Latest entries of the credits", &found.credits, false))
            }
            div.row {
                a href=(context.links.to(entries::CreditEntries::PATH)) { "All entries" }
                a href=(context.links.to(paths::CREDIT_PURCHASES)) { "All requests for credits" }
            }
        }))
        @if is_vendor {
            (tables::section("earnings", "Latest entries of the earnings", &html! {
                @if found.earnings.is_empty() {
                    p.note { "You have not sold anything yet." }
                } @else {
                    (entries::table(context, "Latest entries of the earnings", &found.earnings, true))
                }
                div.row { a href=(context.links.to(entries::EarningsEntries::PATH)) { "All entries of the earnings" } }
            }))
        }
    }
}

fn figures(found: &Wallet, is_vendor: bool) -> Markup {
    let Balances { credits, earned, pending, available } = found.balances;
    let requested = Cents(found.pending.iter().map(|request| request.amount.0).sum());
    let figure = |amount: Cents, note: &str| (html! { (text::money(amount)) }, html! { (note) });
    let mut figures = Vec::new();
    let mut add = |name: &'static str, amount: Cents, note: &str| {
        let (value, note) = figure(amount, note);
        figures.push((name, value, note));
    };
    add("Credits", credits, "can be spent now");
    if requested.0 > 0 {
        add("Requested credits", requested, "added when the market has your payment");
    }
    if is_vendor {
        add("Earnings, available", available, "can be converted into credits or withdrawn");
        add("Earnings, pending", pending, "on hold for some days after each sale");
        add("Earnings so far", earned, "after fees and refunds");
    }
    tables::figures(&figures)
}

fn requested(context: &Context, pending: &[TeamCreditPurchase]) -> Markup {
    html! {
        ul.todo { @for request in pending { li {
            @let (icon, color) = badges::Tone::Waiting.icon_and_class();
            (crate::console::parts::icons::colored(icon, color))
            span {
                a href=(context.links.to(paths::CREDIT_PURCHASES)) { (text::money(request.amount)) " requested" }
                span.note { "Reference " span.mono.long { (request.id) } }
            }
            span.note { (text::day(request.created_at)) }
        } } }
        (where_to_pay(context))
    }
}

/// Says where requested credits are paid.
fn where_to_pay(context: &Context) -> Markup {
    html! {
        h3 { "Where to pay" }
        (deals::where_to_pay(context))
        p.note { "State the reference of your request with the payment." }
    }
}
