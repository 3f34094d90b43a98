//! The commands `marketplace announcement` and `marketplace maintenance`.

use super::{prelude::*, print_line};
use crate::domain::announcements::AnnouncementLevel;

/// Announce something on all pages of the web app.
#[derive(Debug, Subcommand)]
pub enum AnnouncementCommand {
    /// Show what is announced.
    #[command(after_help = "Example:\n  marketplace announcement show")]
    Show,
    /// Announce something, in place of what was announced before.
    #[command(
        after_help = "Example:\n  marketplace announcement set \"On Sunday, nothing can be changed from 08:00 to 09:00 UTC.\" \\\n    --level warning --ends-at 2026-03-08T09:00:00Z"
    )]
    Set(NewAnnouncement),
    /// Delete the announcement.
    #[command(after_help = "Example:\n  marketplace announcement delete")]
    Delete,
}

/// An announcement.
#[derive(Debug, Args)]
pub struct NewAnnouncement {
    /// Plain text, in which `[label](https://…)` is a link.
    text: String,
    /// How it is shown [default: information]
    #[arg(long, value_parser = parse_value::<AnnouncementLevel>)]
    level: Option<AnnouncementLevel>,
    /// When it begins to be shown (RFC 3339) [default: at once]
    #[arg(long, value_name = "TIME")]
    starts_at: Option<String>,
    /// When it is no longer shown (RFC 3339) [default: when it is deleted]
    #[arg(long, value_name = "TIME")]
    ends_at: Option<String>,
}

/// Let teams change nothing while the market is maintained.
#[derive(Debug, Subcommand)]
pub enum MaintenanceCommand {
    /// Show whether the market is being maintained, and what teams are told.
    #[command(after_help = "Example:\n  marketplace maintenance show")]
    Show,
    /// Refuse changes by teams. Operators, due steps, and deliveries go on.
    #[command(after_help = "Example:\n  marketplace maintenance start --text \"We are back at 09:00 UTC.\"")]
    Start {
        /// What teams are told [default: the setting `maintenance.text`]
        #[arg(long)]
        text: Option<String>,
    },
    /// Let teams change things again.
    #[command(after_help = "Example:\n  marketplace maintenance end")]
    End,
}

const ANNOUNCEMENT: (&str, &str) = ("/announcement", "text level starts_at ends_at changed_at shown");

const MAINTENANCE: (&str, &str) = ("/maintenance", "enabled text started_at");

/// Shows the only record at a path.
fn show(client: &Client, (path, fields): (&str, &str)) -> CommandResult {
    client.print_record(fields, client.get(path)?)
}

/// Replaces the only record at a path, and shows it.
fn put(client: &Client, (path, fields): (&str, &str), body: &Value) -> CommandResult {
    client.print_record(fields, client.put(path, body)?)
}

/// Deletes the only record at a path, and prints that it is done: as JSON, what the path has now.
fn delete(client: &Client, record: (&str, &str), done: &str) -> CommandResult {
    client.delete(record.0)?;
    if client.prints_json() {
        return show(client, record);
    }
    print_line(done);
    Ok(())
}

impl ApiCommand for AnnouncementCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            AnnouncementCommand::Show => show(client, ANNOUNCEMENT),
            AnnouncementCommand::Set(new) => {
                let body = body_of([
                    ("text", json!(new.text)),
                    ("level", json!(new.level)),
                    ("starts_at", json!(new.starts_at)),
                    ("ends_at", json!(new.ends_at)),
                ]);
                put(client, ANNOUNCEMENT, &body)
            }
            AnnouncementCommand::Delete => delete(client, ANNOUNCEMENT, "deleted"),
        }
    }
}

impl ApiCommand for MaintenanceCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            MaintenanceCommand::Show => show(client, MAINTENANCE),
            MaintenanceCommand::Start { text } => put(client, MAINTENANCE, &body_of([("text", json!(text))])),
            MaintenanceCommand::End => delete(client, MAINTENANCE, "ended"),
        }
    }
}
