//! The `marketplace audit` command.

use clap::Args;
use serde_json::json;

use super::{
    CommandResult, GlobalOptions,
    operator::{
        ListLimit, OperatorOptions,
        names::{OPERATOR_KEYS, TEAMS},
    },
};

/// List what operators have changed, and teams in the console, newest first.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace audit --limit 20\n  marketplace audit --operation publish_listing --team \"Acme Data\""
)]
pub struct Audit {
    /// ID or name of the operator key that was used.
    #[arg(long)]
    key: Option<String>,
    /// ID of the operation in the operator API, such as `publish_listing`.
    #[arg(long)]
    operation: Option<String>,
    /// ID or slug of the record that was changed.
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// ID or name of the team that was acted for.
    #[arg(long)]
    team: Option<String>,
    #[command(flatten)]
    limit: ListLimit,
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields that lists show.
const COLUMNS: &str =
    "number occurred_at actor_kind operator operation subject.kind subject.id request_id team";

impl Audit {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let filters = [
            ("operator_key_id", OPERATOR_KEYS.optional_id(client, self.key.as_ref())?),
            ("operation", json!(self.operation)),
            ("subject_id", json!(self.subject)),
            ("team_id", TEAMS.optional_id(client, self.team.as_ref())?),
        ];
        client.print_list(COLUMNS, client.list("/audit", &filters, self.limit.rows())?)
    }
}
