//! The `marketplace credits` command.

use clap::Subcommand;
use serde_json::json;

use super::{
    CommandResult, GlobalOptions,
    amounts::{amount, parse_amount},
    operator::{OperatorOptions, body_of, names},
    print_line,
};
use crate::domain::money::Cents;

/// Manage the credits of teams. Each command prints the credits that the team has after it, in US dollars.
#[derive(Debug, Subcommand)]
pub enum CreditsCommand {
    /// Buy credits for a team. The platform takes them as paid.
    #[command(after_help = "Example:\n  marketplace credits buy \"Acme Data\" 250")]
    Buy {
        /// ID or name of the team.
        team: String,
        /// Amount in US dollars, such as 250 or 99.50.
        #[arg(value_parser = parse_amount, allow_hyphen_values = true)]
        amount: Cents,
    },
    /// Give credits to a team, or deduct them with a negative amount.
    #[command(
        after_help = "Examples:\n  marketplace credits adjust \"Acme Data\" 50 --reason \"Welcome credit\"\n  marketplace credits adjust \"Acme Data\" -12.50 --reason \"Booked twice\""
    )]
    Adjust {
        /// ID or name of the team.
        team: String,
        /// Amount in US dollars, such as 50 or -12.50.
        #[arg(value_parser = parse_amount, allow_hyphen_values = true)]
        amount: Cents,
        /// What the adjustment is for. It becomes the description of the ledger entry.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Convert available earnings of a team into credits. There is no fee.
    #[command(after_help = "Example:\n  marketplace credits convert \"Acme Data\" 100")]
    Convert {
        /// ID or name of the team.
        team: String,
        /// Amount in US dollars, such as 100 or 99.50.
        #[arg(value_parser = parse_amount, allow_hyphen_values = true)]
        amount: Cents,
    },
    /// Show the credits and earnings of a team, or of all teams.
    #[command(after_help = "Example:\n  marketplace credits show \"Acme Data\"")]
    Show {
        /// ID or name of the team.
        team: Option<String>,
    },
}

/// The fields of a wallet.
const COLUMNS: [&str; 6] =
    ["team_id", "credits", "earnings_total", "earnings_pending", "earnings_available", "team"];

impl CreditsCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> CommandResult {
        let client = &options.connect(global, false)?;
        let change = |path: &str, team: &str, cents: Cents, reason: Option<&String>| {
            let team = names::team(client, team)?;
            let fields = [
                ("team_id", team.as_str().into()),
                ("amount", amount(Some(cents))),
                ("description", json!(reason)),
            ];
            let changed = client.post(path, &body_of(fields))?;
            let wallet = client.get(&format!("/wallets/{team}"))?;
            client.print(&changed, |_| print_line(wallet["credits"].as_str().unwrap_or_default()));
            Ok(())
        };
        match self {
            CreditsCommand::Buy { team, amount } => change("/credit-purchases", team, *amount, None),
            CreditsCommand::Adjust { team, amount, reason } => {
                change("/adjustments", team, *amount, Some(reason))
            }
            CreditsCommand::Convert { team, amount } => change("/conversions", team, *amount, None),
            CreditsCommand::Show { team: Some(team) } => {
                let wallet = client.get(&format!("/wallets/{}", names::team(client, team)?))?;
                client.print_record(&COLUMNS, wallet)
            }
            CreditsCommand::Show { team: None } => {
                client.print_list(&COLUMNS, client.list("/wallets", &[], None)?)
            }
        }
    }
}
