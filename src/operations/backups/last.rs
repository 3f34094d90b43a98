//! The time and the size of the last backup, in a file in the data directory of the market, for monitoring.
//!
//! A backup may run where it cannot write to the data directory, so it is complete without this file.

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

/// The last backup of a market that was made on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBackup {
    /// Time of the backup. It contains everything that was committed before.
    pub made_at: Timestamp,
    /// Size of the backup in bytes.
    pub bytes: u64,
    /// Number of files that are damaged in the market, and therefore not in the backup. All other files were read and compared
    /// with their digests.
    pub missing_files: u64,
}

impl LastBackup {
    /// Reads the file in a data directory. Returns `None` if there is none, or if it cannot be read.
    pub fn read(data_dir: &Path) -> Option<LastBackup> {
        let path = data_dir.join(FILE);
        let read = regular_files::read(&path, MAX_BYTES);
        let last = read.and_then(|text| Ok(serde_json::from_slice(&text)?));
        if let Err(cause) = &last
            && cause.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%cause, path = %path.display(), "the last backup is unknown");
        }
        last.ok()
    }

    /// Writes the file to a data directory.
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
