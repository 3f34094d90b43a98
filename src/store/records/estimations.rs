//! Estimations, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::estimations::{Estimation, EstimationStatus},
    error::Result,
    store::estimations::{self, COLUMNS, TABLES},
    string_enum::StringEnum,
};

/// An estimation of any team.
#[derive(Clone, Debug)]
pub struct EstimationRecord {
    /// The estimation.
    pub estimation: Estimation,
    /// ID of the team that requested it.
    pub team: Uuid,
}

/// What the list of estimations can be filtered by.
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimationFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// State of the estimation.
    pub status: Option<EstimationStatus>,
}

fn columns() -> String {
    format!("{COLUMNS}, t.uuid AS team_uuid")
}

fn tables() -> String {
    format!("{TABLES} LEFT JOIN teams t ON t.id = e.team")
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<EstimationRecord> {
    Ok(EstimationRecord { estimation: estimations::read_estimation(row)?, team: row.get("team_uuid")? })
}

impl Record for EstimationRecord {
    type Id = Uuid;
    type Filter = EstimationFilter;

    const NAME: &'static str = "estimation";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<EstimationRecord>> {
        let sql = format!("SELECT {} FROM {} WHERE e.uuid = ?1", columns(), tables());
        reader.query_first(&sql, [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &EstimationFilter,
        request: PageRequest,
    ) -> Result<RowPage<EstimationRecord>> {
        PageQuery::new(&columns(), &tables(), "e.id")
            .refers_to("e.team", "teams", filter.team)
            .filter("e.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
