//! Quality runs, as operators see them.

use uuid::Uuid;

use super::{
    Filter::{Equals, RefersTo},
    FromRow, Reader, Record, Records,
};
use crate::{
    error::Result,
    store::{
        quality_checks::{self, CheckRow},
        quality_runs::{self, RunRow},
    },
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

impl FromRow for RunRecord {
    fn from_row(row: &rusqlite::Row) -> rusqlite::Result<RunRecord> {
        Ok(RunRecord {
            run: quality_runs::read_run(row)?,
            team: row.get("team_uuid")?,
            listing: row.get("listing_uuid")?,
            asset: row.get("asset_uuid")?,
            has_unmet_check: row.get("has_unmet_check")?,
            checks: Vec::new(),
        })
    }
}

impl Record for RunRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &QUALITY_RUNS;

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<RunRecord>> {
        let Some(mut found) = Self::RECORDS.find::<RunRecord>(reader, id)? else { return Ok(None) };
        found.checks = quality_checks::list(reader, found.run.row_id)?;
        Ok(Some(found))
    }
}

/// Quality runs.
pub const QUALITY_RUNS: Records = Records {
    name: "quality run",
    columns: &[
        quality_runs::COLUMNS,
        ", (SELECT t.uuid FROM teams t WHERE t.id = r.team) AS team_uuid,
         (SELECT l.uuid FROM listings l WHERE l.id = r.listing) AS listing_uuid,
         (SELECT a.uuid FROM assets a WHERE a.id = r.asset) AS asset_uuid,
         EXISTS (SELECT 1 FROM quality_checks c
             WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed') AS has_unmet_check",
    ],
    tables: &["quality_runs r"],
    row_id: "r.id",
    id: "r.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("r.team", "teams")),
        ("listing_id", RefersTo("r.listing", "listings")),
        ("asset_id", RefersTo("r.asset", "assets")),
        ("status", Equals("r.status")),
    ],
};
