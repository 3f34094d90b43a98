//! The `marketplace events` command.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::{
    CommandResult, GlobalOptions,
    lists::print_table,
    operator::{Client, OperatorOptions, names, parse_value},
    print_line,
};
use crate::{domain::events::EventType, string_enum::StringEnum};

/// How often `--follow` looks for new events.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// List events, oldest first: what has happened in the market.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace events --type listing.published --type purchase.completed\n  marketplace events --follow --after now --json"
)]
pub struct Events {
    /// ID or name of a team, to list only the events in its view.
    #[arg(long)]
    team: Option<String>,
    /// Type of events to list. Repeat the option for several [default: all]
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<EventType>)]
    types: Vec<EventType>,
    /// ID of an event, to list only later ones, or `now`.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// Maximum number of events, up to 1000. It does not apply to `--follow`.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Keep printing what happens, until interrupted. With `--json`, each event is a line.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields that lists show.
const COLUMNS: [&str; 6] = ["id", "occurred_at", "type", "subject.id", "team_id", "request_id"];

impl Events {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let team = self.team.as_ref().map(|team| names::team(client, team)).transpose()?;
        let types: Vec<&str> = self.types.iter().map(|kind| kind.as_str()).collect();
        let filters = [("team", json!(team)), ("types", json!(types))];
        if self.follow {
            return self.follow(client, &filters);
        }
        let mut cursor = json!(self.after);
        let mut events = Vec::new();
        while events.len() < usize::from(self.limit) {
            let limit = usize::from(self.limit) - events.len();
            let mut page = client.event_page(&filters, &cursor, limit)?;
            events.extend(page["items"].as_array_mut().map(std::mem::take).unwrap_or_default());
            cursor = page["next_cursor"].take();
            if cursor.is_null() {
                break;
            }
        }
        client.print_list(&COLUMNS, events);
        Ok(())
    }

    /// Prints events as they happen. It asks for them each second, so that it works in the same way on a data directory,
    /// on a server, and through proxies that hold streams back.
    fn follow(&self, client: &Client, filters: &[(&str, Value)]) -> CommandResult {
        let mut cursor = json!(self.after);
        loop {
            let page = client.event_page(filters, &cursor, usize::MAX)?;
            for event in page["items"].as_array().into_iter().flatten() {
                if self.options.json {
                    print_line(event);
                } else {
                    print_table(&COLUMNS, std::slice::from_ref(event));
                }
            }
            cursor = page["end_cursor"].clone();
            if page["next_cursor"].is_null() {
                std::thread::sleep(FOLLOW_INTERVAL);
            }
        }
    }
}
