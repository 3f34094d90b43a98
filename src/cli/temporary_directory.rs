//! Temporary directories: of demo markets for their data, and of scans.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::CommandError;
use crate::{error::ErrorChain, private_files};

/// Prefix of the names of temporary directories.
const PREFIX: &str = "marketplace-work-";

/// File that is locked as long as the process that uses the directory exists.
const LOCK_FILE: &str = "temporary.lock";

/// Its name before it is locked.
const UNLOCKED_FILE: &str = "temporary.lock.new";

/// A temporary directory, which is deleted when the value is dropped.
#[derive(Debug)]
pub struct TemporaryDirectory {
    directory: tempfile::TempDir,
    _lock: File,
}

impl TemporaryDirectory {
    /// Creates a directory, and deletes those of processes that were killed.
    pub fn create() -> Result<TemporaryDirectory, CommandError> {
        TemporaryDirectory::create_or("choose another place for temporary files with TMPDIR")
    }

    /// Like [`TemporaryDirectory::create`], with advice for the case that it fails.
    pub fn create_or(advice: &str) -> Result<TemporaryDirectory, CommandError> {
        let parent = private_files::parent_of_temporary_files();
        if let Err(cause) = delete_abandoned(&parent) {
            tracing::warn!(cause = %ErrorChain(&cause), "temporary directories of killed servers could not be deleted");
        }
        create_in(&parent).map_err(|cause| {
            let parent = parent.display();
            CommandError::Other(format!("cannot create a temporary directory in {parent}: {cause}; {advice}"))
        })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn create_in(parent: &Path) -> io::Result<TemporaryDirectory> {
    let directory = private_files::temp_dir_with_prefix(parent, PREFIX)?;
    // It gets its name only after it is locked, so that no other process treats the directory as abandoned.
    let unlocked = directory.path().join(UNLOCKED_FILE);
    let lock = private_files::create(&unlocked)?;
    lock.try_lock()?;
    fs::rename(unlocked, directory.path().join(LOCK_FILE))?;
    Ok(TemporaryDirectory { directory, _lock: lock })
}

/// Deletes the directories whose processes do not exist any more. Directories of other users are left alone. So is a directory
/// without a lock file, which another process may have just created. Returns the last error, after it has tried to delete all.
fn delete_abandoned(parent: &Path) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let mut result = Ok(());
    for entry in fs::read_dir(parent)? {
        let path: PathBuf = entry?.path();
        let has_prefix =
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
        // Symbolic links are not followed.
        let is_own = || fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == user);
        if !has_prefix || !is_own() {
            continue;
        }
        if let Ok(lock) = File::open(path.join(LOCK_FILE))
            && lock.try_lock().is_ok()
        {
            // Another process may delete it, too.
            result = private_files::remove_dir_if_exists(&path).and(result);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_killed_processes_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let used = create_in(parent.path()).unwrap();
        let TemporaryDirectory { directory, _lock: lock } = create_in(parent.path()).unwrap();
        // A killed process releases its locks, and leaves its files.
        let abandoned = directory.keep();
        drop(lock);
        fs::create_dir(abandoned.join("blobs")).unwrap();
        let others = [parent.path().join("marketplace-work-new"), parent.path().join("other")];
        for other in &others {
            fs::create_dir(other).unwrap();
        }
        fs::write(others[1].join(LOCK_FILE), "").unwrap();
        let target = tempfile::tempdir().unwrap();
        fs::write(target.path().join(LOCK_FILE), "").unwrap();
        let link = parent.path().join("marketplace-work-link");
        std::os::unix::fs::symlink(target.path(), &link).unwrap();
        delete_abandoned(parent.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(used.path().exists() && others.iter().all(|other| other.exists()));
        assert!(link.exists() && target.path().join(LOCK_FILE).exists());
        drop(used);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 3);
    }
}
