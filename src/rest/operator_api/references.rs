//! What bodies refer to: an ID in a body that nothing has is a problem of the body, not an absent resource.

use uuid::Uuid;

use crate::{
    domain::teams::Team,
    error::{Error, Problem, Result},
    operations::access::{Buyer, Platform},
    store::{self, Reader},
};

/// Returns the team that a field of a body identifies.
pub fn team(rows: &Reader, field: &str, id: Uuid) -> Result<Team> {
    store::teams::find(rows, id)?.ok_or_else(|| unknown(field, "team"))
}

/// Returns the proof to act in the name of a buyer.
pub fn buyer(platform: Platform, team: Team) -> Result<Buyer> {
    let id = team.id;
    platform.buyer(team).map_err(|error| of_team(id, error))
}

/// Converts the error that a team lacks something. It is a state of the team, and the operator can change it; the
/// operator's own key permits the request.
fn of_team(id: Uuid, error: Error) -> Error {
    let message = match error {
        Error::RoleRequired(role) => format!(
            "The team does not have the marketplace role {role}. Grant it with `PATCH /operator/v1/teams/{id}`."
        ),
        Error::NdaRequired => format!(
            "The team has not accepted the mutual NDA. Record it with `POST /operator/v1/teams/{id}/accept-nda`."
        ),
        other => return other,
    };
    Error::Conflict(message)
}

/// Returns the error for a field of a body whose value identifies nothing.
pub fn unknown(field: &str, what: &str) -> Error {
    let message = format!("No {what} has this ID.");
    Error::invalid(Problem::body(&[field], "not_found", message))
}
