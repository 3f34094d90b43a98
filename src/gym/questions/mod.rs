//! The questions: for each kind a file with functions that choose a subject from the market, and compute the expected answer
//! from the HTTP API. What agents can do to find the answer is in `reference`.

pub mod both;
pub mod buyer;
pub mod catalog;
pub mod long;
pub mod money;
pub mod planted;
pub mod unanswerable;
pub mod vendor;
pub mod vendor_money;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{checkers::Expected, error::GymError, facts::cents};

/// Number of months in questions about months.
const MONTHS: usize = 3;

/// What a template asks about a market.
pub struct Asked {
    /// The question.
    pub text: String,
    /// The right answer.
    pub expected: Expected,
    /// The facts for the script of the reference run. The question states all of them.
    pub subject: Value,
}

/// The question of a template; `None` if the market lacks data for it.
pub type Asking = Result<Option<Asked>, GymError>;

/// Asks for the sums of the latest months. `question` returns the text for their names.
fn sums_of_latest_months(
    by_month: BTreeMap<String, f64>,
    question: impl FnOnce(&str) -> String,
) -> Option<Asked> {
    let latest: Vec<(String, f64)> = by_month.into_iter().rev().take(MONTHS).collect();
    let months: Vec<&str> = latest.iter().map(|(month, _)| month.as_str()).collect();
    let fields = latest.iter().map(|(month, sum)| (month.clone(), Expected::Dollars(cents(*sum))));
    (!latest.is_empty()).then(|| Asked {
        text: question(&months.join(", ")),
        expected: Expected::Record(fields.collect()),
        subject: json!({"months": months}),
    })
}
