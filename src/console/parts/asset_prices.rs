//! Explains the asking prices of single assets, and how they and the price of the sample relate to the price of the listing.

use maud::{Markup, html};

use super::{badges, text};
use crate::domain::money::Cents;

/// Explains the price of an asset in a form.
pub const MEANING: &str =
    "Buyers can buy this asset alone at this price, from each live listing that has it and is not exclusive.";

/// Says what is unusual about the prices of a listing: its assets, or its sample, compared with the whole.
pub fn remarks(of_all: Option<Cents>, sample: Option<Cents>, price: Option<Cents>) -> Markup {
    html! { (warning(of_all, price)) (dear_sample(sample, price)) }
}

/// Says that the sample of a listing costs more than the listing; nothing if it does not.
pub fn dear_sample(sample: Option<Cents>, price: Option<Cents>) -> Markup {
    let is_dear = sample.zip(price).is_some_and(|(sample, price)| sample > price);
    html! { @if is_dear {
        (badges::neutral("The sample costs more than the listing."))
    } }
}

/// Warns if all assets of a listing cost less than the listing. `of_all` is their price if a buyer selects them one by
/// one.
fn warning(of_all: Option<Cents>, price: Option<Cents>) -> Markup {
    let Some((of_all, price)) = of_all.zip(price).filter(|(of_all, price)| of_all < price) else {
        return Markup::default();
    };
    badges::warning(html! {
        b { "Buyers can get everything for " (text::money(of_all)) " instead of " (text::money(price)) ". " }
        "They can buy single assets at the asking prices of the assets, and all of them together cost less than the listing. \
         Raise these prices, lower the price of the listing, or sell it exclusively (only as a whole)."
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cheaper_assets_are_warned_about() {
        let warned = |of_all: Option<i64>, price: Option<i64>| {
            !warning(of_all.map(Cents), price.map(Cents)).into_string().is_empty()
        };
        assert!(warned(Some(1_250_000), Some(1_500_000)));
        assert!(
            !warned(Some(1_500_000), Some(1_500_000)) && !warned(None, Some(1)) && !warned(Some(1), None)
        );
    }
}
