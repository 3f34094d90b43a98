//! How many checks of quality pass.

use super::figure::{Axis, Figure, Unit, Value};

/// Checks of quality runs that have a result, by their keys, in whose order an index has them.
pub static CHECK_RESULTS: Figure = Figure {
    name: "check-results",
    title: "Results of quality checks",
    explanation: "Checks of quality runs that were started in the range. The pass rate is the share of those that passed among \
                  those that passed or failed; checks that could not run do not count for it.",
    by: Axis::Names {
        head: "Check",
        is_on_wire: false,
        // The latest label, once for each key.
        sql: "(SELECT n.label FROM quality_checks n WHERE n.key = c.key ORDER BY n.run DESC LIMIT 1)",
        key: "c.key",
    },
    series: None,
    values: &[
        Value::drawn(
            "Pass rate, %",
            Unit::Share,
            // In tenths, of which pages show all digits, and rounded to 0% or 100% only if no check, or each, has passed.
            "CASE count(*) FILTER (WHERE c.status = 'passed')
                 WHEN 0 THEN iif(count(*) FILTER (WHERE c.status = 'failed') > 0, 0, NULL)
                 WHEN count(*) FILTER (WHERE c.status IN ('passed', 'failed')) THEN 10000
                 ELSE 10 * min(max(CAST(round(1000.0 * count(*) FILTER (WHERE c.status = 'passed')
                     / count(*) FILTER (WHERE c.status IN ('passed', 'failed'))) AS INTEGER), 1), 999)
             END",
        ),
        Value::listed("Passed", Unit::Count, "count(*) FILTER (WHERE c.status = 'passed')"),
        Value::listed("Failed", Unit::Count, "count(*) FILTER (WHERE c.status = 'failed')"),
        Value::listed("Could not run", Unit::Count, "count(*) FILTER (WHERE c.status = 'error')"),
    ],
    source: "quality_checks c CROSS JOIN quality_runs r ON r.id = c.run WHERE c.status IN ('passed', 'failed', 'error')",
    at: "r.started_at",
};
