//! Records on the command line: by ID, or by name.

use marketplace_text::equality_key;
use serde_json::Value;
use uuid::Uuid;

use super::client::Client;
use crate::cli::CommandError;

/// Minimum similarity (Jaro-Winkler) of a name that is suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.7;

/// Maximum number of records among which a similar name is looked for.
const MAX_SUGGESTED: usize = 2000;

/// Records of one kind, and how they are found by name.
pub struct Named {
    /// What one of them is called.
    kind: &'static str,
    path: &'static str,
    /// The field with the name.
    field: &'static str,
    /// Whether the list can be filtered by the name.
    has_filter: bool,
    /// Query parameters of the list: what cannot be used anymore is not found by name.
    filters: &'static [(&'static str, &'static str)],
}

pub const TEAMS: Named = Named::new("team", "/teams", "name");
pub const LISTINGS: Named = Named::new("listing", "/listings", "title");
pub const TASKSETS: Named = Named::new("taskset", "/tasksets", "name");
pub const KEYS: Named = Named::new("key", "/keys", "name");
pub const OPERATOR_KEYS: Named = Named::new("operator key", "/operator-keys", "name");
pub const ASSETS: Named = Named::new("asset", "/assets", "title").without_filter();
pub const OPPORTUNITIES: Named = Named::new("opportunity", "/opportunities", "title").without_filter();
pub const PROJECT_OPPORTUNITIES: Named =
    Named::new("project opportunity", "/project-opportunities", "title").without_filter();
pub const WEBHOOKS: Named = Named::new("webhook", "/webhooks", "url").without_filter();
pub const GRANTS: Named =
    Named { filters: &[("status", "open")], ..Named::new("grant", "/grants", "title").without_filter() };

/// Returns the ID of a team, given its ID or its name in any case.
pub fn team(client: &Client, id_or_name: &str) -> Result<String, CommandError> {
    TEAMS.id(client, id_or_name)
}

/// Returns the ID of a team if one is given, or else null.
pub fn optional_team(client: &Client, id_or_name: Option<&String>) -> Result<Value, CommandError> {
    Ok(id_or_name.map(|name| team(client, name)).transpose()?.into())
}

/// Returns the ID of a listing, given its ID or its title.
pub fn listing(client: &Client, id_or_title: &str) -> Result<String, CommandError> {
    LISTINGS.id(client, id_or_title)
}

/// Returns the IDs of assets, given their IDs or titles.
pub fn assets(client: &Client, ids_or_titles: &[String]) -> Result<Vec<String>, CommandError> {
    ids_or_titles.iter().map(|asset| ASSETS.id(client, asset)).collect()
}

impl Named {
    const fn new(kind: &'static str, path: &'static str, field: &'static str) -> Named {
        Named { kind, path, field, has_filter: true, filters: &[] }
    }

    const fn without_filter(self) -> Named {
        Named { has_filter: false, ..self }
    }

    /// Returns the path of a record, given its ID or name.
    pub fn path(&self, client: &Client, id_or_name: &str) -> Result<String, CommandError> {
        Ok(format!("{}/{}", self.path, self.id(client, id_or_name)?))
    }

    /// Returns the ID of a record, given its ID or name. Fails if no record or several have the name. The case of the name
    /// only matters if records have names that differ in nothing else.
    pub fn id(&self, client: &Client, id_or_name: &str) -> Result<String, CommandError> {
        if let Ok(id) = Uuid::try_parse(id_or_name) {
            return Ok(id.to_string());
        }
        let name = id_or_name;
        let mut found = self.find(client, name)?;
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
            [] => Err(self.unknown(name, &client.list(self.path, &self.filters(), Some(MAX_SUGGESTED))?)),
            several => {
                let ids: crate::error::Named = several.iter().map(id_of).collect();
                let kinds = plural(self.kind);
                let message = format!("Several {kinds} are named {name:?}. Use one of their IDs: {ids}.");
                Err(CommandError::Other(message))
            }
        }
    }

    fn filters(&self) -> Vec<(&'static str, Value)> {
        self.filters.iter().map(|(name, value)| (*name, Value::from(*value))).collect()
    }

    /// Returns the records with a name: with exactly this one if the list can be filtered and has some, or else in any
    /// case.
    fn find(&self, client: &Client, name: &str) -> Result<Vec<Value>, CommandError> {
        let mut filters = self.filters();
        let mut limit = None;
        if self.has_filter {
            filters.push((self.field, name.into()));
            let found = client.list(self.path, &filters, None)?;
            if !found.is_empty() {
                return Ok(found);
            }
            filters.pop();
            limit = Some(MAX_SUGGESTED);
        }
        let mut found = client.list(self.path, &filters, limit)?;
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
        let name_lower = name.to_lowercase();
        let names = records.iter().filter_map(|record| record[self.field].as_str());
        let similar = names
            .map(|other| (strsim::jaro_winkler(&other.to_lowercase(), &name_lower), other))
            .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        CommandError::Other(match similar {
            Some((_, nearest)) => format!("There is no {} {name:?}; did you mean {nearest:?}?", self.kind),
            None => format!("There is no {} {name:?}.", self.kind),
        })
    }
}

/// Returns the plural of what records are called.
fn plural(kind: &str) -> String {
    kind.strip_suffix('y')
        .filter(|stem| stem.ends_with("opportunit"))
        .map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"))
}
