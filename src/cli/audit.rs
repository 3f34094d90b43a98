//! The `marketplace audit` command.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;

use super::{
    CommandError, CommandResult, GlobalOptions,
    faults::documented_operations,
    operator::{
        Client, ListLimit, MAX_SUGGESTED, OperatorOptions,
        names::{OPERATOR_KEYS, TEAMS},
        suggestion,
    },
    print_note,
};
use crate::{rest, web::DocumentedOperation};

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
        let entries = client.list("/audit", &filters, self.limit.rows())?;
        if let Some(operation) = self.operation.as_ref().filter(|_| entries.is_empty())
            && let Some(hint) = hint_if_unknown(client, operation)?
        {
            print_note(format_args!("note: no operation in the audit is called {operation:?}.{hint}"));
        }
        client.print_list(COLUMNS, entries)
    }
}

/// Returns a similar name, as the end of a message, for an operation that no document and no recent entry has. This is no error:
/// the documents lack the operations of teams in the console.
fn hint_if_unknown(client: &Client, operation: &str) -> Result<Option<String>, CommandError> {
    let entries = client.list("/audit", &[], Some(MAX_SUGGESTED))?;
    let of_documents = documented_operations().into_iter().filter(is_audited).map(|operation| operation.id);
    let of_entries = entries.iter().filter_map(|entry| entry["operation"].as_str()).map(str::to_owned);
    let known: BTreeSet<String> = of_documents.chain(of_entries).collect();
    Ok((!known.contains(operation)).then(|| suggestion(operation, &known)))
}

/// Whether an operation is one of operators that changes something.
fn is_audited(operation: &DocumentedOperation) -> bool {
    let of_operators = [&rest::OPERATOR, &rest::SANDBOX].map(|api| api.name);
    of_operators.contains(&operation.api) && !operation.method.is_safe()
}
