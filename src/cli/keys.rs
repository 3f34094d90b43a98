//! The `marketplace key` and `marketplace operator key` commands.

use super::{
    operator::names::{KEYS, OPERATOR_KEYS},
    prelude::*,
    print_line,
};
use crate::domain::{keys::TeamKeyScope, principals::KeyScope, time::Timestamp};

/// Manage API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create an API key for a team and print it. It is shown only once.
    #[command(
        after_help = "Examples:\n  marketplace key create \"Acme Data\" --name ci --expires 2027-01-01T00:00:00Z\n  marketplace key create \"Acme Data\" --name \"Jo Doe\" --scope console"
    )]
    Create {
        /// ID or name of the team.
        team: String,
        /// Name of the key, for instance its purpose.
        #[arg(long, default_value = "key")]
        name: String,
        /// What the key permits: `api`, requests of programs and agents; `console`, signing in to the console; or `all`.
        #[arg(long, default_value = "api", value_parser = parse_value::<TeamKeyScope>)]
        scope: TeamKeyScope,
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
        limit: ListLimit,
    },
    /// Show an API key, without its secret.
    #[command(after_help = "Example:\n  marketplace key show ci")]
    Show {
        /// ID of the key, as printed by `key list`, or its name.
        key: String,
    },
    /// Change when an API key expires.
    #[command(
        after_help = "Examples:\n  marketplace key expire 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 2027-01-01T00:00:00Z\n  marketplace key expire 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 never"
    )]
    Expire(Expiry),
    /// Replace an API key with a new one and print it. It is shown only once.
    ///
    /// The replaced key stays valid for the hours of the setting `keys.rotation_overlap_hours`, unless it expires
    /// earlier. The new key has the same name and the same lifetime, which begins now.
    #[command(after_help = "Example:\n  marketplace key rotate 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Rotate(Rotation),
    /// Revoke an API key. A running server rejects it within one second.
    #[command(after_help = "Example:\n  marketplace key revoke ci")]
    Revoke {
        /// ID of the key, as printed by `key list`, or its name.
        key: String,
    },
}

/// Manage what operators use.
#[derive(Debug, Subcommand)]
pub enum OperatorSubcommand {
    /// Create an operator key, for the operator API and `--url`, or list, rotate, and revoke such keys.
    #[command(
        args_conflicts_with_subcommands = true,
        arg_required_else_help = true,
        after_help = "Examples:\n  marketplace operator key \"Review desk\"\n  marketplace operator key list"
    )]
    Key {
        #[command(subcommand)]
        command: Option<OperatorKeyCommand>,
        #[command(flatten)]
        new: Option<NewOperatorKey>,
    },
}

/// An operator key to create. It is printed once.
#[derive(Debug, Args)]
pub struct NewOperatorKey {
    /// Name of the new key, for instance its purpose.
    name: String,
    /// What the key permits: everything (all), only reading (read), or only payments (payments), for a program that is
    /// connected to a payment provider.
    #[arg(long, default_value = "all", value_parser = parse_value::<KeyScope>)]
    scope: KeyScope,
    /// Let the key only read, as `--scope read` does.
    #[arg(long, conflicts_with = "scope")]
    read_only: bool,
    /// Time at which the key expires, in the future and in RFC 3339 format [default: never]
    #[arg(long, value_parser = parse_timestamp)]
    expires: Option<Timestamp>,
}

/// Manage operator keys.
#[derive(Debug, Subcommand)]
pub enum OperatorKeyCommand {
    /// Create an operator key and print it, as `operator key NAME` does. It is shown only once.
    #[command(
        after_help = "Examples:\n  marketplace operator key create \"Review desk\" --scope read\n  marketplace operator key create \"Payments\" --scope payments"
    )]
    Create(NewOperatorKey),
    /// List the operator keys. The secrets are not stored, so they cannot be shown.
    #[command(after_help = "Example:\n  marketplace operator key list")]
    List(ListLimit),
    /// Show an operator key, without its secret.
    #[command(after_help = "Example:\n  marketplace operator key show \"Review desk\"")]
    Show {
        /// ID of the key, as printed by `operator key list`, or its name.
        key: String,
    },
    /// Change when an operator key expires.
    #[command(
        after_help = "Example:\n  marketplace operator key expire 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 never"
    )]
    Expire(Expiry),
    /// Replace an operator key with a new one and print it. It is shown only once.
    ///
    /// The replaced key stays valid for the hours of the setting `keys.rotation_overlap_hours`, unless it expires
    /// earlier. The new key has the same name, scope, and lifetime, which begins now.
    #[command(
        after_help = "Example:\n  marketplace operator key rotate 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11"
    )]
    Rotate(Rotation),
    /// Revoke an operator key. A running server rejects it within one second.
    #[command(after_help = "Example:\n  marketplace operator key revoke \"Review desk\"")]
    Revoke {
        /// ID of the key, as printed by `operator key list`, or its name.
        key: String,
    },
}

/// When a key expires.
#[derive(Debug, Args)]
pub struct Expiry {
    /// ID of the key, as printed by the list of keys, or its name. If several keys have the name, it is the one that is
    /// active.
    key: String,
    /// Time at which the key expires, in the future and in RFC 3339 format, or `never`.
    #[arg(value_parser = parse_expiry)]
    at: ExpiryTime,
}

/// A time, or never.
#[derive(Clone, Copy, Debug)]
struct ExpiryTime(Option<Timestamp>);

/// How a key is replaced.
#[derive(Debug, Args)]
pub struct Rotation {
    /// ID of the key, as printed by the list of keys, or its name. If several keys have the name, it is the one that is
    /// active.
    key: String,
    /// Time at which the new key expires, in the future and in RFC 3339 format
    #[arg(long, value_parser = parse_timestamp)]
    expires: Option<Timestamp>,
}

/// Parses a time.
pub fn parse_timestamp(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be an RFC 3339 time, such as 2027-01-01T00:00:00Z".to_owned())
}

fn parse_expiry(text: &str) -> Result<ExpiryTime, String> {
    if text == "never" { Ok(ExpiryTime(None)) } else { parse_timestamp(text).map(|at| ExpiryTime(Some(at))) }
}

/// Creates a key of a team or of an operator, and prints its secret.
fn create(client: &Client, keys: &Records, body: &Value) -> CommandResult {
    print_new_key(client, &client.post(keys.path, body)?);
    Ok(())
}

fn expire(client: &Client, keys: &Records, Expiry { key, at }: &Expiry) -> CommandResult {
    let id = keys.id(client, key)?;
    let changed = client.patch(&keys.path_of(client, &id)?, &json!({"expires_at": at.0}))?;
    client.print(&changed, |key| {
        let at = key["expires_at"].as_str().map_or("never expires".to_owned(), |at| format!("expires {at}"));
        print_line(format_args!("key {id} {at}"));
    });
    Ok(())
}

fn rotate(client: &Client, keys: &Records, Rotation { key, expires }: &Rotation) -> CommandResult {
    let body = body_of([("expires_at", json!(expires))]);
    print_new_key(client, &client.post(&format!("{}/rotate", keys.path_of(client, key)?), &body)?);
    Ok(())
}

fn revoke(client: &Client, keys: &Records, key: &str) -> CommandResult {
    let id = keys.id(client, key)?;
    let revoked = client.post(&format!("{}/{id}/revoke", keys.path), &Value::Null)?;
    client.print(&revoked, |_| print_line(format_args!("revoked key {id}")));
    Ok(())
}

/// Prints the secret of a new key, and its ID on stderr.
fn print_new_key(client: &Client, created: &Value) {
    client.print(created, |created| {
        print_line(created["secret"].as_str().unwrap_or_default());
        let id = created["key"]["id"].as_str().unwrap_or_default();
        print_note(format_args!("created key {id}; it will not be shown again"));
    });
}

impl ApiCommand for KeyCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            KeyCommand::Create { team, name, scope, expires } => {
                let team = TEAMS.id(client, team)?;
                create(
                    client,
                    &KEYS,
                    &body_of([
                        ("team_id", team.into()),
                        ("name", json!(name)),
                        ("scope", json!(scope)),
                        ("expires_at", json!(expires)),
                    ]),
                )
            }
            KeyCommand::List { team, limit } => {
                KEYS.list(client, &[("team_id", TEAMS.id(client, team)?.into())], *limit)
            }
            KeyCommand::Show { key } => KEYS.show(client, key),
            KeyCommand::Expire(expiry) => expire(client, &KEYS, expiry),
            KeyCommand::Rotate(rotation) => rotate(client, &KEYS, rotation),
            KeyCommand::Revoke { key } => revoke(client, &KEYS, key),
        }
    }
}

impl ApiCommand for OperatorSubcommand {
    fn may_create_market(&self) -> bool {
        let OperatorSubcommand::Key { command, new } = self;
        new.is_some() || matches!(command, Some(OperatorKeyCommand::Create(_)))
    }

    fn run(&self, client: &Client) -> CommandResult {
        let OperatorSubcommand::Key { command, new } = self;
        match (command, new) {
            (_, Some(new)) | (Some(OperatorKeyCommand::Create(new)), None) => {
                let NewOperatorKey { name, scope, read_only, expires } = new;
                let scope = if *read_only { KeyScope::Read } else { *scope };
                let expires_at = ("expires_at", json!(expires));
                let body = body_of([("name", json!(name)), ("scope", json!(scope)), expires_at]);
                create(client, &OPERATOR_KEYS, &body)
            }
            (Some(OperatorKeyCommand::Expire(expiry)), None) => expire(client, &OPERATOR_KEYS, expiry),
            (Some(OperatorKeyCommand::Rotate(rotation)), None) => rotate(client, &OPERATOR_KEYS, rotation),
            (Some(OperatorKeyCommand::Revoke { key }), None) => revoke(client, &OPERATOR_KEYS, key),
            (Some(OperatorKeyCommand::Show { key }), None) => OPERATOR_KEYS.show(client, key),
            (Some(OperatorKeyCommand::List(limit)), None) => OPERATOR_KEYS.list(client, &[], *limit),
            (None, None) => OPERATOR_KEYS.list(client, &[], ListLimit::default()),
        }
    }
}
