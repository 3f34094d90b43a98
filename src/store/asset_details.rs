//! Data for the page of an asset, besides the asset itself: measurements of its data, and the content of its tasks.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::{Reader, row::FromRow};
use crate::{
    domain::{
        assets::Robotics,
        row_ids::AssetRowId,
        tasks::{VersionStage, VersionState},
        time::Timestamp,
    },
    error::Result,
};

/// Measurements of and facts about the linked data of an asset.
#[derive(Clone, Debug, Default, FromRow)]
pub struct AssetFacts {
    /// Bytes by slug of the language. Codebases only.
    #[row(json, default)]
    pub languages: BTreeMap<String, u64>,
    /// Number of files; `None` if it is not known.
    pub file_count: Option<u64>,
    /// Extensions of the files.
    #[row(json, default)]
    pub file_extensions: Vec<String>,
    /// What is declared of a robotics dataset.
    #[row(json)]
    pub robotics: Option<Robotics>,
    /// Full name of the linked repository; `None` if none is linked.
    pub repository: Option<String>,
    /// Name and SHA-256 digest of the linked file; `None` if none is linked.
    #[row(pair("file_name", "sha256"))]
    pub file: Option<(String, String)>,
    /// Size of all files of the data in bytes; `None` if it is not known.
    pub unpacked_bytes: Option<u64>,
}

/// Returns the facts of an asset.
pub fn find(reader: &Reader, asset: AssetRowId) -> Result<AssetFacts> {
    const SQL: &str = "SELECT a.languages, a.file_count, a.file_extensions, a.robotics, d.repo_full_name AS repository, u.file_name, u.sha256,
             (SELECT iif(count(*) = a.file_count, sum(j.value), NULL) FROM data_structures s, json_each(s.file_sizes) j
              WHERE s.asset = a.id) AS unpacked_bytes
         FROM assets a LEFT JOIN data_objects d ON d.asset = a.id LEFT JOIN uploads u ON u.id = d.upload
         WHERE a.id = ?1";
    let facts = reader.query_first(SQL, [asset], AssetFacts::from_row)?;
    Ok(facts.unwrap_or_default())
}

/// Returns the JSON of the directory tree of an asset's linked data, and of its description as a dataset if it has one.
pub fn find_structure(reader: &Reader, asset: AssetRowId) -> Result<Option<(String, Option<String>)>> {
    const SQL: &str = "SELECT roots, dataset FROM data_structures WHERE asset = ?1";
    reader.query_first(SQL, [asset], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The content of a version of a task.
#[derive(Clone, Debug, FromRow)]
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
    #[row(json)]
    pub tags: Vec<String>,
    /// State of the version.
    pub state: VersionState,
    /// Stage of the version's review.
    pub stage: VersionStage,
    /// The task, as its vendor wrote it.
    #[row(json)]
    pub brief: BTreeMap<String, Value>,
    /// Configuration of the agents that run on it.
    #[row(json)]
    pub agent_config: BTreeMap<String, Value>,
    /// Environment in which it runs.
    #[row(json)]
    pub environment: BTreeMap<String, Value>,
    /// Time of creation of the version.
    pub created_at: Timestamp,
}

/// Returns the content of the version that a task asset was imported from; `None` for other assets.
pub fn find_task(reader: &Reader, asset: AssetRowId) -> Result<Option<TaskContent>> {
    const SQL: &str =
        "SELECT t.uuid AS taskset, t.name AS taskset_name, k.description, k.external_id, k.tags,
             v.current_state AS state, v.lifecycle_stage AS stage, v.brief, v.agent_config, v.environment, v.created_at
         FROM assets a JOIN task_versions v ON v.id = a.task_version JOIN tasks k ON k.id = v.task
         JOIN tasksets t ON t.id = k.taskset WHERE a.id = ?1";
    reader.query_first(SQL, [asset], TaskContent::from_row)
}

/// A taskset that an asset has.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct OwnTaskset {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Number of tasks.
    pub tasks: u64,
}

/// Returns the first tasksets of an asset of kind taskset or bundle.
pub fn list_tasksets(reader: &Reader, asset: AssetRowId, limit: u32) -> Result<Vec<OwnTaskset>> {
    const SQL: &str = "SELECT t.uuid, t.name, t.tasks FROM assets a JOIN tasksets t ON t.id = a.taskset WHERE a.id = ?1
         UNION ALL
         SELECT * FROM (SELECT t.uuid, t.name, t.tasks FROM bundle_tasksets b JOIN tasksets t ON t.id = b.taskset
             WHERE b.asset = ?1 ORDER BY b.position)
         LIMIT ?2";
    reader.query_all(SQL, (asset, limit), OwnTaskset::from_row)
}
