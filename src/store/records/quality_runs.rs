//! Quality runs, as operators see them.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};

/// Quality runs. Runs that earlier versions started for a team have another text for the trigger.
pub const QUALITY_RUNS: Records = Records {
    name: "quality run",
    columns: &["r.uuid AS id, (SELECT t.uuid FROM teams t WHERE t.id = r.team) AS team_id,
         (SELECT l.uuid FROM listings l WHERE l.id = r.listing) AS listing_id,
         (SELECT a.uuid FROM assets a WHERE a.id = r.asset) AS asset_id, r.run_number, r.status,
         iif(r.status = 'completed', NOT EXISTS (
             SELECT 1 FROM quality_checks c WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed'
         ), NULL) AS passed,
         iif(r.triggered_by IN ('submission', 'platform'), r.triggered_by, 'team') AS triggered_by,
         r.charge_cents AS charge, 'USD' AS currency, r.review_feedback, r.error, r.started_at, r.completed_at"],
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
