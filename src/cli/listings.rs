//! The `marketplace listing` command.

use clap::Subcommand;
use uuid::Uuid;

use super::{CommandResult, GlobalOptions, print_line};
use crate::{
    error::Error,
    operations::{self, access::Platform},
};

/// Manage listings.
#[derive(Debug, Subcommand)]
pub enum ListingCommand {
    /// Start a quality run of a listing with all its assets, as on submission. A running server performs it.
    #[command(after_help = "Example:\n  marketplace listing check 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Check {
        /// ID of the listing.
        id: Uuid,
    },
}

impl ListingCommand {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        match self {
            ListingCommand::Check { id } => {
                let started = market
                    .write_blocking(|writer| {
                        operations::listing_lifecycle::start_run(writer, Platform::of_process(), *id)
                    })
                    .map_err(|error| match error {
                        Error::NotFound(what) => Error::not_found(format!("{what} {id}")),
                        other => other,
                    })?;
                print_line(started.run_id);
                eprintln!(
                    "started quality run {} of the listing; a running server performs it",
                    started.run_number
                );
            }
        }
        Ok(())
    }
}
