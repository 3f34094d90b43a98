//! The `marketplace signing-key` command.

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    CommandResult, GlobalOptions,
    lists::{print_json, print_table},
    print_line,
};
use crate::{
    error::Error,
    operations::{access::Platform, attestation_log, signing_keys},
};

/// List and rotate the keys by which the market signs attestations.
#[derive(Debug, Args)]
pub struct SigningKey {
    #[command(subcommand)]
    command: SigningKeyCommand,
}

#[derive(Debug, Subcommand)]
enum SigningKeyCommand {
    /// List the public keys, the newest first, and print the newest head of the log.
    #[command(after_help = "Example:\n  marketplace signing-key list --data ./market")]
    List(Output),
    /// Replace the key by a new one. Safe while a server is running.
    ///
    /// The secret half of the old key is deleted. Its public half stays published, with the time until which it was used, so what
    /// it has signed stays valid.
    #[command(after_help = "Example:\n  marketplace signing-key rotate --data ./market")]
    Rotate {
        /// Begin another log of attestations, too. For a database of an earlier time, such as a snapshot of the disk, that was put back
        /// by other means than `restore` or `promote`: its log would contradict the heads that were published since.
        #[arg(long = "new-log")]
        is_new_log: bool,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Args)]
struct Output {
    /// Print JSON, as it is published.
    #[arg(long = "json")]
    is_json: bool,
}

impl SigningKey {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let output = match &self.command {
            SigningKeyCommand::List(output) => output,
            SigningKeyCommand::Rotate { is_new_log, output } => {
                market.write_blocking(|writer| {
                    if *is_new_log {
                        attestation_log::end(writer, Platform::of_process())?;
                    }
                    attestation_log::rotate_key(writer, Platform::of_process())
                })?;
                output
            }
        };
        let keys = market.read_blocking(signing_keys::list)?;
        let keys = json!(keys);
        if output.is_json {
            print_json(&keys);
        } else {
            let keys = keys["keys"].as_array().ok_or_else(|| Error::internal("keys are a list"))?;
            print_table("keyid valid_from valid_until", keys);
            if let Some((head, at)) = market.read_blocking(attestation_log::newest_head)? {
                print_line(format_args!("\nnewest head of the log, of {at}: {head}"));
            }
        }
        Ok(())
    }
}
