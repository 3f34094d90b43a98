//! The `marketplace task` command.

use serde_json::Map;

use super::{operator::names::TASKSETS, prelude::*, print_line};
use crate::domain::tasks::{BuildStatus, VersionStage, VersionState};

/// Manage the tasks of tasksets, with their versions and builds.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List the tasks of a taskset, newest first.
    #[command(after_help = "Example:\n  marketplace task list \"Court forms\" --limit 20")]
    List {
        /// ID or name of the taskset.
        taskset: String,
        /// Identifier of the task in the vendor's own system.
        #[arg(long, value_name = "TEXT")]
        external_id: Option<String>,
        /// Whether they were deleted [default: both]
        #[arg(long, value_name = "BOOL")]
        deleted: Option<bool>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a task.
    #[command(after_help = "Example:\n  marketplace task show 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Show(OneTask),
    /// Create a task in a taskset, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace task create \"Court forms\" \"Fill in form 7\" --external-id F-7"
    )]
    Create(NewTask),
    /// Delete a task.
    #[command(after_help = "Example:\n  marketplace task delete 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Delete(OneTask),
    /// List the versions of a task, newest first.
    #[command(after_help = "Example:\n  marketplace task versions 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Versions {
        #[command(flatten)]
        of: OneTask,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a version of a task.
    #[command(after_help = "Example:\n  marketplace task version 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Version(OneVersion),
    /// Create a version of a task, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace task create-version 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 --state live"
    )]
    CreateVersion(NewVersion),
    /// List the builds of a version of a task, newest first.
    #[command(after_help = "Example:\n  marketplace task builds 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Builds {
        #[command(flatten)]
        of: OneVersion,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a build.
    #[command(after_help = "Example:\n  marketplace task build 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11")]
    Build {
        /// ID of the build, as printed by `task builds`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
    },
    /// Record a build of a version of a task, and print its ID.
    #[command(
        after_help = "Example:\n  marketplace task create-build 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 succeeded"
    )]
    CreateBuild {
        #[command(flatten)]
        of: OneVersion,
        /// Status of the build.
        #[arg(value_parser = parse_value::<BuildStatus>)]
        status: BuildStatus,
    },
    /// Change the status of a build.
    #[command(
        after_help = "Example:\n  marketplace task edit-build 6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11 failed"
    )]
    EditBuild {
        /// ID of the build, as printed by `task builds`.
        #[arg(value_parser = parse_id)]
        id: Uuid,
        /// New status of the build.
        #[arg(value_parser = parse_value::<BuildStatus>)]
        status: BuildStatus,
    },
}

/// A task.
#[derive(Debug, Args)]
pub struct OneTask {
    /// ID of the task, as printed by `task list`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

/// A version of a task.
#[derive(Debug, Args)]
pub struct OneVersion {
    /// ID of the version, as printed by `task versions`.
    #[arg(value_parser = parse_id)]
    id: Uuid,
}

/// A task to create.
#[derive(Debug, Args)]
pub struct NewTask {
    /// ID or name of the taskset.
    taskset: String,
    /// Name of the task.
    name: String,
    /// What the task asks for.
    #[arg(long)]
    description: Option<String>,
    /// Identifier of the task in the vendor's own system, unique in the taskset.
    #[arg(long, value_name = "TEXT")]
    external_id: Option<String>,
    /// Free-form label. Repeat the option for several.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Rewards of the task are either 0 or 1.
    #[arg(long)]
    binarized: bool,
    /// Values of the taskset's columns, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    columns: Option<Value>,
}

/// A version to create.
#[derive(Debug, Args)]
pub struct NewVersion {
    #[command(flatten)]
    of: OneTask,
    /// State of the version.
    #[arg(long, value_parser = parse_value::<VersionState>)]
    state: VersionState,
    /// Review stage of the version [default: that of the API]
    #[arg(long, value_parser = parse_value::<VersionStage>)]
    stage: Option<VersionStage>,
    /// Content of the task, such as prompt and rubric, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    brief: Option<Value>,
    /// Settings of the agent that runs the task, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    agent_config: Option<Value>,
    /// Environment that the task runs in, as a JSON object.
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    environment: Option<Value>,
}

fn parse_object(text: &str) -> Result<Value, String> {
    let object: Result<Map<String, Value>, _> = serde_json::from_str(text);
    object.map(Value::Object).map_err(|cause| format!("must be a JSON object, such as {{\"a\": 1}}: {cause}"))
}

const TASKS: Records = Records::new(
    "/tasks",
    "id external_id latest_version created_at deleted_at name",
    "id taskset_id team_id team name description external_id tags binarized column_values \
     latest_version created_at deleted_at",
);

const VERSIONS: Records = Records::new(
    "/task-versions",
    "id version current_state lifecycle_stage latest_build trace_count created_at",
    "id task_id team_id team version current_state lifecycle_stage brief agent_config environment \
     latest_build trace_count created_at",
);

const BUILDS: Records = Records::new(
    "/task-builds",
    "id build status created_at",
    "id task_version_id team_id team build status created_at",
);

impl ApiCommand for TaskCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            TaskCommand::List { taskset, external_id, deleted, limit } => {
                let path = format!("{}/tasks", TASKSETS.path_of(client, taskset)?);
                let filters = [("external_id", json!(external_id)), ("deleted", json!(deleted))];
                TASKS.list_at(&path, client, &filters, *limit)?;
            }
            TaskCommand::Show(task) => TASKS.show(client, task.id)?,
            TaskCommand::Create(new) => new.create(client)?,
            TaskCommand::Delete(OneTask { id }) => {
                client.delete(&format!("{}/{id}", TASKS.path))?;
                client.print(&json!({"deleted": id}), |_| print_line(format_args!("deleted task {id}")));
            }
            TaskCommand::Versions { of, limit } => {
                let path = format!("{}/{}/versions", TASKS.path, of.id);
                VERSIONS.list_at(&path, client, &[], *limit)?;
            }
            TaskCommand::Version(version) => VERSIONS.show(client, version.id)?,
            TaskCommand::CreateVersion(new) => new.create(client)?,
            TaskCommand::Builds { of, limit } => {
                let path = format!("{}/{}/builds", VERSIONS.path, of.id);
                BUILDS.list_at(&path, client, &[], *limit)?;
            }
            TaskCommand::Build { id } => BUILDS.show(client, id)?,
            TaskCommand::CreateBuild { of, status } => {
                let path = format!("{}/{}/builds", VERSIONS.path, of.id);
                client.print_id(&client.post(&path, &json!({"status": status}))?);
            }
            TaskCommand::EditBuild { id, status } => {
                BUILDS.edit(client, id, &json!({"status": status}))?;
            }
        }
        Ok(())
    }
}

impl NewTask {
    fn create(&self, client: &Client) -> CommandResult {
        let body = body_of([
            ("name", json!(self.name)),
            ("description", json!(self.description)),
            ("external_id", json!(self.external_id)),
            ("tags", json!(self.tags)),
            ("binarized", json!(self.binarized)),
            ("column_values", json!(self.columns)),
        ]);
        let path = format!("{}/tasks", TASKSETS.path_of(client, &self.taskset)?);
        client.print_id(&client.post(&path, &body)?);
        Ok(())
    }
}

impl NewVersion {
    fn create(&self, client: &Client) -> CommandResult {
        let body = body_of([
            ("current_state", json!(self.state)),
            ("lifecycle_stage", json!(self.stage)),
            ("brief", json!(self.brief)),
            ("agent_config", json!(self.agent_config)),
            ("environment", json!(self.environment)),
        ]);
        let path = format!("{}/{}/versions", TASKS.path, self.of.id);
        client.print_id(&client.post(&path, &body)?);
        Ok(())
    }
}
