//! Records of one kind, declared as data: where the operator API has them, and which of their fields people see.

use std::fmt::Display;

use clap::Args;
use serde_json::Value;

use super::client::{Client, MAX_ITEMS};
use crate::cli::{CommandError, CommandResult, print_line};

/// How many records a list has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ListLimit {
    /// Maximum number of rows, up to 100000 [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_ITEMS as i64))]
    limit: Option<u32>,
}

impl ListLimit {
    /// Returns the number; `None` for all.
    pub fn rows(self) -> Option<usize> {
        self.limit.map(|limit| limit as usize)
    }
}

/// Records of one kind.
pub struct Records {
    /// Path of their list, after the prefix of the API.
    pub path: &'static str,
    /// The fields that lists show. A period leads to a field of a field.
    pub columns: &'static [&'static str],
    /// The fields of one record.
    pub all_columns: &'static [&'static str],
}

impl Records {
    /// Prints the records that have these values, newest first. Values that are null are left out.
    pub fn list(&self, client: &Client, filters: &[(&str, Value)], limit: ListLimit) -> CommandResult {
        client.print_list(self.columns, client.list(self.path, filters, limit.rows())?)
    }

    /// Prints a record.
    pub fn show(&self, client: &Client, id: impl Display + Copy) -> CommandResult {
        client.print_record(self.all_columns, self.get(client, id)?)
    }

    /// Prints a record, and the rows of a list in it.
    pub fn show_with_rows(
        &self,
        client: &Client,
        id: impl Display + Copy,
        (field, columns): (&str, &[&str]),
    ) -> CommandResult {
        let record = self.get(client, id)?;
        client.print_record_with_rows(self.all_columns, record, (field, columns))
    }

    /// Returns a record.
    pub fn get(&self, client: &Client, id: impl Display + Copy) -> Result<Value, CommandError> {
        client.get(&format!("{}/{id}", self.path))
    }

    /// Creates a record, and prints its ID.
    pub fn create(&self, client: &Client, body: &Value) -> CommandResult {
        client.print_id(&client.post(self.path, body)?);
        Ok(())
    }

    /// Changes fields of a record, and prints it.
    pub fn edit(&self, client: &Client, id: impl Display + Copy, body: &Value) -> CommandResult {
        client.print_record(self.all_columns, client.patch(&format!("{}/{id}", self.path), body)?)
    }

    /// Performs a transition, and prints the status after it. Returns the record.
    pub fn change(
        &self,
        client: &Client,
        id: impl Display + Copy,
        verb: &str,
        body: &Value,
    ) -> Result<Value, CommandError> {
        let changed = client.post(&format!("{}/{id}/{verb}", self.path), body)?;
        client.print(&changed, |changed| {
            let status = ["status", "state", "stage"].into_iter().find_map(|field| changed[field].as_str());
            print_line(status.unwrap_or_default());
        });
        Ok(changed)
    }
}
