//! The `marketplace upload` command.

use std::path::PathBuf;

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line, progress::CliProgress};
use crate::{operations, rest};

/// Copy a zip file into the market and print the URL with which it can be attached to raw data.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace upload scans-2026.zip --team \"Acme Data\"")]
pub struct Upload {
    /// The zip file.
    file: PathBuf,
    /// ID or name of the team.
    #[arg(long)]
    team: String,
}

impl Upload {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let base_url = rest::base_url(market.settings(), market.settings().server.listen);
        let progress = CliProgress::bytes("uploading");
        let (team, file) = (&self.team, &self.file);
        let url = operations::uploads::import_zip_with_progress(&market, team, file, &base_url, &progress)?;
        drop(progress);
        print_line(url);
        Ok(())
    }
}
