//! The `marketplace status` command.

use clap::Args;
use serde_json::Value;

use super::{CommandResult, GlobalOptions, operator::OperatorOptions};

/// Show facts about the market and its health.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace status")]
pub struct Status {
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields that are shown.
const COLUMNS: &str = "version now open_teams closed_teams listings purchases jobs last_event_id database_change \
     index_change index_lag database_bytes disk_free_bytes disk_reserve_bytes used_up_quotas";

/// The lists of counts among them, with what is counted and how often.
const COUNTS: [(&str, &str, &str); 4] = [
    ("listings", "stage", "count"),
    ("purchases", "status", "count"),
    ("jobs", "state", "count"),
    ("used_up_quotas", "quota", "teams"),
];

impl Status {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let mut market = client.get("/market")?;
        if !client.prints_json() {
            for (field, name, count) in COUNTS {
                let counts = market[field].as_array().into_iter().flatten();
                let counts = counts
                    .map(|found| format!("{} {}", found[count], found[name].as_str().unwrap_or_default()));
                market[field] = Value::from(counts.collect::<Vec<_>>().join(", "));
            }
        }
        client.print_record(COLUMNS, market)
    }
}
