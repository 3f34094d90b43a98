//! The entries in the accounts of a team: its credits, and its earnings.

use crate::{
    console::{lists::heads_and_rows, prelude::*},
    domain::ledger::EntryType,
    operations::{balances::AdjustmentReason, team_records::WalletLine},
    store::records::team_lists::wallet_entries::AccountEntry,
};

/// The entries of the credits.
pub struct CreditEntries;

/// The entries of the earnings.
pub struct EarningsEntries;

impl List<Member> for CreditEntries {
    const PATH: &'static str = "/wallet/entries";
    const TITLE: &'static str = "Entries of the credits";
    const FILE_NAME: &'static str = "credit-entries";

    type Row = WalletLine;

    fn columns() -> Vec<Column<WalletLine>> {
        let mut columns = columns(|context, line| about(context, line, false));
        columns.extend(ids());
        columns
    }

    const FILTERS: &'static [ListFilter] = FILTERS;

    fn load(reader: &Reader, member: &Member, request: &ListRequest) -> Result<TeamPage<WalletLine>> {
        team_records::credits_page(reader, member, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        let link = context.links.to(paths::BUY_CREDITS);
        tables::empty(
            "Your team has had no credits yet",
            "Credits pay for what your team buys.",
            Some(("Buy credits", &link)),
        )
    }

    fn finish(context: &Context, content: Content) -> Content {
        finish(context, content, CreditEntries::PATH)
    }
}

impl List<Member> for EarningsEntries {
    const PATH: &'static str = "/wallet/earnings-entries";
    const TITLE: &'static str = "Entries of the earnings";
    const FILE_NAME: &'static str = "earnings-entries";

    type Row = WalletLine;

    fn columns() -> Vec<Column<WalletLine>> {
        let mut columns = columns(|context, line| about(context, line, true));
        columns.push(Column::day("Available from", |line| line.entry.available_at));
        columns.extend(ids());
        columns
    }

    const FILTERS: &'static [ListFilter] = FILTERS;

    fn load(reader: &Reader, member: &Member, request: &ListRequest) -> Result<TeamPage<WalletLine>> {
        team_records::earnings_page(reader, member, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        let listings = context.links.to(paths::OWN_LISTINGS);
        let sells = context.team().is_some_and(|team| team.is_vendor);
        let link = sells.then_some(("Open your listings", listings.as_str()));
        tables::empty("Your team has not earned anything yet", "Each sale of a listing appears here.", link)
    }

    fn finish(context: &Context, content: Content) -> Content {
        finish(context, content, EarningsEntries::PATH)
    }
}

fn finish(context: &Context, content: Content, current: &str) -> Content {
    let is_vendor = context.team().is_some_and(|team| team.is_vendor);
    let is_current = |path: &str| (path == current).then_some("true");
    let switch = html! {
        nav.sides aria-label="Account" {
            a href=(context.links.to(CreditEntries::PATH)) aria-current=[is_current(CreditEntries::PATH)] { "Credits" }
            a href=(context.links.to(EarningsEntries::PATH)) aria-current=[is_current(EarningsEntries::PATH)] { "Earnings" }
        }
    };
    let content = content.with_parent("Wallet", paths::WALLET);
    if is_vendor { content.with_actions(switch) } else { content }
}

const FILTERS: &[ListFilter] = &[
    ListFilter::choice("entry_type", "Reason", || text::choices(type_word)),
    ListFilter::text("text", "Description contains"),
];

const fn type_word(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Sale => "Purchase",
        EntryType::SampleSale => "Purchase of a sample",
        EntryType::AcceptedBidSale => "Accepted bid",
        EntryType::PlatformFee => "Fee of the market",
        EntryType::Refund => "Refund",
        EntryType::CreditConversion => "Conversion of earnings",
        EntryType::Withdrawal => "Withdrawal",
        EntryType::Adjustment => "Quality checks, credits, corrections",
    }
}

fn reason(entry: &AccountEntry) -> &'static str {
    match entry.adjustment {
        Some(AdjustmentReason::Bought) => "Purchase of credits",
        Some(AdjustmentReason::Checks) => "Quality checks",
        Some(AdjustmentReason::Correction) if entry.amount.0 > 0 => "Credits from the market",
        Some(AdjustmentReason::Correction) => "Correction",
        None => type_word(entry.entry_type),
    }
}

type Show = fn(&Context, &WalletLine) -> Markup;

fn columns(about: Show) -> Vec<Column<WalletLine>> {
    vec![
        Column::moment(Head::text("Time"), |line| line.entry.created_at),
        Column::words("Reason", |line| reason(&line.entry).to_owned()),
        Column::new(Head::text("About"), about, |line| line.entry.description.clone()),
        Column::new(
            Head::number("Amount, USD"),
            |_, line| html! { (text::signed_money(line.entry.amount)) },
            |line| line.entry.amount.to_string(),
        ),
        Column::money("Balance, USD", |line| line.balance),
    ]
}

fn ids() -> [Column<WalletLine>; 2] {
    let purchase = |line: &WalletLine| line.entry.purchase.map(|id| id.to_string()).unwrap_or_default();
    [Column::words_in_file("Purchase ID", purchase), Column::ids_in_file(|line| line.entry.id)]
}

/// Shows the record that an entry refers to. A vendor must not see purchases of buyers, so earnings link to the listing.
fn about(context: &Context, line: &WalletLine, is_earnings: bool) -> Markup {
    let entry = &line.entry;
    let listing = entry.listing.as_ref();
    html! {
        @match (listing, entry.purchase) {
            (Some((_, title)), Some(purchase)) if !is_earnings => {
                a.long href=(context.links.to(&paths::purchase(purchase))) { bdi { (title) } }
            }
            (Some((id, title)), _) => { a.long href=(context.links.to(&paths::listing(*id))) { bdi { (title) } } }
            _ if entry.credit_purchase.is_some() => {
                a href=(context.links.to(paths::CREDIT_PURCHASES)) { (entry.description) }
            }
            _ => { span.long { bdi { (entry.description) } } }
        }
    }
}

/// Returns the table of some entries, without filters and pages.
pub fn table(context: &Context, label: &str, lines: &[WalletLine], is_earnings: bool) -> Markup {
    let columns = if is_earnings { EarningsEntries::columns() } else { CreditEntries::columns() };
    let (heads, rows) = heads_and_rows(context, &columns, lines);
    tables::table(label, &heads, &rows)
}
