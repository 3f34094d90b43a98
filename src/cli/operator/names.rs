//! Records on the command line: by ID, or by name.

use serde_json::Value;
use uuid::Uuid;

use super::client::Client;
use crate::cli::CommandError;

/// Minimum similarity (Jaro-Winkler) of a name that is suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the ID of a team, given its ID or its name in any case.
pub fn team(client: &Client, id_or_name: &str) -> Result<String, CommandError> {
    let find = |name: &str| client.list("/teams", &[("name", name.into())], Some(2));
    resolve(client, "team", ("/teams", "name"), id_or_name, find)
}

/// Returns the ID of a listing, given its ID or its title.
pub fn listing(client: &Client, id_or_title: &str) -> Result<String, CommandError> {
    let find = |title: &str| client.list("/listings", &[("title", title.into())], Some(3));
    resolve(client, "listing", ("/listings", "title"), id_or_title, find)
}

/// Returns the ID of a taskset, given its ID or its name.
pub fn taskset(client: &Client, id_or_name: &str) -> Result<String, CommandError> {
    let find = |name: &str| {
        let mut found = client.list("/tasksets", &[], None)?;
        let name = name.to_lowercase();
        found.retain(|taskset| taskset["name"].as_str().is_some_and(|other| other.to_lowercase() == name));
        Ok(found)
    };
    resolve(client, "taskset", ("/tasksets", "name"), id_or_name, find)
}

/// Returns the ID of a record. Fails if no record or several have the name.
fn resolve(
    client: &Client,
    kind: &str,
    (path, field): (&str, &str),
    id_or_name: &str,
    find: impl Fn(&str) -> Result<Vec<Value>, CommandError>,
) -> Result<String, CommandError> {
    if let Ok(id) = Uuid::try_parse(id_or_name) {
        return Ok(id.to_string());
    }
    let found = find(id_or_name)?;
    let exact: Vec<&Value> = found.iter().filter(|record| record[field] == id_or_name).collect();
    let candidates: Vec<&Value> = if exact.is_empty() { found.iter().collect() } else { exact };
    let id_of = |record: &Value| record["id"].as_str().unwrap_or_default().to_owned();
    match candidates.as_slice() {
        [one] => Ok(id_of(one)),
        [] => Err(unknown(kind, id_or_name, &client.list(path, &[], None)?, field)),
        several => {
            let ids: Vec<String> = several.iter().map(|record| id_of(record)).collect();
            let ids = ids.join(", ");
            let message = format!("Several {kind}s are named {id_or_name:?}. Use one of their IDs: {ids}.");
            Err(CommandError::Other(message))
        }
    }
}

/// Returns the error for a name that no record has. It suggests the most similar one.
fn unknown(kind: &str, name: &str, records: &[Value], field: &str) -> CommandError {
    let name_lower = name.to_lowercase();
    let names = records.iter().filter_map(|record| record[field].as_str());
    let similar = names
        .map(|other| (strsim::jaro_winkler(&other.to_lowercase(), &name_lower), other))
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    CommandError::Other(match similar {
        Some((_, nearest)) => format!("There is no {kind} {name:?}; did you mean {nearest:?}?"),
        None => format!("There is no {kind} {name:?}."),
    })
}
