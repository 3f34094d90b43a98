//! Questions about amounts: medians, fees, gross and net, and cents.

use serde_json::{Value, json};

use super::{Asked, Asking};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, cents, median, month, number, sums, text},
};

/// The median of a vendor's full sales.
pub fn median_sale(facts: &mut Facts) -> Asking {
    let sales = facts.list("/v2/listings/sales", "sales")?;
    let full = sales.iter().filter(|sale| sale["purchase_kind"] == "full");
    let Some(median) = median(full.map(|sale| number(sale, "/amount")).collect()) else { return Ok(None) };
    Ok(Some(Asked {
        text: "What is the median of what we got, net of fees, for each sale of a full listing (no samples and no accepted \
               bids)? The median of an even number is the mean of the two in the middle."
            .to_owned(),
        expected: Expected::Dollars(cents(median)),
        subject: Value::Null,
    }))
}

/// The platform fees of a month.
pub fn fees_of_month(facts: &mut Facts) -> Asking {
    let entries = facts.rows("/v2/wallet/earnings", "items")?;
    let fees = entries.iter().filter(|entry| entry["entry_type"] == "platform_fee");
    let by_month: Vec<(String, f64)> =
        sums(fees.map(|entry| (month(text(entry, "/created_at")), number(entry, "/amount"))))
            .into_iter()
            .collect();
    let Some((month, sum)) = facts.random.pick(&by_month) else { return Ok(None) };
    Ok(Some(Asked {
        text: format!(
            "How much did we pay in platform fees in {month}, by the time of each entry? Answer with a positive number."
        ),
        expected: Expected::Dollars(cents(-sum)),
        subject: json!({"month": month}),
    }))
}

/// Gross, fee, and net of one sale.
pub fn gross_and_net(facts: &mut Facts) -> Asking {
    let entries = facts.rows("/v2/wallet/earnings", "items")?;
    let sold: Vec<&Value> = entries.iter().filter(|entry| entry["entry_type"] == "sale").collect();
    let Some(sale) = facts.random.pick(&sold) else { return Ok(None) };
    let purchase = text(sale, "/purchase_id");
    let of_sale = |kind: &str| -> f64 {
        let entries = entries
            .iter()
            .filter(|entry| text(entry, "/purchase_id") == purchase && entry["entry_type"] == kind);
        entries.map(|entry| number(entry, "/amount")).sum()
    };
    let (gross, fee) = (of_sale("sale"), -of_sale("platform_fee"));
    Ok(Some(Asked {
        text: format!(
            "Of the purchase {purchase}, what did the buyer pay for our listing without buyer fees, what was the platform fee, \
             and what did we get net? Leave out refunds."
        ),
        expected: Expected::Record(vec![
            ("gross".to_owned(), Expected::Dollars(cents(gross))),
            ("fee".to_owned(), Expected::Dollars(cents(fee))),
            ("net".to_owned(), Expected::Dollars(cents(gross - fee))),
        ]),
        subject: json!({"purchase": purchase}),
    }))
}

/// The highest quote, which is stored in cents.
pub fn highest_quote(facts: &mut Facts) -> Asking {
    let found = facts.rows("/v2/estimations", "estimations")?;
    let quotes = found.iter().filter(|row| row["quote_high_cents"].is_number());
    let Some(highest) = quotes.map(|row| number(row, "/quote_high_cents")).max_by(f64::total_cmp) else {
        return Ok(None);
    };
    Ok(Some(Asked {
        text: "What is the highest upper bound of the quotes of our estimations, in dollars?".to_owned(),
        expected: Expected::Dollars(highest / 100.0),
        subject: Value::Null,
    }))
}

/// The refunds of a vendor.
pub fn refunds(facts: &mut Facts) -> Asking {
    let entries = facts.rows("/v2/wallet/earnings", "items")?;
    let refunds: Vec<f64> = entries
        .iter()
        .filter(|entry| entry["entry_type"] == "refund")
        .map(|entry| number(entry, "/amount"))
        .collect();
    if refunds.is_empty() {
        return Ok(None);
    }
    Ok(Some(Asked {
        text: "How many refund entries do our earnings have, and how much did they take back in total, as a positive number?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("count".to_owned(), Expected::Count(refunds.len() as u64)),
            ("sum".to_owned(), Expected::Dollars(cents(-refunds.iter().sum::<f64>()))),
        ]),
        subject: Value::Null,
    }))
}

/// The buyer fees of a year.
pub fn buyer_fees(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    let year = |row: &Value| text(row, "/purchase/created_at").get(..4).unwrap_or_default().to_owned();
    let years: Vec<String> = purchases.iter().map(year).collect();
    let Some(chosen) = facts.random.pick(&years) else { return Ok(None) };
    let of_year = purchases.iter().filter(|row| year(row) == *chosen);
    let sum = of_year.map(|row| number(row, "/purchase/buyer_fee")).sum();
    Ok(Some(Asked {
        text: format!("How much did we pay in buyer fees for purchases whose checkout started in {chosen}?"),
        expected: Expected::Dollars(cents(sum)),
        subject: json!({"year": chosen}),
    }))
}

/// The average price of full purchases.
pub fn average_price(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    let full = purchases.iter().filter(|row| row["purchase"]["purchase_kind"] == "full");
    let prices: Vec<f64> = full.map(|row| number(row, "/purchase/price")).collect();
    if prices.is_empty() {
        return Ok(None);
    }
    Ok(Some(Asked {
        text: "What was the average price, without fees, of our full purchases (no samples and no accepted bids)? Round to \
               cents."
            .to_owned(),
        expected: Expected::Dollars(cents(prices.iter().sum::<f64>() / prices.len() as f64)),
        subject: Value::Null,
    }))
}
