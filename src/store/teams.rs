//! Organizations.

use uuid::Uuid;

use super::{Reader, Writer, groups, row};
use crate::{
    domain::{
        teams::{Team, TeamNumber},
        time::Timestamp,
    },
    error::Result,
};

/// What [`read`] reads, of the table `teams t`.
pub(super) const COLUMNS: &str =
    "t.id, t.uuid, t.name, t.is_vendor, t.is_buyer, t.tier, t.nda_accepted_at, t.avatar_url, t.created_at";

/// Reads a team from columns that are named as in its table.
pub(super) fn read(row: &rusqlite::Row) -> rusqlite::Result<Team> {
    Ok(Team {
        number: TeamNumber(row.get("id")?),
        id: row.get("uuid")?,
        name: row.get("name")?,
        is_vendor: row.get("is_vendor")?,
        is_buyer: row.get("is_buyer")?,
        tier: row.get("tier")?,
        nda_accepted_at: row::optional_time(row, "nda_accepted_at")?,
        avatar_url: row.get("avatar_url")?,
        created_at: row::time(row, "created_at")?,
    })
}

/// The team of this id.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Team>> {
    reader.first(&format!("SELECT {COLUMNS} FROM teams t WHERE t.uuid = ?1"), [id], read)
}

/// The teams of this name.
pub fn named(reader: &Reader, name: &str) -> Result<Vec<Team>> {
    reader.all(&format!("SELECT {COLUMNS} FROM teams t WHERE t.name = ?1 ORDER BY t.id"), [name], read)
}

/// Every team, by name.
pub fn list(reader: &Reader) -> Result<Vec<Team>> {
    reader.all(&format!("SELECT {COLUMNS} FROM teams t ORDER BY t.name, t.id"), [], read)
}

/// A team to be.
#[derive(Debug)]
pub struct NewTeam<'a> {
    /// Its id.
    pub id: Uuid,
    /// The id of its default group.
    pub group_id: Uuid,
    /// Its name.
    pub name: &'a str,
    /// Whether it sells.
    pub is_vendor: bool,
    /// Whether it buys.
    pub is_buyer: bool,
    /// Its seller tier.
    pub tier: u8,
    /// When it accepted the mutual NDA.
    pub nda_accepted_at: Option<Timestamp>,
    /// Where its picture is.
    pub avatar_url: Option<&'a str>,
    /// When it joined.
    pub created_at: Timestamp,
}

/// Adds a team and its default group.
pub fn insert(writer: &Writer, team: &NewTeam) -> Result<TeamNumber> {
    const SQL: &str =
        "INSERT INTO teams (uuid, name, is_vendor, is_buyer, tier, nda_accepted_at, avatar_url, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let number = TeamNumber(writer.insert(
        SQL,
        (
            team.id,
            team.name,
            team.is_vendor,
            team.is_buyer,
            team.tier,
            team.nda_accepted_at.map(|at| at.0),
            team.avatar_url,
            team.created_at.0,
        ),
    )?);
    groups::insert(writer, team.group_id, number, groups::DEFAULT_NAME, true, team.created_at)?;
    Ok(number)
}

/// Notes that a team accepted the mutual NDA; a team that already had keeps its date.
pub fn accept_nda(writer: &Writer, team: TeamNumber, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE teams SET nda_accepted_at = coalesce(nda_accepted_at, ?2) WHERE id = ?1";
    writer.execute(SQL, (team.0, at.0))?;
    Ok(())
}

/// How many listings a team has in the catalog.
pub fn published_listings(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM listings WHERE team = ?1 AND catalog_status = 'published'";
    reader.one(SQL, [team.0], |row| row.get(0))
}
