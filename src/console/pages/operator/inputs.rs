//! What several forms of operators take: the team that they are about, and the ID of a record.

use crate::{
    console::{prelude::*, resources::Input},
    domain::teams::Team,
    market::Writer,
    operations::teams,
    store::records::any_record::AnyRecord,
};

/// The field of a form that names a team.
pub const TEAM: Input = Input::Line(TEAM_FIELD, "Team", "Its ID, or its name.");

const TEAM_FIELD: &str = "team_id";

/// Returns the team that a form names.
pub fn team(writer: &Writer, fields: &Fields) -> Result<Team> {
    let text = fields.require(TEAM_FIELD, "Enter the ID or the name of a team.")?;
    teams::resolve(writer.rows, text).map_err(|error| refuse(TEAM_FIELD, error))
}

/// Returns the IDs of the teams that the lines of a field name.
pub fn teams(writer: &Writer, fields: &Fields, name: &'static str) -> Result<Vec<Uuid>> {
    let lines = fields.get(name).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let find = |line: &str| {
        teams::resolve(writer.rows, line).map(|team| team.id).map_err(|error| refuse(name, error))
    };
    let found = lines.map(find).collect::<Result<Vec<Uuid>>>()?;
    if found.is_empty() { Err(Error::invalid(problem(name, "Enter at least one team."))) } else { Ok(found) }
}

/// Converts the error that no team, or more than one, is meant by a field.
fn refuse(name: &'static str, error: Error) -> Error {
    match error {
        Error::NotFound(_) | Error::Conflict(_) => Error::invalid(problem(name, &error.message())),
        other => other,
    }
}

/// Converts the error that a team lacks something, which is a state of the team, and not of the operator.
pub fn of_team(error: Error) -> Error {
    let message = match error {
        Error::RoleRequired(role) => {
            format!("The team does not have the role {role}. Give it the role first.")
        }
        Error::NdaRequired => {
            "The team has not accepted the NDA. Record its acceptance on the page of the team first."
                .to_owned()
        }
        other => return other,
    };
    Error::Conflict(message)
}

/// Returns the ID of a record.
pub fn id_of(record: &AnyRecord) -> Result<Uuid> {
    record.id("id").ok_or_else(|| Error::internal("a record without an ID"))
}
