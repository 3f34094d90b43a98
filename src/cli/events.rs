//! The `marketplace events` command.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};

use super::{
    CommandError, CommandResult, GlobalOptions,
    escapes::escaped_json,
    lists::GrowingTable,
    operator::{Client, OperatorOptions, names::TEAMS, parse_value},
    output::is_read_for,
};
use crate::domain::events::{EventId, EventType};

/// How often `--follow` looks for new events.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(1);

/// The value of `--cursor` for what happens from now on.
const NOW: &str = "now";

/// List events, oldest first: what has happened in the market.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace events --type listing.published --type purchase.completed\n  marketplace events --cursor evt_0000000000002250 --limit 1000 --json\n  marketplace events --follow --cursor now --json"
)]
pub struct Events {
    /// ID or name of a team, to list only the events in its view.
    #[arg(long)]
    team: Option<String>,
    /// Type of events to list. Repeat the option for several [default: all]
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_value::<EventType>)]
    types: Vec<EventType>,
    /// ID of an event, to list only later ones, or `now` [default: before the oldest event that is kept]
    #[arg(long, visible_alias = "after", value_name = "ID", value_parser = parse_place)]
    cursor: Option<String>,
    /// Maximum number of events, up to 1000. It does not apply to `--follow`.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Keep printing what happens, until interrupted. With `--json`, each event is a line.
    ///
    /// To continue later without a gap, name the last event that was printed with `--cursor`.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    options: OperatorOptions,
}

/// The fields that lists show.
const COLUMNS: &str = "id occurred_at type subject.id request_id team";

/// The widths of these fields while events are followed: of the IDs, of times, and of the types that are not unusually
/// long.
const WIDTHS: [usize; 6] = [20, 20, 28, 36, 36, 0];

/// Parses what `--cursor` names.
fn parse_place(text: &str) -> Result<String, String> {
    if text == NOW || EventId::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("must be `now`, or the ID of an event, such as evt_0000000000002250".to_owned())
    }
}

impl Events {
    pub(super) fn run(&self, global: &GlobalOptions) -> CommandResult {
        let client = &self.options.connect(global, false)?;
        let team = TEAMS.optional_id(client, self.team.as_ref())?;
        let filters = [("team", team), ("types", json!(self.types))];
        if self.follow {
            return self.follow(client, &filters);
        }
        let mut cursor = json!(self.cursor);
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
        client.print_list(COLUMNS, events)
    }

    /// Prints events as they happen. It requests them each second, so that it works equally on a data directory, on a server,
    /// and through proxies that buffer streams. Ends when nobody reads the output anymore.
    fn follow(&self, client: &Client, filters: &[(&str, Value)]) -> CommandResult {
        let table = GrowingTable::new(COLUMNS, &WIDTHS);
        let mut output = io::stdout().lock();
        if !self.options.json && !is_open(writeln!(output, "{}", table.heading()))? {
            return Ok(());
        }
        let mut cursor = json!(self.cursor);
        let mut printed = None;
        loop {
            let mut page = client
                .event_page(filters, &cursor, usize::MAX)
                .map_err(|error| with_place(error, printed.as_deref()))?;
            let mut events = page["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
            if !self.options.json {
                client.add_team_names(COLUMNS, &mut events)?;
            }
            for event in &events {
                let line =
                    if self.options.json { escaped_json(&event.to_string()) } else { table.line(event) };
                if !is_open(writeln!(output, "{line}"))? {
                    return Ok(());
                }
            }
            if !is_open(output.flush())? {
                return Ok(());
            }
            cursor = page["end_cursor"].take();
            printed = cursor.as_str().map(str::to_owned);
            if page["next_cursor"].is_null() && !is_read_for(FOLLOW_INTERVAL) {
                return Ok(());
            }
        }
    }
}

/// Whether somebody reads the output, given the result of writing to it.
fn is_open(result: io::Result<()>) -> Result<bool, CommandError> {
    match result {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(cause) => Err(CommandError::Other(format!("cannot print events: {cause}"))),
    }
}

/// Adds to an error how to continue after what was printed, up to an event.
fn with_place(error: CommandError, printed: Option<&str>) -> CommandError {
    match printed {
        Some(id) => CommandError::Other(format!("{error}; `--cursor {id}` continues after what was printed")),
        None => error,
    }
}
