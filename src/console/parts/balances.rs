//! Balances before and after a change of money.

use maud::{Markup, html};

use super::{
    tables::{self, Head},
    text,
};
use crate::domain::money::Cents;

/// A balance: its name, its amount before a change, and the change.
pub type Balance = (&'static str, Cents, Cents);

/// Returns the table of balances with their changes.
pub fn table(balances: &[Balance]) -> Markup {
    let heads = [
        Head::text("Balance"),
        Head::number("Now, USD"),
        Head::number("Change, USD"),
        Head::number("After it, USD"),
    ];
    let row = |(name, before, change): &Balance| {
        let after = Cents(before.0 + change.0);
        let amounts = [*before, *change, after].map(|amount| html! { (text::money(amount)) });
        std::iter::once(html! { (name) }).chain(amounts).collect()
    };
    let rows: Vec<Vec<Markup>> = balances.iter().map(row).collect();
    tables::table("Balances", &heads, &rows)
}
