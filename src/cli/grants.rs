//! The `marketplace grant` command.

use super::{operator::names::GRANTS, prelude::*, print_line};
use crate::domain::{assets::Exclusivity, grants::GrantState};

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
        #[arg(long, default_value = "available", value_parser = parse_value::<Exclusivity>)]
        exclusivity: Exclusivity,
        /// ID of the inventory group for the codebase [default: the team's default group]
        #[arg(long, value_parser = parse_id)]
        group: Option<Uuid>,
        /// Maximum size of the upload in bytes [default: the setting `blobs.max_upload_bytes`]
        #[arg(long)]
        max_bytes: Option<u64>,
    },
    /// List the upload grants of a team. Tokens are not stored, so they cannot be shown.
    #[command(after_help = "Example:\n  marketplace grant list \"Acme Data\"")]
    List {
        /// ID or name of the team.
        team: String,
        /// State of the grants.
        #[arg(long, value_parser = parse_value::<GrantState>)]
        status: Option<GrantState>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an upload grant, without its token.
    #[command(after_help = "Example:\n  marketplace grant show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show {
        /// ID of the grant, as printed by `grant list`, or the title of one that can be used.
        grant: String,
    },
    /// Revoke an unused upload grant, and delete what was uploaded with it.
    #[command(after_help = "Example:\n  marketplace grant revoke 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Revoke {
        /// ID of the grant, as printed by `grant list`, or the title of one that can be used.
        grant: String,
    },
}

impl ApiCommand for GrantCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            GrantCommand::Create { team, title, exclusivity, group, max_bytes } => {
                let body = body_of([
                    ("team_id", TEAMS.id(client, team)?.into()),
                    ("title", json!(title)),
                    ("exclusivity", json!(exclusivity)),
                    ("group_id", json!(group)),
                    ("max_bytes", json!(max_bytes)),
                ]);
                let created = client.post(GRANTS.path, &body)?;
                client.print(&created, |created| {
                    print_line(created["token"].as_str().unwrap_or_default());
                    let id = created["grant"]["id"].as_str().unwrap_or_default();
                    print_note(format_args!("created grant {id}; its token will not be shown again"));
                });
            }
            GrantCommand::List { team, status, limit } => {
                let team = TEAMS.id(client, team)?;
                let filters = [("team_id", team.into()), ("status", json!(status))];
                GRANTS.list(client, &filters, *limit)?;
            }
            GrantCommand::Show { grant } => GRANTS.show(client, grant)?,
            GrantCommand::Revoke { grant } => {
                let id = GRANTS.id(client, grant)?;
                let revoked = client.post(&format!("{}/{id}/revoke", GRANTS.path), &Value::Null)?;
                client.print(&revoked, |_| print_line(format_args!("revoked grant {id}")));
            }
        }
        Ok(())
    }
}
