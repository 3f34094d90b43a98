//! Questions of a team that sells and buys.

use serde_json::{Value, json};

use super::{Asked, Asking};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, cents, month, number, sums, text},
};

/// What a month left over: sales less purchases.
pub fn balance_of_month(facts: &mut Facts) -> Asking {
    let sales = facts.list("/v2/listings/sales", "sales")?;
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    let sold = sums(sales.iter().map(|sale| (month(text(sale, "/paid_at")), number(sale, "/amount"))));
    let bought = sums(
        purchases
            .iter()
            .map(|row| (month(text(row, "/purchase/created_at")), number(row, "/purchase/total"))),
    );
    let months: Vec<&String> = sold.keys().filter(|month| bought.contains_key(*month)).collect();
    let Some(month) = facts.random.pick(&months).copied() else { return Ok(None) };
    Ok(Some(Asked {
        text: format!(
            "What is the difference in {month} between our sales, net of fees and by the time of payment, and our purchases, \
             with buyer fees and by the start of the checkout? Answer with sales less purchases, which can be negative."
        ),
        expected: Expected::Dollars(cents(sold[month] - bought[month])),
        subject: json!({"month": month}),
    }))
}

/// Bids that the team made, and bids that it got.
pub fn bids_on_both_sides(facts: &mut Facts) -> Asking {
    let offers = facts.list("/v2/listings/browse/offers", "offers")?;
    let made = offers.iter().filter(|row| row["offer"]["status"] == "submitted").count();
    let mut received = 0.0;
    for listing in facts.list("/v2/listings?limit=100&has_active_bids=true", "items")? {
        received +=
            number(&facts.get(&format!("/v2/listings/{}", text(&listing, "/id")))?, "/active_bid_count");
    }
    let question = "How many undecided bids on listings did we make, and how many undecided bids are there on our own listings?";
    Ok(made_and_received(question, made as u64, received as u64))
}

/// Whether the team bought from a vendor.
pub fn bought_from(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    if purchases.is_empty() {
        return Ok(None);
    }
    let bought: Vec<&str> = purchases.iter().map(|row| text(row, "/listing/team_name")).collect();
    let listed = facts.list("/v2/listings/browse?limit=100", "items")?;
    let others: Vec<&str> =
        listed.iter().map(|row| text(row, "/team_name")).filter(|name| !bought.contains(name)).collect();
    let has_bought = others.is_empty() || facts.random.below(2) == 0;
    let Some(name) = facts.random.pick(if has_bought { &bought } else { &others }) else { return Ok(None) };
    Ok(Some(Asked {
        text: format!("Have we ever bought anything, samples included, from the vendor “{name}”?"),
        expected: Expected::YesNo(has_bought),
        subject: json!({"name": name}),
    }))
}

/// Project bids that the team made, and those on its own projects.
pub fn project_bids_on_both_sides(facts: &mut Facts) -> Asking {
    let made = facts.rows("/v2/project-opportunities/bids/mine", "items")?.len();
    let mut received = 0;
    for project in facts.rows("/v2/buyer/project-opportunities", "items")? {
        let path = format!("/v2/buyer/project-opportunities/{}/bids", text(&project, "/id"));
        received += facts.rows(&path, "items")?.len();
    }
    let question = "Counting all statuses, how many bids on projects did we make, and how many bids did our own projects get?";
    Ok(made_and_received(question, made as u64, received as u64))
}

/// Asks for the numbers of bids that the team made and received, unless there are none.
fn made_and_received(question: &str, made: u64, received: u64) -> Option<Asked> {
    (made + received > 0).then(|| Asked {
        text: question.to_owned(),
        expected: Expected::Record(vec![
            ("made".to_owned(), Expected::Count(made)),
            ("received".to_owned(), Expected::Count(received)),
        ]),
        subject: Value::Null,
    })
}
