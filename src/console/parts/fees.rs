//! What a vendor earns of a price after the fee of the market.

use maud::{Markup, html};

use super::{tables, text};
use crate::{
    console::visit::Context,
    domain::{money::Cents, purchases::Charges},
    operations::proposed_sales,
};

/// Returns what a sale at a price costs and yields now.
fn charges(context: &Context, price: Cents) -> Charges {
    proposed_sales::charges(context.market().settings(), price)
}

/// Returns the calculation of the price of a sale that is made now: the sold content, the fee, and the vendor's earnings.
pub fn sum(context: &Context, what: &str, price: Cents) -> Markup {
    sum_with_fee(what, price, charges(context, price).platform_fee)
}

/// Like [`sum`], with the fee of a sale that was made.
pub fn sum_with_fee(what: &str, price: Cents, fee: Cents) -> Markup {
    tables::sum(&[
        (what, text::money(price)),
        ("Fee of the market", format!("−{}", text::money(fee))),
        ("You earn, USD", text::money(Cents(price.0 - fee.0))),
    ])
}

/// States the fee of the market and the earnings of the vendor for a price.
pub fn sentence(context: &Context, price: Cents) -> Markup {
    let charges = charges(context, price);
    html! {
        "You earn " b { (text::money(charges.proceeds())) } " of " (text::money(charges.price)) ": the fee of the market is "
        (text::money(charges.platform_fee)) ", which is " (share(context)) " of the price."
    }
}

/// Returns the share of a price that the market keeps.
pub fn share(context: &Context) -> String {
    text::fee(context.market().settings().fees.platform_percent)
}
