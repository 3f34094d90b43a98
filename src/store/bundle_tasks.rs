//! The tasks of bundles: one line of JSON for each version, with its builds. Traces of versions and values that can still
//! change, such as states, are not delivered.

use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{Reader, bundles::LastRows, row};
use crate::{
    domain::{
        row_ids::{AssetRowId, TasksetRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
};

/// A version of a task as it is delivered.
#[derive(Debug, Serialize)]
pub struct VersionLine {
    taskset_id: Uuid,
    taskset_name: String,
    task_id: Uuid,
    name: String,
    description: Option<String>,
    external_id: Option<String>,
    tags: Box<RawValue>,
    binarized: bool,
    column_values: Box<RawValue>,
    task_version_id: Uuid,
    version: u32,
    brief: Box<RawValue>,
    agent_config: Box<RawValue>,
    environment: Box<RawValue>,
    created_at: Timestamp,
    builds: Vec<BuildLine>,
    #[serde(skip)]
    position: Position,
}

/// A build of a version as it is delivered.
#[derive(Debug, Serialize)]
struct BuildLine {
    task_build_id: Uuid,
    build: u32,
    created_at: Timestamp,
}

/// Where the next line begins: after this version of this task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Row ID of the task.
    pub task: i64,
    /// Number of the version.
    pub version: u32,
}

impl VersionLine {
    /// Returns where the line is.
    pub const fn position(&self) -> Position {
        self.position
    }
}

/// The tasks of an asset.
#[derive(Clone, Debug)]
pub enum TaskSource {
    /// One version: its row ID.
    Version(i64),
    /// All tasks of these tasksets, in this order.
    Tasksets(Vec<TasksetRowId>),
}

/// Returns where the tasks of an asset are.
pub fn find_source(reader: &Reader, asset: AssetRowId) -> Result<TaskSource> {
    const ASSET: &str = "SELECT task_version, taskset FROM assets WHERE id = ?1";
    const BUNDLE: &str = "SELECT taskset FROM bundle_tasksets WHERE asset = ?1 ORDER BY position";
    let (version, taskset): (Option<i64>, Option<TasksetRowId>) =
        reader.query_one(ASSET, [asset], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match (version, taskset) {
        (Some(version), _) => TaskSource::Version(version),
        (None, Some(taskset)) => TaskSource::Tasksets(vec![taskset]),
        (None, None) => TaskSource::Tasksets(reader.query_all(BUNDLE, [asset], |row| row.get(0))?),
    })
}

/// Tasksets of an asset `a`: its own, or those of a bundle.
pub(super) const TASKSETS_OF_ASSET: &str = "SELECT a.taskset AS taskset WHERE a.taskset IS NOT NULL
     UNION ALL SELECT b.taskset FROM bundle_tasksets b WHERE b.asset = a.id";

/// Returns the number of tasks of each of these assets that belongs to the team. An asset that is a task counts as one.
pub fn count_of_assets(reader: &Reader, team: TeamRowId, assets: &[Uuid]) -> Result<Vec<(Uuid, u64)>> {
    let sql = format!(
        "SELECT a.uuid, iif(a.task_version IS NULL,
             (SELECT coalesce(sum(t.tasks), 0) FROM ({TASKSETS_OF_ASSET}) s JOIN tasksets t ON t.id = s.taskset), 1)
         FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value) WHERE a.team = ?2 AND a.deleted_at IS NULL"
    );
    reader.query_all(&sql, (row::ids_to_json(assets)?, team), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Takes pairs of an asset ID and a task ID. Returns those whose asset belongs to the team and has the task.
pub fn list_had(reader: &Reader, team: TeamRowId, pairs: &[(Uuid, Uuid)]) -> Result<Vec<(Uuid, Uuid)>> {
    let sql = format!(
        "SELECT a.uuid, k.uuid FROM json_each(?1) j JOIN assets a ON a.uuid = unhex(j.value ->> 0)
             JOIN tasks k ON k.uuid = unhex(j.value ->> 1)
         WHERE a.team = ?2 AND a.deleted_at IS NULL AND k.deleted_at IS NULL
             AND (k.id = (SELECT v.task FROM task_versions v WHERE v.id = a.task_version)
                 OR k.taskset IN ({TASKSETS_OF_ASSET}))"
    );
    let hex_pair = |(asset, task): &(Uuid, Uuid)| [asset, task].map(row::hex_digits);
    let pairs: Vec<[String; 2]> = pairs.iter().map(hex_pair).collect();
    reader.query_all(&sql, (row::to_json(&pairs)?, team), |row| Ok((row.get(0)?, row.get(1)?)))
}

const COLUMNS: &str =
    "SELECT t.uuid, t.name, k.uuid, k.name, k.description, k.external_id, k.tags, k.binarized,
         k.column_values, v.uuid, v.version, v.brief, v.agent_config, v.environment, v.created_at, k.id,
         (SELECT json_group_array(json_array(hex(u.uuid), u.build, u.created_at) ORDER BY u.build)
          FROM task_builds u WHERE u.task_version = v.id AND u.id <= ?1)
     FROM tasks k JOIN tasksets t ON t.id = k.taskset JOIN task_versions v ON v.task = k.id";

/// Returns the line of one version.
pub fn find_version(reader: &Reader, last: LastRows, version: i64) -> Result<Option<VersionLine>> {
    reader.query_first(&format!("{COLUMNS} WHERE v.id = ?2"), (last.build, version), read_line)?.transpose()
}

/// Returns the lines of a taskset after a position, at most `limit`. `task_ids` selects tasks.
pub fn list_versions(
    reader: &Reader,
    last: LastRows,
    taskset: TasksetRowId,
    task_ids: Option<&[Uuid]>,
    after: Position,
    limit: u32,
) -> Result<Vec<VersionLine>> {
    const CONDITION: &str = "k.taskset = ?2 AND k.id >= ?3 AND (k.id > ?3 OR v.version > ?4) AND k.id <= ?5
             AND v.id <= ?6
             AND (k.deleted_at IS NULL OR EXISTS (SELECT 1 FROM task_deletions x WHERE x.task = k.id AND x.id > ?7))
             AND (?8 IS NULL OR k.uuid IN (SELECT unhex(value) FROM json_each(?8)))";
    let parameters = (
        last.build,
        taskset,
        after.task,
        after.version,
        last.task,
        last.version,
        last.deletion,
        task_ids.map(row::ids_to_json).transpose()?,
        limit,
    );
    let sql = format!("{COLUMNS} WHERE {CONDITION} ORDER BY k.id, v.version LIMIT ?9");
    reader.query_all(&sql, parameters, read_line)?.into_iter().collect()
}

fn read_line(row: &rusqlite::Row) -> rusqlite::Result<Result<VersionLine>> {
    let raw = |column: usize| -> rusqlite::Result<Result<Box<RawValue>>> {
        Ok(RawValue::from_string(row.get(column)?).map_err(Error::internal))
    };
    let builds: Vec<(String, u32, i64)> = row::json(row, 16)?;
    let build = |(id, build, created_at): (String, u32, i64)| {
        let task_build_id = id.parse().map_err(Error::internal)?;
        Ok(BuildLine { task_build_id, build, created_at: Timestamp(created_at) })
    };
    let (tags, column_values, brief) = (raw(6)?, raw(8)?, raw(11)?);
    let (agent_config, environment) = (raw(12)?, raw(13)?);
    let (taskset_id, taskset_name, task_id, name) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
    let (description, external_id, binarized) = (row.get(4)?, row.get(5)?, row.get(7)?);
    let (task_version_id, version, created_at) = (row.get(9)?, row.get(10)?, row.get(14)?);
    let position = Position { task: row.get(15)?, version };
    Ok((|| {
        Ok(VersionLine {
            taskset_id,
            taskset_name,
            task_id,
            name,
            description,
            external_id,
            tags: tags?,
            binarized,
            column_values: column_values?,
            task_version_id,
            version,
            brief: brief?,
            agent_config: agent_config?,
            environment: environment?,
            created_at,
            builds: builds.into_iter().map(build).collect::<Result<_>>()?,
            position,
        })
    })())
}
