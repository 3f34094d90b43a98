//! The `marketplace credits` command.

use super::{
    amounts::{EndedPayment, amount, parse_amount},
    prelude::*,
    print_line,
};
use crate::domain::{credit_purchases::CreditPurchaseStatus, money::Cents};

/// Manage the credits of teams. Each change prints the credits that the team has after it, in US dollars.
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
        #[arg(conflicts_with = "limit")]
        team: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// List purchases of credits, newest first, or show one.
    #[command(after_help = "Example:\n  marketplace credits purchases --team \"Acme Data\"")]
    Purchases(Purchases),
    /// Complete a purchase of credits that a team requested and paid. The credits can be spent at once.
    #[command(after_help = "Example:\n  marketplace credits complete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Complete(EndedPayment),
    /// Reject a purchase of credits that a team requested.
    #[command(after_help = "Example:\n  marketplace credits reject 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Reject(EndedPayment),
    /// List adjustments of credits, newest first, or show one.
    #[command(after_help = "Example:\n  marketplace credits adjustments --limit 10")]
    Adjustments(Movements),
    /// List conversions of earnings, newest first, or show one.
    #[command(after_help = "Example:\n  marketplace credits conversions --team \"Acme Data\"")]
    Conversions(Movements),
}

/// Which purchases of credits are meant.
#[derive(Debug, Args)]
pub struct Purchases {
    #[command(flatten)]
    movements: Movements,
    /// State of the purchases.
    #[arg(long, value_parser = parse_value::<CreditPurchaseStatus>, conflicts_with = "id")]
    status: Option<CreditPurchaseStatus>,
}

/// Which adjustments or conversions are meant.
#[derive(Debug, Args)]
pub struct Movements {
    /// ID of the one to show.
    #[arg(value_parser = parse_id, conflicts_with_all = ["team", "limit"])]
    id: Option<Uuid>,
    /// ID or name of the team.
    #[arg(long)]
    team: Option<String>,
    #[command(flatten)]
    limit: ListLimit,
}

const WALLETS: Records = Records::new(
    "/wallets",
    "team_id credits earnings_total earnings_pending earnings_available team",
    "team_id credits earnings_total earnings_pending earnings_available team",
);

const PURCHASES: Records = Records::new(
    "/credit-purchases",
    "id amount status created_at team",
    "id team_id team amount currency status ledger_entry_id created_at decided_at",
);

const ADJUSTMENTS: Records = Records::new(
    "/adjustments",
    "id amount created_at team description",
    "id team_id team amount currency description created_at",
);

const CONVERSIONS: Records = Records { path: "/conversions", ..ADJUSTMENTS };

impl Movements {
    fn print(&self, client: &Client, records: &Records, filters: &[(&str, Value)]) -> CommandResult {
        match self.id {
            Some(id) => records.show(client, id),
            None => {
                let mut all = vec![("team_id", TEAMS.optional_id(client, self.team.as_ref())?)];
                all.extend_from_slice(filters);
                records.list(client, &all, self.limit)
            }
        }
    }
}

impl ApiCommand for CreditsCommand {
    fn run(&self, client: &Client) -> CommandResult {
        let change = |path: &str, team: &str, cents: Cents, reason: Option<&String>| {
            let team = TEAMS.id(client, team)?;
            let fields = [
                ("team_id", team.as_str().into()),
                ("amount", amount(Some(cents))),
                ("description", json!(reason)),
            ];
            let changed = client.post(path, &body_of(fields))?;
            let wallet = WALLETS.get(client, &team)?;
            client.print(&changed, |_| print_line(wallet["credits"].as_str().unwrap_or_default()));
            Ok(())
        };
        match self {
            CreditsCommand::Buy { team, amount } => change(PURCHASES.path, team, *amount, None),
            CreditsCommand::Adjust { team, amount, reason } => {
                change(ADJUSTMENTS.path, team, *amount, Some(reason))
            }
            CreditsCommand::Convert { team, amount } => change(CONVERSIONS.path, team, *amount, None),
            CreditsCommand::Show { team: Some(team), .. } => WALLETS.show(client, &TEAMS.id(client, team)?),
            CreditsCommand::Show { team: None, limit } => WALLETS.list(client, &[], *limit),
            CreditsCommand::Purchases(purchases) => {
                let status = json!(purchases.status);
                purchases.movements.print(client, &PURCHASES, &[("status", status)])
            }
            CreditsCommand::Complete(of) => of.report(client, &PURCHASES, "complete"),
            CreditsCommand::Reject(of) => of.report(client, &PURCHASES, "reject"),
            CreditsCommand::Adjustments(movements) => movements.print(client, &ADJUSTMENTS, &[]),
            CreditsCommand::Conversions(movements) => movements.print(client, &CONVERSIONS, &[]),
        }
    }
}
