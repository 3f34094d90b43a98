//! The `marketplace grant` command.

use clap::Subcommand;

use super::{
    CommandResult, GlobalOptions,
    lists::{Cell, ListFormat},
    print_line,
};
use crate::{
    domain::{assets::Exclusivity, grants::GrantState, row_ids::GrantRowId},
    operations::{self, grants::GrantInput},
    string_enum::StringEnum,
};

/// Manage upload grants.
#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// Let a team create one codebase from an uploaded zip file, and print the token. It is shown only once.
    #[command(after_help = "Example:\n  marketplace grant create \"Acme Data\" --title \"Billing core\"")]
    Create {
        /// ID or name of the team.
        team: String,
        /// Title of the codebase.
        #[arg(long)]
        title: String,
        /// Whether the codebase is available for an exclusive sale: available or unavailable.
        #[arg(long, default_value = "available", value_parser = parse_exclusivity)]
        exclusivity: Exclusivity,
        /// Name of the inventory group for the codebase [default: the team's default group]
        #[arg(long)]
        group: Option<String>,
        /// Maximum size of the upload in bytes [default: the setting `blobs.max_upload_bytes`]
        #[arg(long)]
        max_bytes: Option<u64>,
    },
    /// List the upload grants of a team. Tokens are not stored, so they cannot be shown.
    #[command(after_help = "Example:\n  marketplace grant list \"Acme Data\"")]
    List {
        /// ID or name of the team.
        team: String,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Revoke an unused upload grant, and delete what was uploaded with it.
    #[command(after_help = "Example:\n  marketplace grant revoke 7")]
    Revoke {
        /// Number of the grant, as printed by `grant list`.
        number: i64,
    },
}

fn parse_exclusivity(text: &str) -> Result<Exclusivity, String> {
    Exclusivity::parse(text).ok_or_else(|| "must be available or unavailable".to_owned())
}

impl GrantCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        match self {
            GrantCommand::Create { team, title, exclusivity, group, max_bytes } => {
                let grant = GrantInput {
                    team,
                    title,
                    exclusivity: *exclusivity,
                    group: group.as_deref(),
                    max_bytes: *max_bytes,
                };
                let (grant, token) =
                    market.write_blocking(|writer| operations::grants::create(writer, &grant))?;
                print_line(token);
                eprintln!("created grant {}; its token will not be shown again", grant.0);
            }
            GrantCommand::List { team, format } => {
                let now = market.clock().now();
                let grants = market.read_blocking(|reader| operations::grants::list(reader, team))?;
                let rows = grants.into_iter().map(|grant| {
                    let state = match grant.state(now) {
                        GrantState::Open => "open",
                        GrantState::Expired => "expired",
                        GrantState::Revoked => "revoked",
                        GrantState::Consumed => "used",
                    };
                    [
                        Cell::Number(grant.row_id.0),
                        Cell::Text(grant.title),
                        Cell::Text(state.to_owned()),
                        Cell::Time(Some(grant.expires_at)),
                        Cell::Time(grant.consumed_at),
                        Cell::Time(grant.revoked_at),
                    ]
                });
                let columns = ["number", "title", "state", "expires_at", "used_at", "revoked_at"];
                format.print_list(columns, &rows.collect::<Vec<_>>());
            }
            GrantCommand::Revoke { number } => {
                operations::grants::revoke_and_delete(&market, GrantRowId(*number))?;
                print_line(format_args!("revoked grant {number}"));
            }
        }
        Ok(())
    }
}
