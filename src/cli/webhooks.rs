//! The `marketplace webhook` command.

use super::{operator::names::WEBHOOKS, prelude::*, print_line};
use crate::domain::{
    events::EventType,
    webhooks::{DeliveryStatus, WebhookStatus},
};

/// Manage webhooks: endpoints to which events are sent.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Send events to an endpoint, and print the secret that signs them. It is shown only once.
    #[command(
        after_help = "Examples:\n  marketplace webhook create https://example.com/hook --team \"Acme Data\" --type offer.submitted\n  marketplace webhook create https://example.com/all"
    )]
    Create {
        // Neither the field nor its value has the name of the option `--url`, which is the server's.
        /// URL of the endpoint.
        endpoint: String,
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
        /// Status of the webhooks: enabled or disabled.
        #[arg(long, value_parser = parse_value::<WebhookStatus>)]
        status: Option<WebhookStatus>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a webhook.
    #[command(after_help = "Example:\n  marketplace webhook show https://example.com/hook")]
    Show(OneWebhook),
    /// Change the URL, the types of events, or the description of a webhook.
    #[command(
        after_help = "Examples:\n  marketplace webhook edit https://example.com/hook --endpoint https://example.com/new\n  marketplace webhook edit https://example.com/hook --type purchase.completed"
    )]
    Edit(WebhookChanges),
    /// Enable a webhook that was disabled. What happened meanwhile is not sent.
    #[command(after_help = "Example:\n  marketplace webhook enable 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Enable(OneWebhook),
    /// Disable a webhook.
    #[command(after_help = "Example:\n  marketplace webhook disable 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Disable(OneWebhook),
    /// Replace the secret of a webhook, and print the new one. The old one signs for a while, too.
    #[command(after_help = "Example:\n  marketplace webhook rotate 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Rotate(OneWebhook),
    /// Send a test message to a webhook. Its deliveries show what came of it.
    #[command(after_help = "Example:\n  marketplace webhook test 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Test(OneWebhook),
    /// Delete a webhook.
    #[command(after_help = "Example:\n  marketplace webhook delete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Delete(OneWebhook),
    /// List the newest deliveries of a webhook.
    #[command(after_help = "Example:\n  marketplace webhook deliveries 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Deliveries {
        #[command(flatten)]
        of: OneWebhook,
        /// Status of the deliveries.
        #[arg(long, value_parser = parse_value::<DeliveryStatus>)]
        status: Option<DeliveryStatus>,
        /// Maximum number of deliveries, up to 1000.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
    },
    /// Show a delivery, with its attempts.
    #[command(after_help = "Example:\n  marketplace webhook delivery 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Delivery {
        /// ID of the delivery, as printed by `webhook deliveries`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
    /// Send a delivery again.
    #[command(after_help = "Example:\n  marketplace webhook redeliver 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Redeliver {
        /// ID of the delivery, as printed by `webhook deliveries`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
}

const DELIVERIES: Records = Records::new(
    "/webhook-deliveries",
    "id event_type status attempt_count created_at next_attempt_at",
    "id webhook_id team_id team event_type message_id status attempt_count created_at next_attempt_at \
     ended_at body",
);

/// The fields of an attempt to deliver.
const ATTEMPT_COLUMNS: &str = "number attempted_at milliseconds status error response";

/// A webhook.
#[derive(Debug, Args)]
pub struct OneWebhook {
    /// ID or URL of the webhook.
    webhook: String,
}

/// What to change about a webhook.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new(CHANGE_GROUP).required(true).multiple(true))]
pub struct WebhookChanges {
    /// ID or URL of the webhook.
    webhook: String,
    /// New URL of the endpoint.
    #[arg(long, group = CHANGE_GROUP)]
    endpoint: Option<String>,
    /// Type of events to send. Repeat the option for several. Other types are removed.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<EventType>, group = CHANGE_GROUP)]
    types: Vec<EventType>,
    /// Send events of all types.
    #[arg(long, conflicts_with = "types", group = CHANGE_GROUP)]
    all_types: bool,
    /// What the webhook is for.
    #[arg(long, value_name = "TEXT", group = CHANGE_GROUP)]
    description: Option<String>,
}

impl WebhookChanges {
    /// Returns the body of the change.
    fn body(&self) -> Value {
        let types = match (self.types.as_slice(), self.all_types) {
            ([], false) => Value::Null,
            (types, _) => json!(types),
        };
        body_of([
            ("url", json!(self.endpoint)),
            ("event_types", types),
            ("description", json!(self.description)),
        ])
    }
}

impl ApiCommand for WebhookCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            WebhookCommand::Create { endpoint, team, types, description } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let body = body_of([
                    ("team_id", team),
                    ("url", json!(endpoint)),
                    ("description", json!(description)),
                    ("event_types", json!(types)),
                ]);
                print_secret(client, &client.post(WEBHOOKS.path, &body)?);
            }
            WebhookCommand::List { team, status, limit } => {
                let team = TEAMS.optional_id(client, team.as_ref())?;
                let filters = [("team_id", team), ("status", json!(status))];
                WEBHOOKS.list(client, &filters, *limit)?;
            }
            WebhookCommand::Show(of) => WEBHOOKS.show(client, &of.webhook)?,
            WebhookCommand::Edit(changes) => {
                WEBHOOKS.edit(client, &changes.webhook, &changes.body())?;
            }
            WebhookCommand::Enable(of) => set_status(client, of, "enabled")?,
            WebhookCommand::Disable(of) => set_status(client, of, "disabled")?,
            WebhookCommand::Rotate(of) => {
                print_secret(
                    client,
                    &client
                        .post(&format!("{}/rotate", WEBHOOKS.path_of(client, &of.webhook)?), &Value::Null)?,
                );
            }
            WebhookCommand::Test(of) => WEBHOOKS.perform(client, &of.webhook, "test")?,
            WebhookCommand::Delete(of) => {
                let id = WEBHOOKS.id(client, &of.webhook)?;
                client.delete(&format!("{}/{id}", WEBHOOKS.path))?;
                client.print(&json!({"deleted": id}), |_| print_line(format_args!("deleted webhook {id}")));
            }
            WebhookCommand::Deliveries { of, status, limit } => {
                let filters =
                    [("webhook_id", json!(WEBHOOKS.id(client, &of.webhook)?)), ("status", json!(status))];
                let deliveries = client.list(DELIVERIES.path, &filters, Some(usize::from(*limit)))?;
                client.print_list(DELIVERIES.columns, deliveries)?;
            }
            WebhookCommand::Delivery { id } => {
                DELIVERIES.show_with_rows(client, id, ("attempts", ATTEMPT_COLUMNS))?;
            }
            WebhookCommand::Redeliver { id } => {
                DELIVERIES.perform(client, id, "redeliver")?;
            }
        }
        Ok(())
    }
}

fn set_status(client: &Client, of: &OneWebhook, status: &str) -> CommandResult {
    let changed = client.patch(&WEBHOOKS.path_of(client, &of.webhook)?, &json!({"status": status}))?;
    client.print(&changed, |changed| print_line(changed["status"].as_str().unwrap_or_default()));
    Ok(())
}

/// Prints the secret of a webhook, and its ID on stderr.
fn print_secret(client: &Client, created: &Value) {
    client.print(created, |created| {
        print_line(created["secret"].as_str().unwrap_or_default());
        let id = created["webhook"]["id"].as_str().unwrap_or_default();
        print_note(format_args!("this is the secret of webhook {id}; it will not be shown again"));
    });
}
