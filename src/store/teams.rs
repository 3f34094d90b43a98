//! Teams.

use marketplace_text::equality_key;
use uuid::Uuid;

use super::{Reader, Writer, groups};
use crate::{
    domain::{
        teams::{Team, TeamRowId},
        time::Timestamp,
    },
    error::Result,
};

/// The columns of the table `teams t` that [`read_team`] needs.
pub(super) const COLUMNS: &str =
    "t.id, t.uuid, t.name, t.is_vendor, t.is_buyer, t.tier, t.nda_accepted_at, t.avatar_url, t.created_at,
     t.closed_at";

/// Reads a team from a row, by the column names of its table.
pub(super) fn read_team(row: &rusqlite::Row) -> rusqlite::Result<Team> {
    Ok(Team {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        name: row.get("name")?,
        is_vendor: row.get("is_vendor")?,
        is_buyer: row.get("is_buyer")?,
        tier: row.get("tier")?,
        nda_accepted_at: row.get("nda_accepted_at")?,
        avatar_url: row.get("avatar_url")?,
        created_at: row.get("created_at")?,
        closed_at: row.get("closed_at")?,
    })
}

/// Returns the team with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Team>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM teams t WHERE t.uuid = ?1"), [id], read_team)
}

/// Returns the team with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: TeamRowId) -> Result<Team> {
    reader.query_one(&format!("SELECT {COLUMNS} FROM teams t WHERE t.id = ?1"), [row_id], read_team)
}

/// Returns the ID of the team with this row ID.
pub fn find_id(reader: &Reader, row_id: TeamRowId) -> Result<Uuid> {
    reader.query_one("SELECT uuid FROM teams WHERE id = ?1", [row_id], |row| row.get(0))
}

/// Returns the team that sells the listing with this ID.
pub fn find_vendor_of_listing(reader: &Reader, listing: Uuid) -> Result<Option<Team>> {
    let sql = format!("SELECT {COLUMNS} FROM listings l JOIN teams t ON t.id = l.team WHERE l.uuid = ?1");
    reader.query_first(&sql, [listing], read_team)
}

/// Returns all teams with this name; names are not unique.
pub fn list_by_name(reader: &Reader, name: &str) -> Result<Vec<Team>> {
    reader.query_all(
        &format!("SELECT {COLUMNS} FROM teams t WHERE t.name = ?1 ORDER BY t.id"),
        [name],
        read_team,
    )
}

/// Returns all teams whose names differ from this one at most in case.
pub fn list_by_name_key(reader: &Reader, name: &str) -> Result<Vec<Team>> {
    let sql = format!("SELECT {COLUMNS} FROM teams t WHERE t.name_key = ?1 ORDER BY t.id");
    reader.query_all(&sql, [equality_key(name)], read_team)
}

/// Returns the names of up to `max` teams on each side of a name in the order of names.
pub fn list_names_near(reader: &Reader, name: &str, max: usize) -> Result<Vec<String>> {
    const SQL: &str =
        "SELECT name FROM (SELECT name FROM teams WHERE name_key >= ?1 ORDER BY name_key LIMIT ?2)
         UNION ALL
         SELECT name FROM (SELECT name FROM teams WHERE name_key < ?1 ORDER BY name_key DESC LIMIT ?2)";
    reader.query_all(SQL, (equality_key(name), max), |row| row.get(0))
}

/// Returns the row IDs and names of the first `max` vendors, oldest first.
pub fn list_vendor_names(reader: &Reader, max: usize) -> Result<Vec<(TeamRowId, String)>> {
    const SQL: &str = "SELECT id, name FROM teams WHERE is_vendor ORDER BY id LIMIT ?1";
    reader.query_all(SQL, [max], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns all teams, ordered by name.
pub fn list(reader: &Reader) -> Result<Vec<Team>> {
    reader.query_all(&format!("SELECT {COLUMNS} FROM teams t ORDER BY t.name, t.id"), [], read_team)
}

/// The fields of a team to insert.
#[derive(Debug)]
pub struct NewTeam<'a> {
    /// ID of the team.
    pub id: Uuid,
    /// ID of the team's default group.
    pub group_id: Uuid,
    /// Display name. Not unique.
    pub name: &'a str,
    /// Whether the team can sell.
    pub is_vendor: bool,
    /// Whether the team can buy.
    pub is_buyer: bool,
    /// Seller tier, 1 to 3.
    pub tier: u8,
    /// Time at which the team accepted the mutual NDA, if it did.
    pub nda_accepted_at: Option<Timestamp>,
    /// URL of the team's picture.
    pub avatar_url: Option<&'a str>,
    /// Time at which the team joined.
    pub created_at: Timestamp,
}

/// Inserts a team and its default group.
pub fn insert(writer: &Writer, team: &NewTeam) -> Result<TeamRowId> {
    const SQL: &str =
        "INSERT INTO teams (uuid, name, is_vendor, is_buyer, tier, nda_accepted_at, avatar_url, created_at,
             name_key)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let row_id = TeamRowId(writer.insert(
        SQL,
        (
            team.id,
            team.name,
            team.is_vendor,
            team.is_buyer,
            team.tier,
            team.nda_accepted_at,
            team.avatar_url,
            team.created_at,
            equality_key(team.name),
        ),
    )?);
    groups::insert(writer, team.group_id, row_id, groups::DEFAULT_NAME, true, team.created_at)?;
    Ok(row_id)
}

/// Records that a team accepted the mutual NDA. If it already had, the earlier time stays.
pub fn accept_nda(writer: &Writer, team: TeamRowId, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE teams SET nda_accepted_at = coalesce(nda_accepted_at, ?2) WHERE id = ?1";
    writer.run(SQL, (team, at))
}

/// Replaces the name, the roles, the tier, and the avatar of a team.
pub fn update(writer: &Writer, team: &Team) -> Result<()> {
    const SQL: &str =
        "UPDATE teams SET name = ?2, is_vendor = ?3, is_buyer = ?4, tier = ?5, avatar_url = ?6, name_key = ?7
         WHERE id = ?1";
    let Team { row_id, name, is_vendor, is_buyer, tier, avatar_url, .. } = team;
    writer.run(SQL, (row_id, name, is_vendor, is_buyer, tier, avatar_url, equality_key(name)))
}

/// Records that a team was closed.
pub fn close(writer: &Writer, team: TeamRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE teams SET closed_at = ?2 WHERE id = ?1", (team, at))
}

/// Stores how a team is paid, and when that changed.
pub fn set_payout_setup(writer: &Writer, team: TeamRowId, text: Option<&str>, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE teams SET payout_setup = ?2, payout_changed_at = ?3 WHERE id = ?1";
    writer.run(SQL, (team, text, at))
}

/// Returns whether it is stated how a team is paid, and when that was changed the last time.
pub fn find_payout_change(reader: &Reader, team: TeamRowId) -> Result<(bool, Option<Timestamp>)> {
    const SQL: &str = "SELECT payout_setup IS NOT NULL AS is_set, payout_changed_at FROM teams WHERE id = ?1";
    reader.query_one(SQL, [team], |row| Ok((row.get("is_set")?, row.get("payout_changed_at")?)))
}

/// Returns how a team is paid, if that was stated.
pub fn find_payout_setup(reader: &Reader, team: TeamRowId) -> Result<Option<String>> {
    reader.query_one("SELECT payout_setup FROM teams WHERE id = ?1", [team], |row| row.get(0))
}

/// Queues all listings of a team for the index.
pub fn queue_listings(writer: &Writer, team: TeamRowId) -> Result<()> {
    const SQL: &str = "SELECT id FROM listings WHERE team = ?1 ORDER BY id";
    super::index_queue::enqueue_all(writer, SQL, [team])
}
