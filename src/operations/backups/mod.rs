//! Backups of a market: a consistent copy of the database, of finished uploads, and of repository copies, made
//! while a server runs. The search index is not copied, since it is rebuilt from the database.
//!
//! A backup is a directory of objects, which are named by their digest and never changed, and a manifest, which
//! is replaced when all objects that it names are there. So a backup over an earlier one writes only what is
//! new, and an interrupted one leaves the earlier one as it was.

mod create;
mod manifest;
mod objects;
mod repository_files;
mod restore;

pub use self::{
    create::{BackupSource, create},
    restore::restore,
};

/// What a backup or a restore has copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of uploads in the backup.
    pub uploads: u64,
    /// Number of repository copies in the backup.
    pub repositories: u64,
    /// Size of the backup in bytes.
    pub total_bytes: u64,
    /// Number of bytes that were written.
    pub new_bytes: u64,
    /// What could not be copied since it is damaged in the market.
    pub problems: Vec<String>,
}
