//! The `marketplace withdrawal` command.

use super::{
    amounts::{EndedPayment, amount, parse_amount},
    prelude::*,
};
use crate::domain::{money::Cents, withdrawals::WithdrawalStatus};

/// Manage withdrawals of earnings, which operators pay outside the marketplace.
#[derive(Debug, Subcommand)]
pub enum WithdrawalCommand {
    /// Request a withdrawal for a team, and print its ID. The amount leaves the available earnings at once.
    #[command(after_help = "Example:\n  marketplace withdrawal create \"Acme Data\" 250")]
    Create {
        /// ID or name of the team.
        team: String,
        /// Amount in US dollars, such as 250 or 99.50.
        #[arg(value_parser = parse_amount, allow_hyphen_values = true)]
        amount: Cents,
    },
    /// List withdrawals, newest first.
    #[command(after_help = "Example:\n  marketplace withdrawal list --status requested")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
        /// Status of the withdrawals.
        #[arg(long, value_parser = parse_value::<WithdrawalStatus>)]
        status: Option<WithdrawalStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a withdrawal.
    #[command(after_help = "Example:\n  marketplace withdrawal show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneWithdrawal),
    /// Mark a withdrawal as paid.
    #[command(after_help = "Example:\n  marketplace withdrawal paid 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Paid(EndedPayment),
    /// Mark a withdrawal as failed. The amount is posted back to the earnings of the team.
    #[command(after_help = "Example:\n  marketplace withdrawal failed 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Failed(EndedPayment),
}

/// A withdrawal.
#[derive(Debug, Args)]
pub struct OneWithdrawal {
    /// ID of the withdrawal, as printed by `withdrawal list`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

const WITHDRAWALS: Records = Records::new(
    "/withdrawals",
    "id status amount requested_at decided_at team",
    "id team_id team amount currency status ledger_entry_id reversal_entry_id requested_at decided_at",
);

impl ApiCommand for WithdrawalCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            WithdrawalCommand::Create { team, amount: cents } => {
                let team = TEAMS.id(client, team)?;
                WITHDRAWALS.create(client, &json!({"team_id": team, "amount": amount(Some(*cents))}))
            }
            WithdrawalCommand::List { team, status, limit } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let filters = [("team_id", team), ("status", json!(status))];
                WITHDRAWALS.list(client, &filters, *limit)
            }
            WithdrawalCommand::Show(of) => WITHDRAWALS.show(client, of.id),
            WithdrawalCommand::Paid(of) => of.report(client, &WITHDRAWALS, "paid"),
            WithdrawalCommand::Failed(of) => of.report(client, &WITHDRAWALS, "failed"),
        }
    }
}
