//! `marketplace verify`

use clap::Args;

use super::{Common, Done, Failure, say};
use crate::operations;

/// Checks the database, the ledger's zero sum, and the index against the database.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace verify --data ./market\n\nExits with 1 and a list where something is not in order."
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
                say("everything is in order");
                Ok(())
            }
            count => {
                let hint = "differences of the index are mended by `marketplace reindex`";
                Err(Failure::Other(format!("{count} faults found; {hint}")))
            }
        }
    }
}
