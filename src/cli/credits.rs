//! The `marketplace credits` command.

use clap::Subcommand;

use super::{CommandResult, GlobalOptions, amounts::parse_amount, print_line};
use crate::{
    domain::{listings::Actor, money::Cents},
    error::Result,
    market::{Market, Writer},
    operations::{self, access::Platform},
    store::{self, wallet::Balances},
};

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
}

impl CreditsCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let balances = self.change(&market)?;
        print_line(balances.credits);
        Ok(())
    }

    fn change(&self, market: &Market) -> Result<Balances> {
        let platform = Platform::of_process();
        let resolve = |writer: &Writer, team: &str| operations::teams::resolve(writer.rows, team);
        market.write_blocking(|writer| match self {
            CreditsCommand::Buy { team, amount } => {
                let member = platform.member(resolve(writer, team)?)?;
                operations::credit_purchases::create(writer, &member, Actor::Team, *amount)?;
                store::wallet::balances(writer.rows, member.team_row_id())
            }
            CreditsCommand::Adjust { team, amount, reason } => {
                let team = resolve(writer, team)?;
                let actor = Actor::Platform;
                operations::wallet::adjust(writer, platform, actor, &team, *amount, reason)
                    .map(|change| change.balances)
            }
            CreditsCommand::Convert { team, amount } => {
                let vendor = platform.vendor(resolve(writer, team)?)?;
                operations::wallet::convert(writer, &vendor, Actor::Team, *amount)
                    .map(|change| change.balances)
            }
        })
    }
}
