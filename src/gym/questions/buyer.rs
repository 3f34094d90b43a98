//! A buyer's questions about its own purchases, bids, and requests.

use serde_json::{Value, json};

use super::{Asked, Asking, sums_of_latest_months};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, cents, day, month, number, sums, text},
};

/// What the team spent in each of the latest months.
pub fn spending_by_month(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    let amounts = purchases
        .iter()
        .map(|row| (month(text(row, "/purchase/created_at")), number(row, "/purchase/total")));
    Ok(sums_of_latest_months(sums(amounts), |months| {
        format!(
            "What did we spend on purchases, with buyer fees, in each of these months: {months}? The month of a purchase is \
             that in which its checkout started (UTC)."
        )
    }))
}

/// The team's pending bids.
pub fn pending_bids(facts: &mut Facts) -> Asking {
    let offers = facts.list("/v2/listings/browse/offers", "offers")?;
    let pending: Vec<&Value> = offers.iter().filter(|row| row["offer"]["status"] == "submitted").collect();
    if pending.is_empty() {
        return Ok(None);
    }
    let sum = pending.iter().map(|row| number(row, "/offer/amount")).sum();
    Ok(Some(Asked {
        text: "How many of our bids on listings are still undecided, and what would we pay for all of them, without fees?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("count".to_owned(), Expected::Count(pending.len() as u64)),
            ("sum".to_owned(), Expected::Dollars(cents(sum))),
        ]),
        subject: Value::Null,
    }))
}

/// When the latest purchases of a kind were checked out.
pub fn latest_checkout(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    let full = purchases.iter().filter(|row| row["purchase"]["purchase_kind"] == "full");
    let Some(latest) = full.max_by_key(|row| text(row, "/purchase/created_at")) else { return Ok(None) };
    Ok(Some(Asked {
        text: "On which day did we start the checkout of our latest full purchase, of which listing was it, and what did we \
               pay with all fees?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("day".to_owned(), Expected::Day(day(text(latest, "/purchase/created_at")).to_owned())),
            ("listing_id".to_owned(), Expected::Id(text(latest, "/purchase/listing_id").to_owned())),
            ("paid".to_owned(), Expected::Dollars(number(latest, "/purchase/total"))),
        ]),
        subject: Value::Null,
    }))
}

/// The next deadline of the team's own requests.
pub fn next_deadline(facts: &mut Facts) -> Asking {
    let requests = facts.rows("/v2/buyer/opportunities", "items")?;
    let open = requests.iter().filter(|row| row["status"] == "published" && row["deadline"].is_string());
    let Some(next) = open.min_by_key(|row| text(row, "/deadline")) else { return Ok(None) };
    Ok(Some(Asked {
        text: "Which of our published requests for listings (opportunities) has the next deadline, and on which day is it?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("opportunity_id".to_owned(), Expected::Id(text(next, "/id").to_owned())),
            ("day".to_owned(), Expected::Day(day(text(next, "/deadline")).to_owned())),
        ]),
        subject: Value::Null,
    }))
}

/// The bids on one of the team's projects.
pub fn project_bids(facts: &mut Facts) -> Asking {
    for project in facts.rows("/v2/buyer/project-opportunities", "items")? {
        let id = text(&project, "/id");
        let bids = facts.rows(&format!("/v2/buyer/project-opportunities/{id}/bids"), "items")?;
        let standing: Vec<&Value> = bids.iter().filter(|bid| bid["status"] != "withdrawn").collect();
        if standing.is_empty() {
            continue;
        }
        let tasks: f64 = standing.iter().map(|bid| number(bid, "/num_tasks")).sum();
        let title = text(&project, "/title");
        return Ok(Some(Asked {
            text: format!(
                "Leaving out withdrawn ones, how many bids did our project “{title}” get, and how many tasks do they offer \
                 together?"
            ),
            expected: Expected::Record(vec![
                ("bids".to_owned(), Expected::Count(standing.len() as u64)),
                ("tasks".to_owned(), Expected::Count(tasks as u64)),
            ]),
            subject: json!({"title": title}),
        }));
    }
    Ok(None)
}
