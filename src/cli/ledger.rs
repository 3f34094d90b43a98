//! The `marketplace ledger` command.

use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandResult, GlobalOptions,
    lists::print_json,
    operator::{OperatorOptions, names::TEAMS, parse_id, parse_value},
};
use crate::domain::ledger::EntryType;

/// The path of the entries.
const PATH: &str = "/ledger-entries";

/// List the newest ledger entries: what each changed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace ledger\n  marketplace ledger \"Acme Data\" --limit 100 --json\n\nAmounts are in US dollars. The changes of each entry add up to zero over all accounts."
)]
pub struct Ledger {
    /// ID or name of a team, to list only the entries that changed its credits or earnings.
    team: Option<String>,
    /// Type of the entries.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<EntryType>)]
    entry_type: Option<EntryType>,
    /// ID of a purchase, to list only its entries.
    #[arg(long, value_parser = parse_id)]
    purchase: Option<Uuid>,
    /// ID of an entry, to show only this one.
    #[arg(long, value_name = "ID", value_parser = parse_id, conflicts_with_all = ["team", "entry_type", "purchase", "limit"])]
    entry: Option<Uuid>,
    /// Maximum number of entries, up to 1000.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields of a change. The ID of the entry comes last, since it is the longest.
const COLUMNS: &str = "created_at entry_type account amount team description entry_id";

impl Ledger {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let team = TEAMS.optional_id(client, self.team.as_ref())?;
        let entries = match self.entry {
            Some(id) => vec![client.get(&format!("{PATH}/{id}"))?],
            None => {
                let filters = [
                    ("team_id", team.clone()),
                    ("entry_type", json!(self.entry_type)),
                    ("purchase_id", json!(self.purchase)),
                ];
                client.list(PATH, &filters, Some(usize::from(self.limit)))?
            }
        };
        if self.options.json {
            print_json(&entries.into());
            return Ok(());
        }
        let changes = entries.iter().flat_map(|entry| changes(entry, team.as_str())).collect();
        client.print_list(COLUMNS, changes)
    }
}

/// Returns the changes of an entry: those of one team, or of all accounts.
fn changes(entry: &Value, team: Option<&str>) -> Vec<Value> {
    let postings = entry["postings"].as_array().into_iter().flatten();
    let is_shown = |posting: &&Value| team.is_none_or(|team| posting["team_id"] == team);
    postings
        .filter(is_shown)
        .map(|posting| {
            let mut change = posting.clone();
            for field in ["created_at", "entry_type", "description"] {
                change[field] = entry[field].clone();
            }
            change["entry_id"] = entry["id"].clone();
            change
        })
        .collect()
}
