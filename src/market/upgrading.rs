//! Prepares the migration of a database of an earlier version: ensures that nothing else uses the database, and copies
//! it if the migration cannot be undone.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{DATABASE_FILE, OpenError, ServeLock};
use crate::{
    blobs,
    clock::{Clock, Entropy},
    error::{Error, Result},
    private_files,
    store::{
        continuations::{self, Continuation},
        upgrades::{self, Plan},
    },
};

/// Maximum amount that an upgrade writes, as a multiple of the size of the database: a migration that writes every page
/// writes it to the log first.
const LOG_FACTOR: u64 = 1;

/// Returns the path of the copy of the database that is made before this version of the program migrates it.
pub fn copy_before_upgrade(data_dir: &Path) -> PathBuf {
    data_dir.join(concat!("market-before-", env!("CARGO_PKG_VERSION"), ".sqlite"))
}

/// Returns the bytes that should be free on the disk for an upgrade.
pub fn required_bytes(plan: &Plan, makes_copy: bool) -> u64 {
    plan.database_bytes.saturating_mul(LOG_FACTOR + u64::from(makes_copy))
}

/// Prepares the migration of the database in a data directory, if it is of an earlier version. Returns the lock of the
/// directory if the caller does not have it, so that no server of the earlier version uses the database meanwhile.
pub(super) fn prepare(
    data_dir: &Path,
    makes_copies: bool,
    has_lock: bool,
) -> std::result::Result<Option<ServeLock>, OpenError> {
    let database = data_dir.join(DATABASE_FILE);
    let find_plan = || Ok::<_, OpenError>(upgrades::plan(&database)?.filter(|plan| !plan.pending.is_empty()));
    let Some(mut plan) = find_plan()? else { return Ok(None) };
    let mut lock = None;
    if !has_lock {
        lock = Some(ServeLock::acquire(data_dir)?);
        // Another command may have migrated it while this one waited. Another copy would replace the one that was made
        // before that migration.
        let Some(current) = find_plan()? else { return Ok(None) };
        plan = current;
    }
    let makes_copy = makes_copies && !plan.is_reversible();
    if makes_copy {
        let copy = copy_before_upgrade(data_dir);
        let unusable = |cause| OpenError::directory(data_dir.to_owned(), cause);
        // The rest of an interrupted copy takes up space that the next copy needs.
        remove_incomplete(&copy).map_err(unusable)?;
        ensure_space(&plan, data_dir, blobs::free_bytes(data_dir).map_err(unusable)?)?;
        copy_database(&database, &copy)?;
        tracing::info!(copy = %copy.display(), bytes = plan.database_bytes, "the database was copied before its upgrade");
    }
    let names: Vec<&str> = plan.pending.iter().map(|migration| migration.name).collect();
    tracing::info!(migrations = names.join(", "), "the database is upgraded");
    Ok(lock)
}

/// Checks that there is space for the copy and for the migration.
fn ensure_space(plan: &Plan, data_dir: &Path, free: u64) -> std::result::Result<(), OpenError> {
    let required = required_bytes(plan, true);
    if free < required {
        return Err(OpenError::NoSpaceForCopy { path: data_dir.to_owned(), required, free });
    }
    Ok(())
}

/// Copies a database of any version as of one moment, so that the market can return to this state. The file gets its name when it
/// is complete.
pub fn copy_database(from: &Path, to: &Path) -> Result<()> {
    // Otherwise, SQLite would apply the log of an interrupted copy to this copy.
    remove_incomplete(to).map_err(|cause| cannot_write(to, &cause))?;
    let copied = copy_via_temporary(&incomplete(to), from, to);
    if copied.is_err()
        && let Err(cause) = remove_incomplete(to)
    {
        tracing::warn!(%cause, path = %to.display(), "an incomplete copy of the database could not be deleted");
    }
    copied
}

/// Copies a database to `new`, and gives the complete copy its name.
fn copy_via_temporary(new: &Path, from: &Path, to: &Path) -> Result<()> {
    let failed = |cause: io::Error| cannot_write(to, &cause);
    let mut file = BufWriter::new(private_files::create(new).map_err(failed)?);
    upgrades::for_each_page(from, |page| file.write_all(page).map_err(failed))?;
    file.into_inner()
        .map_err(io::IntoInnerError::into_error)
        .and_then(|file| file.sync_all())
        .map_err(failed)?;
    continuations::prepare(new, Continuation::Downgrade, Clock::System.now(), &Entropy::System)?;
    let complete = || {
        fs::rename(new, to)?;
        File::open(to.parent().unwrap_or(to))?.sync_all()
    };
    complete().map_err(failed)
}

fn cannot_write(copy: &Path, cause: &io::Error) -> Error {
    Error::Conflict(format!("cannot write {}: {cause}", copy.display()))
}

/// Removes the files of an incomplete copy.
fn remove_incomplete(copy: &Path) -> io::Result<()> {
    ["new", "new-wal", "new-shm"].iter().try_for_each(|ending| {
        private_files::remove_if_exists(&copy.with_extension(format!("sqlite.{ending}")))
    })
}

/// Returns the path of a copy until it is complete.
fn incomplete(copy: &Path) -> PathBuf {
    copy.with_extension("sqlite.new")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_copy_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let from = directory.path().join(DATABASE_FILE);
        fs::write(&from, "not a database".repeat(100)).unwrap();
        let copy = copy_before_upgrade(directory.path());
        assert!(copy_database(&from, &copy).is_err());
        assert!(!copy.exists() && !incomplete(&copy).exists());
    }

    #[test]
    fn copy_needs_space() {
        let plan = Plan { schema_version: 1, database_bytes: 3_000_000, pending: Vec::new() };
        let check = |free| ensure_space(&plan, Path::new("market"), free).map_err(|error| error.to_string());
        assert_eq!(check(6_000_000), Ok(()));
        let refused = check(5_999_999).unwrap_err();
        assert!(
            refused.contains("needs 6 MB, but 5 MB are free") && refused.contains("--no-backup"),
            "{refused}"
        );
    }
}
