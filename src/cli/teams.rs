//! The `marketplace team` command.

use super::{prelude::*, print_line};
use crate::domain::teams::Role;

/// Manage teams.
#[derive(Debug, Subcommand)]
pub enum TeamCommand {
    /// Create a team and print its ID.
    #[command(
        after_help = "Example:\n  marketplace team create \"Acme Data\" --role vendor --role buyer --tier 2 --nda"
    )]
    Create {
        /// Name of the team.
        name: String,
        /// Marketplace role: vendor or buyer. Repeat the option for both.
        #[arg(long = "role", value_name = "ROLE", value_parser = parse_value::<Role>)]
        roles: Vec<Role>,
        /// Seller tier, 1 to 3.
        #[arg(long, default_value_t = 1)]
        tier: u8,
        /// Record that the team has accepted the mutual NDA.
        #[arg(long)]
        nda: bool,
    },
    /// List teams, by name.
    #[command(after_help = "Example:\n  marketplace team list --role buyer")]
    List {
        /// Marketplace role: vendor or buyer.
        #[arg(long, value_parser = parse_value::<Role>)]
        role: Option<Role>,
        /// Whether the teams were closed [default: both]
        #[arg(long, value_name = "BOOL")]
        closed: Option<bool>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a team.
    #[command(after_help = "Example:\n  marketplace team show \"Acme Data\"")]
    Show {
        /// ID or name of the team.
        team: String,
    },
    /// Record that a team has accepted the mutual NDA.
    #[command(after_help = "Example:\n  marketplace team accept-nda \"Acme Data\"")]
    AcceptNda {
        /// ID or name of the team.
        team: String,
    },
    /// Change the name, the roles, the tier, the avatar, or the payout setup of a team.
    ///
    /// A team that loses a role keeps its records, but can no longer change them.
    #[command(
        after_help = "Examples:\n  marketplace team edit \"Acme Data\" --name Acme --tier 2\n  marketplace team edit Acme --role vendor --role buyer --payout \"IBAN DE00 0000\""
    )]
    Edit(TeamChanges),
    /// Close a team for good: archive its listings, end its purchases and offers, and revoke its keys and grants.
    ///
    /// The name of the team stays reserved, and its earnings stay payable. A team that owes a delivery is not
    /// closed.
    #[command(after_help = "Example:\n  marketplace team close \"Acme Data\"")]
    Close {
        /// ID or name of the team.
        team: String,
    },
}

/// What to change about a team.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new(CHANGE_GROUP).required(true).multiple(true))]
pub struct TeamChanges {
    /// ID or name of the team.
    team: String,
    /// New name, which no other team has in any case. The team's listings show it.
    #[arg(long, group = CHANGE_GROUP)]
    name: Option<String>,
    /// Marketplace role: vendor or buyer. Repeat the option for both. Other roles are removed.
    #[arg(long = "role", value_name = "ROLE", value_parser = parse_value::<Role>, group = CHANGE_GROUP)]
    roles: Vec<Role>,
    /// Remove all roles.
    #[arg(long, conflicts_with = "roles", group = CHANGE_GROUP)]
    no_roles: bool,
    /// New seller tier, 1 to 3.
    #[arg(long, group = CHANGE_GROUP)]
    tier: Option<u8>,
    /// URL of the avatar image; an empty one removes it.
    #[arg(long, value_name = "URL", group = CHANGE_GROUP)]
    avatar: Option<String>,
    /// How the team is paid, in words, which only operators read; an empty text removes it.
    #[arg(long, value_name = "TEXT", group = CHANGE_GROUP)]
    payout: Option<String>,
}

impl TeamChanges {
    /// Returns the body of the change.
    fn body(&self) -> Value {
        let roles = match (self.roles.as_slice(), self.no_roles) {
            ([], false) => Value::Null,
            (roles, _) => json!(roles),
        };
        let mut body = body_of([("name", json!(self.name)), ("roles", roles), ("tier", json!(self.tier))]);
        for (field, text) in [("avatar_url", &self.avatar), ("payout_setup", &self.payout)] {
            if let Some(text) = text {
                body[field] = if text.is_empty() { Value::Null } else { json!(text) };
            }
        }
        body
    }
}

impl ApiCommand for TeamCommand {
    fn may_create_market(&self) -> bool {
        matches!(self, TeamCommand::Create { .. })
    }

    fn run(&self, client: &Client) -> CommandResult {
        match self {
            TeamCommand::Create { name, roles, tier, nda } => {
                let body = json!({"name": name, "roles": roles, "tier": tier, "nda_accepted": nda});
                TEAMS.create(client, &body)?;
            }
            TeamCommand::List { role, closed, limit } => {
                let filters = [("role", json!(role)), ("closed", json!(closed))];
                // All are read, since the API has another order.
                let mut teams = client.list(TEAMS.path, &filters, None)?;
                teams.sort_by_cached_key(|team| team["name"].as_str().map(str::to_lowercase));
                teams.truncate(limit.rows().unwrap_or(usize::MAX));
                client.print_list(TEAMS.columns, teams)?;
            }
            TeamCommand::Show { team } => TEAMS.show(client, team)?,
            TeamCommand::AcceptNda { team } => {
                let changed =
                    client.post(&format!("{}/accept-nda", TEAMS.path_of(client, team)?), &Value::Null)?;
                client.print(&changed, |team| {
                    let at = team["nda_accepted_at"].as_str().unwrap_or_default();
                    print_line(format_args!("mutual NDA accepted {at}"));
                });
            }
            TeamCommand::Edit(changes) => {
                TEAMS.edit(client, &changes.team, &changes.body())?;
            }
            TeamCommand::Close { team } => {
                let closed = client.post(&format!("{}/close", TEAMS.path_of(client, team)?), &Value::Null)?;
                client.print(&closed, |_| print_line(format_args!("closed {team}")));
            }
        }
        Ok(())
    }
}
