//! The command-line interface, with one file per subcommand. It parses arguments, opens the market, calls an
//! operation, and prints the result. Business rules are in `operations` and `domain`.

mod grants;
mod keys;
mod listings;
mod mcp;
mod openapi;
mod process;
mod progress;
mod reindex;
mod seed;
mod serve;
mod teams;
mod upload;
mod verify;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand};

use crate::{
    clock::{Clock, Entropy},
    config::{Layers, Settings, SettingsError},
    error::Error,
    fixtures,
    market::{self, Market, Opening, Purpose},
    rest,
    store::Durability,
};

/// The settings file that is read if `--config` is not set.
const SETTINGS_FILE: &str = "marketplace.toml";

/// A data marketplace in one binary: vendor API, buyer API, search, and an agent (MCP) server.
#[derive(Debug, Parser)]
#[command(name = "marketplace", version, arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  marketplace serve --demo\n\nExit codes: 0 success, 1 failure, 2 invalid usage or settings."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// Options of all commands.
#[derive(Debug, Args)]
struct Common {
    /// Settings file [default: ./marketplace.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data directory of the market [default: the setting data.folder, initially "data"]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server.
    Serve(serve::Serve),
    /// Load fixture sets, or generate synthetic listings.
    Seed(seed::Seed),
    /// Rebuild the search index and swap it in. Safe while a server is running.
    Reindex(reindex::Reindex),
    /// Create, list, and show teams, and record that one accepted the mutual NDA.
    #[command(subcommand)]
    Team(teams::TeamCommand),
    /// Create, list, and revoke API keys.
    #[command(subcommand)]
    Key(keys::KeyCommand),
    /// Create, list, and revoke upload grants.
    #[command(subcommand)]
    Grant(grants::GrantCommand),
    /// Start quality runs of listings.
    #[command(subcommand)]
    Listing(listings::ListingCommand),
    /// Upload a zip file for a team.
    Upload(upload::Upload),
    /// Print the OpenAPI document of the vendor API or the buyer API.
    Openapi(openapi::Openapi),
    /// Start the read-only agent (MCP) server over stdio or HTTP.
    Mcp(mcp::Mcp),
    /// Check the database, the ledger, the uploads, and the search index for problems.
    Verify(verify::Verify),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Settings(#[from] SettingsError),
    #[error("{0}")]
    Open(#[from] market::OpenError),
    #[error("{0}")]
    Seed(#[from] fixtures::SeedError),
    #[error("{0}")]
    Market(#[from] Error),
    #[error("{0}")]
    Other(String),
    #[error("{0}")]
    Usage(String),
}

type Done = Result<(), Failure>;

/// Runs the command given on the command line. Exits with 0 on success, 1 on failure, and 2 on invalid usage
/// or settings.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            let is_usage = matches!(failure, Failure::Settings(_) | Failure::Usage(_));
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}

fn dispatch(cli: Cli) -> Done {
    let common = cli.common;
    match cli.command {
        Command::Serve(serve) => serve.run(&common),
        Command::Seed(seed) => seed.run(&common),
        Command::Reindex(_) => reindex::Reindex::run(&common),
        Command::Team(command) => command.run(&common),
        Command::Key(command) => command.run(&common),
        Command::Grant(command) => command.run(&common),
        Command::Listing(command) => command.run(&common),
        Command::Upload(upload) => upload.run(&common),
        Command::Openapi(openapi) => openapi.run(&common),
        Command::Mcp(mcp) => mcp.run(&common),
        Command::Verify(_) => verify::Verify::run(&common),
    }
}

impl Common {
    /// Loads the settings file and the environment variables. The caller adds the flags.
    fn layers(&self) -> Result<Layers, Failure> {
        let mut layers = Layers::new();
        let path = self.config.clone().or_else(|| {
            let usual = PathBuf::from(SETTINGS_FILE);
            usual.is_file().then_some(usual)
        });
        if let Some(path) = path {
            let text = std::fs::read_to_string(&path).map_err(|cause| {
                Failure::Usage(format!("cannot read settings file {}: {cause}", path.display()))
            })?;
            layers.file(&path, &text)?;
        }
        layers.variables(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        }))?;
        if let Some(folder) = &self.data {
            layers.set("data.folder", folder.display().to_string().into(), "--data".to_owned())?;
        }
        Ok(layers)
    }

    /// Opens the market for a command that may change it. Fails if there is no market, unless `may_begin`.
    fn market(&self, may_begin: bool) -> Result<Market, Failure> {
        let settings = self.layers()?.settle()?;
        let folder = settings.data.folder.clone();
        if !may_begin && !folder.join("market.sqlite").is_file() {
            let missing = crate::store::OpenError::Missing(folder);
            return Err(Failure::Open(missing.into()));
        }
        log_to_stderr(&settings, "warn");
        open(&folder, settings, Purpose::Command, Durability::Full)
    }
}

/// Opens a market that uses the system clock and the system's random numbers.
fn open(
    folder: &Path,
    settings: Settings,
    purpose: Purpose,
    durability: Durability,
) -> Result<Market, Failure> {
    let market = Market::open(Opening {
        folder: folder.to_owned(),
        settings,
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability,
        purpose,
        renderer: rest::RENDERER,
    })?;
    if purpose != Purpose::Read {
        fixtures::prepare(&market)?;
    }
    Ok(market)
}

/// Sends log lines to stderr. `usual` is the filter to use if the settings do not set one.
fn log_to_stderr(settings: &Settings, usual: &str) {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;
    let is_default = settings.log.filter == Settings::default().log.filter;
    let filter = if is_default { usual } else { &settings.log.filter };
    // The MCP library logs every message, so it is limited to errors unless the filter mentions it.
    let quiet = if filter.contains("rmcp") { filter.to_owned() } else { format!("{filter},rmcp=error") };
    let filter = EnvFilter::try_new(quiet).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // If the process has a logger already (tests run several commands), that one stays.
    let _ = match settings.log.format {
        crate::config::LogFormat::Text => lines.compact().try_init(),
        crate::config::LogFormat::Json => lines.json().try_init(),
    };
}

/// Prints a line of output to stdout. Write errors, such as a closed pipe, are ignored.
fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}
