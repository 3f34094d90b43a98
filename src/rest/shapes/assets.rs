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
        inventory::{Asset, Data, TaskBlock},
        money::Cents,
        quality::RunStatus,
        stages::{Piece, Stage},
        task_quality::{Pass, TaskQuality},
        tasks::QaVerdict,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::{Error, Result},
    operations::assets::{Deprecations, takes_new_listings},
    rest::vocabulary::Word,
};

/// A linked repository or an uploaded archive.
#[derive(Clone, Debug, Object, Serialize)]
pub struct DataObject {
    /// The asset that it belongs to.
    pub asset_id: Uuid,
    /// Where it comes from.
    pub channel: Word<Channel>,
    /// How far it is copied.
    pub archive_status: Word<ArtifactStatus>,
    /// How far it is read.
    pub analysis_status: Word<ArtifactStatus>,
    /// When it was attached.
    pub attached_at: UtcTime,
    /// Why it could not be read; null where it was, or is yet to be.
    pub analysis_error: Option<String>,
    /// When it was read; null before that.
    pub analyzed_at: Option<UtcTime>,
    /// Size of the archive; null before it is known.
    pub archive_bytes: Option<i64>,
    /// Why it could not be copied; null where it was, or is yet to be.
    pub archive_error: Option<String>,
    /// The commit that was read; null before that, and for archives.
    pub commit_sha: Option<String>,
    /// Where the vendor keeps a manifest of it; null where none was given.
    pub manifest_url: Option<String>,
    /// Its entry in the platform's registry.
    pub registry_id: Uuid,
}

impl DataObject {
    /// The data of an asset.
    pub fn of(asset: Uuid, data: &Data) -> DataObject {
        DataObject {
            asset_id: asset,
            channel: Word(data.channel),
            archive_status: Word(data.archive_status),
            analysis_status: Word(data.analysis_status),
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

    /// The data of an asset that it was just linked to.
    pub fn linked(asset: &Asset) -> Result<DataObject> {
        let data = asset.data.as_ref().ok_or_else(|| Error::internal("data was linked, and is not there"))?;
        Ok(DataObject::of(asset.id, data))
    }
}

/// The entry of an asset's artifact in the platform's registry: it stays the same while the asset does.
fn registry_id(asset: Uuid) -> Uuid {
    clock::record_id("registry", &asset.to_string())
}

/// Something that tasks run in.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "Environment")]
pub struct EnvironmentOut {
    /// Its entry in the platform's registry.
    pub registry_id: Uuid,
    /// The vendor's own columns about it.
    pub extra_columns: BTreeMap<String, Value>,
    /// Number of its build.
    pub build_version: u32,
    /// When it was built; null before that.
    pub built_at: Option<UtcTime>,
    /// What it offers to an agent.
    pub capabilities: Vec<String>,
    /// Tasks that run in it.
    pub task_count: u64,
}

impl EnvironmentOut {
    fn of(asset: Uuid, environment: &Environment) -> EnvironmentOut {
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

/// Graded runs of one model on a task version.
#[derive(Clone, Debug, Object, Serialize)]
pub struct PassAtK {
    /// Mean reward of the newest graded runs, five of them at most.
    pub pass_at_k: f64,
    /// How many runs that mean is over.
    pub k: u32,
    /// How many runs were graded in all.
    pub runs: u32,
    /// Mean reward of all of them.
    pub avg_reward: f64,
    /// When the newest was graded.
    pub last_run_at: UtcTime,
}

impl From<&Pass> for PassAtK {
    fn from(pass: &Pass) -> PassAtK {
        PassAtK {
            pass_at_k: pass.pass_at_k,
            k: pass.k,
            runs: pass.runs,
            avg_reward: pass.avg_reward,
            last_run_at: UtcTime(Timestamp(pass.last_run_at)),
        }
    }
}

/// The result of one of the platform's agents on a task version.
#[derive(Clone, Debug, Object, Serialize)]
pub struct QaAgentResult {
    /// How far the check is.
    pub status: Word<RunStatus>,
    /// What it found, in a word; null where it says nothing.
    pub verdict: Option<Word<QaVerdict>>,
    /// How many things it found.
    pub findings: u32,
}

/// Whether a task can be run.
#[derive(Clone, Debug, Object, Serialize)]
pub struct TaskEnvironment {
    /// Whether the latest build of its environment succeeded.
    pub built: bool,
}

/// The quality of a task version: sums only, never single runs or findings.
#[derive(Clone, Debug, Object, Serialize)]
pub struct TaskQc {
    /// Graded runs by the name of the model.
    pub pass_at_k: BTreeMap<String, PassAtK>,
    /// Graded runs whose trace names no model of the catalog; null where there are none.
    pub unattributed_runs: Option<PassAtK>,
    /// Results in effect on the version's latest trace, by the key of the agent.
    pub qa_agents: BTreeMap<String, QaAgentResult>,
    /// Whether it can be run.
    pub environment: TaskEnvironment,
}

impl From<&TaskQuality> for TaskQc {
    fn from(quality: &TaskQuality) -> TaskQc {
        let result = |check: &crate::domain::task_quality::QaResult| QaAgentResult {
            status: Word(check.status),
            verdict: check.verdict.map(Word),
            findings: check.findings,
        };
        TaskQc {
            pass_at_k: quality.pass_at_k.iter().map(|(model, pass)| (model.clone(), pass.into())).collect(),
            unattributed_runs: quality.unattributed_runs.as_ref().map(PassAtK::from),
            qa_agents: quality
                .qa_agents
                .iter()
                .map(|(agent, check)| (agent.word().to_owned(), result(check)))
                .collect(),
            environment: TaskEnvironment { built: quality.is_built },
        }
    }
}

/// The task version that a task asset stands for, with its quality as it was last read.
#[derive(Clone, Debug, Object, Serialize)]
#[oai(rename = "TaskBlock")]
pub struct TaskBlockOut {
    /// The version.
    pub task_version_id: Uuid,
    /// The task.
    pub task_id: Uuid,
    /// The task's name.
    pub task_name: String,
    /// The version's number.
    #[oai(validator(minimum(value = "1")))]
    pub version: u32,
    /// What it is about.
    pub task_type: Word<TaskType>,
    /// Whether any run of it was graded.
    pub has_traces: bool,
    /// Whether any check of it was completed.
    pub has_qa_results: bool,
    /// Whether its environment was built.
    pub has_environment: bool,
    /// Its quality.
    pub qc: TaskQc,
    /// When its quality was last read; null before the first time.
    pub qc_refreshed_at: Option<UtcTime>,
    /// The vendor's own columns.
    pub extra_columns: BTreeMap<String, Value>,
}

impl TaskBlockOut {
    fn of(asset: &Asset, task: &TaskBlock) -> TaskBlockOut {
        TaskBlockOut {
            task_version_id: task.version_id,
            task_id: task.task_id,
            task_name: task.name.clone(),
            version: task.version,
            task_type: Word(task.task_type),
            has_traces: task.quality.has_traces(),
            has_qa_results: task.quality.has_qa_results,
            has_environment: task.quality.is_built,
            qc: (&task.quality).into(),
            qc_refreshed_at: task.read_at.map(UtcTime),
            extra_columns: asset.extra_columns.clone(),
        }
    }
}

/// An asset of any kind.
#[derive(Clone, Debug, Object, Serialize)]
pub struct AssetSummary {
    /// Its id.
    pub id: Uuid,
    /// Whether it can be put on a listing.
    pub listable: bool,
    /// The inventory folder that it is in.
    pub group_id: Uuid,
    /// Its title.
    pub title: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// When it was made.
    pub created_at: UtcTime,
    /// Its kind.
    pub sku: Word<Kind>,
    /// How far it is on its way to being offered.
    pub stage: Word<Stage>,
    /// The linked repository or uploaded archive; null where nothing is linked.
    pub data: Option<DataObject>,
    /// The announced retirement of its kind; null where there is none.
    pub deprecation: Option<DeprecationOut>,
    /// What it is; null where nobody has said.
    pub description: Option<String>,
    /// What tasks run in; of environments only.
    pub environment: Option<EnvironmentOut>,
    /// The task version that it stands for; of tasks only.
    pub task: Option<TaskBlockOut>,
}

impl AssetSummary {
    /// An asset as it stands at `now`.
    pub fn of(asset: &Asset, deprecations: &Deprecations, now: Timestamp) -> AssetSummary {
        let stage = asset.stage();
        let deprecation = deprecations.get(&asset.kind);
        AssetSummary {
            id: asset.id,
            listable: stage.is_listable(asset.kind, takes_new_listings(deprecations, asset.kind)),
            group_id: asset.group.1,
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            created_at: asset.created_at.into(),
            sku: Word(asset.kind),
            stage: Word(stage),
            data: asset.data.as_ref().map(|data| DataObject::of(asset.id, data)),
            deprecation: deprecation.map(|deprecation| DeprecationOut::of(deprecation, now)),
            description: asset.description.clone(),
            environment: asset.environment.as_ref().map(|kept| EnvironmentOut::of(asset.id, kept)),
            task: asset.task.as_ref().map(|task| TaskBlockOut::of(asset, task)),
        }
    }
}

/// What an asset lacks, as answers have it.
pub fn missing(asset: &Asset) -> Vec<Word<Piece>> {
    asset.missing().into_iter().map(Word).collect()
}

/// An asset's asking price, as answers have it.
pub fn price_usd(asset: &Asset) -> Option<f64> {
    asset.price.map(Cents::dollars)
}
