//! What the last backup of a market left in its data directory, for those who watch over the market.
//!
//! A backup only reads the market, and may do so where it may write nothing. So this is a small file beside the database,
//! and a backup that cannot write it is as good as any other.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::Copied;
use crate::{domain::time::Timestamp, private_files, regular_files};

/// Name of the file in the data directory.
const FILE: &str = "last-backup.json";

/// Name of the file until it is complete.
const NEW_FILE: &str = "last-backup.json.new";

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 4096;

/// The last backup of a market that this machine made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBackup {
    /// Time of the backup. It contains everything that was committed before.
    pub made_at: Timestamp,
    /// Size of the backup in bytes.
    pub bytes: u64,
    /// Number of files that are damaged in the market, so that the backup does not have them. Everything else in it was
    /// read and compared with its digest.
    pub missing_files: u64,
}

impl LastBackup {
    /// Reads what the last backup left in a data directory. `None` if none did, or if it cannot be read.
    pub fn read(data_dir: &Path) -> Option<LastBackup> {
        let text = regular_files::read(&data_dir.join(FILE), MAX_BYTES).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Leaves in a data directory that a backup was made.
    pub(super) fn leave(data_dir: &Path, made_at: Timestamp, copied: &Copied) -> io::Result<()> {
        let last =
            LastBackup { made_at, bytes: copied.total_bytes, missing_files: copied.problems.len() as u64 };
        let new = data_dir.join(NEW_FILE);
        serde_json::to_writer(private_files::create(&new)?, &last)?;
        fs::rename(&new, data_dir.join(FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_backup_is_found() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(LastBackup::read(directory.path()), None);
        let mut copied = Copied { total_bytes: 5, ..Copied::default() };
        for made_at in [Timestamp(1_000_000), Timestamp(2_000_000)] {
            LastBackup::leave(directory.path(), made_at, &copied).unwrap();
            copied.problems.push("an upload".to_owned());
        }
        let expected = LastBackup { made_at: Timestamp(2_000_000), bytes: 5, missing_files: 1 };
        assert_eq!(LastBackup::read(directory.path()), Some(expected));
        fs::write(directory.path().join(FILE), "{}").unwrap();
        assert_eq!(LastBackup::read(directory.path()), None);
    }
}
