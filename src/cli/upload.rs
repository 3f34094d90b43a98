//! `marketplace upload`

use std::path::PathBuf;

use clap::Args;

use super::{Common, Done, say};
use crate::{operations, rest};

/// Puts a zip into the market and prints the address that raw data attaches.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace upload scans-2026.zip --team \"Acme Data\"")]
pub struct Upload {
    /// The zip.
    file: PathBuf,
    /// The team, by its id or name.
    #[arg(long)]
    team: String,
}

impl Upload {
    pub(super) fn run(&self, common: &Common) -> Done {
        let market = common.market(false)?;
        let base_url = rest::base_url(market.settings(), market.settings().server.listen);
        say(operations::uploads::put(&market, &self.team, &self.file, &base_url)?);
        Ok(())
    }
}
