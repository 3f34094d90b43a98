//! The `marketplace reindex` command.

use clap::Args;

use super::{Common, Done, progress::Bar, say};

/// Rebuild the search index and swap it in. Safe while a server is running.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  marketplace reindex --data ./market")]
pub struct Reindex {}

impl Reindex {
    pub(super) fn run(common: &Common) -> Done {
        let market = common.market(false)?;
        let count = market.reindex(&Bar::new("indexing"))?;
        say(format_args!("indexed {count} listings"));
        Ok(())
    }
}
