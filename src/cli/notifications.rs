//! The `marketplace notification` command.

use super::{prelude::*, print_line};
use crate::domain::notifications::NotificationType;

/// Look at the notifications of teams, and mark them as read.
#[derive(Debug, Subcommand)]
pub enum NotificationCommand {
    /// List notifications, newest first.
    #[command(after_help = "Example:\n  marketplace notification list --team \"Acme Data\" --unread true")]
    List {
        /// ID or name of the team.
        #[arg(long)]
        team: Option<String>,
        /// Type of the notifications.
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<NotificationType>)]
        kind: Option<NotificationType>,
        /// Whether they are unread [default: both]
        #[arg(long, value_name = "BOOL")]
        unread: Option<bool>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a notification.
    #[command(after_help = "Example:\n  marketplace notification show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneNotification),
    /// Mark a notification as read, for its team.
    #[command(after_help = "Example:\n  marketplace notification read 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Read(OneNotification),
}

/// A notification.
#[derive(Debug, Args)]
pub struct OneNotification {
    /// ID of the notification, as printed by `notification list`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

const NOTIFICATIONS: Records = Records::new(
    "/notifications",
    "id type read created_at team title",
    "id team_id team type title message link read opportunity_id project_opportunity_id \
     project_bid_id task_id created_at",
);

impl ApiCommand for NotificationCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            NotificationCommand::List { team, kind, unread, limit } => {
                let filters = [
                    ("team_id", TEAMS.optional_id(client, team.as_ref())?),
                    ("type", json!(kind)),
                    ("unread", json!(unread)),
                ];
                NOTIFICATIONS.list(client, &filters, *limit)
            }
            NotificationCommand::Show(one) => NOTIFICATIONS.show(client, one.id),
            NotificationCommand::Read(one) => {
                let path = format!("{}/{}/read", NOTIFICATIONS.path, one.id);
                client.print(&client.post(&path, &Value::Null)?, |_| print_line("read"));
                Ok(())
            }
        }
    }
}
