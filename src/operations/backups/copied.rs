//! What backups and restores report.

use crate::domain::time::Timestamp;

/// What a backup or a restore has copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Time of the backup.
    pub made_at: Timestamp,
    /// Number of uploads in the backup.
    pub uploads: u64,
    /// Number of repository copies in the backup.
    pub repositories: u64,
    /// Size of the backup in bytes.
    pub total_bytes: u64,
    /// Number of bytes that were written.
    pub new_bytes: u64,
    /// Number of damaged objects of an earlier backup that were written again.
    pub repaired: u64,
    /// Number of dated backups that are kept.
    pub kept: u64,
    /// Number of dated backups that were deleted.
    pub deleted: u64,
    /// What could not be copied since it is damaged in the market.
    pub problems: Vec<String>,
}
