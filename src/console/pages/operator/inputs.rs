//! Inputs that several forms of operators have in common: the team that they are about, and the ID of a record.

use crate::{
    console::{prelude::*, resources::Input},
    domain::teams::Team,
    operations::{access::ActingOperator, teams},
    store::{self, records::any_record::AnyRecord},
};

/// The field of a form that names a team.
pub const TEAM: Input = Input::Required(&Input::Line(TEAM_FIELD, "Team", "Its ID, or its name."));

const TEAM_FIELD: &str = "team_id";

/// Returns the team that a form names.
pub fn team(writer: &Writer, fields: &Fields) -> Result<Team> {
    team_of(writer.rows, fields)
}

/// Like [`team`], for a page that only shows the effect of a form.
pub fn team_of(rows: &store::Reader, fields: &Fields) -> Result<Team> {
    let text = fields.require(TEAM_FIELD, "Enter the ID or the name of a team.")?;
    teams::resolve(rows, text).map_err(|error| refuse(TEAM_FIELD, error))
}

/// Returns the IDs of the teams that the lines of a field name.
pub fn teams(writer: &Writer, fields: &Fields, name: &'static str) -> Result<Vec<Uuid>> {
    let lines = fields.get(name).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let find = |line: &str| {
        teams::resolve(writer.rows, line).map(|team| team.id).map_err(|error| refuse(name, error))
    };
    let found = lines.map(find).collect::<Result<Vec<Uuid>>>()?;
    if found.is_empty() { Err(invalid(name, "Enter at least one team.")) } else { Ok(found) }
}

/// Converts the error that no team, or more than one, is meant by a field.
fn refuse(name: &'static str, error: Error) -> Error {
    match error {
        Error::NotFound(_) | Error::Conflict(_) => invalid(name, &error.message()),
        other => other,
    }
}

/// Returns the team whose ID a column of a record has.
pub fn team_in(writer: &Writer, record: &AnyRecord, column: &str) -> Result<Team> {
    let team = record.id(column).ok_or_else(|| Error::internal("a record without its team"))?;
    teams::resolve(writer.rows, &team.to_string())
}

/// Returns the proof to act in the name of the vendor whose record it is.
pub fn vendor(writer: &Writer, operator: &ActingOperator, record: &AnyRecord) -> Result<Vendor> {
    operator.platform().vendor(team_in(writer, record, "team_id")?)
}

/// Returns the proof to act in the name of the buyer whose ID a column has, who may have lost the role.
pub fn former_buyer(
    writer: &Writer,
    operator: &ActingOperator,
    record: &AnyRecord,
    column: &str,
) -> Result<Buyer> {
    operator.platform().former_buyer(team_in(writer, record, column)?)
}

/// Returns the ID of a record.
pub fn id_of(record: &AnyRecord) -> Result<Uuid> {
    let id = record.id("id").or_else(|| record.id("uuid"));
    id.ok_or_else(|| Error::internal("a record without an ID"))
}
