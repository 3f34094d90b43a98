//! The `marketplace seed` command.

use std::path::PathBuf;

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line, print_note, progress::CliProgress};
use crate::{
    domain::written,
    fixtures::{self, Added, FixtureSet, SeedError, SeedOutcome, SeededWebhooks},
};

/// Load fixture sets, or generate synthetic listings.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace seed ./fixtures/demo --data ./market\n  marketplace seed --generate 100000 --data ./big"
)]
pub struct Seed {
    /// JSON files, or directories of them. Each is a fixture set that is loaded completely or not at all.
    #[arg(required_unless_present_any = ["generate", "schema"])]
    paths: Vec<PathBuf>,
    /// Generate N synthetic listings with their assets. The same N always generates the same listings.
    #[arg(long, value_name = "N", conflicts_with = "paths")]
    generate: Option<u64>,
    /// Print the JSON Schema of fixture files and exit.
    #[arg(long, conflicts_with_all = ["paths", "generate"])]
    schema: bool,
}

impl Seed {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        if self.schema {
            print_line(fixtures::json_schema().trim_end());
            return Ok(());
        }
        // All sets are read before anything is written, so that an unreadable set changes nothing.
        let sets: Result<Vec<FixtureSet>, _> = self.paths.iter().map(|path| FixtureSet::open(path)).collect();
        let sets = sets.map_err(SeedError::from)?;
        let market = options.open_market(true)?;
        for set in &sets {
            match fixtures::seed_with(&market, set, SeededWebhooks::Disabled)? {
                SeedOutcome::Added(added) => print_added(&set.name, added),
                SeedOutcome::AlreadySeeded => {
                    print_line(format_args!("{}: already loaded; nothing changed", set.name));
                }
            }
        }
        if let Some(count) = self.generate {
            let generated = fixtures::generate(&market, count, &CliProgress::new("listings"))?;
            print_line(format_args!("generated {}", written::counted(generated, "listing", "listings")));
        }
        Ok(())
    }
}

/// Prints a summary of the written set, and notes about differences from the set.
fn print_added(name: &str, added: Added) {
    let Added { records, omitted_operator_keys, disabled_webhooks } = added;
    print_line(format_args!("{name}: added {}", written::counted(records as u64, "record", "records")));
    if omitted_operator_keys > 0 {
        print_note(format_args!(
            "note: {} of {name} not created, since the setting keys.allow_fixture_keys is off; create your own with \
             `marketplace operator key create`",
            written::counted(omitted_operator_keys as u64, "operator key", "operator keys")
        ));
    }
    if disabled_webhooks > 0 {
        print_note(format_args!(
            "note: {} of {name} disabled; enable those that you want with `marketplace webhook enable`",
            written::counted(disabled_webhooks as u64, "webhook", "webhooks")
        ));
    }
}
