//! The `marketplace webhook` command.

use clap::Subcommand;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    CommandResult, GlobalOptions,
    operator::{Client, OperatorOptions, body_of, names, parse_value},
    print_line,
};
use crate::{domain::events::EventType, string_enum::StringEnum};

/// Manage webhooks: endpoints to which events are sent.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Send events to an endpoint, and print the secret that signs them. It is shown only once.
    #[command(
        after_help = "Examples:\n  marketplace webhook create https://example.com/hook --team \"Acme Data\" --type offer.submitted\n  marketplace webhook create https://example.com/all"
    )]
    Create {
        /// URL of the endpoint.
        url: String,
        /// ID or name of the team whose events are sent [default: those of all teams, as operators see them]
        #[arg(long)]
        team: Option<String>,
        /// Type of events to send. Repeat the option for several [default: all]
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<EventType>)]
        types: Vec<EventType>,
        /// What the webhook is for.
        #[arg(long)]
        description: Option<String>,
    },
    /// List webhooks, newest first. Their secrets are never shown again.
    #[command(after_help = "Example:\n  marketplace webhook list")]
    List {
        /// ID or name of the team whose events are sent.
        #[arg(long)]
        team: Option<String>,
    },
    /// Enable a webhook that was disabled. What happened meanwhile is not sent.
    #[command(after_help = "Example:\n  marketplace webhook enable 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Enable {
        /// ID of the webhook.
        id: Uuid,
    },
    /// Disable a webhook.
    #[command(after_help = "Example:\n  marketplace webhook disable 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Disable {
        /// ID of the webhook.
        id: Uuid,
    },
    /// Replace the secret of a webhook, and print the new one. The old one signs for a while, too.
    #[command(after_help = "Example:\n  marketplace webhook rotate 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Rotate {
        /// ID of the webhook.
        id: Uuid,
    },
    /// Delete a webhook.
    #[command(after_help = "Example:\n  marketplace webhook delete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Delete {
        /// ID of the webhook.
        id: Uuid,
    },
    /// List the newest deliveries of a webhook.
    #[command(after_help = "Example:\n  marketplace webhook deliveries 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Deliveries {
        /// ID of the webhook.
        id: Uuid,
        /// Maximum number of deliveries.
        #[arg(long, default_value_t = 50)]
        limit: u16,
    },
    /// Send a delivery again.
    #[command(after_help = "Example:\n  marketplace webhook redeliver 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Redeliver {
        /// ID of the delivery, as printed by `webhook deliveries`.
        id: Uuid,
    },
}

/// The fields that lists of webhooks show.
const COLUMNS: [&str; 6] = ["id", "team_id", "status", "disabled_reason", "event_types", "url"];

/// The fields that lists of deliveries show.
const DELIVERY_COLUMNS: [&str; 6] =
    ["id", "event_type", "status", "attempt_count", "created_at", "next_attempt_at"];

impl WebhookCommand {
    pub(super) fn run(&self, options: &OperatorOptions, global: &GlobalOptions) -> CommandResult {
        let client = &options.connect(global, false)?;
        match self {
            WebhookCommand::Create { url, team, types, description } => {
                let team = team.as_ref().map(|team| names::team(client, team)).transpose()?;
                let types: Vec<&str> = types.iter().map(|kind| kind.as_str()).collect();
                let body = body_of([
                    ("team_id", json!(team)),
                    ("url", json!(url)),
                    ("description", json!(description)),
                    ("event_types", json!(types)),
                ]);
                print_secret(client, &client.post("/webhooks", &body)?);
            }
            WebhookCommand::List { team } => {
                let team = team.as_ref().map(|team| names::team(client, team)).transpose()?;
                let webhooks = client.list("/webhooks", &[("team_id", json!(team))], None)?;
                client.print_list(&COLUMNS, webhooks);
            }
            WebhookCommand::Enable { id } => set_status(client, *id, "enabled")?,
            WebhookCommand::Disable { id } => set_status(client, *id, "disabled")?,
            WebhookCommand::Rotate { id } => {
                print_secret(client, &client.post(&format!("/webhooks/{id}/rotate"), &Value::Null)?);
            }
            WebhookCommand::Delete { id } => {
                client.delete(&format!("/webhooks/{id}"))?;
                print_line(format_args!("deleted webhook {id}"));
            }
            WebhookCommand::Deliveries { id, limit } => {
                let filters = [("webhook_id", json!(id))];
                let deliveries = client.list("/webhook-deliveries", &filters, Some(usize::from(*limit)))?;
                client.print_list(&DELIVERY_COLUMNS, deliveries);
            }
            WebhookCommand::Redeliver { id } => {
                let sent = client.post(&format!("/webhook-deliveries/{id}/redeliver"), &Value::Null)?;
                client.print(&sent, |sent| print_line(sent["status"].as_str().unwrap_or_default()));
            }
        }
        Ok(())
    }
}

fn set_status(client: &Client, id: Uuid, status: &str) -> CommandResult {
    let changed = client.patch(&format!("/webhooks/{id}"), &json!({"status": status}))?;
    client.print(&changed, |changed| print_line(changed["status"].as_str().unwrap_or_default()));
    Ok(())
}

/// Prints the secret of a webhook, and its ID on stderr.
fn print_secret(client: &Client, created: &Value) {
    client.print(created, |created| {
        print_line(created["secret"].as_str().unwrap_or_default());
        let id = created["webhook"]["id"].as_str().unwrap_or_default();
        eprintln!("this is the secret of webhook {id}; it will not be shown again");
    });
}
