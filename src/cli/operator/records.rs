//! Records of one kind, declared as data: where the operator API has them, which of their fields people see, and how one is
//! found by its name.

use std::fmt::Display;

use clap::Args;
use marketplace_text::{equality_key, similar_names::most_similar};
use serde_json::Value;
use uuid::Uuid;

use super::client::{Client, MAX_ITEMS};
use crate::cli::{CommandError, CommandResult, print_line};

/// Maximum number of records among which a similar name is looked for.
pub const MAX_SUGGESTED: usize = 2000;

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
    /// The fields that lists show, separated by spaces. A period leads to a field of a field.
    pub columns: &'static str,
    /// The fields of one record.
    pub all_columns: &'static str,
    /// How one is found by its name; `None` if only its ID or slug identifies it.
    pub name: Option<Name>,
}

/// How records are found by name.
#[derive(Clone, Copy)]
pub struct Name {
    /// What one of them is called.
    kind: &'static str,
    /// The field with the name.
    field: &'static str,
    /// Whether the list can be filtered by the name.
    has_filter: bool,
    /// Query parameters of the list: records that cannot be used anymore are not found by name.
    filters: &'static [(&'static str, &'static str)],
}

impl Name {
    /// The name of records of a kind is in a field, by which their list can be filtered.
    pub const fn new(kind: &'static str, field: &'static str) -> Name {
        Name { kind, field, has_filter: true, filters: &[] }
    }

    /// States that the list cannot be filtered by the name.
    pub const fn without_filter(self) -> Name {
        Name { has_filter: false, ..self }
    }

    /// Sets what the list is always filtered by.
    pub const fn among(self, filters: &'static [(&'static str, &'static str)]) -> Name {
        Name { filters, ..self }
    }
}

impl Records {
    /// Declares records that only their IDs or slugs identify, with the fields that lists show and those of one record.
    pub const fn new(path: &'static str, columns: &'static str, all_columns: &'static str) -> Records {
        Records { path, columns, all_columns, name: None }
    }

    /// States how a record is found by its name.
    pub const fn named(self, name: Name) -> Records {
        Records { name: Some(name), ..self }
    }

    /// Prints the records that have these values, newest first. Values that are null are left out.
    pub fn list(&self, client: &Client, filters: &[(&str, Value)], limit: ListLimit) -> CommandResult {
        self.list_at(self.path, client, filters, limit)
    }

    /// Prints the records of the list at another path.
    pub fn list_at(
        &self,
        path: &str,
        client: &Client,
        filters: &[(&str, Value)],
        limit: ListLimit,
    ) -> CommandResult {
        client.print_list(self.columns, client.list(path, filters, limit.rows())?)
    }

    /// Prints a record.
    pub fn show(&self, client: &Client, id_or_name: impl Display + Copy) -> CommandResult {
        client.print_record(self.all_columns, self.get(client, id_or_name)?)
    }

    /// Prints a record, and the rows of a list in it.
    pub fn show_with_rows(
        &self,
        client: &Client,
        id_or_name: impl Display + Copy,
        (field, columns): (&str, &str),
    ) -> CommandResult {
        let record = self.get(client, id_or_name)?;
        client.print_record_with_rows(self.all_columns, record, (field, columns))
    }

    /// Returns a record.
    pub fn get(&self, client: &Client, id_or_name: impl Display + Copy) -> Result<Value, CommandError> {
        client.get(&self.path_of(client, id_or_name)?)
    }

    /// Creates a record, and prints its ID.
    pub fn create(&self, client: &Client, body: &Value) -> CommandResult {
        client.print_id(&client.post(self.path, body)?);
        Ok(())
    }

    /// Changes fields of a record, and prints it.
    pub fn edit(&self, client: &Client, id_or_name: impl Display + Copy, body: &Value) -> CommandResult {
        client.print_record(self.all_columns, client.patch(&self.path_of(client, id_or_name)?, body)?)
    }

    /// Performs a transition without parameters, and prints the status after it.
    pub fn perform(&self, client: &Client, id_or_name: impl Display + Copy, verb: &str) -> CommandResult {
        self.change(client, id_or_name, verb, &Value::Null).map(drop)
    }

    /// Performs a transition, and prints the status after it. Returns the record.
    pub fn change(
        &self,
        client: &Client,
        id_or_name: impl Display + Copy,
        verb: &str,
        body: &Value,
    ) -> Result<Value, CommandError> {
        let changed = client.post(&format!("{}/{verb}", self.path_of(client, id_or_name)?), body)?;
        client.print(&changed, |changed| {
            let status = ["status", "state", "stage"].into_iter().find_map(|field| changed[field].as_str());
            print_line(status.unwrap_or_default());
        });
        Ok(changed)
    }

    /// Returns the path of a record.
    pub fn path_of(&self, client: &Client, id_or_name: impl Display + Copy) -> Result<String, CommandError> {
        Ok(format!("{}/{}", self.path, self.id(client, id_or_name)?))
    }

    /// Returns the ID of a record if one is stated, or else null.
    pub fn optional_id(&self, client: &Client, id_or_name: Option<&String>) -> Result<Value, CommandError> {
        Ok(id_or_name.map(|name| self.id(client, name)).transpose()?.into())
    }

    /// Returns the IDs of records.
    pub fn ids(&self, client: &Client, ids_or_names: &[String]) -> Result<Vec<String>, CommandError> {
        ids_or_names.iter().map(|name| self.id(client, name)).collect()
    }

    /// Returns the ID of a record, given its ID or name. Fails if no record or several have the name. The case of the name only
    /// matters if names of records differ only in case.
    pub fn id(&self, client: &Client, id_or_name: impl Display + Copy) -> Result<String, CommandError> {
        let stated = id_or_name.to_string();
        match (&self.name, Uuid::try_parse(&stated)) {
            (None, _) if is_identifier(&stated) => Ok(stated),
            (None, _) => Err(CommandError::Usage(format!(
                "{stated:?} is no ID or slug: these have only letters, digits, hyphens, and underscores"
            ))),
            (Some(_), Ok(id)) => Ok(id.to_string()),
            (Some(name), Err(_)) => name.find_id(client, self.path, &stated),
        }
    }
}

impl Name {
    /// Returns the ID of the record of the list at `path` that has a name.
    fn find_id(&self, client: &Client, path: &str, name: &str) -> Result<String, CommandError> {
        let mut found = self.find(client, path, name)?;
        let exact = |record: &Value| record[self.field] == name;
        if found.iter().any(exact) {
            found.retain(exact);
        }
        // A key that was replaced has the same name as its successor.
        let is_active = |record: &Value| record["status"] == "active";
        if found.iter().any(is_active) {
            found.retain(is_active);
        }
        let id_of = |record: &Value| record["id"].as_str().unwrap_or_default().to_owned();
        match found.as_slice() {
            [one] => Ok(id_of(one)),
            [] => Err(self.unknown(name, &client.list(path, &self.filters(), Some(MAX_SUGGESTED))?)),
            several => {
                let ids: crate::error::NameList = several.iter().map(id_of).collect();
                let kinds = plural(self.kind);
                let message = format!("Several {kinds} are named {name:?}. Use one of their IDs: {ids}.");
                Err(CommandError::Other(message))
            }
        }
    }

    fn filters(&self) -> Vec<(&'static str, Value)> {
        self.filters.iter().map(|(name, value)| (*name, Value::from(*value))).collect()
    }

    /// Returns the records with a name: with exactly this name if the list can be filtered by name and has such records, or
    /// else in any case.
    fn find(&self, client: &Client, path: &str, name: &str) -> Result<Vec<Value>, CommandError> {
        let mut filters = self.filters();
        let mut limit = None;
        if self.has_filter {
            filters.push((self.field, name.into()));
            let found = client.list(path, &filters, None)?;
            if !found.is_empty() {
                return Ok(found);
            }
            filters.pop();
            limit = Some(MAX_SUGGESTED);
        }
        let mut found = client.list(path, &filters, limit)?;
        if limit.is_some_and(|limit| found.len() >= limit) {
            // There may be more records with the name.
            return Ok(Vec::new());
        }
        let key = equality_key(name);
        found.retain(|record| record[self.field].as_str().is_some_and(|other| equality_key(other) == key));
        Ok(found)
    }

    /// Returns the error for a name that no record has. It suggests the most similar one.
    fn unknown(&self, name: &str, records: &[Value]) -> CommandError {
        let names = records.iter().filter_map(|record| record[self.field].as_str());
        let hint = suggestion(name, names);
        CommandError::Other(format!("No {} is called {name:?}.{hint}", self.kind))
    }
}

/// Returns the name that was probably meant, as the end of a message; empty if none is similar.
pub fn suggestion(name: &str, known: impl IntoIterator<Item: AsRef<str>>) -> String {
    most_similar(name, known).map(|similar| format!(" Did you mean {similar:?}?")).unwrap_or_default()
}

/// Whether this can be an ID or a slug. In the path of a request, anything else could lead to another record.
fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Returns the plural of what records are called.
fn plural(kind: &str) -> String {
    kind.strip_suffix('y')
        .filter(|stem| stem.ends_with("opportunit"))
        .map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}
