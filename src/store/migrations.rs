//! Schema migrations: numbered, append-only, and run when a database is opened.

use std::{collections::HashSet, path::Path};

use include_dir::{Dir, File, include_dir};
use marketplace_text::equality_key;
use rusqlite::{Connection, Transaction};
use rusqlite_migration::{Error, M, MigrationDefinitionError, Migrations};

use super::{OpenError, groups::DUPLICATE_MARK, program_versions};

/// One file per migration. Names begin with the number.
static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/src/store/migrations");

/// The statements that undo a migration, in a file of the same name, for each migration that can be undone.
static REVERSALS: Dir = include_dir!("$CARGO_MANIFEST_DIR/src/store/reversals");

/// Returns all migrations, in the order of their numbers.
fn migrations() -> Migrations<'static> {
    let mut files: Vec<&'static File<'static>> = FILES.files().collect();
    files.sort_unstable_by_key(|file| file.path());
    let text = |file: &'static File<'static>| file.contents_utf8().expect("migrations are text");
    let migration = |file: &'static File<'static>| {
        let up = match file.path().to_str() {
            Some("0033_ended_steps.sql") => {
                M::up_with_hook(text(file), |rows: &Transaction| Ok(derive_team_keys(rows)?))
            }
            Some("0043_text_keys.sql") => M::up_with_hook(text(file), |rows: &Transaction| {
                derive_team_keys(rows)?;
                derive_group_keys(rows)?;
                Ok(derive_word_keys(rows)?)
            }),
            _ => M::up(text(file)),
        };
        match REVERSALS.get_file(file.path()) {
            Some(reversal) => up.down(text(reversal)),
            None => up,
        }
    };
    Migrations::new(files.into_iter().map(migration).collect())
}

/// Derives the name keys of all teams.
fn derive_team_keys(rows: &Connection) -> rusqlite::Result<()> {
    let mut list = rows.prepare("SELECT id, name FROM teams")?;
    let mut update = rows.prepare("UPDATE teams SET name_key = ?2 WHERE id = ?1")?;
    let mut teams = list.query([])?;
    while let Some(team) = teams.next()? {
        let name: String = team.get("name")?;
        update.execute((team.get::<_, i64>("id")?, equality_key(&name)))?;
    }
    Ok(())
}

/// Derives the name keys of groups anew.
fn derive_group_keys(rows: &Connection) -> rusqlite::Result<()> {
    let mut list = rows.prepare("SELECT id, team, name, name_key FROM groups ORDER BY id")?;
    let mut groups = list.query([])?;
    let (mut keys, mut changed) = (HashSet::new(), Vec::new());
    while let Some(group) = groups.next()? {
        let (id, team): (i64, i64) = (group.get("id")?, group.get("team")?);
        let mut key = equality_key(&group.get::<_, String>("name")?);
        if !keys.insert((team, key.clone())) {
            key = format!("{key}{DUPLICATE_MARK}{id}");
        }
        if key != group.get::<_, String>("name_key")? {
            changed.push((id, key));
        }
    }
    let mut update = rows.prepare("UPDATE groups SET name_key = ?2 WHERE id = ?1")?;
    // First they get keys that no group has, since one may get the key that another one had.
    for (id, _) in &changed {
        update.execute((id, format!("{DUPLICATE_MARK}{id}")))?;
    }
    for (id, key) in &changed {
        update.execute((id, key))?;
    }
    Ok(())
}

/// Derives the keys of words in task quality that are not ASCII, and removes words that have the key of another one.
fn derive_word_keys(rows: &Connection) -> rusqlite::Result<()> {
    const LIST: &str = "SELECT DISTINCT word FROM task_reading_words WHERE word GLOB '*[^ -~]*'";
    let words: Vec<String> =
        rows.prepare(LIST)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut update = rows.prepare("UPDATE task_reading_words SET word_key = ?2 WHERE word = ?1")?;
    for word in words {
        update.execute((&word, equality_key(&word)))?;
    }
    rows.execute_batch(
        "DELETE FROM task_reading_words AS w WHERE EXISTS (
             SELECT 1 FROM task_reading_words o
             WHERE o.asset = w.asset AND o.field = w.field AND o.word_key = w.word_key AND o.word < w.word)",
    )
}

/// Runs all pending migrations, and records the version of the program. If one fails, none is applied.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let earlier = program_versions::schema_version(connection).map_err(OpenError::unusable(path))?;
    migrations().to_latest(connection).map_err(|error| match error {
        Error::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
            program_versions::newer_version(connection, path)
        }
        other => OpenError::unusable(path)(other),
    })?;
    program_versions::record(connection, earlier, latest_version()).map_err(OpenError::unusable(path))
}

/// Undoes the migrations after this one. If one of them cannot be undone, fails and undoes none.
pub(super) fn undo(connection: &mut Connection, version: usize) -> Result<(), Error> {
    migrations().to_version(connection, version)
}

/// Returns the names of the migrations after this one, and whether they can be undone.
pub(super) fn list_after(version: usize) -> Vec<(&'static str, bool)> {
    let mut files: Vec<_> = FILES.files().map(File::path).collect();
    files.sort_unstable();
    let name = |path: &'static Path| path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    files.into_iter().skip(version).map(|path| (name(path), REVERSALS.get_file(path).is_some())).collect()
}

/// Returns the number of the last migration.
pub fn latest_version() -> usize {
    FILES.files().count()
}

/// Runs the migrations of a new database up to this one.
pub(super) fn migrate_to(connection: &mut Connection, version: usize) -> crate::error::Result<()> {
    migrations().to_version(connection, version).map_err(crate::error::Error::internal)
}

/// Returns an error if the schema of the database is not the current one.
pub(super) fn check_current(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    match migrations().pending_migrations(connection).map_err(OpenError::unusable(path))? {
        0 => Ok(()),
        1.. => Err(OpenError::OlderVersion(path.to_owned())),
        _ => Err(program_versions::newer_version(connection, path)),
    }
}

/// Returns the statements that create the current schema, as SQLite stores them.
pub fn schema(reader: &super::Reader) -> crate::error::Result<String> {
    const SQL: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name";
    Ok(reader.query_all(SQL, [], |row| row.get::<_, String>(0))?.join(";\n\n"))
}

// The directory of this module has nothing but migrations.
#[cfg(test)]
#[path = "migration_tests.rs"]
mod tests;
