//! Versions of tasks, and builds of their environments.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    pages::PageParams,
    tasks::{TaskOut, vendor},
};
use crate::{
    domain::tasks::{BuildStatus, VersionStage, VersionState},
    operations::task_changes::{self, VersionInput},
    rest::operator_api::prelude::*,
    store::records::tasks::{TASK_BUILDS, TASK_VERSIONS},
};

/// A version of a task.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "TaskVersion")]
pub struct TaskVersionOut {
    /// ID of the version.
    pub id: Uuid,
    /// ID of the task.
    pub task_id: Uuid,
    /// ID of the team of the taskset.
    pub team_id: Uuid,
    /// Version number within the task, from 1.
    pub version: u32,
    /// State of the version.
    pub current_state: EnumValue<VersionState>,
    /// Stage of the version's review.
    pub lifecycle_stage: EnumValue<VersionStage>,
    /// Content of the task, such as prompt and rubric; free-form JSON.
    pub brief: BTreeMap<String, Value>,
    /// Settings of the agent that runs the task; free-form JSON.
    pub agent_config: BTreeMap<String, Value>,
    /// Environment that the task runs in; free-form JSON.
    pub environment: BTreeMap<String, Value>,
    /// Number of the latest build; null if there is none.
    pub latest_build: Option<u32>,
    /// Number of traces, which are imported.
    pub trace_count: u64,
    /// Time of creation.
    pub created_at: UtcTime,
}

resource!(TaskVersionOut: Uuid, TASK_VERSIONS, "task_version", id, team_id);

page_of! {
    /// A page of task versions.
    TaskVersionPage, TaskVersionOut
}

/// A build of the environment of a task version.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "TaskBuild")]
pub struct TaskBuildOut {
    /// ID of the build.
    pub id: Uuid,
    /// ID of the task version.
    pub task_version_id: Uuid,
    /// ID of the team of the taskset.
    pub team_id: Uuid,
    /// Number of the build within the version, from 1. Traces name it as `build_version`.
    pub build: u32,
    /// Status of the build.
    pub status: EnumValue<BuildStatus>,
    /// Time at which the build was recorded.
    pub created_at: UtcTime,
}

resource!(TaskBuildOut: Uuid, TASK_BUILDS, "task_build", id, team_id);

page_of! {
    /// A page of builds.
    TaskBuildPage, TaskBuildOut
}

/// A version to add to a task.
#[derive(Debug, Object)]
pub struct TaskVersionIn {
    /// State of the version. A `live` version supersedes earlier live ones.
    current_state: MaybeInvalid<EnumValue<VersionState>>,
    /// Stage of the version's review; `authoring` if absent.
    lifecycle_stage: Option<EnumValue<VersionStage>>,
    /// Content of the task, such as prompt and rubric; free-form JSON of at most 262,144 bytes.
    #[oai(default, validator(max_properties = 200))]
    brief: BTreeMap<String, Value>,
    /// Settings of the agent that runs the task; free-form JSON of at most 262,144 bytes.
    #[oai(default, validator(max_properties = 200))]
    agent_config: BTreeMap<String, Value>,
    /// Environment that the task runs in; free-form JSON of at most 262,144 bytes.
    #[oai(default, validator(max_properties = 200))]
    environment: BTreeMap<String, Value>,
}

/// A build to record, or its new status.
#[derive(Debug, Object)]
pub struct TaskBuildIn {
    /// Status of the build.
    status: MaybeInvalid<EnumValue<BuildStatus>>,
}

const VERSION: Target = Target::TaskPart("task_versions");
const BUILD: Target = Target::TaskPart("task_builds");

#[routes(prefix = "/operator/v1", tag = Tasksets)]
impl TaskVersionsApi {
    /// List the versions of a task
    ///
    /// Returns the versions of a task, newest first.
    #[get("/tasks/{task_id}/versions", routes::list_of(Target::TaskPart("tasks"), &["limit=2"]))]
    async fn list_task_versions(
        call: Call<Operator>,
        task_id: Path<Uuid>,
        query: Params<PageParams>,
    ) -> JsonResult<TaskVersionPage> {
        pages::list_all_of(call, ("task_id", task_id.0), query).await
    }

    /// Add a version to a task
    ///
    /// Adds the next version of a task. A task can have at most 1,000 versions.
    #[post(
        "/tasks/{task_id}/versions",
        routes::change_of(Target::TaskPart("tasks"), Actor::Team, &[EventType::TaskVersionCreated]),
    )]
    async fn create_task_version(
        change: Change,
        task_id: Path<Uuid>,
        #[example(json!({
            "current_state": "live",
            "lifecycle_stage": "accepted",
            "brief": {"prompt": "Sort the list."},
        }))]
        body: Body<TaskVersionIn>,
    ) -> JsonResult<TaskVersionOut, 201> {
        let task = task_id.0;
        changes::post_body(change, body, move |writer, platform, body: TaskVersionIn| {
            let record: TaskOut = records::find(writer.rows, platform, &task)?;
            let vendor = vendor(writer, platform, record.team_id)?;
            let input = VersionInput {
                current_state: body.current_state.into_valid()?.0,
                lifecycle_stage: body.lifecycle_stage.map_or(VersionStage::Authoring, |stage| stage.0),
                brief: body.brief,
                agent_config: body.agent_config,
                environment: body.environment,
            };
            task_changes::add_version(writer, &vendor, task, &input).map(|(id, _)| id)
        })
        .await
    }

    /// Get a task version
    ///
    /// Returns a version of a task.
    #[get("/task-versions/{task_version_id}", routes::read(Contract::new(VERSION)))]
    async fn get_task_version(
        call: Call<Operator>,
        task_version_id: Path<Uuid>,
    ) -> JsonResult<TaskVersionOut> {
        resources::get(call, task_version_id.0).await
    }

    /// List the builds of a task version
    ///
    /// Returns the builds of the environment of a task version, newest first.
    #[get("/task-versions/{task_version_id}/builds", routes::list_of(VERSION, &["limit=2"]))]
    async fn list_task_builds(
        call: Call<Operator>,
        task_version_id: Path<Uuid>,
        query: Params<PageParams>,
    ) -> JsonResult<TaskBuildPage> {
        pages::list_all_of(call, ("task_version_id", task_version_id.0), query).await
    }

    /// Record a build
    ///
    /// Records the next build of the environment of a task version. A version can have at most 1,000 builds.
    #[post(
        "/task-versions/{task_version_id}/builds",
        routes::change_of(VERSION, Actor::Team, &[EventType::TaskBuildRecorded]),
    )]
    async fn create_task_build(
        change: Change,
        task_version_id: Path<Uuid>,
        #[example(json!({"status": "queued"}))] body: Body<TaskBuildIn>,
    ) -> JsonResult<TaskBuildOut, 201> {
        let version = task_version_id.0;
        changes::post_body(change, body, move |writer, platform, body: TaskBuildIn| {
            let record: TaskVersionOut = records::find(writer.rows, platform, &version)?;
            let vendor = vendor(writer, platform, record.team_id)?;
            let status = body.status.into_valid()?.0;
            task_changes::record_build(writer, &vendor, version, status).map(|(id, _)| id)
        })
        .await
    }

    /// Get a build
    ///
    /// Returns a build of the environment of a task version.
    #[get("/task-builds/{task_build_id}", routes::read(Contract::new(BUILD)))]
    async fn get_task_build(
        call: Call<Operator>,
        /// ID of the build.
        task_build_id: Path<Uuid>,
    ) -> JsonResult<TaskBuildOut> {
        resources::get(call, task_build_id.0).await
    }

    /// Update a build
    ///
    /// Changes the status of a build that has not ended.
    #[patch(
        "/task-builds/{task_build_id}",
        routes::transition_of(BUILD, Actor::Team, &[EventType::TaskBuildUpdated]),
    )]
    async fn update_task_build(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        /// ID of the build.
        task_build_id: Path<Uuid>,
        #[example(json!({"status": "succeeded"}))] body: Body<TaskBuildIn>,
    ) -> JsonResult<TaskBuildOut> {
        changes::patch(call, if_match, task_build_id.0, body, |writer, platform, id, body: TaskBuildIn| {
            let record: TaskBuildOut = records::find(writer.rows, platform, id)?;
            let vendor = vendor(writer, platform, record.team_id)?;
            task_changes::update_build(writer, &vendor, *id, body.status.into_valid()?.0)
        })
        .await
    }
}
