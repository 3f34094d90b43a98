//! `marketplace grant`

use clap::Subcommand;

use super::{Common, Done, say};
use crate::{
    domain::{assets::Exclusivity, uploads::GrantState, vocabulary::Vocabulary},
    operations::{self, grants::GrantIn},
};

/// Keeps grants of uploads.
#[derive(Debug, Subcommand)]
pub enum GrantCommand {
    /// Let a team upload one zip, which becomes a codebase, and print the token; it is shown this once.
    #[command(after_help = "Example:\n  marketplace grant create \"Acme Data\" --title \"Billing core\"")]
    Create {
        /// The team's id or name.
        team: String,
        /// The title of the codebase.
        #[arg(long)]
        title: String,
        /// Whether it can still be sold exclusively: available or unavailable.
        #[arg(long, default_value = "available", value_parser = exclusivity)]
        exclusivity: Exclusivity,
        /// The inventory folder that it goes to, by name; the default one when left out.
        #[arg(long)]
        group: Option<String>,
        /// Bytes that may be uploaded; as many as the settings say when left out.
        #[arg(long)]
        max_bytes: Option<u64>,
    },
    /// List a team's grants; their tokens are not kept.
    #[command(after_help = "Example:\n  marketplace grant list \"Acme Data\"")]
    List {
        /// The team's id or name.
        team: String,
    },
    /// Take a grant back that was not used; what was uploaded under it goes.
    #[command(after_help = "Example:\n  marketplace grant revoke 7")]
    Revoke {
        /// The grant's number, as `grant list` shows it.
        number: i64,
    },
}

fn exclusivity(text: &str) -> Result<Exclusivity, String> {
    Exclusivity::parse(text).ok_or_else(|| "it is available or unavailable".to_owned())
}

impl GrantCommand {
    pub(super) fn run(&self, common: &Common) -> Done {
        let market = common.market(false)?;
        match self {
            GrantCommand::Create { team, title, exclusivity, group, max_bytes } => {
                let grant = GrantIn {
                    team,
                    title,
                    exclusivity: *exclusivity,
                    group: group.as_deref(),
                    max_bytes: *max_bytes,
                };
                let (number, token) =
                    market.write_blocking(|writer| operations::grants::create(writer, &grant))?;
                say(token);
                eprintln!("made grant {number}; its token is not shown again");
            }
            GrantCommand::List { team } => {
                let now = market.clock().now();
                for grant in market.read_blocking(|reader| operations::grants::list(reader, team))? {
                    let state = match grant.state(now) {
                        GrantState::Open => "open until",
                        GrantState::Expired => "expired",
                        GrantState::Consumed => "used",
                    };
                    let at = grant.consumed_at.or(grant.revoked_at).unwrap_or(grant.expires_at);
                    say(format_args!("{}  {}  {state} {at}", grant.number, grant.title));
                }
            }
            GrantCommand::Revoke { number } => {
                market.write_blocking(|writer| operations::grants::revoke(writer, *number))?;
                say(format_args!("revoked {number}"));
            }
        }
        Ok(())
    }
}
