//! Names of files and directories in a data directory.

/// File in a data directory to which a backup is being restored. No market is opened there meanwhile, nor if
/// the restore was interrupted.
pub const RESTORE_MARKER: &str = "restore-in-progress";

/// File in the data directory of a former primary. Only what reads may use the directory.
pub const SUPERSEDED_MARKER: &str = "superseded";

/// Name of the database in the data directory.
pub const DATABASE_FILE: &str = "market.sqlite";

/// Name of the directory with the search index. Its files are written once, or replaced as a whole.
pub const INDEX_DIRECTORY: &str = "index";
