//! Balances before and after a change of money.

use maud::Markup;

use super::{
    tables::{self, Head},
    text,
};
use crate::domain::money::Cents;

/// A balance: its name, its amount before a change, and the change.
pub type Balance = (&'static str, Cents, Cents);

/// Returns the table of balances with their changes.
pub fn table(balances: &[Balance]) -> Markup {
    let row = |(name, before, change): &Balance| {
        [
            Head::text("Balance").cell(name),
            Head::number("Now, USD").cell(text::money(*before)),
            Head::number("Change, USD").cell(text::signed_money(*change)),
            Head::number("After it, USD").cell(text::money(Cents(before.0 + change.0))),
        ]
    };
    tables::of("Balances", balances, row)
}
