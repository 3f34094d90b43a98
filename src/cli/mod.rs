//! The command line: one file a subcommand. Parses, opens a market, calls, prints. What a command does is decided below.

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

/// The settings file that is read where none is named.
const SETTINGS_FILE: &str = "marketplace.toml";

/// A data marketplace in one binary: vendor API, buyer API, search and agent server over one folder.
#[derive(Debug, Parser)]
#[command(name = "marketplace", version, arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  marketplace serve --demo\n\nExit codes: 0 done, 1 failed, 2 wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
struct Common {
    /// Settings file; ./marketplace.toml where there is one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Folder of the market; "data" where nothing else is set.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the market.
    Serve(serve::Serve),
    /// Load fixture sets, or make synthetic listings.
    Seed(seed::Seed),
    /// Build the search index anew and swap it in; safe while a server runs.
    Reindex(reindex::Reindex),
    /// Add and list teams, and accept the mutual NDA for one.
    #[command(subcommand)]
    Team(teams::TeamCommand),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Key(keys::KeyCommand),
    /// Make, list and take back grants of uploads.
    #[command(subcommand)]
    Grant(grants::GrantCommand),
    /// Start quality runs of listings.
    #[command(subcommand)]
    Listing(listings::ListingCommand),
    /// Put a zip into the market for a team.
    Upload(upload::Upload),
    /// Print the OpenAPI document of one side.
    Openapi(openapi::Openapi),
    /// Serve agents over stdio, or alone over HTTP; read-only.
    Mcp(mcp::Mcp),
    /// Check the database, the ledger, the uploads and the index.
    Verify(verify::Verify),
}

/// Why a command ended without having done its work.
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

/// Runs the command that the process was started with. Exit code 0 is done, 1 failed, 2 wrong usage.
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
    /// The compiled-in settings with the file and the variables on top; flags are for the caller to add.
    fn layers(&self) -> Result<Layers, Failure> {
        let mut layers = Layers::new();
        let path = self.config.clone().or_else(|| {
            let usual = PathBuf::from(SETTINGS_FILE);
            usual.is_file().then_some(usual)
        });
        if let Some(path) = path {
            let text = std::fs::read_to_string(&path).map_err(|cause| {
                Failure::Usage(format!("cannot read the settings {}: {cause}", path.display()))
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

    /// Opens the market for one command that may change it; there must be one already, unless it `may_begin`.
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

/// Opens a market on the system's time and entropy.
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

/// Sends log lines to stderr. Commands are quieter than the server, unless a filter was set.
fn log_to_stderr(settings: &Settings, usual: &str) {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;
    let is_default = settings.log.filter == Settings::default().log.filter;
    let filter = if is_default { usual } else { &settings.log.filter };
    // The library that speaks with agents tells of every message, unless it was asked to.
    let quiet = if filter.contains("rmcp") { filter.to_owned() } else { format!("{filter},rmcp=error") };
    let filter = EnvFilter::try_new(quiet).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A process that logs already (a test that runs several commands) keeps its log.
    let _ = match settings.log.format {
        crate::config::LogFormat::Text => lines.compact().try_init(),
        crate::config::LogFormat::Json => lines.json().try_init(),
    };
}

/// Prints a line of a command's answer. A closed pipe is no fault of ours.
fn say(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}
