//! Which quality runs and checks are about the assets and the data that are there now.

use super::Reader;
use crate::{domain::row_ids::QualityRunRowId, error::Result};

/// Whether a completed run `r` of an asset has read other data than the asset has now, as SQL: its data was linked later, or was
/// detached.
macro_rules! has_read_other_data {
    () => {
        "r.status = 'completed' AND EXISTS (
             SELECT 1 FROM assets o LEFT JOIN data_objects d ON d.asset = o.id
             WHERE o.id = r.asset AND o.kind IN ('codebase', 'raw_data')
                 AND (d.attached_at IS NULL OR d.attached_at > r.started_at))"
    };
}

/// The outcome of the latest run of an asset of the inventory `i`, as SQL. How a run ended says nothing about other data.
pub const OUTCOME_OF_ASSET: &str = concat!(
    "coalesce((SELECT CASE WHEN ",
    has_read_other_data!(),
    " THEN 'none'
         WHEN r.status = 'completed' THEN iif(EXISTS (
             SELECT 1 FROM quality_checks c WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed'),
             'failed', 'passed')
         WHEN r.status IN ('queued', 'running') THEN 'in_progress' ELSE r.status END
     FROM quality_runs r WHERE r.asset = i.asset ORDER BY r.run_number DESC LIMIT 1), 'none')"
);

/// A table of assets by run whose data is not the data that the run has read, or that are no longer on the listing. An asset
/// that was attached to the listing since counts as 0, which no asset is: a fixture set can leave assets out of a run, so the
/// history has to say so, too. The runs are in the table `run (id, assets)`.
pub(super) const CHANGED_ASSETS: &str = concat!(
    "changed (run, asset) AS MATERIALIZED (
         SELECT run.id, j.value ->> 'asset'
         FROM run JOIN quality_runs r ON r.id = run.id JOIN json_each(run.assets) j
         LEFT JOIN data_objects d ON d.asset = j.value ->> 'asset'
         LEFT JOIN listing_assets la ON la.asset = j.value ->> 'asset' AND la.listing = r.listing
         WHERE d.attached_at IS NOT j.value ->> 'attached_at' OR la.asset IS NULL
         UNION ALL
         SELECT r.id, 0 FROM run JOIN quality_runs r ON r.id = run.id
         WHERE json_array_length(run.assets) < (SELECT count(*) FROM listing_assets la WHERE la.listing = r.listing)
             AND EXISTS (SELECT 1 FROM listing_history h
                 WHERE h.listing = r.listing AND h.event = 'asset_attached' AND h.occurred_at > r.started_at)
         UNION ALL
         SELECT r.id, r.asset FROM run JOIN quality_runs r ON r.id = run.id WHERE ",
    has_read_other_data!(),
    ")"
);

/// Whether the check `c` is of data that is offered still, by [`CHANGED_ASSETS`]. One of the whole listing is of the data of all
/// assets.
pub(super) const IS_OF_PRESENT_DATA: &str = "iif(c.asset IS NULL, c.run NOT IN (SELECT run FROM changed),
         (c.run, c.asset) NOT IN (SELECT run, asset FROM changed))";

/// Whether a listing has other assets, or an asset other data, than a run of the listing has read.
pub fn is_outdated(reader: &Reader, run: QualityRunRowId) -> Result<bool> {
    let sql = format!(
        "WITH run (id, assets) AS MATERIALIZED (SELECT id, assets FROM quality_runs WHERE id = ?1),
             {CHANGED_ASSETS}
         SELECT EXISTS (SELECT 1 FROM changed)"
    );
    reader.query_one(&sql, [run], |row| row.get(0))
}
