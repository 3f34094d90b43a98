//! Changes of tasksets: new tasksets, tasks, versions, and builds, and deletions of tasks. The platform makes them
//! in the name of the vendor.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, TaskBuildData, TaskData, TaskVersionData, TasksetData},
        problems::Problems,
        tasks::{BuildStatus, Column, ColumnKind, VersionStage, VersionState},
        texts,
    },
    error::{Error, Problem, Result, excerpt, quoted},
    market::Writer,
    request_problems::ProblemsExt,
    store::{
        self,
        task_changes::OwnedTask,
        tasks::{Task, Version},
        tasksets::Taskset,
    },
    string_enum::StringEnum,
};

/// Maximum number of columns of a taskset.
const MAX_COLUMNS: usize = 50;

/// Maximum number of tasks of a taskset.
const MAX_TASKS: u64 = 100_000;

/// Maximum number of tags of a task.
pub const MAX_TAGS: usize = 20;

/// Maximum number of bytes of the column values of a task, as JSON.
const MAX_VALUES_BYTES: usize = 65_536;

/// Maximum number of versions of a task, and of builds of a version.
const MAX_VERSIONS: u32 = 1_000;

/// Maximum number of bytes of the brief, of the agent configuration, and of the environment of a version, each as
/// JSON.
const MAX_PART_BYTES: usize = 262_144;

/// A task to add.
#[derive(Clone, Debug, Default)]
pub struct TaskInput {
    /// Name for people, 1 to 200 characters.
    pub name: String,
    /// What the task asks for, up to 20,000 characters.
    pub description: Option<String>,
    /// Identifier of the task in the vendor's own system, 1 to 200 characters. Unique in the taskset.
    pub external_id: Option<String>,
    /// Free-form labels, up to 20.
    pub tags: Vec<String>,
    /// Whether the reward is always 0 or 1.
    pub binarized: bool,
    /// Values of the taskset's columns, by column name.
    pub column_values: BTreeMap<String, Value>,
}

/// A version of a task to add.
#[derive(Clone, Debug)]
pub struct VersionInput {
    /// State of the version. A live version supersedes earlier live ones.
    pub current_state: VersionState,
    /// Review stage of the version.
    pub lifecycle_stage: VersionStage,
    /// Description of the task.
    pub brief: BTreeMap<String, Value>,
    /// Configuration of the agents that run on it.
    pub agent_config: BTreeMap<String, Value>,
    /// Environment in which it runs.
    pub environment: BTreeMap<String, Value>,
}

/// Creates a taskset with these columns. Returns its ID.
pub fn create_taskset(writer: &mut Writer, vendor: &Vendor, name: &str, columns: &[Column]) -> Result<Uuid> {
    let mut problems = Problems::default();
    problems.check_text(&["name"], name, texts::NAME);
    check_columns(&mut problems, columns);
    problems.into_result()?;
    let id = writer.new_id(Collection::Tasksets);
    let team = vendor.team_row_id();
    store::tasksets::insert(writer.rows, id, team, name, columns, writer.now)?;
    let data = TasksetData { taskset_id: id, name: name.to_owned(), columns: columns.to_vec() };
    writer.emit(Some(team), id, &EventData::TasksetCreated(data))?;
    Ok(id)
}

/// Adds what is wrong with the columns of a taskset to `problems`.
pub fn check_columns(problems: &mut Problems, columns: &[Column]) {
    let add = |problems: &mut Problems, kind: &'static str, rule: String| {
        problems.push(Problem::body(&["columns"], kind, rule));
    };
    if columns.len() > MAX_COLUMNS {
        add(problems, "too_long", format!("A taskset can have at most {MAX_COLUMNS} columns."));
    }
    for (index, column) in columns.iter().take(MAX_COLUMNS).enumerate() {
        let name = quoted(&excerpt(&column.name));
        for (field, text) in [("name", &column.name), ("label", &column.label)] {
            let path = ["columns", &index.to_string(), field];
            problems.check_text(&path, text, texts::LABEL);
        }
        if (column.kind == ColumnKind::Derived) != column.derives.is_some() {
            let rule = format!("{name}: state `derives` with the kind `derived`, and only then.");
            add(problems, "value_error", rule);
        }
        if columns[..index].iter().any(|earlier| earlier.name == column.name) {
            add(problems, "value_error", format!("The column {name} occurs more than once."));
        }
    }
}

/// Adds a task to a taskset. Returns its ID.
pub fn add_task(writer: &mut Writer, vendor: &Vendor, taskset: Uuid, task: &TaskInput) -> Result<Uuid> {
    let taskset = find_taskset(writer, vendor, taskset)?;
    check_task(&taskset, task)?;
    if let Some(external_id) = &task.external_id
        && store::task_changes::has_external_id(writer.rows, taskset.row_id, external_id)?
    {
        let message = format!(
            "The taskset already has a task with the identifier {external_id}.",
            external_id = quoted(external_id)
        );
        return Err(Error::Conflict(message));
    }
    if store::task_changes::count_tasks(writer.rows, taskset.row_id)? >= MAX_TASKS {
        return Err(Error::Conflict(format!("The taskset has {MAX_TASKS} tasks, and cannot have more.")));
    }
    let id = writer.new_id(Collection::Tasks);
    let new = Task {
        id,
        name: task.name.clone(),
        description: task.description.clone(),
        external_id: task.external_id.clone(),
        tags: task.tags.clone(),
        binarized: task.binarized,
        column_values: task.column_values.clone(),
        activity_log: Vec::new(),
        assignee: None,
        created_at: writer.now,
        deleted_at: None,
    };
    store::tasks::insert_task(writer.rows, taskset.row_id, &new)?;
    store::tasksets::queue_listings(writer.rows, taskset.row_id)?;
    let (name, external_id) = (new.name, new.external_id);
    let data = TaskData { task_id: id, taskset_id: taskset.id, name, external_id };
    writer.emit(Some(taskset.team), id, &EventData::TaskCreated(data))?;
    Ok(id)
}

fn check_task(taskset: &Taskset, task: &TaskInput) -> Result<()> {
    let mut problems = Problems::default();
    problems.check_text(&["name"], &task.name, texts::NAME);
    if let Some(external_id) = &task.external_id {
        problems.check_text(&["external_id"], external_id, texts::NAME);
    }
    if let Some(description) = &task.description {
        problems.check_text(&["description"], description, texts::DESCRIPTION);
    }
    if task.tags.len() > MAX_TAGS {
        let rule = format!("A task can have at most {MAX_TAGS} tags.");
        problems.push(Problem::body(&["tags"], "too_long", rule));
    }
    for (index, tag) in task.tags.iter().take(MAX_TAGS).enumerate() {
        problems.check_text(&["tags", &index.to_string()], tag, texts::LABEL);
    }
    check_size(&mut problems, "column_values", &task.column_values, MAX_VALUES_BYTES)?;
    for (name, value) in task.column_values.iter().take(MAX_COLUMNS) {
        let column = taskset.columns.iter().find(|column| column.name == *name);
        let rule = match column {
            Some(column) if column.accepts(value) => continue,
            Some(column) => format!("must be a value of the kind `{}`.", column.kind.as_str()),
            None => "is not a column of the taskset.".to_owned(),
        };
        let rule = format!("{} {rule}", quoted(&excerpt(name)));
        problems.push(Problem::body(&["column_values"], "value_error", rule));
    }
    problems.into_result()
}

/// Deletes a task. Its versions and traces stay, as do the assets that represent it.
pub fn delete_task(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let task = find_task(writer, vendor, id)?;
    store::task_changes::delete_task(writer.rows, task.row_id, writer.now)?;
    store::tasksets::queue_listings(writer.rows, task.taskset)?;
    let OwnedTask { taskset_id, name, external_id, .. } = task;
    let data = TaskData { task_id: id, taskset_id, name, external_id };
    writer.emit(Some(vendor.team_row_id()), id, &EventData::TaskDeleted(data))
}

/// Adds a version to a task. Returns its ID and its number.
pub fn add_version(
    writer: &mut Writer,
    vendor: &Vendor,
    task_id: Uuid,
    input: &VersionInput,
) -> Result<(Uuid, u32)> {
    let task = find_task(writer, vendor, task_id)?;
    let mut problems = Problems::default();
    for (field, part) in
        [("brief", &input.brief), ("agent_config", &input.agent_config), ("environment", &input.environment)]
    {
        check_size(&mut problems, field, part, MAX_PART_BYTES)?;
    }
    problems.into_result()?;
    let number = task.latest_version + 1;
    if number > MAX_VERSIONS {
        return Err(Error::Conflict(format!("The task has {MAX_VERSIONS} versions, and cannot have more.")));
    }
    let VersionInput { current_state, lifecycle_stage, .. } = *input;
    if current_state == VersionState::Live {
        store::task_changes::supersede_live_versions(writer.rows, task.row_id)?;
    }
    let id = writer.new_id(Collection::TaskVersions);
    let version = Version {
        id,
        version: number,
        current_state,
        lifecycle_stage,
        brief: input.brief.clone(),
        agent_config: input.agent_config.clone(),
        environment: input.environment.clone(),
        internally_reviewed_at: None,
        internally_reviewed_by: None,
        created_at: writer.now,
    };
    store::tasks::insert_version(writer.rows, task.row_id, &version)?;
    let data =
        TaskVersionData { task_version_id: id, task_id, version: number, current_state, lifecycle_stage };
    writer.emit(Some(vendor.team_row_id()), id, &EventData::TaskVersionCreated(data))?;
    Ok((id, number))
}

/// Records a build of the environment of a version. Returns its ID and its number.
pub fn record_build(
    writer: &mut Writer,
    vendor: &Vendor,
    version_id: Uuid,
    status: BuildStatus,
) -> Result<(Uuid, u32)> {
    let team = vendor.team_row_id();
    let found = store::task_changes::find_version(writer.rows, team, version_id)?;
    let (version, latest) = found.ok_or_else(|| Error::not_found("task version"))?;
    let build = latest + 1;
    if build > MAX_VERSIONS {
        let message = format!("The task version has {MAX_VERSIONS} builds, and cannot have more.");
        return Err(Error::Conflict(message));
    }
    let id = writer.new_id(Collection::TaskBuilds);
    store::tasks::insert_build(writer.rows, version, id, build, status, writer.now)?;
    let data = TaskBuildData { task_build_id: id, task_version_id: version_id, build, status };
    writer.emit(Some(team), id, &EventData::TaskBuildRecorded(data))?;
    Ok((id, build))
}

/// Changes the status of a build that has not ended.
pub fn update_build(writer: &mut Writer, vendor: &Vendor, id: Uuid, status: BuildStatus) -> Result<()> {
    let team = vendor.team_row_id();
    let found = store::task_changes::find_build(writer.rows, team, id)?;
    let build = found.ok_or_else(|| Error::not_found("build"))?;
    if build.status == status {
        return Ok(());
    }
    let allowed = build.status.next();
    if !allowed.contains(&status) {
        let allowed = allowed.iter().map(|status| status.as_str()).collect();
        return Err(Error::InvalidTransition { from: build.status.as_str(), allowed });
    }
    store::task_changes::set_build_status(writer.rows, id, status)?;
    let (task_version_id, build) = (build.task_version_id, build.build);
    let data = TaskBuildData { task_build_id: id, task_version_id, build, status };
    writer.emit(Some(team), id, &EventData::TaskBuildUpdated(data))
}

fn find_taskset(writer: &Writer, vendor: &Vendor, id: Uuid) -> Result<Taskset> {
    let found = store::tasksets::find(writer.rows, id)?;
    found.filter(|taskset| taskset.team == vendor.team_row_id()).ok_or_else(|| Error::not_found("taskset"))
}

/// Returns a task of the vendor that is not deleted.
fn find_task(writer: &Writer, vendor: &Vendor, id: Uuid) -> Result<OwnedTask> {
    let found = store::task_changes::find_task(writer.rows, vendor.team_row_id(), id)?;
    found.filter(|task| task.deleted_at.is_none()).ok_or_else(|| Error::not_found("task"))
}

fn check_size(
    problems: &mut Problems,
    field: &str,
    part: &BTreeMap<String, Value>,
    max: usize,
) -> Result<()> {
    let size = serde_json::to_vec(part).map_err(Error::internal)?.len();
    if size > max {
        let rule = format!("`{field}` has {size} bytes as JSON. It can have at most {max}.");
        problems.push(Problem::body(&[field], "too_long", rule));
    }
    Ok(())
}
