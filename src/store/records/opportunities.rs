//! Opportunities and project opportunities of all teams.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};
use crate::store::opportunities::SOURCES;

/// Opportunities for listings.
pub const OPPORTUNITIES: Records = of_kind("opportunity", "o.kind = 'listing'");

/// Project opportunities.
pub const PROJECT_OPPORTUNITIES: Records = of_kind("project opportunity", "o.kind = 'project'");

const fn of_kind(name: &'static str, condition: &'static str) -> Records {
    Records {
        name,
        columns: &["o.uuid AS id, t.uuid AS team_id, o.title, o.description, o.status, o.accepted_asset_types,
             o.metadata ->> 'budget_min' AS budget_min, o.metadata ->> 'budget_max' AS budget_max, 'USD' AS currency,
             o.metadata ->> 'budget_unit' AS budget_unit, coalesce(o.metadata -> 'tags', '[]') AS tags,
             o.metadata ->> 'overview' AS overview, o.visibility_mode,
             (SELECT json_group_array(lower(hex(x.uuid))) FROM opportunity_exclusions e JOIN teams x ON x.id = e.team
                 WHERE e.opportunity = o.id) AS excluded_team_ids,
             o.deadline, o.evaluation_date, o.created_at, o.updated_at, o.closed_at"],
        tables: &[SOURCES],
        row_id: "o.id",
        id: "o.uuid",
        condition: Some(condition),
        filters: &[("team_id", RefersTo("o.owner", "teams")), ("status", Equals("o.status"))],
    }
}
