//! `marketplace seed`

use std::path::PathBuf;

use clap::Args;

use super::{Common, Done, progress::Bar, say};
use crate::fixtures::{self, Seeded, SeedError, Set};

/// Loads fixture sets, or makes synthetic listings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  marketplace seed ./fixtures/demo --data ./market\n  marketplace seed --generate 100000 --data ./big")]
pub struct Seed {
    /// Folders of JSON files, or single files; each is a set, loaded all or nothing.
    #[arg(required_unless_present_any = ["generate", "schema"])]
    paths: Vec<PathBuf>,
    /// Add so many synthetic listings with their assets; the same number makes the same listings.
    #[arg(long, value_name = "N", conflicts_with = "paths")]
    generate: Option<u64>,
    /// Print the JSON Schema of the format and do nothing else.
    #[arg(long, conflicts_with_all = ["paths", "generate"])]
    schema: bool,
}

impl Seed {
    pub(super) fn run(&self, common: &Common) -> Done {
        if self.schema {
            say(fixtures::schema().trim_end());
            return Ok(());
        }
        // Every set is read before the first is written.
        let sets: Result<Vec<Set>, _> = self.paths.iter().map(|path| Set::open(path)).collect();
        let sets = sets.map_err(SeedError::from)?;
        let market = common.market(true)?;
        for set in &sets {
            match fixtures::seed(&market, set)? {
                Seeded::Added(count) => say(format_args!("{}: {count} records", set.name)),
                Seeded::Already => say(format_args!("{}: seeded before; nothing changed", set.name)),
            }
        }
        if let Some(count) = self.generate {
            let made = fixtures::generate(&market, count, &Bar::new("listings"))?;
            say(format_args!("made {made} listings"));
        }
        Ok(())
    }
}
