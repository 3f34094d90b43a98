//! How many teams use the market.

use super::figure::{Axis, Figure, Series, Totals, Unit, Value};

/// What teams do, with its time and the side of the market.
const ACTIONS: &str = "(
        SELECT 'vendors' AS side, team, created_at AS at FROM assets
        UNION ALL SELECT 'vendors', team, created_at FROM listings
        UNION ALL SELECT 'vendors', team, created_at FROM project_bids
        UNION ALL SELECT 'buyers', buyer, created_at FROM offers
        UNION ALL SELECT 'buyers', buyer, created_at FROM purchases
        UNION ALL SELECT 'buyers', owner, created_at FROM opportunities
    ) s WHERE TRUE";

/// Teams that have done something, by time and side.
pub static ACTIVE_TEAMS: Figure = Figure {
    name: "active-teams",
    title: "Active teams",
    explanation: "Teams that added an asset, began a listing, or bid on a request count as active vendors. Teams that bid on a \
                  listing, bought it, or asked for data count as active buyers. A team that does both counts once in all.",
    by: Axis::Time,
    series: Some(Series { head: "Side", sql: "side", totals: Totals::Columns("DISTINCT s.side, s.team") }),
    values: &[Value::drawn("Teams", Unit::Count, "count(DISTINCT team)")],
    source: ACTIONS,
    at: "s.at",
};
