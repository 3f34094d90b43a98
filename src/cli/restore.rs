//! The `marketplace restore` command.

use std::path::PathBuf;

use clap::Args;

use super::{
    CommandResult, GlobalOptions, init_logging, open_directory, print_line,
    progress::{CliProgress, human_bytes},
    verify,
};
use crate::{
    clock::Entropy,
    market::OpenMode,
    operations::backups::{self, RestoreOptions},
    store::Durability,
};

/// Restore a backup to an empty data directory, and verify it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace restore /mnt/backup/market --data ./restored\n\nChecks the digest of every \
                  file, rebuilds the search index, and then does what `marketplace verify` does. The restored market is \
                  another copy: its backups do not replace those of the original without --replace.\n\nExits with 1 if the \
                  backup is damaged, if the data directory is in use or not empty, or if there is a problem."
)]
pub struct Restore {
    /// Directory of the backup, as written by `marketplace backup`.
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
}

impl Restore {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        init_logging(&settings, "warn");
        let directory = settings.data.folder.clone();
        let progress = CliProgress::bytes("restoring");
        let to = RestoreOptions { directory: &directory, blobs: &settings.blobs, entropy: &Entropy::System };
        let restored = backups::restore(&self.source, to, &progress)?;
        drop(progress);
        print_line(format_args!(
            "restored the database, {} uploads, and {} copies of repositories to {}: {}",
            restored.uploads,
            restored.repositories,
            directory.display(),
            human_bytes(restored.total_bytes)
        ));
        let market = open_directory(&directory, settings, OpenMode::Command, Durability::Full)?;
        market.update_index(market.latest_change()?, &CliProgress::new("indexing"))?;
        verify::verify(&market, verify::Report::default())
    }
}
