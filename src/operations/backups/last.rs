//! The time and the size of the last backup, in a file in the data directory of the market, for monitoring.
//!
//! A backup may run where it cannot write to the data directory, so it is complete without this file.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{BackupSource, Copied, Place, snapshots, state::MarketState};
use crate::{
    config::BlobSettings, domain::time::Timestamp, error::Error, market::OpenError, private_files,
    regular_files,
};

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
    /// The last check of a backup.
    #[serde(default)]
    pub check: Option<BackupCheck>,
}

/// A backup that was restored to a temporary place and verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupCheck {
    /// Time of the check.
    pub checked_at: Timestamp,
    /// Time of the backup that was restored.
    pub made_at: Timestamp,
    /// Number of problems that were found.
    pub problems: u64,
    /// Seconds that restoring and verifying took.
    pub seconds: u64,
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
        let check = LastBackup::read(data_dir).and_then(|last| last.check);
        let missing_files = copied.problems.len() as u64;
        LastBackup { made_at, bytes: copied.total_bytes, missing_files, check }.write(data_dir)
    }

    fn write(&self, data_dir: &Path) -> io::Result<()> {
        let new = data_dir.join(NEW_FILE);
        serde_json::to_writer(private_files::create(&new)?, self)?;
        fs::rename(&new, data_dir.join(FILE))
    }
}

/// Records in a data directory that a backup was restored to a temporary directory and verified, if it is a backup of its market.
/// Returns whether it is. Replaces the time of the backup in `check`. If the manifest cannot be read, the market of the
/// backup is unknown, and the check counts for the last backup. Fails if no last backup is recorded.
pub fn record_check(
    data_dir: &Path,
    place: &Place,
    at: Option<Timestamp>,
    check: &BackupCheck,
) -> std::result::Result<bool, OpenError> {
    let last = LastBackup::read(data_dir);
    let made_at = match (snapshots::find_if_any(place, at), &last) {
        (Ok(None), _) => snapshots::find(place, at)?.made_at(),
        (Ok(Some(manifest)), _) => {
            let source = BackupSource::open(data_dir, &BlobSettings::local(), check.checked_at)?;
            if source.store.read(MarketState::read)?.market != manifest.state.market {
                return Ok(false);
            }
            manifest.made_at()
        }
        (Err(_), Some(last)) => at.or(Some(last.made_at)),
        (Err(error), None) => return Err(error.into()),
    };
    let Some(last) = last else {
        return Err(Error::Conflict(format!("no backup is recorded in {}", data_dir.display())).into());
    };
    let made_at = made_at.unwrap_or_default();
    let last = LastBackup { check: Some(BackupCheck { made_at, ..check.clone() }), ..last };
    last.write(data_dir).map_err(|cause| OpenError::directory(data_dir.to_owned(), cause))?;
    Ok(true)
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
        let expected = LastBackup { made_at: Timestamp(2_000_000), bytes: 5, missing_files: 1, check: None };
        assert_eq!(LastBackup::read(directory.path()), Some(expected));
        fs::write(directory.path().join(FILE), "{}").unwrap();
        assert_eq!(LastBackup::read(directory.path()), None);
    }
}
