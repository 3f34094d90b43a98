//! Teams, as operators see them.

use marketplace_text::equality_key;
use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::teams::{Role, Team},
    error::Result,
    store::teams,
};

/// A team, with what only operators read.
#[derive(Clone, Debug)]
pub struct TeamRecord {
    /// The team.
    pub team: Team,
    /// How the team is paid, if that was stated.
    pub payout_setup: Option<String>,
}

/// What the list of teams can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct TeamFilter {
    /// Name of the team, in any case.
    pub name: Option<String>,
    /// A role that the team has.
    pub role: Option<Role>,
    /// Whether the team was closed.
    pub is_closed: Option<bool>,
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<TeamRecord> {
    Ok(TeamRecord { team: teams::read_team(row)?, payout_setup: row.get("payout_setup")? })
}

impl Record for TeamRecord {
    type Id = Uuid;
    type Filter = TeamFilter;

    const NAME: &'static str = "team";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TeamRecord>> {
        let sql = format!("SELECT {}, t.payout_setup FROM teams t WHERE t.uuid = ?1", teams::COLUMNS);
        reader.query_first(&sql, [id], read)
    }

    fn page(reader: &Reader, filter: &TeamFilter, request: PageRequest) -> Result<RowPage<TeamRecord>> {
        let columns = format!("{}, t.payout_setup", teams::COLUMNS);
        PageQuery::new(&columns, "teams t", "t.id")
            .filter("t.name_key = ?", filter.name.as_deref().map(equality_key))
            .when(filter.role == Some(Role::Vendor), "t.is_vendor = 1")
            .when(filter.role == Some(Role::Buyer), "t.is_buyer = 1")
            .filter("(t.closed_at IS NOT NULL) = ?", filter.is_closed)
            .fetch(reader, request, read)
    }
}
