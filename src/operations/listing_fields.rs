//! The rules of the fields of a listing, for new listings and for changes.

use crate::{
    domain::{
        listings::ListingRowId,
        money::{Cents, MAX_AMOUNT},
        problems::Problems,
        samples::{self, SampledAsset},
        texts,
    },
    error::{Error, Problem, Result},
    request_problems::ProblemsExt,
    store::{self, listings::ListingFields},
};

/// Checks the texts and the prices of a listing. Reports every problem. `needs_price` says whether the listing
/// can be bought now, so it must have a price.
pub fn check(fields: &ListingFields, needs_price: bool) -> Result<()> {
    let title = texts::find_problem(&["title"], &fields.title, texts::TITLE);
    let many = |name, text| texts::find_problem(&[name], text, texts::DESCRIPTION);
    let texts = [title, many("description", &fields.description), many("terms", &fields.terms)];
    let mut problems: Vec<Problem> = texts.into_iter().flatten().collect();
    for (name, price) in [("price", fields.price), ("sample_price", fields.sample_price)] {
        if price.is_some_and(|price| price < Cents(0) || price > MAX_AMOUNT) {
            let rule = format!("`{name}` must be at least 0 and at most {MAX_AMOUNT} US dollars.");
            problems.push(Problem::body(&[name], "value_error", rule));
        }
    }
    if needs_price && fields.price.is_none() {
        let rule = "A listing in the catalog must have a price. Take it out of the catalog first.";
        problems.push(Problem::body(&["price"], "missing", rule));
    }
    let mut problems = Problems::from(problems);
    samples::check(&mut problems, &fields.sample);
    problems.into_result()
}

/// Checks the sample of a listing in review or in the catalog: its assets must be on the listing, and an offered sample must
/// have chosen content.
pub fn check_sample(
    rows: &store::Reader,
    listing: ListingRowId,
    sample_price: Option<Cents>,
    sample: &[SampledAsset],
) -> Result<()> {
    if sample_price.is_some() && sample.is_empty() {
        let rule = "`sample` is required to offer a sample: state which assets it has, and which of their files or tasks.";
        return Err(Error::invalid(Problem::body(&["sample"], "missing", rule)));
    }
    let absent = store::listings::sampled_but_absent(rows, listing, sample)?;
    let problem = |id: &uuid::Uuid| {
        let rule = format!("The asset {id} is not on the listing. Attach it, or remove it from the sample.");
        Problem::body(&["sample"], "value_error", rule)
    };
    if absent.is_empty() { Ok(()) } else { Err(Error::Invalid(absent.iter().map(problem).collect())) }
}
