//! The `marketplace backup` command.

use std::path::PathBuf;

use clap::Args;

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, print_line,
    progress::{CliProgress, human_bytes},
};
use crate::{
    blobs::Blobs,
    clock::Clock,
    market::{self, OpenError, RESTORE_MARKER},
    operations::backups::{self, BackupSource, Copied},
    store::Store,
};

/// Number of connections that read the database.
const READERS: u32 = 1;

/// Back up the market to a directory. Safe while a server is running.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace backup /mnt/backup/market --data ./market\n\nCopies the database as of one \
                  moment, all finished uploads, and the copies of repositories. The search\nindex is rebuilt by \
                  `marketplace restore`. If DEST has an earlier backup of the same market, only what has\nchanged is \
                  written, and the earlier backup is replaced when the new one is complete. The settings file is\nnot \
                  part of a backup. Whoever can read a backup can read the whole market."
)]
pub struct Backup {
    /// Directory of the backup: an empty one, or one with an earlier backup of this market.
    #[arg(value_name = "DEST")]
    destination: PathBuf,
}

impl Backup {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        init_logging(&settings, "warn");
        let directory = &settings.data.folder;
        if directory.join(RESTORE_MARKER).exists() {
            return Err(OpenError::Restoring(directory.clone()).into());
        }
        let to_error = |error| CommandError::Open(OpenError::store(directory, error));
        let store =
            Store::open_read_only(&directory.join(market::DATABASE_FILE), READERS).map_err(to_error)?;
        let blobs = Blobs::open(directory, &settings.blobs).map_err(OpenError::BlobStore)?;
        let source = BackupSource { store: &store, blobs: &blobs, now: Clock::System.now() };
        let copied = backups::create(&source, &self.destination, &CliProgress::bytes("backing up"))?;
        let Copied { uploads, repositories, total_bytes, new_bytes, problems } = copied;
        print_line(format_args!(
            "backed up the database, {uploads} uploads, and {repositories} copies of repositories to {}: {}, of which \
             {} are new",
            self.destination.display(),
            human_bytes(total_bytes),
            human_bytes(new_bytes)
        ));
        if problems.is_empty() {
            return Ok(());
        }
        for problem in &problems {
            print_line(format_args!("not in the backup: {problem}"));
        }
        Err(CommandError::Other(format!(
            "{} files are damaged in the market, so the backup does not have them",
            problems.len()
        )))
    }
}
