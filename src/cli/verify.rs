//! The `marketplace verify` command.

use clap::Args;

use super::{Common, Done, Failure, say};
use crate::operations;

/// Check the database, the ledger, the uploads, and the search index for problems.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace verify --data ./market\n\nPrints one line per problem, and exits with 1 if there is any."
)]
pub struct Verify {}

impl Verify {
    pub(super) fn run(common: &Common) -> Done {
        let market = common.market(false)?;
        let faults = operations::verify::faults(&market)?;
        for fault in &faults {
            say(fault);
        }
        match faults.len() {
            0 => {
                say("no problems found");
                Ok(())
            }
            count => {
                let hint = "run `marketplace reindex` to repair problems of the index";
                Err(Failure::Other(format!("{count} problems found; {hint}")))
            }
        }
    }
}
