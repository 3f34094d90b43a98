//! `marketplace key`

use clap::Subcommand;
use uuid::Uuid;

use super::{Common, Done, say};
use crate::{domain::time::Timestamp, operations};

/// Keeps API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key for a team and print it; it is shown this once.
    #[command(
        after_help = "Example:\n  marketplace key create \"Acme Data\" --name ci --expires 2027-01-01T00:00:00Z"
    )]
    Create {
        /// The team's id or name.
        team: String,
        /// What the key is for.
        #[arg(long, default_value = "key")]
        name: String,
        /// When it stops working, RFC 3339; never when left out.
        #[arg(long, value_parser = instant)]
        expires: Option<Timestamp>,
    },
    /// List a team's keys; the keys themselves are not kept.
    #[command(after_help = "Example:\n  marketplace key list \"Acme Data\"")]
    List {
        /// The team's id or name.
        team: String,
    },
    /// Revoke a key; a running server refuses it within a second.
    #[command(after_help = "Example:\n  marketplace key revoke 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Revoke {
        /// The key's id, as `key list` shows it.
        id: Uuid,
    },
}

fn instant(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "a time is RFC 3339, as in 2027-01-01T00:00:00Z".to_owned())
}

impl KeyCommand {
    pub(super) fn run(&self, common: &Common) -> Done {
        let market = common.market(false)?;
        match self {
            KeyCommand::Create { team, name, expires } => {
                let made =
                    market.write_blocking(|writer| operations::keys::create(writer, team, name, *expires))?;
                let (id, key) = made;
                say(key);
                eprintln!("made key {id}; it is not shown again");
            }
            KeyCommand::List { team } => {
                for key in market.read_blocking(|reader| operations::keys::list(reader, team))? {
                    let when = |name: &str, at: Option<Timestamp>| {
                        at.map(|at| format!("  {name} {at}")).unwrap_or_default()
                    };
                    let notes = [
                        when("expires", key.expires_at),
                        when("revoked", key.revoked_at),
                        when("last used", key.last_used_at),
                    ];
                    say(format_args!("{}  {}  made {}{}", key.id, key.name, key.created_at, notes.concat()));
                }
            }
            KeyCommand::Revoke { id } => {
                market.write_blocking(|writer| operations::keys::revoke(writer, *id))?;
                say(format_args!("revoked {id}"));
            }
        }
        Ok(())
    }
}
