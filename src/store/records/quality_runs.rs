//! Quality runs, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::quality_runs::RunStatus,
    error::Result,
    store::{
        quality_checks::{self, CheckRow},
        quality_runs::{self, RunRow},
    },
    string_enum::StringEnum,
};

/// A quality run of a listing or of an asset.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The run.
    pub run: RunRow,
    /// ID of the team that owns what the run checks, and pays for it.
    pub team: Uuid,
    /// ID of the listing; `None` if the run checks an asset.
    pub listing: Option<Uuid>,
    /// ID of the asset; `None` if the run checks a listing.
    pub asset: Option<Uuid>,
    /// Whether a mandatory check has not passed.
    pub has_unmet_check: bool,
    /// The checks, in order. Runs of a page have none, since there can be very many.
    pub checks: Vec<CheckRow>,
}

/// What the list of quality runs can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// ID of the listing that is checked.
    pub listing: Option<Uuid>,
    /// ID of the asset that is checked. Runs of its listings are not found.
    pub asset: Option<Uuid>,
    /// State of the run.
    pub status: Option<RunStatus>,
}

fn columns() -> String {
    format!(
        "{}, (SELECT t.uuid FROM teams t WHERE t.id = r.team) AS team_uuid,
         (SELECT l.uuid FROM listings l WHERE l.id = r.listing) AS listing_uuid,
         (SELECT a.uuid FROM assets a WHERE a.id = r.asset) AS asset_uuid,
         EXISTS (SELECT 1 FROM quality_checks c
             WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed') AS has_unmet_check",
        quality_runs::COLUMNS
    )
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        run: quality_runs::read_run(row)?,
        team: row.get("team_uuid")?,
        listing: row.get("listing_uuid")?,
        asset: row.get("asset_uuid")?,
        has_unmet_check: row.get("has_unmet_check")?,
        checks: Vec::new(),
    })
}

impl Record for RunRecord {
    type Id = Uuid;
    type Filter = RunFilter;

    const NAME: &'static str = "quality run";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<RunRecord>> {
        let sql = format!("SELECT {} FROM quality_runs r WHERE r.uuid = ?1", columns());
        let Some(mut found) = reader.query_first(&sql, [id], read)? else { return Ok(None) };
        found.checks = quality_checks::list(reader, found.run.row_id)?;
        Ok(Some(found))
    }

    fn page(reader: &Reader, filter: &RunFilter, request: PageRequest) -> Result<RowPage<RunRecord>> {
        let columns = columns();
        PageQuery::new(&columns, "quality_runs r", "r.id")
            .refers_to("r.team", "teams", filter.team)
            .refers_to("r.listing", "listings", filter.listing)
            .refers_to("r.asset", "assets", filter.asset)
            .filter("r.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
