//! The `marketplace upgrade` command.

use std::{path::Path, sync::Arc};

use clap::Args;
use serde_json::{Value, json};

use super::{
    CommandError, CommandResult, GlobalOptions, init_logging, lists::print_json, open_directory, print_line,
    progress::human_bytes, temporary_directory::TemporaryDirectory,
};
use crate::{
    blobs,
    clock::{Clock, Stopwatch},
    config::Settings,
    error::Error,
    market::{self, DATABASE_FILE, OpenMode, ServeLock},
    private_files,
    store::{
        self, Durability, Store,
        upgrades::{self, Plan},
    },
};

/// Minimum number of bytes of a database that are copied or migrated in a second. Measured disks are several times as
/// fast.
const BYTES_PER_SECOND: u64 = 50_000_000;

/// Bring the database up to date for this version, or say what that would change.
///
/// `marketplace serve` and other commands do the same when they open the database. No server may use it meanwhile.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace upgrade --check --data ./market\n  marketplace upgrade --check --rehearse --data ./market\n  \
                  marketplace upgrade --undo --data ./market\n\nBefore a migration that cannot be undone, the database (not the \
                  uploads) is copied to market-before-VERSION.sqlite in the data directory. docs/backups.md explains how to go \
                  back to the earlier version."
)]
pub struct Upgrade {
    /// Only say which migrations are pending, whether they can be undone, how long they take, and which space they need.
    #[arg(long, conflicts_with_all = ["undo", "no_backup"])]
    check: bool,
    /// Also migrate a copy of the database in the directory for temporary files (TMPDIR), to measure the time.
    #[arg(long, requires = "check")]
    rehearse: bool,
    /// Do not copy the database before a migration that cannot be undone.
    #[arg(long)]
    no_backup: bool,
    /// Undo the migrations of this version, so that the version before it can use the database again.
    #[arg(long, conflicts_with = "no_backup")]
    undo: bool,
    /// Print JSON.
    #[arg(long = "json")]
    is_json: bool,
}

impl Upgrade {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let mut sources = options.load_layers()?;
        if self.no_backup {
            sources.set("data.backup_before_upgrade", false.into(), "--no-backup".to_owned())?;
        }
        let settings = sources.resolve()?;
        init_logging(&settings, "warn");
        let directory = settings.data.folder.clone();
        let database = directory.join(DATABASE_FILE);
        let missing = || CommandError::Open(store::OpenError::Missing(directory.clone()).into());
        let unusable = |error| market::OpenError::store(&directory, error);
        let plan = upgrades::plan(&database).map_err(unusable)?.ok_or_else(missing)?;
        if self.undo {
            return self.undo(&directory);
        }
        let report = Report::new(&plan, &settings, self.rehearse)?;
        if self.check {
            self.print(&report, None);
            return Ok(());
        }
        open_directory(&directory, settings, OpenMode::Command, Durability::Full)?;
        self.print(&report, Some("the database is up to date"));
        Ok(())
    }

    fn undo(&self, directory: &Path) -> CommandResult {
        private_files::create_as_owner_of(directory);
        let _lock = ServeLock::acquire(directory)?;
        let undone = upgrades::undo(&directory.join(DATABASE_FILE))?;
        if self.is_json {
            print_json(&json!({"undone": undone.migrations, "version": undone.version}));
            return Ok(());
        }
        for name in &undone.migrations {
            print_line(format_args!("undone: {name}"));
        }
        print_line(format_args!("marketplace {} can use the database now", undone.version));
        Ok(())
    }

    fn print(&self, report: &Report, done: Option<&str>) {
        if self.is_json {
            print_json(&report.to_json(done.is_some()));
        } else {
            report.print(done);
        }
    }
}

/// What an upgrade does.
struct Report<'a> {
    plan: &'a Plan,
    /// The copy that is made before it.
    copy: Option<String>,
    required_bytes: u64,
    free_bytes: u64,
    seconds: f64,
    is_measured: bool,
}

impl Report<'_> {
    fn new<'a>(plan: &'a Plan, settings: &Settings, rehearse: bool) -> Result<Report<'a>, CommandError> {
        let directory = &settings.data.folder;
        let is_pending = !plan.pending.is_empty();
        let makes_copy = is_pending && !plan.is_reversible() && settings.data.backup_before_upgrade;
        let required_bytes = if is_pending { market::required_bytes(plan, makes_copy) } else { 0 };
        let seconds = if rehearse && is_pending {
            measure(&directory.join(DATABASE_FILE))?
        } else {
            required_bytes as f64 / BYTES_PER_SECOND as f64
        };
        Ok(Report {
            plan,
            copy: makes_copy.then(|| market::copy_before_upgrade(directory).display().to_string()),
            required_bytes,
            free_bytes: blobs::free_bytes(directory).map_err(Error::internal)?,
            seconds,
            is_measured: rehearse,
        })
    }

    fn to_json(&self, is_done: bool) -> Value {
        let pending = self.plan.pending.iter();
        let pending = pending.map(|found| json!({"name": found.name, "can_be_undone": found.is_reversible}));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "schema": self.plan.schema_version,
            "migrations": pending.collect::<Vec<_>>(),
            "copy": self.copy,
            "database_bytes": self.plan.database_bytes,
            "required_bytes": self.required_bytes,
            "free_bytes": self.free_bytes,
            "seconds": self.seconds,
            "is_measured": self.is_measured,
            "is_done": is_done,
        })
    }

    fn print(&self, done: Option<&str>) {
        let Plan { schema_version, database_bytes, pending } = self.plan;
        if pending.is_empty() {
            print_line(format_args!(
                "the database is up to date for this version, {}",
                env!("CARGO_PKG_VERSION")
            ));
            return;
        }
        print_line(format_args!("database: {}, migration {schema_version}", human_bytes(*database_bytes)));
        for migration in pending {
            let can = if migration.is_reversible { "can be undone" } else { "cannot be undone" };
            print_line(format_args!("migration: {}, {can}", migration.name));
        }
        if let Some(copy) = &self.copy {
            print_line(format_args!("copy before it: {copy}"));
        }
        if let Some(done) = done {
            print_line(done);
            return;
        }
        let how = if self.is_measured { "measured with a copy" } else { "estimated" };
        print_line(format_args!("time: about {:.0} s ({how})", self.seconds.ceil()));
        print_line(format_args!(
            "space: {} needed, {} free",
            human_bytes(self.required_bytes),
            human_bytes(self.free_bytes)
        ));
        print_line("nothing was changed");
    }
}

/// Migrates a copy of the database, and returns the seconds that copying and migrating took.
fn measure(database: &Path) -> Result<f64, CommandError> {
    let directory = TemporaryDirectory::create()?;
    let copy = directory.path().join(DATABASE_FILE);
    let stopwatch = Stopwatch::start(Arc::new(Clock::System));
    market::copy_database(database, &copy)?;
    Store::open(&copy, 1, Durability::Full).map_err(market::OpenError::from)?;
    Ok(stopwatch.elapsed().as_secs_f64())
}
