//! `marketplace reindex`

use clap::Args;

use super::{Common, Done, progress::Bar, say};

/// Builds the search index anew.
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
