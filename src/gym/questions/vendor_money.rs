//! A vendor's questions about its sales and earnings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Asked, Asking, sums_of_latest_months};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, cents, day, month, number, only_lowest, sums, text},
};

/// Kinds of entries that are earnings: sales, what is deducted from them, and what is paid back.
pub const EARNING_TYPES: [&str; 5] = ["sale", "sample_sale", "accepted_bid_sale", "refund", "platform_fee"];

/// Whether an entry of the earnings is of a sale, rather than a withdrawal or a conversion.
pub fn is_earning(entry: &Value) -> bool {
    EARNING_TYPES.contains(&text(entry, "/entry_type"))
}

/// Net earnings of the latest months.
pub fn earnings_by_month(facts: &mut Facts) -> Asking {
    let entries = facts.rows("/v2/wallet/earnings", "items")?;
    let amounts = entries.iter().filter(|entry| is_earning(entry));
    let by_month = sums(amounts.map(|entry| (month(text(entry, "/created_at")), number(entry, "/amount"))));
    Ok(sums_of_latest_months(by_month, |months| {
        format!(
            "What did we earn net in each of these months: {months}? That is sales of all kinds, less platform fees and refunds, \
             by the time of each entry, without withdrawals and conversions."
        )
    }))
}

/// When pending earnings are released next, and how much.
pub fn next_release(facts: &mut Facts) -> Asking {
    let entries = facts.rows("/v2/wallet/earnings", "items")?;
    let now = facts.now();
    let held =
        entries.iter().filter(|entry| is_earning(entry) && text(entry, "/available_at") > now.as_str());
    let by_time = sums(held.map(|entry| (text(entry, "/available_at"), number(entry, "/amount"))));
    let Some((time, sum)) = by_time.into_iter().next() else { return Ok(None) };
    Ok(Some(Asked {
        text: "On which day are earnings of ours released next that are still pending, and how much becomes available then, \
               net of fees?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("day".to_owned(), Expected::Day(day(&time).to_owned())),
            ("amount".to_owned(), Expected::Dollars(cents(sum))),
        ]),
        subject: Value::Null,
    }))
}

/// The listing that earned most.
pub fn best_seller(facts: &mut Facts) -> Asking {
    let sales = facts.list("/v2/listings/sales", "sales")?;
    let mut by_listing: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for sale in &sales {
        let entry = by_listing.entry(text(sale, "/listing_id")).or_default();
        *entry = (entry.0 + 1, entry.1 + number(sale, "/amount"));
    }
    let rows: Vec<Value> =
        by_listing.iter().map(|(id, (count, sum))| json!({"id": id, "count": count, "sum": sum})).collect();
    let Some(best) = only_lowest(&rows, |row| -number(row, "/sum")) else { return Ok(None) };
    Ok(Some(Asked {
        text: "Which of our listings earned us most from sales so far, in how many sales, and how much net of fees?".to_owned(),
        expected: Expected::Record(vec![
            ("listing_id".to_owned(), Expected::Id(text(best, "/id").to_owned())),
            ("sales".to_owned(), Expected::Count(number(best, "/count") as u64)),
            ("net".to_owned(), Expected::Dollars(cents(number(best, "/sum")))),
        ]),
        subject: Value::Null,
    }))
}

/// The balances of the wallet.
pub fn wallet(facts: &mut Facts) -> Asking {
    let wallet = facts.get("/v2/wallet")?;
    Ok(Some(Asked {
        text: "How many credits do we have, and how much of our earnings is pending and available?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("credits".to_owned(), Expected::Dollars(number(&wallet, "/credits_balance"))),
            ("pending".to_owned(), Expected::Dollars(number(&wallet, "/earnings/pending"))),
            ("available".to_owned(), Expected::Dollars(number(&wallet, "/earnings/available"))),
        ]),
        subject: Value::Null,
    }))
}
