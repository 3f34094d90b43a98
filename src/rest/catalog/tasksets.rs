//! Tasksets on listings, and the preview of their tasks.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    domain::tasks::{self as rules, Column, ColumnKind, DerivedColumn, Graded, VersionStage, VersionState},
    operations::{access::ListingBrowser, tasksets},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::UtcTime,
        vocabulary::Word,
    },
    store::tasks::{PreviewedTask, PreviewedVersion, Taskset, Trace},
};

/// A column of a taskset's table.
#[derive(Debug, Object, Serialize)]
pub struct TasksetColumn {
    /// Its name for people.
    pub label: String,
    /// What it holds.
    pub kind: Word<ColumnKind>,
    /// What a derived column shows; null for the others.
    pub derives: Option<Word<DerivedColumn>>,
}

/// A collection of tasks.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Taskset")]
pub struct TasksetOut {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: UtcTime,
    /// Names of its table's columns, in order.
    pub column_order: Vec<String>,
    /// The columns by name.
    pub columns: BTreeMap<String, TasksetColumn>,
}

/// A task.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Task")]
pub struct TaskOut {
    /// Its id.
    pub id: Uuid,
    /// The taskset that it belongs to.
    pub taskset_id: Uuid,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: UtcTime,
    /// What happened to it, oldest first.
    pub activity_log: Vec<Value>,
    /// The person that it is assigned to, if any.
    pub assignee_user_id: Option<Uuid>,
    /// Whether its reward is either 0 or 1.
    pub binarized: bool,
    /// Values of the taskset's columns, by their names.
    pub column_values: BTreeMap<String, Value>,
    /// What is asked.
    pub description: Option<String>,
    /// The vendor's own number for it.
    pub external_id: Option<String>,
    /// Its latest version; null before there is one.
    pub latest_version_id: Option<Uuid>,
    /// Free labels.
    pub tags: Vec<String>,
}

/// A version of a task.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "TaskVersion")]
pub struct VersionOut {
    /// Its id.
    pub id: Uuid,
    /// The task that it belongs to.
    pub task_id: Uuid,
    /// Its number, from 1.
    #[oai(validator(minimum(value = "1")))]
    pub version: u32,
    /// When it was made.
    pub created_at: UtcTime,
    /// How an agent is run on it.
    pub agent_config: BTreeMap<String, Value>,
    /// The task itself: prompt, rubric and the like.
    pub brief: BTreeMap<String, Value>,
    /// The latest build of its environment; null before there is one.
    pub build_id: Option<Uuid>,
    /// Its state.
    pub current_state: Word<VersionState>,
    /// What it runs in.
    pub environment: BTreeMap<String, Value>,
    /// When the vendor reviewed it; null before that.
    pub internally_reviewed_at: Option<UtcTime>,
    /// Who reviewed it.
    pub internally_reviewed_by: Option<Uuid>,
    /// How far its review is.
    pub lifecycle_stage: Word<VersionStage>,
}

/// A task with its latest version.
#[derive(Debug, Object, Serialize)]
pub struct PreviewPair {
    /// The task.
    pub task: TaskOut,
    /// Its latest version; null before there is one.
    pub version: Option<VersionOut>,
}

/// A run of an agent on a task version.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Trace")]
pub struct TraceOut {
    /// The run's id.
    pub trace_id: Uuid,
    /// The model that ran; null where the run names none of the catalog.
    pub model: Option<String>,
    /// Its reward; null where it was not graded.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub reward: Option<f64>,
    /// When it was graded; null where it was not.
    pub graded_at: Option<UtcTime>,
    /// The build that it ran on.
    pub build_version: u32,
}

/// The runs of a task version.
#[derive(Debug, Object, Serialize)]
pub struct TaskStats {
    /// The version.
    pub task_version_id: Uuid,
    /// Its runs, the newest grade first.
    pub traces: Vec<TraceOut>,
    /// The newest build that was run; null before the first run.
    pub last_run_build_version: Option<u32>,
    /// The newest build of its environment; null before there is one.
    pub latest_env_build_version: Option<u32>,
}

/// The newest tasks of a taskset.
#[derive(Debug, Object, Serialize)]
pub struct TaskPreview {
    /// The tasks, newest first, twenty at most.
    #[oai(validator(max_items = 20))]
    pub tasks: Vec<PreviewPair>,
    /// Runs of the versions that stand beside the tasks.
    pub task_stats: Vec<TaskStats>,
    /// Values of the derived columns: by task id, then by column.
    pub derived_column_values: BTreeMap<String, Value>,
}

pub struct TasksetsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Catalog")]
impl TasksetsApi {
    /// A taskset
    ///
    /// A taskset that stands on the listing, by itself or in a bundle, with the columns of its table.
    #[oai(
        path = "/listings/browse/:listing_id/tasksets/:taskset_id",
        method = "get",
        operation_id = "get_taskset"
    )]
    async fn taskset(
        &self,
        app: Data<&Arc<App>>,
        access: Access<ListingBrowser>,
        /// The listing's id.
        listing_id: Path<Uuid>,
        /// The taskset's id.
        taskset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<TasksetOut> {
        let (listing, taskset) = (listing_id.0, taskset_id.0);
        let found =
            app.market().glance(move |reader| tasksets::find(reader, &access.0, listing, taskset)).await?;
        Ok(Raw::of(&TasksetOut::of(found)))
    }

    /// Preview of a taskset's tasks
    ///
    /// The newest tasks of a taskset on the listing, each with its latest version, and the graded runs of those versions.
    #[oai(
        path = "/listings/browse/:listing_id/tasksets/:taskset_id/tasks",
        method = "get",
        operation_id = "preview_taskset_tasks"
    )]
    async fn tasks(
        &self,
        app: Data<&Arc<App>>,
        access: Access<ListingBrowser>,
        /// The listing's id.
        listing_id: Path<Uuid>,
        /// The taskset's id.
        taskset_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<TaskPreview> {
        let (listing, taskset) = (listing_id.0, taskset_id.0);
        let (taskset, tasks) =
            app.market().glance(move |reader| tasksets::preview(reader, &access.0, listing, taskset)).await?;
        Ok(Raw::of(&TaskPreview::of(&taskset, tasks)))
    }
}

impl TasksetOut {
    fn of(taskset: Taskset) -> TasksetOut {
        let shown = |column: &Column| TasksetColumn {
            label: column.label.clone(),
            kind: Word(column.kind),
            derives: column.derives.map(Word),
        };
        TasksetOut {
            id: taskset.id,
            name: taskset.name,
            created_at: taskset.created_at.into(),
            column_order: taskset.columns.iter().map(|column| column.name.clone()).collect(),
            columns: taskset.columns.iter().map(|column| (column.name.clone(), shown(column))).collect(),
        }
    }
}

impl TaskPreview {
    fn of(taskset: &Taskset, previewed: Vec<PreviewedTask>) -> TaskPreview {
        let mut preview =
            TaskPreview { tasks: Vec::new(), task_stats: Vec::new(), derived_column_values: BTreeMap::new() };
        for PreviewedTask { task, version } in previewed {
            let derived = derived_values(&taskset.columns, version.as_ref());
            preview.derived_column_values.insert(task.id.to_string(), derived);
            preview.task_stats.extend(version.as_ref().map(TaskStats::of));
            let shown = version.map(|version| VersionOut::of(task.id, version));
            let task = TaskOut {
                id: task.id,
                taskset_id: taskset.id,
                name: task.name,
                created_at: task.created_at.into(),
                activity_log: task.activity_log,
                assignee_user_id: task.assignee,
                binarized: task.binarized,
                column_values: task.column_values.into_iter().collect(),
                description: task.description,
                external_id: task.external_id,
                latest_version_id: shown.as_ref().map(|version| version.id),
                tags: task.tags,
            };
            preview.tasks.push(PreviewPair { task, version: shown });
        }
        preview
    }
}

impl VersionOut {
    fn of(task: Uuid, previewed: PreviewedVersion) -> VersionOut {
        let version = previewed.version;
        VersionOut {
            id: version.id,
            task_id: task,
            version: version.version,
            created_at: version.created_at.into(),
            agent_config: version.agent_config.into_iter().collect(),
            brief: version.brief.into_iter().collect(),
            build_id: previewed.build_id,
            current_state: Word(version.current_state),
            environment: version.environment.into_iter().collect(),
            internally_reviewed_at: version.internally_reviewed_at.map(UtcTime),
            internally_reviewed_by: version.internally_reviewed_by,
            lifecycle_stage: Word(version.lifecycle_stage),
        }
    }
}

impl TaskStats {
    fn of(previewed: &PreviewedVersion) -> TaskStats {
        let shown = |trace: &Trace| TraceOut {
            trace_id: trace.id,
            model: trace.model.clone(),
            reward: trace.reward,
            graded_at: trace.graded_at.map(UtcTime),
            build_version: trace.build,
        };
        TaskStats {
            task_version_id: previewed.version.id,
            traces: previewed.traces.iter().map(shown).collect(),
            last_run_build_version: previewed.traces.iter().map(|trace| trace.build).max(),
            latest_env_build_version: previewed.latest_build,
        }
    }
}

/// What the derived columns show of a task: nothing of a task without a version.
fn derived_values(columns: &[Column], version: Option<&PreviewedVersion>) -> Value {
    let traces = version.map_or(&[][..], |version| &version.traces);
    let graded =
        traces.iter().filter_map(|trace| Some(Graded { reward: trace.reward?, at: trace.graded_at? }));
    let graded: Vec<Graded> = graded.collect();
    let derived = columns.iter().filter_map(|column| Some((column.name.clone(), column.derives?)));
    derived.map(|(name, derives)| (name, rules::derive(derives, &graded).unwrap_or(json!(null)))).collect()
}
