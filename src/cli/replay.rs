//! The `marketplace replay` command.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Args;
use serde_json::json;

use super::{
    CommandError, CommandResult,
    app::new_app,
    escapes::{escaped, escaped_json},
    init_logging, open_directory, print_line, process, require_output, serve,
    temporary_directory::TemporaryDirectory,
};
use crate::{
    config::SettingsSources,
    domain::{principals::KeyScope, written::counted},
    error::Error,
    market::{self, OpenMode, Writer},
    operations::{access::Platform, keys},
    store::Durability,
    web::world_host::replay::{Difference, RecordedReplay, ReplayOutcome, Replayer},
};

/// An address that nothing listens on.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Send the requests of a world again, and compare the answers.
///
/// The file is what `GET /sandbox/v1/worlds/{world}/replay` returns. Nothing is sent over the network, and settings of this
/// machine do not apply.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace replay checkout.replay.zip\n\nExits with 0 if all answers are the same, with 1 if one differs, and with 2 if the file cannot be replayed."
)]
pub struct Replay {
    /// The file of a replay.
    file: PathBuf,
    /// Print the outcome as JSON.
    #[arg(long = "json")]
    is_json: bool,
}

impl Replay {
    pub(super) fn run(&self) -> CommandResult {
        market::raise_descriptor_limit();
        let replay = RecordedReplay::read(&self.file).map_err(unusable)?;
        if !self.is_json {
            for note in replay.notes() {
                print_line(escaped(&format!("Note: {note}")));
            }
        }
        let version = replay.version().to_owned();
        let outcome = run(replay)?;
        if self.is_json {
            let report =
                json!({"version": env!("CARGO_PKG_VERSION"), "recorded_with": version, "outcome": outcome});
            print_line(escaped_json(&report.to_string()));
        } else {
            print_outcome(&outcome);
        }
        require_output()?;
        match outcome.difference {
            None => Ok(()),
            Some(difference) => Err(CommandError::Other(format!(
                "the answer to request {} differs: {}",
                difference.request, difference.place
            ))),
        }
    }
}

/// Says why a file cannot be replayed.
fn unusable(error: Error) -> CommandError {
    match error {
        Error::Internal(_) => error.into(),
        other => CommandError::Usage(other.to_string()),
    }
}

/// Replays a file in a temporary directory.
fn run(replay: RecordedReplay) -> Result<ReplayOutcome, CommandError> {
    let (base_url, public_url, shows_demo_keys) = replay.server();
    let base_url = base_url.to_owned();
    let mut sources = SettingsSources::new();
    sources.apply_demo()?;
    sources.set("server.public_url", public_url.into(), "the file".to_owned())?;
    let settings = sources.clone().resolve()?;
    init_logging(&settings, "error");
    let directory = TemporaryDirectory::create()?;
    let app = new_app(&settings, shows_demo_keys);
    let market = open_directory(directory.path(), settings, OpenMode::Serve, Durability::None)?;
    let create = |writer: &mut Writer| {
        keys::create_for_operator(writer, Platform::of_process(), "Replay", KeyScope::All, None)
    };
    let (_, server_key) = market.write_blocking(create)?;
    let worlds = serve::open_worlds(&market, sources, false)?;
    let runtime = process::build_runtime(market.settings())?;
    let outcome = runtime.block_on(async {
        let app = app.serve_with_sandbox(market.clone(), &base_url, ADDRESS, Arc::clone(&worlds));
        Replayer { app, worlds, server_key }.run(replay).await
    });
    runtime.shutdown_timeout(process::SHUTDOWN_TIMEOUT);
    outcome.map_err(unusable)
}

fn print_outcome(outcome: &ReplayOutcome) {
    match &outcome.difference {
        None => print_line(format_args!(
            "{} sent, and {} the same.",
            counted(outcome.requests, "request was", "requests were"),
            counted(outcome.compared, "answer is", "answers are"),
        )),
        Some(difference) => print_difference(difference),
    }
}

fn print_difference(difference: &Difference) {
    let Difference { request, method, path, operation, at, place, expected, actual, answer } = difference;
    let operation = operation.as_ref().map(|operation| format!(" ({operation})")).unwrap_or_default();
    let head = format!("Request {request}: {method} {path}{operation}, at {at}");
    print_line(escaped(&head));
    print_line(escaped(&format!("{place}:")));
    for (sign, text) in [('-', expected), ('+', actual)] {
        match text {
            Some(text) => {
                text.lines().for_each(|line| print_line(format_args!("{sign} {}", escaped(line))));
            }
            None => print_line(format_args!("{sign} (nothing)")),
        }
    }
    if let Some(answer) = answer.as_ref().filter(|answer| !answer.is_empty()) {
        print_line(escaped(&format!("The answer now: {answer}")));
    }
}
