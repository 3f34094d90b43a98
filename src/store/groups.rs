//! Groups of a team's assets.

use std::collections::BTreeSet;

use marketplace_text::equality_key;
use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{collation, row_ids::GroupRowId, teams::TeamRowId, time::Timestamp},
    error::{MAX_NAMED, NameList, Result, name_of},
};

/// Name of the default group, which every team has.
pub const DEFAULT_NAME: &str = "Default";

/// A group of a team's assets.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct Group {
    /// Row ID of the group.
    pub row_id: GroupRowId,
    /// ID of the group.
    pub id: Uuid,
    /// Name, unique within the team regardless of case and encoding.
    pub name: String,
    /// Whether it is the team's default group.
    pub is_default: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change of the name.
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "id AS row_id, uuid AS id, name, is_default, created_at, updated_at";

/// Number of groups whose sort keys are derived at a time.
const BATCH: usize = 1_000;

/// Returns a team's groups: the default group first, then by name, as Unicode collation orders names.
pub fn list(reader: &Reader, team: TeamRowId) -> Result<Vec<Group>> {
    reader.query_all(&list_sql(), [team], Group::from_row)
}

/// Returns the query for a team's groups. An index has them in this order.
fn list_sql() -> String {
    format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 ORDER BY is_default DESC, sort_key, name_key")
}

/// Whether the stored sort keys have another version than those of this program.
pub fn have_other_sort_keys(reader: &Reader) -> Result<bool> {
    let version: u32 = reader.query_one("SELECT version FROM sort_key_version", [], |row| row.get(0))?;
    Ok(version != collation::KEY_VERSION)
}

/// Derives the sort keys of all groups.
pub fn derive_sort_keys(writer: &Writer) -> Result<()> {
    const SQL: &str = "SELECT id, name FROM groups WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut after = GroupRowId(0);
    loop {
        let read = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
        let batch: Vec<(GroupRowId, String)> = writer.query_all(SQL, (after, BATCH as i64), read)?;
        for (row_id, name) in &batch {
            let key = collation::sort_key(name);
            writer.execute("UPDATE groups SET sort_key = ?2 WHERE id = ?1", (row_id, key))?;
        }
        match batch.last() {
            Some((last, _)) if batch.len() == BATCH => after = *last,
            _ => break,
        }
    }
    writer.run("UPDATE sort_key_version SET version = ?1", [collation::KEY_VERSION])
}

/// Returns the team's group with this ID.
pub fn find(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE uuid = ?1 AND team = ?2");
    reader.query_first(&sql, (id, team), Group::from_row)
}

/// Returns the ID of the team's group with this row ID.
pub fn find_id(reader: &Reader, team: TeamRowId, row_id: GroupRowId) -> Result<Option<Uuid>> {
    const SQL: &str = "SELECT uuid FROM groups WHERE id = ?1 AND team = ?2";
    reader.query_first(SQL, (row_id, team), |row| row.get(0))
}

/// Returns those of the team's groups that have one of these IDs.
pub fn find_all(reader: &Reader, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<Vec<Group>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM groups WHERE team = ?1 AND uuid IN (SELECT unhex(value) FROM json_each(?2))"
    );
    reader.query_all(&sql, (team, row::ids_to_json(ids)?), Group::from_row)
}

/// Follows the key of a name that an earlier group of the team has, too. Keys of names have no control characters.
pub(super) const DUPLICATE_MARK: char = '\u{1}';

/// Returns the team's group with this name, regardless of case and encoding. Several have it if earlier versions took
/// their names for different ones; then it is the oldest.
pub fn find_by_name(reader: &Reader, team: TeamRowId, name: &str) -> Result<Option<Group>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM groups WHERE team = ?1 AND (name_key = ?2 OR name_key BETWEEN ?3 AND ?4) ORDER BY row_id LIMIT 1"
    );
    let key = equality_key(name);
    let [first, last] = [DUPLICATE_MARK, '\u{2}'].map(|end| format!("{key}{end}"));
    reader.query_first(&sql, (team, key, first, last), Group::from_row)
}

/// Returns a team's default group.
pub fn find_default(reader: &Reader, team: TeamRowId) -> Result<Group> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 AND is_default");
    reader.query_one(&sql, [team], Group::from_row)
}

/// Returns the row ID of a team's default group.
pub fn find_default_row_id(reader: &Reader, team: TeamRowId) -> Result<GroupRowId> {
    Ok(find_default(reader, team)?.row_id)
}

/// Inserts a group and returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    name: &str,
    is_default: bool,
    at: Timestamp,
) -> Result<GroupRowId> {
    const SQL: &str =
        "INSERT INTO groups (uuid, team, name, name_key, sort_key, is_default, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
    let sort_key = collation::sort_key(name);
    let values = (id, team, name, equality_key(name), sort_key, is_default, at.0);
    Ok(GroupRowId(writer.insert(SQL, values)?))
}

/// Renames a group.
pub fn rename(writer: &Writer, row_id: GroupRowId, name: &str, at: Timestamp) -> Result<()> {
    const SQL: &str =
        "UPDATE groups SET name = ?2, name_key = ?3, sort_key = ?4, updated_at = ?5 WHERE id = ?1";
    writer.run(SQL, (row_id, name, equality_key(name), collation::sort_key(name), at))
}

/// Names the assets in a group that are not deleted, oldest first.
pub fn name_assets(reader: &Reader, team: TeamRowId, row_id: GroupRowId) -> Result<NameList> {
    const COUNT: &str =
        "SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND group_id = ?2";
    const FIRST: &str = "SELECT a.title, a.uuid FROM inventory i JOIN assets a ON a.id = i.asset
         WHERE i.team = ?1 AND i.group_id = ?2 ORDER BY i.created_at, i.asset LIMIT ?3";
    let count: u64 = reader.query_one(COUNT, (team, row_id), |row| row.get(0))?;
    let names: Vec<String> = reader.query_all(FIRST, (team, row_id, MAX_NAMED as i64), |row| {
        Ok(name_of(&row.get::<_, String>(0)?, row.get::<_, Uuid>(1)?))
    })?;
    let mut named: NameList = names.into_iter().collect();
    named.add_unnamed(count.saturating_sub(named.count()));
    Ok(named)
}

/// Deletes a group without assets. The rows of deleted assets that refer to it move to the group
/// `other_row_id`.
pub fn delete(writer: &Writer, row_id: GroupRowId, other_row_id: GroupRowId) -> Result<()> {
    writer.execute("UPDATE assets SET group_id = ?2 WHERE group_id = ?1", (row_id, other_row_id))?;
    writer.run("DELETE FROM groups WHERE id = ?1", [row_id])
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::store::{Durability, Store};

    const TEAM: TeamRowId = TeamRowId(1);

    /// Returns a new market database with one team, which has these groups besides the default group.
    fn store_with_groups(path: &std::path::Path, names: &[String]) -> Store {
        let store = Store::open(path, 1, Durability::None).unwrap();
        let insert_all = |writer: &Writer| {
            const TEAM_SQL: &str = "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at)
                 VALUES (1, zeroblob(16), 'Acme', 1, 0, 1, 0)";
            writer.execute(TEAM_SQL, [])?;
            let names = [(DEFAULT_NAME, true)].into_iter().chain(names.iter().map(|name| (&**name, false)));
            for (name, is_default) in names {
                let id = Uuid::from_u128(u128::from(xxhash_rust::xxh3::xxh3_64(name.as_bytes())));
                insert(writer, id, TEAM, name, is_default, Timestamp(0))?;
            }
            Ok(())
        };
        store.write(insert_all).unwrap();
        store
    }

    fn names(store: &Store) -> Vec<String> {
        store.read(|rows| list(rows, TEAM)).unwrap().into_iter().map(|group| group.name).collect()
    }

    #[test]
    fn groups_are_read_in_order_without_sorting() {
        let directory = tempfile::tempdir().unwrap();
        let names: Vec<String> =
            (0..10_000).map(|number| format!("Group {:05}", number * 7_919 % 10_000)).collect();
        let store = store_with_groups(&directory.path().join("market.sqlite"), &names);
        store
            .read(|rows| {
                let mut statement = rows.connection.prepare(&list_sql())?;
                let rows_read = statement.query_map([TEAM], Group::from_row)?;
                let groups = rows_read.collect::<rusqlite::Result<Vec<Group>>>()?;
                assert_eq!((groups.len(), statement.get_status(StatementStatus::Sort)), (10_001, 0));
                let statements = rows.statement_count.load(std::sync::atomic::Ordering::Relaxed);
                let group = list(rows, TEAM)?.remove(1);
                assert_eq!(group.name, "Group 00000");
                assert_eq!(find_id(rows, TEAM, group.row_id)?, Some(group.id));
                assert_eq!(rows.statement_count.load(std::sync::atomic::Ordering::Relaxed), statements + 2);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn sort_keys_of_another_version_are_derived_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        let unsorted = ["Zebra", "éclair", "Eclipse", "apple"].map(str::to_owned);
        let sorted = ["Default", "apple", "éclair", "Eclipse", "Zebra"];
        let store = store_with_groups(&path, &unsorted);
        assert_eq!(names(&store), sorted);
        let discard_keys = |writer: &Writer| {
            writer.execute("UPDATE groups SET sort_key = x''", [])?;
            writer.execute("UPDATE sort_key_version SET version = version - 1", [])
        };
        store.write(discard_keys).unwrap();
        assert_ne!(names(&store), sorted);
        drop(store);
        Store::open_read_only(&path, 1).unwrap_err();
        assert_eq!(names(&Store::open(&path, 1, Durability::None).unwrap()), sorted);
        Store::open_read_only(&path, 1).unwrap();
    }
}
