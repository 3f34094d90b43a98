//! API keys of teams, and those of operators, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{keys::KeyTimes, principals::KeyScope, time::Timestamp},
    error::Result,
    store::{keys, row},
    string_enum::StringEnum,
};

/// An API key of a team.
#[derive(Clone, Debug)]
pub struct TeamKeyRecord {
    /// The key and its times.
    pub key: KeyTimes,
    /// ID of the team.
    pub team: Uuid,
    /// Time of the last use, with a resolution of one minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

/// An API key of an operator.
#[derive(Clone, Debug)]
pub struct OperatorKeyRecord {
    /// The key and its times.
    pub key: KeyTimes,
    /// Time of the last use, with a resolution of one minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

/// What the list of teams' keys can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct TeamKeyFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// Name of the key.
    pub name: Option<String>,
}

/// What the list of operator keys can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct OperatorKeyFilter {
    /// Name of the key.
    pub name: Option<String>,
    /// What the key permits.
    pub scope: Option<KeyScope>,
}

const COLUMNS: &str =
    "k.id, k.uuid, k.team, k.scope, k.name, k.created_at, k.expires_at, k.rotated_at, k.revoked_at,
    k.expired_at, k.last_used_at";

impl Record for TeamKeyRecord {
    type Id = Uuid;
    type Filter = TeamKeyFilter;

    const NAME: &'static str = "key";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TeamKeyRecord>> {
        let sql = format!(
            "SELECT {COLUMNS}, t.uuid AS team_uuid FROM keys k JOIN teams t ON t.id = k.team WHERE k.uuid = ?1"
        );
        reader.query_first(&sql, [id], read_team_key)
    }

    fn page(reader: &Reader, filter: &TeamKeyFilter, request: PageRequest) -> Result<RowPage<TeamKeyRecord>> {
        let columns = format!("{COLUMNS}, t.uuid AS team_uuid");
        PageQuery::new(&columns, "keys k JOIN teams t ON t.id = k.team", "k.id")
            .refers_to("k.team", "teams", filter.team)
            .filter("k.name = ?", filter.name.as_deref())
            .fetch(reader, request, read_team_key)
    }
}

fn read_team_key(row: &rusqlite::Row) -> rusqlite::Result<TeamKeyRecord> {
    Ok(TeamKeyRecord {
        key: keys::read_times(row)?,
        team: row.get("team_uuid")?,
        last_used_at: row::optional_time(row, "last_used_at")?,
    })
}

impl Record for OperatorKeyRecord {
    type Id = Uuid;
    type Filter = OperatorKeyFilter;

    const NAME: &'static str = "operator key";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<OperatorKeyRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM keys k WHERE k.uuid = ?1 AND k.kind = 'operator'");
        reader.query_first(&sql, [id], read_operator_key)
    }

    fn page(
        reader: &Reader,
        filter: &OperatorKeyFilter,
        request: PageRequest,
    ) -> Result<RowPage<OperatorKeyRecord>> {
        PageQuery::new(COLUMNS, "keys k", "k.id")
            .when(true, "k.kind = 'operator'")
            .filter("k.name = ?", filter.name.as_deref())
            .filter("k.scope = ?", filter.scope.map(StringEnum::as_str))
            .fetch(reader, request, read_operator_key)
    }
}

fn read_operator_key(row: &rusqlite::Row) -> rusqlite::Result<OperatorKeyRecord> {
    Ok(OperatorKeyRecord {
        key: keys::read_times(row)?,
        last_used_at: row::optional_time(row, "last_used_at")?,
    })
}
