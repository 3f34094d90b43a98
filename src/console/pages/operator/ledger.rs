//! Entries of the ledger, with their postings.

use super::prelude::*;
use crate::{
    domain::ledger::{AccountKind, EntryType},
    operations::balances::{self, AdjustmentReason, NamedPosting, Origin},
    store::records::ledger::LEDGER_ENTRIES,
};

/// Path of the list.
pub const LEDGER: &str = "/operator/ledger";

/// The resource.
pub struct LedgerEntries;

impl Resource for LedgerEntries {
    const LIST: &'static str = LEDGER;
    const TITLE: &'static str = "Ledger";
    const RECORDS: &'static Records = &LEDGER_ENTRIES;
    const API: &'static str = "/operator/v1/ledger-entries";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Ledger"));
    const EMPTY: &'static str = "Every movement of money appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "ID", Id),
        RecordField::listed("entry_type", "Reason", Word),
        RecordField::listed("amount", "Amount, USD", Money),
        RecordField::listed("from", "From", Plain),
        RecordField::listed("to", "To", Plain),
        RecordField::listed("created_at", "Time", Moment),
        RecordField::detail("description", "Description", Plain),
        RecordField::detail("available_at", "Earnings usable from", Moment),
        RecordField::detail("purchase_id", "Purchase", Record("/operator/purchases")),
        RecordField::detail(
            "credit_purchase_id",
            "Request for credits",
            Record("/operator/credit-purchases"),
        ),
        RecordField::detail("withdrawal_id", "Withdrawal", Record("/operator/withdrawals")),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("entry_type", "Reason", text::word_choices::<EntryType>),
        ListFilter::text("team_id", "Team, by name or ID"),
        ListFilter::day("created_from", "From the day (UTC)"),
        ListFilter::day("created_until", "Until the day (UTC)"),
        ListFilter::text("purchase_id", "ID of a purchase"),
    ];

    const RECORD_TITLE: RecordTitle = RecordTitle::Kind("Entry");

    const DERIVED_COLUMNS: DeriveColumns = |record, _| {
        let sides: Vec<Side> = serde_json::from_str(record.text("sides")).unwrap_or_default();
        let moved = sides.iter().map(|(_, _, cents)| *cents).filter(|cents| *cents > 0).sum();
        record.set("amount", Value::Integer(moved));
        record.set("from", Value::Text(accounts(&sides, |cents| cents < 0)));
        record.set("to", Value::Text(accounts(&sides, |cents| cents > 0)));
    };

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let postings = balances::postings(reader, platform, id_of(record)?)?;
        Ok(Some(Box::new(move |context| {
            tables::section("postings", "Postings", &show_postings(context, &postings))
        })))
    }
}

/// A change by an entry: the account, the name of its team, and the change in cents.
type Side = (String, Option<String>, i64);

/// Returns the names of the accounts whose changes match.
fn accounts(sides: &[Side], matches: fn(i64) -> bool) -> String {
    let name = |(account, team, _): &Side| {
        let words = AccountKind::parse(account).map_or("", account_words);
        match team {
            Some(team) => words.replace("a team", team),
            None => words.to_owned(),
        }
    };
    let names: Vec<String> = sides.iter().filter(|(_, _, cents)| matches(*cents)).map(name).collect();
    names.join(", ")
}

fn show_postings(context: &Context, postings: &[NamedPosting]) -> Markup {
    let row = |account: Markup, team: Markup, change: Markup| {
        let (account, team) = (Head::text("Account").cell(account), Head::text("Team").cell(team));
        [account, team, Head::number("Change, USD").cell(change)]
    };
    let rows = postings.iter().map(|posting| {
        let team = html! { @match &posting.team {
            Some((id, name)) => { a.long href=(context.links.to(&format!("{TEAMS}/{id}"))) { bdi { (name) } } },
            None => "The market",
        } };
        row(html! { (account_words(posting.account)) }, team, html! { (text::signed_money(posting.amount)) })
    });
    let sum = Cents(postings.iter().map(|posting| posting.amount.0).sum());
    let sum = row(html! { b { "Sum" } }, html! {}, html! { b { (text::money(sum)) } });
    html! {
        (tables::of_rows("Postings", rows.chain([sum])))
        p.note { "What leaves an account has a minus sign. Each entry adds up to zero: money moves, and is never made." }
    }
}

/// Returns what an account is called.
pub const fn account_words(account: AccountKind) -> &'static str {
    match account {
        AccountKind::Credits => "Credits of a team",
        AccountKind::Earnings => "Earnings of a team",
        AccountKind::Platform => "Money of the market",
        AccountKind::Payments => "Payments from outside",
        AccountKind::Payouts => "Payouts to vendors",
    }
}

/// Returns the reason for which entries changed an account.
pub fn reason_words(origin: &Origin) -> String {
    match origin.adjustment {
        Some(AdjustmentReason::Bought) => "Bought credits".to_owned(),
        Some(AdjustmentReason::Checks) => "Charges for checks".to_owned(),
        Some(AdjustmentReason::Correction) | None => text::words(origin.entry_type.as_str()),
    }
}
