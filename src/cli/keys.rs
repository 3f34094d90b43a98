//! The `marketplace key` command.

use clap::Subcommand;
use uuid::Uuid;

use super::{
    CommandResult, GlobalOptions,
    lists::{Cell, ListFormat},
    print_line,
};
use crate::{
    domain::time::Timestamp,
    operations::{self, access::Platform},
};

/// Manage API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create an API key for a team and print it. It is shown only once.
    #[command(
        after_help = "Example:\n  marketplace key create \"Acme Data\" --name ci --expires 2027-01-01T00:00:00Z"
    )]
    Create {
        /// ID or name of the team.
        team: String,
        /// Name of the key, for instance its purpose.
        #[arg(long, default_value = "key")]
        name: String,
        /// Time at which the key expires, in the future and in RFC 3339 format [default: never]
        #[arg(long, value_parser = parse_timestamp)]
        expires: Option<Timestamp>,
    },
    /// List the API keys of a team. The secrets are not stored, so they cannot be shown.
    #[command(after_help = "Example:\n  marketplace key list \"Acme Data\"")]
    List {
        /// ID or name of the team.
        team: String,
        #[command(flatten)]
        format: ListFormat,
    },
    /// Replace an API key with a new one and print it. It is shown only once.
    ///
    /// The replaced key stays valid for the hours of the setting `keys.rotation_overlap_hours`, unless it expires
    /// earlier. The new key has the same name, and lives as long as the replaced one would have.
    #[command(after_help = "Example:\n  marketplace key rotate 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Rotate {
        /// ID of the key, as printed by `key list`.
        id: Uuid,
        /// Time at which the new key expires, in the future and in RFC 3339 format
        #[arg(long, value_parser = parse_timestamp)]
        expires: Option<Timestamp>,
    },
    /// Revoke an API key. A running server rejects it within one second.
    #[command(after_help = "Example:\n  marketplace key revoke 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Revoke {
        /// ID of the key, as printed by `key list`.
        id: Uuid,
    },
}

fn parse_timestamp(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be an RFC 3339 time, such as 2027-01-01T00:00:00Z".to_owned())
}

impl KeyCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        match self {
            KeyCommand::Create { team, name, expires } => {
                let created =
                    market.write_blocking(|writer| operations::keys::create(writer, team, name, *expires))?;
                let (id, key) = created;
                print_line(key);
                eprintln!("created key {id}; it will not be shown again");
            }
            KeyCommand::List { team, format } => {
                let keys = market.read_blocking(|reader| operations::keys::list(reader, team))?;
                let rows = keys.into_iter().map(|key| {
                    [
                        Cell::Text(key.id.to_string()),
                        Cell::Text(key.name),
                        Cell::Time(Some(key.created_at)),
                        Cell::Time(key.expires_at),
                        Cell::Time(key.revoked_at),
                        Cell::Time(key.last_used_at),
                    ]
                });
                let columns = ["id", "name", "created_at", "expires_at", "revoked_at", "last_used_at"];
                format.print_list(columns, &rows.collect::<Vec<_>>());
            }
            KeyCommand::Rotate { id, expires } => {
                let (new_id, key) = market.write_blocking(|writer| {
                    operations::keys::rotate(writer, Platform::of_process(), *id, *expires)
                })?;
                print_line(key);
                eprintln!("created key {new_id}; it will not be shown again");
            }
            KeyCommand::Revoke { id } => {
                market.write_blocking(|writer| operations::keys::revoke(writer, *id))?;
                print_line(format_args!("revoked key {id}"));
            }
        }
        Ok(())
    }
}
