//! Tasksets on listings, and the preview of their tasks.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    domain::{
        tasks as rules,
        tasks::{Column, ColumnKind, DerivedColumn, GradedRun, VersionStage, VersionState},
    },
    operations::{access::ListingViewer, tasksets},
    rest::prelude::*,
    store::{
        tasks::{PreviewedTask, PreviewedVersion, Trace},
        tasksets::Taskset,
    },
};

/// A column of a taskset's table of tasks.
#[derive(Debug, Object, Serialize)]
pub struct TasksetColumn {
    /// Display name of the column.
    pub label: String,
    /// Type of the column's values.
    pub kind: EnumValue<ColumnKind>,
    /// Metric that a `derived` column shows; null for other kinds of columns.
    pub derives: Option<EnumValue<DerivedColumn>>,
}

/// A collection of tasks, with the columns of its table.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Taskset")]
pub struct TasksetOut {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name of the taskset.
    pub name: String,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Keys of `columns`, in display order.
    pub column_order: Vec<String>,
    /// Columns of the table of tasks, by name.
    pub columns: BTreeMap<String, TasksetColumn>,
}

/// An event in the life of a task.
#[derive(Debug, Object, Serialize)]
pub struct TaskActivity {
    /// Time of the event.
    pub at: UtcTime,
    /// What was done, in the vendor's words.
    pub action: String,
}

/// A task of a taskset.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Task")]
pub struct TaskOut {
    /// ID of the task.
    pub id: Uuid,
    /// ID of the taskset that the task belongs to.
    pub taskset_id: Uuid,
    /// Name of the task.
    pub name: String,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Events in the life of the task, oldest first.
    pub activity_log: Vec<TaskActivity>,
    /// ID of the person that the task is assigned to; null if it is unassigned.
    pub assignee_user_id: Option<Uuid>,
    /// Whether rewards of the task are either 0 or 1, with nothing in between.
    pub binarized: bool,
    /// Values of the taskset's columns, by column name. Derived columns are in `derived_column_values`.
    pub column_values: BTreeMap<String, Value>,
    /// Description of the task; null if there is none.
    pub description: Option<String>,
    /// The vendor's own identifier of the task; null if there is none.
    pub external_id: Option<String>,
    /// ID of the latest version; null if the task has no version yet.
    pub latest_version_id: Option<Uuid>,
    /// Free-form labels.
    pub tags: Vec<String>,
}

/// A version of a task.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "TaskVersion")]
pub struct TaskVersionOut {
    /// ID of the version.
    pub id: Uuid,
    /// ID of the task that the version belongs to.
    pub task_id: Uuid,
    /// Version number within the task, starting at 1.
    #[oai(validator(minimum(value = "1")))]
    pub version: u32,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Settings of the agent that runs the task; free-form JSON.
    pub agent_config: BTreeMap<String, Value>,
    /// Content of the task, such as prompt and rubric; free-form JSON.
    pub brief: BTreeMap<String, Value>,
    /// ID of the latest build of the version's environment; null if there is none yet.
    pub build_id: Option<Uuid>,
    /// State of the version.
    pub current_state: EnumValue<VersionState>,
    /// Environment that the task runs in; free-form JSON.
    pub environment: BTreeMap<String, Value>,
    /// Time of the vendor's internal review; null if it has not been reviewed.
    pub internally_reviewed_at: Option<UtcTime>,
    /// ID of the person who did the internal review; null if it has not been reviewed.
    pub internally_reviewed_by: Option<Uuid>,
    /// Stage of the version's review.
    pub lifecycle_stage: EnumValue<VersionStage>,
}

/// A task with its latest version.
#[derive(Debug, Object, Serialize)]
pub struct PreviewPair {
    /// The task.
    pub task: TaskOut,
    /// Latest version of the task; null if it has no version yet.
    pub version: Option<TaskVersionOut>,
}

/// A run (trace) of an agent on a task version.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Trace")]
pub struct TraceOut {
    /// ID of the trace.
    pub trace_id: Uuid,
    /// Name of the model that ran; null if the trace names no model of the catalog.
    pub model: Option<String>,
    /// Reward of the run, 0 to 1; null if it was not graded.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub reward: Option<f64>,
    /// Time of grading; null if the run was not graded.
    pub graded_at: Option<UtcTime>,
    /// Version number of the environment build that the run used.
    pub build_version: u32,
}

/// Runs of one task version.
#[derive(Debug, Object, Serialize)]
pub struct TaskStats {
    /// ID of the task version.
    pub task_version_id: Uuid,
    /// Runs of the version, most recently graded first.
    pub traces: Vec<TraceOut>,
    /// Highest environment build that was run; null if the version has no runs.
    pub last_run_build_version: Option<u32>,
    /// Latest build of the version's environment; null if there is none yet.
    pub latest_env_build_version: Option<u32>,
}

/// First page of a taskset's tasks, with their latest versions and runs.
#[derive(Debug, Object, Serialize)]
pub struct TaskPreview {
    /// The newest tasks, newest first, at most 20.
    #[oai(validator(max_items = 20))]
    pub tasks: Vec<PreviewPair>,
    /// Runs of the versions in `tasks`, one entry per version.
    pub task_stats: Vec<TaskStats>,
    /// Values of the taskset's derived columns: by task ID, then by column name. Null if there is nothing to
    /// show.
    pub derived_column_values: BTreeMap<String, Value>,
}

#[routes(prefix = "/v2", tag = Catalog)]
impl TasksetsApi {
    /// Get a taskset
    ///
    /// Returns a taskset of a listing, attached directly or through a bundle, with the columns of its table.
    #[get(
        "/listings/browse/{listing_id}/tasksets/{taskset_id}",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "get_taskset",
                    "Taskset",
                    "The columns of a listing's taskset.",
                )
                .with_ids("`tasksets` of get_listing, not its `assets`"),
            ),
            Contract::new(Target::CatalogTaskset),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn get_taskset(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
        taskset_id: Path<Uuid>,
    ) -> JsonResult<TasksetOut> {
        let (listing, taskset) = (listing_id.0, taskset_id.0);
        Json::read(&call.served, call.access.requester(), move |reader| {
            tasksets::find(reader, &call.access, listing, taskset).map(TasksetOut::from_taskset)
        })
        .await
    }

    /// Preview the tasks of a taskset
    ///
    /// Returns the newest 20 tasks of a taskset of a listing, each with its latest version, and the runs of
    /// those versions.
    #[get(
        "/listings/browse/{listing_id}/tasksets/{taskset_id}/tasks",
        RouteAttributes::read(
            Tool::Excluded("the operation preview_tasks_for_agents also has the results of models"),
            Contract::new(Target::CatalogTaskset).with_misspelled("offset=20", ""),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn preview_taskset_tasks(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
        taskset_id: Path<Uuid>,
    ) -> JsonResult<TaskPreview> {
        let (listing, taskset) = (listing_id.0, taskset_id.0);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (taskset, tasks) = tasksets::preview(reader, &call.access, listing, taskset)?;
            Ok(TaskPreview::new(&taskset, tasks))
        })
        .await
    }
}

impl TasksetOut {
    fn from_taskset(taskset: Taskset) -> TasksetOut {
        let column_out = |column: &Column| TasksetColumn {
            label: column.label.clone(),
            kind: EnumValue(column.kind),
            derives: column.derives.map(EnumValue),
        };
        TasksetOut {
            id: taskset.id,
            name: taskset.name,
            created_at: taskset.created_at.into(),
            column_order: taskset.columns.iter().map(|column| column.name.clone()).collect(),
            columns: taskset.columns.iter().map(|column| (column.name.clone(), column_out(column))).collect(),
        }
    }
}

impl TaskPreview {
    /// Creates the preview of these tasks.
    pub fn new(taskset: &Taskset, previewed: Vec<PreviewedTask>) -> TaskPreview {
        let mut preview =
            TaskPreview { tasks: Vec::new(), task_stats: Vec::new(), derived_column_values: BTreeMap::new() };
        for PreviewedTask { task, version } in previewed {
            let derived = derived_values(&taskset.columns, version.as_ref());
            preview.derived_column_values.insert(task.id.to_string(), derived);
            preview.task_stats.extend(version.as_ref().map(TaskStats::from_version));
            let version_out = version.map(|version| TaskVersionOut::new(task.id, version));
            let task = TaskOut {
                id: task.id,
                taskset_id: taskset.id,
                name: task.name,
                created_at: task.created_at.into(),
                activity_log: task
                    .activity_log
                    .into_iter()
                    .map(|entry| TaskActivity { at: entry.at.into(), action: entry.action })
                    .collect(),
                assignee_user_id: task.assignee,
                binarized: task.binarized,
                column_values: task.column_values.into_iter().collect(),
                description: task.description,
                external_id: task.external_id,
                latest_version_id: version_out.as_ref().map(|version| version.id),
                tags: task.tags,
            };
            preview.tasks.push(PreviewPair { task, version: version_out });
        }
        preview
    }
}

impl TaskVersionOut {
    fn new(task: Uuid, previewed: PreviewedVersion) -> TaskVersionOut {
        let version = previewed.version;
        TaskVersionOut {
            id: version.id,
            task_id: task,
            version: version.version,
            created_at: version.created_at.into(),
            agent_config: version.agent_config.into_iter().collect(),
            brief: version.brief.into_iter().collect(),
            build_id: previewed.build_id,
            current_state: EnumValue(version.current_state),
            environment: version.environment.into_iter().collect(),
            internally_reviewed_at: version.internally_reviewed_at.map(UtcTime),
            internally_reviewed_by: version.internally_reviewed_by,
            lifecycle_stage: EnumValue(version.lifecycle_stage),
        }
    }
}

impl TaskStats {
    fn from_version(previewed: &PreviewedVersion) -> TaskStats {
        let trace_out = |trace: &Trace| TraceOut {
            trace_id: trace.id,
            model: trace.model.clone(),
            reward: trace.reward,
            graded_at: trace.graded_at.map(UtcTime),
            build_version: trace.build,
        };
        TaskStats {
            task_version_id: previewed.version.id,
            traces: previewed.traces.iter().map(trace_out).collect(),
            last_run_build_version: previewed.traces.iter().map(|trace| trace.build).max(),
            latest_env_build_version: previewed.latest_build,
        }
    }
}

/// Returns the values of the derived columns for one task. They are null if the task has no version or no
/// graded run.
fn derived_values(columns: &[Column], version: Option<&PreviewedVersion>) -> Value {
    let traces = version.map_or(&[][..], |version| &version.traces);
    let graded = traces
        .iter()
        .filter_map(|trace| Some(GradedRun { reward: trace.reward?, graded_at: trace.graded_at? }));
    let graded: Vec<GradedRun> = graded.collect();
    let derived = columns.iter().filter_map(|column| Some((column.name.clone(), column.derives?)));
    derived
        .map(|(name, derives)| (name, rules::derived_value(derives, &graded).unwrap_or(json!(null))))
        .collect()
}
