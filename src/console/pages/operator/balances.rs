//! The balances of the whole market, with the proof that they add up.

use super::{
    ledger::{account_words, reason_words},
    prelude::*,
};
use crate::{
    domain::ledger::AccountKind,
    operations::balances::{self, MarketBalances, Origin, Proof},
};

/// Name of the field of the query that asks for the proof.
const PROOF: &str = "proof";

/// The page.
pub struct Balances;

impl Page<Operator> for Balances {
    const PATH: &'static str = "/operator/balances";
    const TITLE: &'static str = "Balances";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Money.link("Balances"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let is_asked = visit.query.get(PROOF).is_some();
        let read = visit.read(move |reader, operator| {
            let platform = operator.platform();
            let proof = is_asked.then(|| balances::prove(reader, platform)).transpose()?;
            Ok((balances::of_market(reader, platform)?, proof))
        });
        let (found, proof) = read.await?;
        let body = html! {
            p { "All accounts of the market together. Money only moves between them, so they add up to zero: what came in by payments \
                 is what teams have, what the market has, and what was paid out. The market pays for credits that it gives away, so its own \
                 money can be below zero." }
            (stored(&found))
            @match &proof {
                Some(proof) => (proven(proof)),
                None => (ask(&visit.context)),
            }
        };
        Ok(Content::new(Self::TITLE, body).with_request("/operator/v1/wallets").into())
    }
}

fn stored(found: &MarketBalances) -> Markup {
    let teams = [
        ("Credits of all teams", found.teams.credits),
        ("Earnings of all teams, available", found.teams.available),
        ("Earnings of all teams, on hold", found.teams.pending),
    ];
    let platform = found.platform.iter().map(|(account, amount)| (account_words(*account), *amount));
    let row = |name: Markup, amount: Markup| {
        [Head::text("Account").cell(name), Head::number("Balance, USD").cell(amount)]
    };
    let rows = teams.into_iter().chain(platform);
    let rows = rows.map(|(name, amount)| row(html! { (name) }, html! { (text::money(amount)) }));
    let sum = row(html! { b { "Sum" } }, html! { b { (text::money(found.sum())) } });
    html! {
        (tables::of_rows("Balances", rows.chain([sum])))
        ul {
            li { "Credits and earnings above zero are what the market owes to teams." }
            li { "Payments from outside are below zero by the amount that came in: each payment is taken from there, and put into a wallet." }
            li { "Payouts to vendors are above zero by the amount that was paid out." }
        }
        @if found.sum() == Cents(0) { p { (badges::badge(Tone::Good, "The stored balances add up to zero.")) } }
        @else { (badges::failure("The stored balances do not add up to zero.")) }
    }
}

fn ask(context: &Context) -> Markup {
    let address = context.here(&Query::default().with(PROOF, "all"));
    let content = html! {
        p { "Compare each stored balance, each hold, and each withdrawal with all postings. It reads the whole ledger, which can take \
             some seconds in a large market." }
        div.row { a.button href=(address) { "Check all postings" } }
    };
    tables::section("proof", "Proof", &content)
}

/// Returns the sums of all postings, and the contradictions.
fn proven(proof: &Proof) -> Markup {
    let row = |origin: &Origin| {
        [
            Head::text("Account").cell(account_words(origin.account)),
            Head::text("Reason").cell(reason_words(origin)),
            Head::number("Entries").cell(text::grouped(origin.entries)),
            Head::number("Sum, USD").cell(text::money(origin.amount)),
        ]
    };
    let content = html! {
        @if proof.problems.is_empty() {
            p { (badges::badge(Tone::Good, "All balances, holds, and withdrawals are what the postings say.")) }
        } @else {
            (badges::failure(html! {
                b { "The ledger contradicts itself. Restore a backup, or report the problem:" }
                ul { @for problem in &proof.problems { li.long { (problem) } } }
            }))
        }
        (tables::sum(&sums(proof)))
        (tables::of("Sums of all postings", &proof.origins, row))
    };
    tables::section("proof", "Proof", &content)
}

/// Returns the sum of the postings to each kind of account, and of all.
fn sums(proof: &Proof) -> Vec<(&'static str, String)> {
    let kinds = AccountKind::ALL;
    let of = |kind: AccountKind| {
        let amounts = proof.origins.iter().filter(move |origin| origin.account == kind);
        amounts.map(|origin| origin.amount.0).sum::<i64>()
    };
    let mut sums: Vec<_> =
        kinds.iter().map(|kind| (account_words(*kind), text::money(Cents(of(*kind))))).collect();
    let total = kinds.iter().map(|kind| of(*kind)).sum();
    sums.push(("Sum of all postings", text::money(Cents(total))));
    sums
}
