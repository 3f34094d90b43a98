//! The `marketplace team` command.

use clap::Subcommand;

use super::{
    CommandResult, GlobalOptions,
    lists::{Cell, ListFormat},
    print_line,
};
use crate::{
    domain::{
        listings::Actor,
        teams::{Role, Team},
    },
    operations::{self, access::Platform, teams::TeamInput},
    string_enum::StringEnum,
};

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
        #[arg(long = "role", value_name = "ROLE", value_parser = parse_role)]
        roles: Vec<Role>,
        /// Seller tier, 1 to 3.
        #[arg(long, default_value_t = 1)]
        tier: u8,
        /// Record that the team has accepted the mutual NDA.
        #[arg(long)]
        nda: bool,
    },
    /// List all teams.
    #[command(after_help = "Example:\n  marketplace team list")]
    List {
        #[command(flatten)]
        format: ListFormat,
    },
    /// Show a team.
    #[command(after_help = "Example:\n  marketplace team show \"Acme Data\"")]
    Show {
        /// ID or name of the team.
        team: String,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Record that a team has accepted the mutual NDA.
    #[command(after_help = "Example:\n  marketplace team accept-nda \"Acme Data\"")]
    AcceptNda {
        /// ID or name of the team.
        team: String,
    },
    /// Rename a team. Its listings show the new name.
    #[command(after_help = "Example:\n  marketplace team rename \"Acme Data\" \"Acme\"")]
    Rename {
        /// ID or name of the team.
        team: String,
        /// New name, which no other team has in any case.
        name: String,
    },
    /// Replace the marketplace roles of a team. A team that loses a role keeps its records, but can no longer change
    /// them.
    #[command(after_help = "Example:\n  marketplace team roles \"Acme Data\" --role vendor --role buyer")]
    Roles {
        /// ID or name of the team.
        team: String,
        /// Marketplace role: vendor or buyer. Repeat the option for both.
        #[arg(long = "role", value_name = "ROLE", value_parser = parse_role, required_unless_present = "none")]
        roles: Vec<Role>,
        /// Remove all roles.
        #[arg(long, conflicts_with = "roles")]
        none: bool,
    },
    /// Change the seller tier of a team.
    #[command(after_help = "Example:\n  marketplace team tier \"Acme Data\" 2")]
    Tier {
        /// ID or name of the team.
        team: String,
        /// Seller tier, 1 to 3.
        tier: u8,
    },
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

fn parse_role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "must be vendor or buyer".to_owned())
}

/// The fields of a team.
const COLUMNS: [&str; 7] = ["id", "name", "roles", "tier", "nda_accepted_at", "created_at", "closed_at"];

fn cells(team: &Team) -> [Cell; 7] {
    let roles = team.roles().into_iter().map(StringEnum::as_str);
    [
        Cell::Text(team.id.to_string()),
        Cell::Text(team.name.clone()),
        Cell::Words(roles.collect()),
        Cell::Number(team.tier.into()),
        Cell::Time(team.nda_accepted_at),
        Cell::Time(Some(team.created_at)),
        Cell::Time(team.closed_at),
    ]
}

impl TeamCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        match self {
            TeamCommand::Create { name, roles, tier, nda } => {
                let market = options.open_market(true)?;
                let team = TeamInput {
                    name,
                    is_vendor: roles.contains(&Role::Vendor),
                    is_buyer: roles.contains(&Role::Buyer),
                    tier: *tier,
                    has_accepted_nda: *nda,
                };
                print_line(market.write_blocking(|writer| operations::teams::create(writer, &team))?);
            }
            TeamCommand::List { format } => {
                let teams = options.open_market(false)?.read_blocking(operations::teams::list)?;
                format.print_list(COLUMNS, &teams.iter().map(cells).collect::<Vec<_>>());
            }
            TeamCommand::Show { team, format } => {
                let market = options.open_market(false)?;
                let team = market.read_blocking(|reader| operations::teams::resolve(reader.rows, team))?;
                format.print_record(COLUMNS, &cells(&team));
            }
            TeamCommand::AcceptNda { team } => {
                let market = options.open_market(false)?;
                let at = market.write_blocking(|writer| operations::teams::accept_nda(writer, team))?;
                print_line(format_args!("mutual NDA accepted {at}"));
            }
            TeamCommand::Rename { team, name } => {
                let renamed = options.open_market(false)?.write_blocking(|writer| {
                    operations::teams::rename(writer, Platform::of_process(), team, name)
                })?;
                print_line(format_args!("renamed {team} to {}", renamed.name));
            }
            TeamCommand::Roles { team, roles, .. } => {
                let changed = options.open_market(false)?.write_blocking(|writer| {
                    operations::teams::set_roles(writer, Platform::of_process(), team, roles)
                })?;
                let roles: Vec<&str> = changed.roles().into_iter().map(StringEnum::as_str).collect();
                let names = if roles.is_empty() { "none".to_owned() } else { roles.join(", ") };
                print_line(format_args!("roles of {team}: {names}"));
            }
            TeamCommand::Tier { team, tier } => {
                options.open_market(false)?.write_blocking(|writer| {
                    operations::teams::set_tier(writer, Platform::of_process(), team, *tier)
                })?;
                print_line(format_args!("tier of {team}: {tier}"));
            }
            TeamCommand::Close { team } => {
                options.open_market(false)?.write_blocking(|writer| {
                    operations::team_closures::close(writer, Platform::of_process(), Actor::Platform, team)
                })?;
                print_line(format_args!("closed {team}"));
            }
        }
        Ok(())
    }
}
