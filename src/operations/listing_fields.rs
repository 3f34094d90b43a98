//! The rules of the fields of a listing, for new listings and for changes.

use crate::{
    domain::{
        money::{Cents, MAX_AMOUNT},
        texts::{self, Lines},
    },
    error::{Error, Problem, Result},
    store::listings::ListingFields,
};

/// Maximum number of characters of a title.
pub const MAX_TITLE_CHARACTERS: usize = 200;

/// Maximum number of characters of a description, and of the terms.
pub const MAX_TEXT_CHARACTERS: usize = 20_000;

/// Checks the texts and the prices of a listing. Reports every problem. `needs_price` says whether the listing
/// can be bought now, so it must have a price.
pub fn check(fields: &ListingFields, needs_price: bool) -> Result<()> {
    let title = texts::find_problem(&["title"], fields.title, 1..=MAX_TITLE_CHARACTERS, Lines::One);
    let many = |name, text| texts::find_problem(&[name], text, 0..=MAX_TEXT_CHARACTERS, Lines::Many);
    let texts = [title, many("description", fields.description), many("terms", fields.terms)];
    let mut problems: Vec<Problem> = texts.into_iter().flatten().collect();
    for (name, price) in [("price", fields.price), ("sample_price", fields.sample_price)] {
        if price.is_some_and(|price| price < Cents(0) || price > MAX_AMOUNT) {
            let rule = format!("`{name}` must be at least 0 and at most {MAX_AMOUNT} US dollars.");
            problems.push(Problem::body(&[name], "value_error", rule));
        }
    }
    if needs_price && fields.price.is_none() {
        let rule = "A listing in the catalog must have a price. Unpublish it first.";
        problems.push(Problem::body(&["price"], "missing", rule));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}
