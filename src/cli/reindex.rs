//! The `marketplace reindex` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line, progress::CliProgress};
use crate::domain::written;

/// Rebuild the search index and swap it in. Safe while a server is running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace reindex --data ./market")]
pub struct Reindex {}

impl Reindex {
    pub(super) fn run(options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let count = market.reindex(&CliProgress::new("indexing"))?;
        print_line(format_args!("indexed {}", written::counted(count, "listing", "listings")));
        Ok(())
    }
}
