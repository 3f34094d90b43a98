//! Teams, as the people who run the market keep them.

use uuid::Uuid;

use crate::{
    domain::{teams::Team, time::Timestamp},
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, teams::NewTeam},
};

/// A team to be.
#[derive(Clone, Debug)]
pub struct TeamIn<'a> {
    /// Its name, 1 to 120 characters.
    pub name: &'a str,
    /// Whether it sells.
    pub is_vendor: bool,
    /// Whether it buys.
    pub is_buyer: bool,
    /// Its seller tier, 1 to 3.
    pub tier: u8,
    /// Whether it has accepted the mutual NDA.
    pub has_accepted_nda: bool,
}

/// Adds a team with its default group. Answers its id.
pub fn create(writer: &mut Writer, team: &TeamIn) -> Result<Uuid> {
    let mut problems = Vec::new();
    let name = team.name.trim();
    if name.is_empty() || name.chars().count() > 120 || name.chars().any(char::is_control) {
        let rule = "A team's name has 1 to 120 characters, none of them a control character.";
        problems.push(Problem::body(&["name"], "string_too_long", rule));
    }
    if !(1..=3).contains(&team.tier) {
        problems.push(Problem::body(&["tier"], "less_than_equal", "A tier is 1, 2 or 3."));
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    if !store::teams::named(writer.rows, name)?.is_empty() {
        return Err(Error::Conflict(format!("There is a team named {name:?} already.")));
    }
    let id = writer.clock.id();
    let new = NewTeam {
        id,
        group_id: writer.clock.id(),
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

/// Every team, by name.
pub fn list(reader: &Reader) -> Result<Vec<Team>> {
    store::teams::list(reader.rows)
}

/// The team that a person means: by its id, or by its name where only one has it.
pub fn resolve(rows: &store::Reader, id_or_name: &str) -> Result<Team> {
    if let Ok(id) = Uuid::try_parse(id_or_name) {
        return store::teams::find(rows, id)?.ok_or_else(|| Error::not_found(format!("team {id}")));
    }
    let mut named = store::teams::named(rows, id_or_name)?;
    match (named.pop(), named.is_empty()) {
        (Some(team), true) => Ok(team),
        (Some(_), false) => {
            Err(Error::Conflict(format!("Several teams are named {id_or_name:?}; give an id.")))
        }
        (None, _) => Err(Error::not_found(format!("team {id_or_name:?}"))),
    }
}

/// Notes that a team has accepted the mutual NDA. Answers since when.
pub fn accept_nda(writer: &mut Writer, id_or_name: &str) -> Result<Timestamp> {
    let team = resolve(writer.rows, id_or_name)?;
    store::teams::accept_nda(writer.rows, team.number, writer.now)?;
    Ok(team.nda_accepted_at.unwrap_or(writer.now))
}
