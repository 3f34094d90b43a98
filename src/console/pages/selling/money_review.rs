//! The second step of a conversion and of a withdrawal: what it changes, before money moves.

use super::review_form;
use crate::console::{
    parts::balances::{self, Balance},
    prelude::*,
};

/// Field with the amount.
pub const AMOUNT: &str = "amount";

/// Returns the field for an amount of available earnings.
pub fn amount_field(available: Cents) -> Field<'static> {
    let hint = html! { "For example 27000. At most " (text::money(available)) ". You see what changes before anything happens." };
    Field::decimal(AMOUNT, "Amount, USD").hint(hint).required()
}

/// Shows the balances before and after a change, with a button that carries it out, whose label names the amount.
pub fn page(
    context: &Context,
    (amount, label): (Cents, &str),
    balances: &[Balance],
    consequences: &Markup,
) -> Content {
    let labels = [label, "Change the amount", "Leave it as it is"];
    let body = html! {
        p { "Nothing was changed yet. This is what will happen:" }
        (balances::table(balances))
        (review_form(context, (AMOUNT, &amount.to_string()), labels))
        (consequences)
    };
    Content::new(format!("{label}?"), body).with_parent("Earnings", paths::EARNINGS).narrow()
}
