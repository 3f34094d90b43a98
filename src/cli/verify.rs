//! The `marketplace verify` command.

use clap::Args;

use super::{CommandError, CommandResult, GlobalOptions, print_line, progress::CliProgress};
use crate::{market::Market, operations};

/// Check the database, the ledger, the uploads, and the search index for problems.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace verify --data ./market\n\nPrints one line per problem, and exits with 1 if there is any."
)]
pub struct Verify {}

impl Verify {
    pub(super) fn run(options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        // A server commits its last changes to the index a moment after it shows them.
        market.update_index(market.latest_change()?, &())?;
        verify(&market)
    }
}

/// Checks a market, and prints the problems. Fails if there is any.
pub(super) fn verify(market: &Market) -> CommandResult {
    let faults = {
        let (listings, uploads) = (CliProgress::new("listings"), CliProgress::bytes("uploads"));
        operations::verify::check(market, &listings, &uploads)?
    };
    for problem in &faults {
        print_line(problem);
    }
    match faults.len() {
        0 => {
            print_line("no problems found");
            Ok(())
        }
        count => {
            let hint = "run `marketplace reindex` to repair problems of the index";
            Err(CommandError::Other(format!("{count} problems found; {hint}")))
        }
    }
}
