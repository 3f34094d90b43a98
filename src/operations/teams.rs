//! Administration of teams, for operators of the market.

use uuid::Uuid;

use crate::{
    domain::{
        collections::Collection,
        teams::{Team, is_same_name},
        time::Timestamp,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, teams::NewTeam},
};

/// Minimum similarity (Jaro-Winkler) of a name that is suggested for an unknown one.
const MIN_SIMILARITY: f64 = 0.7;

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
    let teams = store::teams::list(writer.rows)?;
    if let Some(other) = teams.iter().find(|other| is_same_name(&other.name, name)) {
        return Err(Error::Conflict(format!(
            "There is already a team {:?} with the ID {}. Names of teams are unique regardless of case, so choose \
             another one.",
            other.name, other.id
        )));
    }
    let id = writer.new_id(Collection::Teams);
    let new = NewTeam {
        id,
        group_id: writer.new_id(Collection::Groups),
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

/// Returns the team with this ID, or the team with this name. The case of a name matters only if several teams
/// have it.
pub fn resolve(rows: &store::Reader, id_or_name: &str) -> Result<Team> {
    if let Ok(id) = Uuid::try_parse(id_or_name) {
        return store::teams::find(rows, id)?.ok_or_else(|| Error::not_found(format!("team {id}")));
    }
    let exact = store::teams::list_by_name(rows, id_or_name)?;
    let mut found = match exact.len() {
        0 => {
            let mut others = store::teams::list(rows)?;
            if !others.iter().any(|team| is_same_name(&team.name, id_or_name)) {
                return Err(unknown_team(id_or_name, &others));
            }
            others.retain(|team| is_same_name(&team.name, id_or_name));
            others
        }
        _ => exact,
    };
    match (found.pop(), found.is_empty()) {
        (Some(team), true) => Ok(team),
        (last, _) => {
            let ids: Vec<String> = found.iter().chain(&last).map(|team| team.id.to_string()).collect();
            let message =
                format!("Several teams are named {id_or_name:?}. Use one of their IDs: {}.", ids.join(", "));
            Err(Error::Conflict(message))
        }
    }
}

/// Returns the error for a name that no team has. It suggests the most similar one.
fn unknown_team(name: &str, teams: &[Team]) -> Error {
    let name_lower = name.to_lowercase();
    let similar = teams
        .iter()
        .map(|team| (strsim::jaro_winkler(&team.name.to_lowercase(), &name_lower), &team.name))
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = similar.map(|(_, nearest)| format!("; did you mean {nearest:?}?")).unwrap_or_default();
    Error::not_found(format!("team {name:?}{hint}"))
}

/// Records that a team has accepted the mutual NDA. Returns the time of its first acceptance.
pub fn accept_nda(writer: &mut Writer, id_or_name: &str) -> Result<Timestamp> {
    let team = resolve(writer.rows, id_or_name)?;
    store::teams::accept_nda(writer.rows, team.row_id, writer.now)?;
    Ok(team.nda_accepted_at.unwrap_or(writer.now))
}
