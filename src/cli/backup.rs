//! The `marketplace backup` command.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, print_line, print_note,
    progress::{CliProgress, human_bytes},
};
use crate::{
    clock::Clock,
    domain::{backup_retention::Retention, written::counted},
    operations::backups::{self, BackupOptions, BackupSource, Copied, Place, Replace},
    private_files,
};

/// Back up the market to a directory or a bucket. Safe while a server is running.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace backup /mnt/backup/market --data ./market\n  marketplace backup s3://backups/market --keep \
                  daily=7,weekly=4 --data ./market\n\nCopies the database as of one \
                  moment, all finished uploads, and the copies of repositories. The search index is rebuilt by \
                  `marketplace restore`. If DEST has an earlier backup of the same market, only what has changed is \
                  written, and the earlier backup is replaced when the new one is complete. Files that it already has are \
                  read and compared with their digests (in a bucket, their sizes are compared). The settings file is \
                  not part of a backup. Anyone who can read a backup can read the whole market."
)]
pub struct Backup {
    /// Where the backup is written to: a directory, or `s3://bucket/prefix` (key in [backups] of the settings). It must
    /// be empty, or contain an earlier backup of this market.
    #[arg(value_name = "DEST")]
    destination: PathBuf,

    /// Replace the backup in DEST even if it is of another copy of this market, or of a later state of it.
    #[arg(long)]
    replace: bool,

    /// Keep dated backups: the newest of each of this number of hours, days, weeks, and months (UTC). They share
    /// unchanged files. Other dated backups are deleted. Without this, the backup replaces the previous one, and dated
    /// ones are kept.
    #[arg(long, value_name = "daily=7,weekly=4")]
    keep: Option<Retention>,
}

impl Backup {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        init_logging(&settings, "warn");
        private_files::create_as_owner_of(&settings.data.folder);
        let source = BackupSource::open(&settings.data.folder, &settings.blobs, Clock::System.now())?;
        let replace = if self.replace { Replace::AnyState } else { Replace::EarlierStates };
        let progress = CliProgress::bytes("backing up");
        let place = Place::open(&self.destination, &settings)?;
        let options = BackupOptions { replace, keep: self.keep.as_ref() };
        let copied = backups::create(&source, &place, options, &progress)?;
        drop(progress);
        let Copied {
            uploads, repositories, total_bytes, new_bytes, repaired, problems, kept, deleted, ..
        } = copied;
        print_line(format_args!(
            "backed up the database, {}, and {} to {place}: {}, of which {} are new",
            counted(uploads, "upload", "uploads"),
            counted(repositories, "repository", "repositories"),
            human_bytes(total_bytes),
            human_bytes(new_bytes)
        ));
        if is_within(&self.destination, &settings.data.folder) {
            print_note(
                "warning: the backup is in the data directory, so it is lost with it; use another disk or machine",
            );
        }
        if kept + deleted > 0 {
            print_line(format_args!("dated backups: {kept} kept, {deleted} deleted"));
        }
        if repaired > 0 {
            print_line(format_args!(
                "damaged files of the earlier backup that were written again: {repaired}; check the disk"
            ));
        }
        if problems.is_empty() {
            return Ok(());
        }
        for problem in &problems {
            print_line(format_args!("not in the backup: {problem}"));
        }
        Err(CommandError::Other(format!(
            "the backup does not have {}, since what the market has is damaged",
            counted(problems.len() as u64, "file", "files")
        )))
    }
}

/// Whether a path is below a directory, also if links lead there.
fn is_within(path: &Path, directory: &Path) -> bool {
    let (path, directory) = (path.canonicalize(), directory.canonicalize());
    path.is_ok_and(|path| directory.is_ok_and(|directory| path.starts_with(directory)))
}
