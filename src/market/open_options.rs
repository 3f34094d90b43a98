//! Options for opening a market, and the errors of opening one.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    error::Error,
    search::Renderer,
    store::{self, Durability},
};

use super::StepRunner;

/// Error of opening a market.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server uses the directory.
    #[error(
        "another `marketplace serve` is running on {0}; stop it, or choose another directory with --data"
    )]
    AlreadyServed(PathBuf),
    /// A backup is being restored to the directory, or the restore was interrupted.
    #[error(
        "a backup is being restored to {0}; wait until it is complete, or delete the directory if the restore was \
         interrupted"
    )]
    Restoring(PathBuf),
    /// Another server was promoted, so what is written here would be lost.
    #[error(
        "another server was promoted to primary, so nothing is changed in {0} any more; use an empty data directory for a replica"
    )]
    Superseded(PathBuf),
    /// The directory cannot be written to.
    #[error(
        "the directory {path} {} ({cause}); make it writable, or choose another one with --data",
        refusal(.cause)
    )]
    NotWritable {
        /// The data directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The directory cannot be used.
    #[error("the directory {path} cannot be used: {cause}; choose another one with --data")]
    Directory {
        /// The data directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        cause: io::Error,
    },
    /// The directory belongs to something else.
    #[error(
        "{0} has directories of something else, and no market; choose an empty directory with --data, or one that does not exist yet"
    )]
    Foreign(PathBuf),
    /// The database cannot be copied before it is migrated.
    #[error(
        "the database in {path} is of an earlier version, and its migration cannot be undone, so it is copied first; with its \
         log, that needs {} MB, but {} MB are free; free space, or start with --no-backup (setting \
         data.backup_before_upgrade) after you have backed it up elsewhere",
        .required.div_ceil(1_000_000), .free / 1_000_000
    )]
    NoSpaceForCopy {
        /// The data directory.
        path: PathBuf,
        /// Bytes that are needed.
        required: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A replica got a database whose commits are not counted.
    #[error(
        "the primary does not count its commits; set replication.litestream in its settings, and restart it"
    )]
    NoPositions,
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] store::OpenError),
    /// The blob store cannot be used.
    #[error("the blob store cannot be used: {0}; check [blobs] in the settings")]
    BlobStore(#[source] io::Error),
    /// Any other error, for instance of the search index.
    #[error(transparent)]
    Other(#[from] Error),
}

impl OpenError {
    /// Returns the error of a data directory that an operation of the operating system rejected.
    pub fn directory(path: PathBuf, cause: io::Error) -> OpenError {
        if is_not_writable(&cause) {
            OpenError::NotWritable { path, cause }
        } else {
            OpenError::Directory { path, cause }
        }
    }

    /// Returns the error of a database that could not be opened read-only. SQLite writes to its directory even then,
    /// and does not say so if it cannot.
    pub fn store(path: &Path, error: store::OpenError) -> OpenError {
        match (error, check_writable(path)) {
            (store::OpenError::Unusable { .. }, Err(not_writable)) => not_writable,
            (error, _) => OpenError::Store(error),
        }
    }
}

/// Checks that this process may create files in a data directory.
pub(super) fn check_writable(path: &Path) -> Result<(), OpenError> {
    match tempfile::tempfile_in(path) {
        Err(cause) if is_not_writable(&cause) => Err(OpenError::NotWritable { path: path.to_owned(), cause }),
        // Commands that free space work on a full disk, too.
        _ => Ok(()),
    }
}

fn is_not_writable(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Says how a directory refuses writes.
fn refusal(cause: &io::Error) -> &'static str {
    if cause.kind() == ErrorKind::ReadOnlyFilesystem { "is read-only" } else { "cannot be written to" }
}

/// What a market is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Serve requests: holds the lock of the directory and runs the worker that keeps the index up to date.
    Serve,
    /// Run one command, whether or not a server uses the same directory.
    Command,
    /// Read for any length of time, whether or not a server uses the same directory. Every write fails.
    ReadOnly,
    /// Like `ReadOnly`, to find damage: the index may be missing or unusable.
    Inspect,
    /// Serve reads of a database that another process keeps current in place, with an index of its own.
    Replica,
}

impl OpenMode {
    /// Whether every write fails.
    pub const fn is_read_only(self) -> bool {
        matches!(self, OpenMode::ReadOnly | OpenMode::Inspect | OpenMode::Replica)
    }
}

/// Options for opening a market.
pub struct OpenOptions {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The settings of the market.
    pub settings: Settings,
    /// The source of time and of new IDs. If the market has a clock offset, it is added to the clock of the system.
    pub clock: Arc<Clock>,
    /// The source of new secrets.
    pub entropy: Entropy,
    /// Whether committed changes survive a crash of the machine.
    pub durability: Durability,
    /// The purpose, which decides what is locked, created, and started.
    pub mode: OpenMode,
    /// The function that renders listings for API responses.
    pub renderer: Renderer,
    /// The function that carries out due steps.
    pub run_step: StepRunner,
    /// The program that child processes run: this program, see [`this_program`].
    pub program: PathBuf,
}

/// Returns the path of the running program. It stays valid if the file is replaced by another version.
pub fn this_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}
