//! Administration of teams, for operators of the market.

use uuid::Uuid;

use crate::{
    domain::{teams::Team, time::Timestamp},
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, teams::NewTeam},
};

/// A team to create.
#[derive(Clone, Debug)]
pub struct TeamInput<'a> {
    /// Name of the team, 1 to 120 characters without control characters.
    pub name: &'a str,
    /// Whether the team has the vendor role.
    pub is_vendor: bool,
    /// Whether the team has the buyer role.
    pub is_buyer: bool,
    /// Seller tier, 1 to 3.
    pub tier: u8,
    /// Whether the team has accepted the mutual NDA.
    pub has_accepted_nda: bool,
}

/// Creates a team and its default group. Returns the ID of the team.
pub fn create(writer: &mut Writer, team: &TeamInput) -> Result<Uuid> {
    let mut problems = Vec::new();
    let name = team.name.trim();
    if name.is_empty() || name.chars().count() > 120 || name.chars().any(char::is_control) {
        let rule = "A team name must have 1 to 120 characters and no control characters.";
        problems.push(Problem::body(&["name"], "string_too_long", rule));
    }
    if !(1..=3).contains(&team.tier) {
        problems.push(Problem::body(&["tier"], "less_than_equal", "The tier must be 1, 2, or 3."));
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    if !store::teams::list_by_name(writer.rows, name)?.is_empty() {
        return Err(Error::Conflict(format!("A team named {name:?} already exists.")));
    }
    let id = writer.clock.new_id();
    let new = NewTeam {
        id,
        group_id: writer.clock.new_id(),
        name,
        is_vendor: team.is_vendor,
        is_buyer: team.is_buyer,
        tier: team.tier,
        nda_accepted_at: team.has_accepted_nda.then_some(writer.now),
        avatar_url: None,
        created_at: writer.now,
    };
    store::teams::insert(writer.rows, &new)?;
    Ok(id)
}

/// Returns all teams, sorted by name.
pub fn list(reader: &Reader) -> Result<Vec<Team>> {
    store::teams::list(reader.rows)
}

/// Returns the team with this ID, or the team with this name if the name is unique.
pub fn resolve(rows: &store::Reader, id_or_name: &str) -> Result<Team> {
    if let Ok(id) = Uuid::try_parse(id_or_name) {
        return store::teams::find(rows, id)?.ok_or_else(|| Error::not_found(format!("team {id}")));
    }
    let mut named = store::teams::list_by_name(rows, id_or_name)?;
    match (named.pop(), named.is_empty()) {
        (Some(team), true) => Ok(team),
        (Some(_), false) => {
            Err(Error::Conflict(format!("Several teams are named {id_or_name:?}; use the team ID.")))
        }
        (None, _) => Err(Error::not_found(format!("team {id_or_name:?}"))),
    }
}

/// Records that a team has accepted the mutual NDA. Returns the time of its first acceptance.
pub fn accept_nda(writer: &mut Writer, id_or_name: &str) -> Result<Timestamp> {
    let team = resolve(writer.rows, id_or_name)?;
    store::teams::accept_nda(writer.rows, team.row_id, writer.now)?;
    Ok(team.nda_accepted_at.unwrap_or(writer.now))
}
