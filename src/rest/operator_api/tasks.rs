//! Tasks of tasksets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::tasksets::TasksetOut;
use crate::{
    operations::task_changes::{self, TaskInput},
    rest::{
        operator_api::prelude::*,
        shapes::strings::{Label, MultilineText, Name},
    },
    store::{self, records::tasks::TASKS},
};

/// A task of a taskset.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Task")]
pub struct TaskOut {
    /// ID of the task.
    pub id: Uuid,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// ID of the team of the taskset.
    pub team_id: Uuid,
    /// Name of the task.
    pub name: String,
    /// What the task asks for; null if there is no description.
    pub description: Option<String>,
    /// Identifier of the task in the vendor's own system; null if there is none.
    pub external_id: Option<String>,
    /// Free-form labels.
    pub tags: Vec<String>,
    /// Whether rewards of the task are either 0 or 1, with nothing in between.
    pub binarized: bool,
    /// Values of the taskset's columns, by column name.
    pub column_values: BTreeMap<String, Value>,
    /// Number of the latest version; null if the task has none.
    pub latest_version: Option<u32>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of deletion; null unless deleted.
    pub deleted_at: Option<UtcTime>,
}

resource!(TaskOut: Uuid, TASKS, "task", id, team_id);

page_of! {
    /// A page of tasks.
    TaskPage, TaskOut
}

/// What the list of the tasks of a taskset can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct TaskFilters {
    /// Identifier of the task in the vendor's own system.
    external_id: Option<String>,
    /// Whether the task was deleted.
    deleted: Option<bool>,
}

/// A task to add to a taskset.
#[derive(Debug, Object)]
pub struct TaskIn {
    /// Name of the task.
    name: MaybeInvalid<Name>,
    /// What the task asks for; null or absent if there is no description.
    description: Option<MultilineText>,
    /// Identifier of the task in the vendor's own system, unique in the taskset; null or absent if there is none.
    external_id: Option<Name>,
    /// Free-form labels.
    #[oai(default, validator(max_items = 20))]
    tags: Vec<MaybeInvalid<Label>>,
    /// Whether rewards of the task are either 0 or 1, with nothing in between.
    #[oai(default)]
    binarized: bool,
    /// Values of the taskset's columns that are not derived, by column name; at most 65,536 bytes of JSON.
    #[oai(default, validator(max_properties = 50))]
    column_values: BTreeMap<String, Value>,
}

impl TaskIn {
    fn into_input(self) -> Result<TaskInput> {
        Ok(TaskInput {
            name: self.name.into_valid()?.into(),
            description: self.description.map(String::from),
            external_id: self.external_id.map(String::from),
            tags: MaybeInvalid::all(self.tags, String::from)?,
            binarized: self.binarized,
            column_values: self.column_values,
        })
    }
}

#[routes(prefix = "/operator/v1", tag = Tasksets)]
impl TasksApi {
    /// List the tasks of a taskset
    ///
    /// Returns the tasks of a taskset, newest first, also those that were deleted.
    #[get(
        "/tasksets/{taskset_id}/tasks",
        routes::list_of(Target::RecordOf("tasksets"), &["deleted=true", "external_id=nothing"]),
    )]
    async fn list_tasks(
        call: Call<Operator>,
        taskset_id: Path<Uuid>,
        query: Params<ListQuery<TaskFilters>>,
    ) -> JsonResult<TaskPage> {
        pages::list_of(call, ("taskset_id", taskset_id.0), query).await
    }

    /// Add a task to a taskset
    ///
    /// Adds a task, which has no version yet. A taskset can have at most 100,000 tasks.
    #[post(
        "/tasksets/{taskset_id}/tasks",
        routes::change("tasksets", Actor::Team, &[EventType::TaskCreated]),
    )]
    async fn create_task(
        change: Change,
        taskset_id: Path<Uuid>,
        #[example(json!({
            "name": "Find the first failing deploy",
            "external_id": "INC-204",
            "binarized": true,
        }))]
        body: Body<TaskIn>,
    ) -> JsonResult<TaskOut, 201> {
        let taskset = taskset_id.0;
        changes::post_body(change, body, move |writer, platform, body: TaskIn| {
            let owner: TasksetOut = records::find(writer.rows, platform, &taskset)?;
            let vendor = vendor(writer, platform, owner.team_id)?;
            task_changes::add_task(writer, &vendor, taskset, &body.into_input()?)
        })
        .await
    }

    /// Get a task
    ///
    /// Returns a task, also if it was deleted.
    #[get("/tasks/{task_id}", routes::read(Contract::new(Target::TaskPart("tasks"))))]
    async fn get_task(call: Call<Operator>, task_id: Path<Uuid>) -> JsonResult<TaskOut> {
        resources::get(call, task_id.0).await
    }

    /// Delete a task
    ///
    /// Deletes a task. Its versions and traces stay, as do the assets that represent it.
    #[delete(
        "/tasks/{task_id}",
        RouteAttributes::change(Contract::new(Target::TaskPart("tasks")))
            .with_effect(Actor::Team, &[EventType::TaskDeleted])
            .with_conflicts(&[Code::AssetInUse]),
    )]
    async fn delete_task(
        call: Call<ActingOperator>,
        task_id: Path<Uuid>,
    ) -> std::result::Result<NoContent, ApiError> {
        changes::delete(call, move |writer, platform| {
            let task = TaskOut::find(&writer.check_context(), platform, &task_id.0)?;
            let vendor = vendor(writer, platform, task.team_id)?;
            task_changes::delete_task(writer, &vendor, task.id)?;
            Ok(task)
        })
        .await
    }
}

/// Returns the proof to act in the name of a vendor.
pub(super) fn vendor(writer: &Writer, platform: Platform, team: Uuid) -> Result<Vendor> {
    let found = store::teams::find(writer.rows, team)?;
    platform.vendor(found.ok_or_else(|| Error::internal("a taskset without a team"))?)
}
