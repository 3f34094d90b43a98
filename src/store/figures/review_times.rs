//! How long vendors wait for the decision about a listing.

use super::figure::{Axis, Figure, Series, Totals, Unit, Value};

/// The decisions in the history of listings, each with the submission before it. There is no other submission or decision in
/// between.
const DECISIONS: &str = "(
        SELECT h.event, h.occurred_at, h.occurred_at
                - lag(h.occurred_at) OVER (PARTITION BY h.listing ORDER BY h.occurred_at, h.id) AS waited
        FROM listing_history h WHERE h.event IN ('submitted', 'approved', 'changes_requested', 'rejected')
    ) d WHERE d.event <> 'submitted' AND d.waited IS NOT NULL";

/// Decisions about submitted listings, by their time.
pub static REVIEW_TIMES: Figure = Figure {
    name: "review-times",
    title: "Time from submission to decision",
    explanation: "Decisions of reviewers in the range, and how long after its submission each listing was decided on. Half of \
                  the decisions took less than the median, and half of them more.",
    by: Axis::Time,
    series: Some(Series { head: "Decision", sql: "event", totals: Totals::Columns("d.event, d.waited") }),
    values: &[
        Value::listed("Decisions", Unit::Count, "count(*)"),
        Value::drawn("Median, hours", Unit::Hours, "median(waited)"),
        Value::listed("Longest, hours", Unit::Hours, "max(waited)"),
    ],
    source: DECISIONS,
    at: "d.occurred_at",
};
