//! Wallets of teams: the components of their balances, and whether they agree with the ledger.

use super::{
    ledger::{LEDGER, reason_words},
    prelude::*,
};
use crate::{
    domain::ledger::AccountKind,
    operations::balances::{self, AdjustmentReason, ExplainedWallet, Origin},
    store::{money_summaries::Release, records::wallets::WALLETS},
};

/// The resource.
pub struct Wallets;

impl Resource for Wallets {
    const LIST: &'static str = "/operator/wallets";
    const TITLE: &'static str = "Wallets";
    const RECORDS: &'static Records = &WALLETS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Wallets"));
    const EMPTY: &'static str = "Each team has a wallet.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("team_name", "Team", Plain),
        RecordField::listed("credits", "Credits, USD", Money),
        RecordField::listed("earnings_available", "Earnings available, USD", Money),
        RecordField::listed("earnings_pending", "Earnings on hold, USD", Money),
        RecordField::listed("earnings_total", "Earned in all, USD", Money),
        RecordField::detail("team_id", "Page of the team", Record(TEAMS)),
    ];

    const KEY: Key = Key::Id("team_id");

    fn title_of(record: &AnyRecord) -> String {
        format!("Wallet of {}", record.text("team_name"))
    }

    const LINKS: Links = |record| {
        let team = Self::key_of(record);
        vec![
            ("Entries of the ledger", format!("{LEDGER}?team_id={team}")),
            ("Adjustments", format!("/operator/adjustments?team_id={team}")),
            ("Conversions", format!("/operator/conversions?team_id={team}")),
            ("Withdrawals", format!("/operator/withdrawals?team_id={team}")),
            ("Requests for credits", format!("/operator/credit-purchases?team_id={team}")),
        ]
    };

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let team = record.id("team_id").ok_or_else(|| Error::internal("a wallet without its team"))?;
        let wallet = balances::explain(reader, platform, team)?;
        Ok(Some(Box::new(move |context| explanation(context, &wallet, &team.to_string()))))
    }
}

fn explanation(context: &Context, wallet: &ExplainedWallet, team: &str) -> Markup {
    html! {
        (tables::section("proof", "Does it add up?", &proof(wallet)))
        (tables::section("credits", "Where the credits come from", &origins(context, wallet, AccountKind::Credits, team)))
        (tables::section("earnings", "Where the earnings come from, and went", &origins(context, wallet, AccountKind::Earnings, team)))
        @if !wallet.releases.is_empty() { (tables::section("holds", "When earnings on hold become available", &releases(wallet))) }
    }
}

/// Returns the stored balances beside the sums of the postings and the holds.
fn proof(wallet: &ExplainedWallet) -> Markup {
    let earnings = wallet.sum_of(AccountKind::Earnings);
    let compared = [
        ("Credits", wallet.stored.credits, wallet.sum_of(AccountKind::Credits)),
        ("Earnings on hold", wallet.stored.pending, wallet.held),
        ("Earnings available", wallet.stored.available, Cents(earnings.0 - wallet.held.0)),
        ("Earned in all", wallet.stored.earned, wallet.earned()),
    ];
    let rows = compared.map(|(name, stored, posted)| {
        let agrees =
            if stored == posted { badges::badge(Tone::Good, "Yes") } else { badges::badge(Tone::Bad, "No") };
        [
            Head::text("Balance").cell(name),
            Head::number("Stored, USD").cell(text::money(stored)),
            Head::number("By the ledger, USD").cell(text::money(posted)),
            Head::text("Agrees").cell(agrees),
        ]
    });
    html! {
        @if wallet.adds_up() {
            p { (badges::badge(Tone::Good, "All postings to this wallet add up to its balances.")) }
        } @else {
            (badges::failure(html! { "The balances differ from the postings. No operation should cause this: restore a backup, or \
                report the problem." }))
        }
        (tables::of_rows("Proof", rows))
    }
}

fn origins(context: &Context, wallet: &ExplainedWallet, account: AccountKind, team: &str) -> Markup {
    let row = |reason: Markup, entries: Markup, sum: Markup| {
        let (reason, entries) = (Head::text("Reason").cell(reason), Head::number("Entries").cell(entries));
        [reason, entries, Head::number("Sum, USD").cell(sum)]
    };
    let row_of = |origin: &Origin| {
        let path = match origin.adjustment {
            None => Some(format!("{LEDGER}?team_id={team}&entry_type={}", origin.entry_type.as_str())),
            Some(AdjustmentReason::Bought) => {
                Some(format!("/operator/credit-purchases?team_id={team}&status=completed"))
            }
            Some(AdjustmentReason::Correction) => Some(format!("/operator/adjustments?team_id={team}")),
            // No list shows only these.
            Some(AdjustmentReason::Checks) => None,
        };
        let reason = html! { @match path {
            Some(path) => a href=(context.links.to(&path)) { (reason_words(origin)) },
            None => (reason_words(origin)),
        } };
        row(reason, html! { (text::grouped(origin.entries)) }, html! { (text::money(origin.amount)) })
    };
    if wallet.of(account).next().is_none() {
        return html! { p { "Nothing yet." } };
    }
    let sum = row(html! { b { "Sum" } }, html! {}, html! { b { (text::money(wallet.sum_of(account))) } });
    tables::of_rows("Origins", wallet.of(account).map(row_of).chain([sum]))
}

fn releases(wallet: &ExplainedWallet) -> Markup {
    let row = |release: &Release| {
        [
            Head::text("Available from").cell(text::moment(release.at)),
            Head::number("Amount, USD").cell(text::money(release.amount)),
        ]
    };
    tables::of("Holds", &wallet.releases, row)
}
