//! Assets as vendors see them.

use std::collections::BTreeMap;

use poem_openapi::Object;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{UtcTime, taxonomy::DeprecationOut};
use crate::{
    clock,
    domain::{
        assets::{ArtifactStatus, Channel, Environment, Kind, TaskType},
        inventory::{Asset, AttachedData, TaskDetails},
        money::Cents,
        quality_runs::RunStatus,
        stages::{RequiredField, Stage},
        task_quality::{ModelResults, TaskQuality},
        tasks::QaVerdict,
        time::Timestamp,
    },
    error::{Error, Result},
    operations::assets::{Deprecations, accepts_new_listings},
    string_enum::StringEnum,
    web::enum_value::EnumValue,
};

/// The kinds of assets, for schemas of tools. Operations take any text, and unknown kinds match nothing.
pub const ASSET_KINDS: &[&str] =
    &["codebase", "raw_data", "task", "taskset", "bundle", "environment", "robotics_dataset", "other"];

/// The data of an asset: a linked repository or an uploaded archive.
#[derive(Clone, Debug, Object, Serialize)]
pub struct DataObject {
    /// ID of the asset that the data belongs to.
    pub asset_id: Uuid,
    /// Source of the data.
    pub channel: EnumValue<Channel>,
    /// State of copying the data into the platform.
    pub archive_status: EnumValue<ArtifactStatus>,
    /// State of analyzing the copied data.
    pub analysis_status: EnumValue<ArtifactStatus>,
    /// Time at which the data was attached.
    pub attached_at: UtcTime,
    /// Reason why the analysis failed; null if it has not failed.
    pub analysis_error: Option<String>,
    /// Time of the analysis; null if the data is not analyzed yet.
    pub analyzed_at: Option<UtcTime>,
    /// Size of the archive in bytes; null until it is known.
    pub archive_bytes: Option<i64>,
    /// Reason why copying failed; null if it has not failed.
    pub archive_error: Option<String>,
    /// Commit that was analyzed; null for archives, and until a repository is analyzed.
    pub commit_sha: Option<String>,
    /// URL of a manifest that the vendor hosts; null if none was given.
    pub manifest_url: Option<String>,
    /// ID of the data in the platform's registry.
    pub registry_id: Uuid,
}

impl DataObject {
    /// Creates the JSON of an asset's data.
    pub fn new(asset: Uuid, data: &AttachedData) -> DataObject {
        DataObject {
            asset_id: asset,
            channel: EnumValue(data.channel),
            archive_status: EnumValue(data.archive_status),
            analysis_status: EnumValue(data.analysis_status),
            attached_at: data.attached_at.into(),
            analysis_error: data.analysis_error.clone(),
            analyzed_at: data.analyzed_at.map(UtcTime),
            archive_bytes: data.archive_bytes,
            archive_error: data.archive_error.clone(),
            commit_sha: data.commit_sha.clone(),
            manifest_url: data.manifest_url.clone(),
            registry_id: registry_id(asset),
        }
    }

    /// Returns the data of an asset right after it was linked.
    pub fn from_linked_asset(asset: &Asset) -> Result<DataObject> {
        let data = asset.data.as_ref().ok_or_else(|| Error::internal("the data just linked is missing"))?;
        Ok(DataObject::new(asset.id, data))
    }
}

/// Returns the registry ID of an asset. It is derived from the asset's ID and therefore stable.
fn registry_id(asset: Uuid) -> Uuid {
    clock::fixture_record_id("registry", &asset.to_string())
}

/// An environment that tasks run in.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "Environment")]
pub struct EnvironmentOut {
    /// ID of the environment in the platform's registry.
    pub registry_id: Uuid,
    /// Custom columns of the vendor, by name.
    pub extra_columns: BTreeMap<String, Value>,
    /// Version number of the build.
    pub build_version: u32,
    /// Time of the build; null if the environment is not built yet.
    pub built_at: Option<UtcTime>,
    /// Capabilities that the environment offers to an agent.
    pub capabilities: Vec<String>,
    /// Number of tasks that run in the environment.
    pub task_count: u64,
}

impl EnvironmentOut {
    fn new(asset: Uuid, environment: &Environment) -> EnvironmentOut {
        EnvironmentOut {
            registry_id: registry_id(asset),
            extra_columns: environment.extra_columns.clone(),
            build_version: environment.build_version,
            built_at: environment.built_at.map(|at| UtcTime(Timestamp(at))),
            capabilities: environment.capabilities.clone(),
            task_count: environment.task_count,
        }
    }
}

/// Rewards of one model's graded runs on a task version.
#[derive(Clone, Debug, Object, Serialize)]
pub struct PassAtK {
    /// Mean reward of the newest graded runs, at most five, 0 to 1.
    pub pass_at_k: f64,
    /// Number of runs in that mean, at most five.
    pub k: u32,
    /// Number of all graded runs.
    pub runs: u32,
    /// Mean reward of all graded runs, 0 to 1.
    pub avg_reward: f64,
    /// Time at which the newest graded run was graded.
    pub last_run_at: UtcTime,
}

impl From<&ModelResults> for PassAtK {
    fn from(pass: &ModelResults) -> PassAtK {
        PassAtK {
            pass_at_k: pass.pass_at_k,
            k: pass.k,
            runs: pass.runs,
            avg_reward: pass.avg_reward,
            last_run_at: UtcTime(Timestamp(pass.last_run_at)),
        }
    }
}

/// Result of one of the platform's QA agents for a task version.
#[derive(Clone, Debug, Object, Serialize)]
pub struct QaAgentResult {
    /// State of the check.
    pub status: EnumValue<RunStatus>,
    /// Verdict of the agent; null if it gave none.
    pub verdict: Option<EnumValue<QaVerdict>>,
    /// Number of findings.
    pub findings: u32,
}

/// State of a task version's environment.
#[derive(Clone, Debug, Object, Serialize)]
pub struct TaskEnvironment {
    /// Whether the latest build of the environment succeeded.
    pub built: bool,
}

/// Quality of a task version. Only aggregates, never single runs or findings.
#[derive(Clone, Debug, Object, Serialize)]
pub struct TaskQc {
    /// Rewards of graded runs, by model name.
    pub pass_at_k: BTreeMap<String, PassAtK>,
    /// Rewards of graded runs whose trace names no model of the catalog; null if there are none.
    pub unattributed_runs: Option<PassAtK>,
    /// Results in effect on the version's latest trace, by the key of the QA agent.
    pub qa_agents: BTreeMap<String, QaAgentResult>,
    /// State of the version's environment.
    pub environment: TaskEnvironment,
}

impl From<&TaskQuality> for TaskQc {
    fn from(quality: &TaskQuality) -> TaskQc {
        let result = |check: &crate::domain::task_quality::QaResult| QaAgentResult {
            status: EnumValue(check.status),
            verdict: check.verdict.map(EnumValue),
            findings: check.findings,
        };
        TaskQc {
            pass_at_k: quality.pass_at_k.iter().map(|(model, pass)| (model.clone(), pass.into())).collect(),
            unattributed_runs: quality.unattributed_runs.as_ref().map(PassAtK::from),
            qa_agents: quality
                .qa_agents
                .iter()
                .map(|(agent, check)| (agent.as_str().to_owned(), result(check)))
                .collect(),
            environment: TaskEnvironment { built: quality.is_built },
        }
    }
}

/// The task version that a task asset represents, with its quality as of the last refresh.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "TaskBlock")]
pub struct TaskBlockOut {
    /// ID of the task version.
    pub task_version_id: Uuid,
    /// ID of the task.
    pub task_id: Uuid,
    /// Name of the task.
    pub task_name: String,
    /// Version number within the task, starting at 1.
    #[oai(validator(minimum(value = "1")))]
    pub version: u32,
    /// Subject area of the task.
    pub task_type: EnumValue<TaskType>,
    /// Whether the version has any graded run.
    pub has_traces: bool,
    /// Whether the version has any completed QA check.
    pub has_qa_results: bool,
    /// Whether the latest build of the version's environment succeeded.
    pub has_environment: bool,
    /// Quality of the version.
    pub qc: TaskQc,
    /// Time at which `qc` was last refreshed from the platform; null if never.
    pub qc_refreshed_at: Option<UtcTime>,
    /// Custom columns of the vendor, by name.
    pub extra_columns: BTreeMap<String, Value>,
}

impl TaskBlockOut {
    fn new(asset: &Asset, task: &TaskDetails) -> TaskBlockOut {
        TaskBlockOut {
            task_version_id: task.version_id,
            task_id: task.task_id,
            task_name: task.name.clone(),
            version: task.version,
            task_type: EnumValue(task.task_type),
            has_traces: task.quality.has_traces(),
            has_qa_results: task.quality.has_qa_results,
            has_environment: task.quality.is_built,
            qc: (&task.quality).into(),
            qc_refreshed_at: task.refreshed_at.map(UtcTime),
            extra_columns: asset.extra_columns.clone(),
        }
    }
}

/// An asset of any kind.
#[derive(Clone, Debug, Object, Serialize)]
pub struct AssetSummary {
    /// ID of the asset.
    pub id: Uuid,
    /// Whether the asset can be put on a listing.
    pub listable: bool,
    /// ID of the inventory group that the asset is in.
    pub group_id: Uuid,
    /// Title of the asset.
    pub title: String,
    /// Slugs of the asset's domains.
    pub domain_tags: Vec<String>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Kind of the asset.
    pub sku: EnumValue<Kind>,
    /// Stage, derived from required metadata and data: `incomplete` (metadata missing), `proposed` (metadata
    /// complete, no data linked yet) or `complete`.
    pub stage: EnumValue<Stage>,
    /// The linked repository or uploaded archive; null if no data is linked.
    pub data: Option<DataObject>,
    /// Announced retirement of the asset's kind; null if none is announced.
    pub deprecation: Option<DeprecationOut>,
    /// Description of the asset; null if it has none.
    pub description: Option<String>,
    /// Details of an environment; null for other kinds.
    pub environment: Option<EnvironmentOut>,
    /// The task version that a task asset represents; null for other kinds.
    pub task: Option<TaskBlockOut>,
}

impl AssetSummary {
    /// Creates the JSON of an asset; `now` decides whether its kind is retired.
    pub fn new(asset: &Asset, deprecations: &Deprecations, now: Timestamp) -> AssetSummary {
        let stage = asset.stage();
        let deprecation = deprecations.get(&asset.kind);
        AssetSummary {
            id: asset.id,
            listable: stage.is_listable(asset.kind, accepts_new_listings(deprecations, asset.kind)),
            group_id: asset.group.1,
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            created_at: asset.created_at.into(),
            sku: EnumValue(asset.kind),
            stage: EnumValue(stage),
            data: asset.data.as_ref().map(|data| DataObject::new(asset.id, data)),
            deprecation: deprecation.map(|deprecation| DeprecationOut::new(deprecation, now)),
            description: asset.description.clone(),
            environment: asset.environment.as_ref().map(|value| EnvironmentOut::new(asset.id, value)),
            task: asset.task.as_ref().map(|task| TaskBlockOut::new(asset, task)),
        }
    }
}

/// Returns the required pieces that an asset lacks, for its JSON.
pub fn missing_pieces(asset: &Asset) -> Vec<EnumValue<RequiredField>> {
    asset.missing_fields().into_iter().map(EnumValue).collect()
}

/// Returns the asking price of an asset in US dollars, for its JSON.
pub fn price_usd(asset: &Asset) -> Option<f64> {
    asset.price.map(Cents::dollars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_assets() {
        assert_eq!(ASSET_KINDS, Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>());
    }
}
