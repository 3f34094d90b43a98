//! Wallets of teams: the components of their balances, and whether they agree with the ledger.

use super::{
    TEAMS,
    ledger::{LEDGER, reason_words},
};
use crate::{
    console::{
        prelude::*,
        resources::{
            FieldFormat::{Money, Plain, Record},
            Key, Links, RecordField, RenderFn, Resource,
        },
    },
    domain::{ledger::AccountKind, money::Cents},
    operations::{
        access::Platform,
        balances::{self, AdjustmentReason, ExplainedWallet, Origin},
    },
    store::records::{Records, any_record::AnyRecord, wallets::WALLETS},
    string_enum::StringEnum,
};

/// The resource.
pub struct Wallets;

impl Resource for Wallets {
    const LIST: &'static str = "/operator/wallets";
    const TITLE: &'static str = "Wallets";
    const RECORDS: &'static Records = &WALLETS;
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Money, label: "Wallets" });
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
    let heads = [
        Head::text("Balance"),
        Head::number("Stored, USD"),
        Head::number("By the ledger, USD"),
        Head::text("Agrees"),
    ];
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
        vec![html! { (name) }, html! { (text::money(stored)) }, html! { (text::money(posted)) }, agrees]
    });
    html! {
        @if wallet.adds_up() {
            p { (badges::badge(Tone::Good, "All postings to this wallet add up to its balances.")) }
        } @else {
            (badges::message(Tone::Bad, &html! { "The balances differ from the postings. No operation should cause this: restore a backup, or \
                report the problem." }))
        }
        (tables::table("Proof", &heads, &rows))
    }
}

fn origins(context: &Context, wallet: &ExplainedWallet, account: AccountKind, team: &str) -> Markup {
    let found: Vec<&Origin> = wallet.of(account).collect();
    let heads = [Head::text("Reason"), Head::number("Entries"), Head::number("Sum, USD")];
    let row = |origin: &&Origin| {
        let path = match origin.adjustment {
            None => Some(format!("{LEDGER}?team_id={team}&entry_type={}", origin.entry_type.as_str())),
            Some(AdjustmentReason::Bought) => {
                Some(format!("/operator/credit-purchases?team_id={team}&status=completed"))
            }
            Some(AdjustmentReason::Correction) => Some(format!("/operator/adjustments?team_id={team}")),
            // No list shows only these.
            Some(AdjustmentReason::Checks) => None,
        };
        vec![
            html! { @match path {
                Some(path) => a href=(context.links.to(&path)) { (reason_words(origin)) },
                None => (reason_words(origin)),
            } },
            html! { (text::grouped(origin.entries)) },
            html! { (text::money(origin.amount)) },
        ]
    };
    let mut rows: Vec<_> = found.iter().map(row).collect();
    if rows.is_empty() {
        return html! { p { "Nothing yet." } };
    }
    rows.push(vec![html! { b { "Sum" } }, html! {}, html! { b { (text::money(wallet.sum_of(account))) } }]);
    tables::table("Origins", &heads, &rows)
}

fn releases(wallet: &ExplainedWallet) -> Markup {
    let heads = [Head::text("Available from"), Head::number("Amount, USD")];
    let rows: Vec<_> = wallet
        .releases
        .iter()
        .map(|release| vec![text::moment(release.at), html! { (text::money(release.amount)) }])
        .collect();
    tables::table("Holds", &heads, &rows)
}
