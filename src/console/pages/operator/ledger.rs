//! Entries of the ledger, with their postings.

use super::{TEAMS, id_of};
use crate::{
    console::{
        prelude::*,
        resources::{
            Below, Named, Resource, Shown,
            Shows::{Id, Moment, Plain, Record, Word},
        },
    },
    domain::{
        ledger::{AccountKind, EntryType},
        money::Cents,
    },
    operations::{
        access::Platform,
        balances::{self, AdjustmentReason, NamedPosting, Origin},
    },
    store::records::{Records, any_record::AnyRecord, ledger::LEDGER_ENTRIES},
    string_enum::StringEnum,
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
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::Money, label: "Ledger" });
    const EMPTY: &'static str = "Every movement of money appears here.";

    const SHOWN: &'static [Shown] = &[
        Shown::listed("id", "ID", Id),
        Shown::listed("entry_type", "Reason", Word),
        Shown::listed("description", "Description", Plain),
        Shown::listed("created_at", "Time", Moment),
        Shown::listed("available_at", "Earnings usable from", Moment),
        Shown::detail("purchase_id", "Purchase", Record("/operator/purchases")),
        Shown::detail("credit_purchase_id", "Credit purchase", Record("/operator/credit-purchases")),
        Shown::detail("withdrawal_id", "Withdrawal", Record("/operator/withdrawals")),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter { name: "entry_type", label: "Reason", values: text::word_choices::<EntryType> },
            ListFilter { name: "team_id", label: "ID of a team", values: Vec::new },
            ListFilter { name: "purchase_id", label: "ID of a purchase", values: Vec::new },
        ]
    }

    const NAMED: Named = Named::Kind("Entry");

    fn below(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<Below>> {
        let postings = balances::postings(reader, platform, id_of(record)?)?;
        Ok(Some(Box::new(move |context| {
            tables::section("postings", "Postings", &show_postings(context, &postings))
        })))
    }
}

fn show_postings(context: &Context, postings: &[NamedPosting]) -> Markup {
    let heads = [Head::text("Account"), Head::text("Team"), Head::number("Change, USD")];
    let row = |posting: &NamedPosting| {
        vec![
            html! { (account_words(posting.account)) },
            html! { @match &posting.team {
                Some((id, name)) => { a.long href=(context.links.to(&format!("{TEAMS}/{id}"))) { bdi { (name) } } },
                None => "The market",
            } },
            html! { (text::money(posting.amount)) },
        ]
    };
    let mut rows: Vec<_> = postings.iter().map(row).collect();
    let sum = Cents(postings.iter().map(|posting| posting.amount.0).sum());
    rows.push(vec![html! { b { "Sum" } }, html! {}, html! { b { (text::money(sum)) } }]);
    html! {
        (tables::table("Postings", &heads, &rows))
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

/// Returns why entries have changed an account.
pub fn reason_words(origin: &Origin) -> String {
    match origin.adjustment {
        Some(AdjustmentReason::Bought) => "Bought credits".to_owned(),
        Some(AdjustmentReason::Checks) => "Charges for checks".to_owned(),
        Some(AdjustmentReason::Correction) | None => text::words(origin.entry_type.as_str()),
    }
}
