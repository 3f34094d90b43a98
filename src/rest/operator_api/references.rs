//! What bodies refer to: an ID in a body that nothing has is a problem of the body, not an absent resource.

use uuid::Uuid;

use crate::{
    domain::teams::Team,
    error::{Error, Problem, Result},
    store::{self, Reader},
};

/// Returns the team that a field of a body identifies.
pub fn team(rows: &Reader, field: &str, id: Uuid) -> Result<Team> {
    store::teams::find(rows, id)?.ok_or_else(|| unknown(field, "team"))
}

/// Returns the error for a field of a body whose value identifies nothing.
pub fn unknown(field: &str, what: &str) -> Error {
    let message = format!("No {what} has this ID.");
    Error::invalid(Problem::body(&[field], "not_found", message))
}
