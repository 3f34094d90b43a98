//! The `marketplace ledger` command.

use clap::Args;

use super::{
    CommandResult, GlobalOptions,
    lists::{Cell, ListFormat},
};
use crate::{
    operations::{self, access::Platform, ledger::PostingLine},
    string_enum::StringEnum,
};

/// List the newest ledger entries: what each changed, and the balances after it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace ledger\n  marketplace ledger \"Acme Data\" --limit 100 --json\n\nAmounts are in US dollars. The changes of each entry add up to zero over all accounts."
)]
pub struct Ledger {
    /// ID or name of a team, to list only the changes of its credits and earnings.
    team: Option<String>,
    /// Maximum number of entries, up to 1000.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    #[command(flatten)]
    format: ListFormat,
}

/// The fields of a change. The ID of the entry comes last, since it is the longest.
const COLUMNS: [&str; 8] =
    ["created_at", "type", "team", "account", "amount", "balance", "description", "entry_id"];

fn cells(line: &PostingLine) -> [Cell; 8] {
    let entry = &line.posting;
    [
        Cell::Time(Some(entry.created_at)),
        Cell::Text(entry.entry_type.as_str().to_owned()),
        Cell::Text(entry.team_name.clone().unwrap_or_default()),
        Cell::Text(entry.posting.account.name().to_owned()),
        Cell::Text(entry.posting.cents.to_string()),
        Cell::Text(line.balance.to_string()),
        Cell::Text(entry.description.clone()),
        Cell::Text(entry.entry.to_string()),
    ]
}

impl Ledger {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let lines = market.read_blocking(|reader| {
            let resolve = |team: &String| operations::teams::resolve(reader.rows, team);
            let team = self.team.as_ref().map(resolve).transpose()?;
            let (platform, limit) = (Platform::of_process(), usize::from(self.limit));
            operations::ledger::list_newest(reader, platform, team.map(|team| team.row_id), limit)
        })?;
        self.format.print_list(COLUMNS, &lines.iter().map(cells).collect::<Vec<_>>());
        Ok(())
    }
}
