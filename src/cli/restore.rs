//! The `marketplace restore` command.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, open_directory, print_line,
    progress::{CliProgress, human_bytes},
    require_none_found,
    temporary_directory::TemporaryDirectory,
    verify,
};
use crate::{
    clock::{Clock, Entropy, Stopwatch},
    config::{BlobSettings, Settings},
    domain::{
        time::{Day, Timestamp},
        written::counted,
    },
    error::ErrorChain,
    market::{DATABASE_FILE, OpenMode},
    operations::backups::{self, BackupCheck, BackupContents, Copied, Place, RestoreOptions},
    private_files,
    store::Durability,
};

/// Restore a backup to an empty data directory, and verify it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace restore /mnt/backup/market --data ./restored\n  marketplace restore /mnt/backup/market --list\n  \
                  marketplace restore s3://backups/market --at 2026-11-28T12:00:00Z --data ./restored\n  \
                  marketplace restore /mnt/backup/market --check --data ./market\n\nChecks the digest of every file, rebuilds the \
                  search index, and then does what `marketplace verify` does. The restored market is another copy: its backups do \
                  not replace those of the original without --replace.\n\nExits with 1 if the backup is damaged, if the data \
                  directory is in use or not empty, or if there is a problem."
)]
pub struct Restore {
    /// The place that `marketplace backup` wrote to: a directory, or `s3://bucket/prefix`.
    #[arg(value_name = "SOURCE")]
    source: PathBuf,

    /// Restore the newest backup that was made at this time or before (RFC 3339, or a day in UTC) [default: the newest].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    at: Option<Timestamp>,

    /// Only list the backups, oldest first.
    #[arg(long, conflicts_with_all = ["at", "check"])]
    list: bool,

    /// Only try it: restore to a temporary directory (in TMPDIR), verify, print how long it took, and delete the
    /// directory. The health of the market in --data shows the result, if the backup is of that market.
    #[arg(long)]
    check: bool,
}

/// Parses a time, or a day. A day means its last moment.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    let day = || Some(Day::parse(text)?.start().plus_days(1).plus_micros(-1));
    Timestamp::parse(text)
        .or_else(day)
        .ok_or_else(|| "write it as 2026-11-28T12:00:00Z, or as 2026-11-28 for the end of a day".to_owned())
}

impl Restore {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let mut settings = options.load_layers()?.resolve()?;
        init_logging(&settings, "warn");
        // The backup is still there.
        settings.data.backup_before_upgrade = false;
        let place = Place::open(&self.source, &settings)?;
        if self.list {
            return list(&place);
        }
        if self.check {
            return self.check(&place, &settings);
        }
        let directory = settings.data.folder.clone();
        private_files::create_as_owner_of(&directory);
        let restored = self.restore(&place, &settings)?;
        print_line(format_args!(
            "restored the database, {}, and {} of {} to {}: {}",
            counted(restored.uploads, "upload", "uploads"),
            counted(restored.repositories, "repository", "repositories"),
            restored.made_at,
            directory.display(),
            human_bytes(restored.total_bytes)
        ));
        let market = open_directory(&directory, settings, OpenMode::Command, Durability::Full)?;
        market.update_index(market.latest_change()?, &CliProgress::new("indexing"))?;
        verify::verify(&market, verify::Report::default())
    }

    /// Restores to the data directory of the settings.
    fn restore(&self, place: &Place, settings: &Settings) -> Result<Copied, CommandError> {
        let progress = CliProgress::bytes("restoring");
        let (directory, blobs) = (&settings.data.folder, &settings.blobs);
        let to = RestoreOptions { directory, blobs, now: Clock::System.now(), entropy: &Entropy::System };
        Ok(backups::restore(place, self.at, to, &progress)?)
    }

    /// Restores to a temporary directory, and records the result.
    fn check(&self, place: &Place, settings: &Settings) -> CommandResult {
        let stopwatch = Stopwatch::start(Arc::new(Clock::System));
        let found = self.try_restoring(place, settings);
        let seconds = stopwatch.elapsed().as_secs_f64();
        let problems = found.as_ref().map_or(1, |(_, problems)| *problems as u64);
        let checked_at = Clock::System.now();
        let check = BackupCheck { checked_at, made_at: checked_at, problems, seconds: seconds as u64 };
        if settings.data.folder.join(DATABASE_FILE).is_file() {
            private_files::create_as_owner_of(&settings.data.folder);
            match backups::record_check(&settings.data.folder, place, self.at, &check) {
                Ok(true) => {}
                Ok(false) => print_line(format_args!(
                    "not recorded: the backup is not of the market in {}",
                    settings.data.folder.display()
                )),
                Err(cause) => print_line(format_args!("not recorded: {}", ErrorChain(&cause))),
            }
        }
        let (restored, problems) = found?;
        print_line(format_args!(
            "the backup of {} can be restored: {}, {}, and {}, in {:.1} minutes with the index and the verification",
            restored.made_at,
            human_bytes(restored.total_bytes),
            counted(restored.uploads, "upload", "uploads"),
            counted(restored.repositories, "repository", "repositories"),
            seconds / 60.0
        ));
        require_none_found(problems, "problem", "problems")
    }

    /// Restores to a temporary directory, and verifies the market there. Returns the number of problems.
    fn try_restoring(&self, place: &Place, settings: &Settings) -> Result<(Copied, usize), CommandError> {
        let temporary = TemporaryDirectory::create()?;
        let mut settings = settings.clone();
        settings.data.folder = temporary.path().join("market");
        // The store of the uploads stays as it is.
        settings.blobs =
            BlobSettings { max_upload_bytes: settings.blobs.max_upload_bytes, ..BlobSettings::local() };
        let restored = self.restore(place, &settings)?;
        let directory = settings.data.folder.clone();
        let market = open_directory(&directory, settings, OpenMode::Command, Durability::None)?;
        market.update_index(market.latest_change()?, &CliProgress::new("indexing"))?;
        let found = verify::find(&market, verify::Report::default())?;
        verify::print_as_text(&found);
        Ok((restored, found.len()))
    }
}

/// Prints the backups in a place.
fn list(place: &Place) -> CommandResult {
    let found = backups::list(place)?;
    if found.is_empty() {
        return Err(CommandError::Other(format!("{place} contains no backup")));
    }
    for backup in found {
        let kind = if backup.is_dated { "dated" } else { "newest" };
        let made_at = backup.made_at.map_or_else(|| "unknown time".to_owned(), |time| time.to_string());
        match backup.contents {
            Ok(BackupContents { program, total_bytes, uploads, repositories }) => print_line(format_args!(
                "{made_at}  {kind}  {}, {}, {}, by marketplace {program}",
                human_bytes(total_bytes),
                counted(uploads, "upload", "uploads"),
                counted(repositories, "repository", "repositories")
            )),
            Err(problem) => print_line(format_args!("{made_at}  {kind}  {problem}")),
        }
    }
    Ok(())
}
