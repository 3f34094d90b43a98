//! Amounts of money on the command line.

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandResult,
    operator::{Client, Records, parse_id},
};
use crate::domain::money::{Cents, MAX_AMOUNT};

/// Parses an amount of US dollars, such as `12` or `0.99`.
pub fn parse_amount(text: &str) -> Result<Cents, String> {
    Cents::parse(text).ok_or_else(|| {
        format!("must be an amount of US dollars such as 12 or 0.99, and at most {MAX_AMOUNT}")
    })
}

/// Returns an amount in a body: a string with two decimals, or null.
pub fn amount(cents: Option<Cents>) -> Value {
    cents.map_or(Value::Null, |cents| cents.to_string().into())
}

/// A payment outside the marketplace whose outcome is reported.
#[derive(Debug, Args)]
pub struct EndedPayment {
    /// ID of the record, as printed by the list.
    #[arg(value_parser = parse_id)]
    id: Uuid,
    /// Amount of the payment in US dollars. If it does not match, nothing is changed; if it does, the command can be repeated.
    #[arg(long, value_parser = parse_amount)]
    amount: Option<Cents>,
}

impl EndedPayment {
    /// Reports how the payment ended, and prints the new status.
    pub fn report(&self, client: &Client, records: &Records, verb: &str) -> CommandResult {
        let body = if self.amount.is_some() { json!({"amount": amount(self.amount)}) } else { Value::Null };
        records.change(client, self.id, verb, &body).map(drop)
    }
}
