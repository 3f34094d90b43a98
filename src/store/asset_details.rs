//! What the page of an asset shows besides the asset itself: what was measured in its data, and the content of its tasks.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::{Reader, row};
use crate::{
    domain::{
        assets::Robotics,
        row_ids::AssetRowId,
        tasks::{VersionStage, VersionState},
        time::Timestamp,
    },
    error::Result,
};

/// What was measured in the linked data of an asset, or is known of it.
#[derive(Clone, Debug, Default)]
pub struct AssetFacts {
    /// Bytes by slug of the language. Codebases only.
    pub languages: BTreeMap<String, u64>,
    /// Number of files; `None` if it is not known.
    pub file_count: Option<u64>,
    /// Extensions of the files.
    pub file_extensions: Vec<String>,
    /// What is declared of a robotics dataset.
    pub robotics: Option<Robotics>,
    /// Full name of the linked repository; `None` if none is linked.
    pub repository: Option<String>,
    /// Name and SHA-256 digest of the linked file; `None` if none is linked.
    pub file: Option<(String, String)>,
    /// Size of all files of the data in bytes; `None` if it is not known.
    pub unpacked_bytes: Option<u64>,
}

/// Returns the facts of an asset.
pub fn find(reader: &Reader, asset: AssetRowId) -> Result<AssetFacts> {
    const SQL: &str = "SELECT a.languages, a.file_count, a.file_extensions, a.robotics, d.repo_full_name, u.file_name, u.sha256,
             (SELECT iif(count(*) = a.file_count, sum(j.value), NULL) FROM data_structures s, json_each(s.file_sizes) j
              WHERE s.asset = a.id) AS unpacked_bytes
         FROM assets a LEFT JOIN data_objects d ON d.asset = a.id LEFT JOIN uploads u ON u.id = d.upload
         WHERE a.id = ?1";
    let facts = reader.query_first(SQL, [asset], |row| {
        let file_name: Option<String> = row.get("file_name")?;
        Ok(AssetFacts {
            languages: row::optional_json(row, "languages")?.unwrap_or_default(),
            file_count: row.get("file_count")?,
            file_extensions: row::optional_json(row, "file_extensions")?.unwrap_or_default(),
            robotics: row::optional_json(row, "robotics")?,
            repository: row.get("repo_full_name")?,
            file: file_name.zip(row.get("sha256")?),
            unpacked_bytes: row.get("unpacked_bytes")?,
        })
    })?;
    Ok(facts.unwrap_or_default())
}

/// Returns the JSON of the directory tree of an asset's linked data, and of its description as a dataset if it has one.
pub fn find_structure(reader: &Reader, asset: AssetRowId) -> Result<Option<(String, Option<String>)>> {
    const SQL: &str = "SELECT roots, dataset FROM data_structures WHERE asset = ?1";
    reader.query_first(SQL, [asset], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The content of a version of a task.
#[derive(Clone, Debug)]
pub struct TaskContent {
    /// ID of the taskset.
    pub taskset: Uuid,
    /// Name of the taskset.
    pub taskset_name: String,
    /// What the task asks for.
    pub description: Option<String>,
    /// Identifier of the task in the vendor's own system.
    pub external_id: Option<String>,
    /// Free-form labels.
    pub tags: Vec<String>,
    /// State of the version.
    pub state: VersionState,
    /// Stage of the version's review.
    pub stage: VersionStage,
    /// The task, as its vendor wrote it.
    pub brief: BTreeMap<String, Value>,
    /// Configuration of the agents that run on it.
    pub agent_config: BTreeMap<String, Value>,
    /// Environment in which it runs.
    pub environment: BTreeMap<String, Value>,
    /// Time of creation of the version.
    pub created_at: Timestamp,
}

/// Returns the content of the version that a task asset was imported from; `None` for other assets.
pub fn find_task(reader: &Reader, asset: AssetRowId) -> Result<Option<TaskContent>> {
    const SQL: &str =
        "SELECT t.uuid AS taskset_uuid, t.name AS taskset_name, k.description, k.external_id, k.tags,
             v.current_state, v.lifecycle_stage, v.brief, v.agent_config, v.environment, v.created_at
         FROM assets a JOIN task_versions v ON v.id = a.task_version JOIN tasks k ON k.id = v.task
         JOIN tasksets t ON t.id = k.taskset WHERE a.id = ?1";
    reader.query_first(SQL, [asset], |row| {
        Ok(TaskContent {
            taskset: row.get("taskset_uuid")?,
            taskset_name: row.get("taskset_name")?,
            description: row.get("description")?,
            external_id: row.get("external_id")?,
            tags: row::json(row, "tags")?,
            state: row::string_enum(row, "current_state")?,
            stage: row::string_enum(row, "lifecycle_stage")?,
            brief: row::json(row, "brief")?,
            agent_config: row::json(row, "agent_config")?,
            environment: row::json(row, "environment")?,
            created_at: row::time(row, "created_at")?,
        })
    })
}

/// A taskset that an asset has.
#[derive(Clone, Debug)]
pub struct OwnTaskset {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Number of tasks.
    pub tasks: u64,
}

/// Returns the first tasksets of an asset: that of a taskset, and those of a bundle.
pub fn list_tasksets(reader: &Reader, asset: AssetRowId, limit: u32) -> Result<Vec<OwnTaskset>> {
    const SQL: &str = "SELECT t.uuid, t.name, t.tasks FROM assets a JOIN tasksets t ON t.id = a.taskset WHERE a.id = ?1
         UNION ALL
         SELECT * FROM (SELECT t.uuid, t.name, t.tasks FROM bundle_tasksets b JOIN tasksets t ON t.id = b.taskset
             WHERE b.asset = ?1 ORDER BY b.position)
         LIMIT ?2";
    reader.query_all(SQL, (asset, limit), |row| {
        Ok(OwnTaskset { id: row.get(0)?, name: row.get(1)?, tasks: row.get(2)? })
    })
}
