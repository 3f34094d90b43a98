//! New listings with their assets, in one transaction.

use uuid::Uuid;

use super::{access::Vendor, listing_assets, listing_lifecycle, listings};
use crate::{
    domain::{
        collections::Collection,
        listings::Actor,
        money::{Cents, MAX_AMOUNT},
    },
    error::{Error, Problem, Result},
    market::Writer,
    store::listings::ListingFields,
};

/// Maximum number of characters of a title.
pub const MAX_TITLE_CHARACTERS: usize = 200;

/// Maximum number of characters of a description, and of the terms.
pub const MAX_TEXT_CHARACTERS: usize = 20_000;

/// Creates a draft with assets of the team, all or nothing. Returns its ID.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    fields: &ListingFields,
    asset_ids: &[Uuid],
) -> Result<Uuid> {
    check_fields(fields)?;
    let id = writer.new_id(Collection::Listings);
    listing_lifecycle::create(writer, vendor, actor, id, fields)?;
    if !asset_ids.is_empty() {
        let listing = listings::find_own(writer.rows, vendor, id)?;
        listing_assets::attach_all(writer, vendor, actor, &listing, asset_ids)?;
    }
    Ok(id)
}

/// Checks the texts and the prices of a listing. Reports every problem.
fn check_fields(fields: &ListingFields) -> Result<()> {
    let mut problems = Vec::new();
    let title = fields.title.trim();
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARACTERS || title.chars().any(char::is_control)
    {
        let rule =
            format!("A title must have 1 to {MAX_TITLE_CHARACTERS} characters and no control characters.");
        problems.push(Problem::body(&["title"], "string_too_long", rule));
    }
    for (name, text) in [("description", fields.description), ("terms", fields.terms)] {
        if text.chars().count() > MAX_TEXT_CHARACTERS {
            let rule = format!("`{name}` can have at most {MAX_TEXT_CHARACTERS} characters.");
            problems.push(Problem::body(&[name], "string_too_long", rule));
        }
    }
    for (name, price) in [("price", fields.price), ("sample_price", fields.sample_price)] {
        if price.is_some_and(|price| price < Cents(0) || price > MAX_AMOUNT) {
            let rule = format!("`{name}` must be at least 0 and at most {MAX_AMOUNT} US dollars.");
            problems.push(Problem::body(&[name], "value_error", rule));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}
