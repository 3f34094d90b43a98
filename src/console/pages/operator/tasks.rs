//! Tasks of tasksets, their versions, and the builds of those.

use super::prelude::*;
use crate::{
    domain::tasks::BuildStatus,
    operations::task_changes::{self, TaskInput},
    store::records::{
        tasks::{TASK_BUILDS, TASK_VERSIONS, TASKS as TASK_RECORDS},
        tasksets::TASKSETS as TASKSET_RECORDS,
    },
};

/// Tasks.
pub struct Tasks;

/// Versions of tasks.
pub struct Versions;

/// Builds of the environments of versions.
pub struct Builds;

impl Resource for Tasks {
    const LIST: &'static str = TASKS;
    const TITLE: &'static str = "Tasks";
    const RECORDS: &'static Records = &TASK_RECORDS;
    const LIST_API: &'static str = "/operator/v1/tasksets/{taskset_id}/tasks";
    const EMPTY: &'static str = "The tasks of tasksets appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TASK_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("name", "Name", Plain),
        RecordField::listed("taskset_id", "Taskset", Record(TASKSETS)),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("external_id", "ID of the vendor", Plain),
        RecordField::listed("latest_version", "Latest version", Number),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::listed("deleted_at", "Deleted", Moment),
        RecordField::detail("description", "Description, in the words of the vendor", Text),
        RecordField::detail("tags", "Tags", Many),
        RecordField::detail("binarized", "Rewards are 0 or 1", Flag),
        RecordField::detail("column_values", "Values of its columns, as JSON", Plain),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("taskset_id", "Taskset, by name or ID"),
        ListFilter::text("external_id", "ID of the vendor"),
        ListFilter::choice("deleted", "Deleted", resources::yes_or_no),
    ];

    const LINKS: Links = |record| vec![("Versions", format!("{VERSIONS}?task_id={}", Self::key_of(record)))];

    const STEPS: &'static [Step] = &[Step {
        name: "delete",
        label: "Delete",
        question: "In the name of the vendor. Its versions and traces stay, and so do the assets for it.",
        obstacle: |record| record.time("deleted_at").map(|_| "The task was deleted already."),
        is_final: true,
        operation: "delete_task",
        perform: |writer, operator, record, _| {
            let vendor = inputs::vendor(writer, operator, record)?;
            task_changes::delete_task(writer, &vendor, id_of(record)?).map(|()| None)
        },
        ..Step::DEFAULT
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Add a task",
        question: "In the name of the vendor. The task has no version yet, and no values of columns. The API states those.",
        inputs: &[
            Input::Required(&Input::Line("taskset_id", "ID of the taskset", "")),
            Input::Required(&Input::Line("name", "Name", "")),
            Input::Lines("description", "Description", "What the task asks for."),
            Input::Line(
                "external_id",
                "ID of the vendor",
                "Its identifier in the system of the vendor, if it has one.",
            ),
            Input::Tick("binarized", "Rewards are either 0 or 1."),
        ],
        operation: "create_task",
        perform: add_task,
        ..Step::DEFAULT
    });
}

fn add_task(
    writer: &mut Writer,
    operator: &ActingOperator,
    _: &AnyRecord,
    fields: &crate::console::forms::Fields,
) -> Result<Option<String>> {
    let id = resources::id(fields, "taskset_id")?;
    let taskset = records::find_any(writer.rows, operator.platform(), &TASKSET_RECORDS, &id);
    let taskset = taskset.map_err(|error| match error {
        Error::NotFound(_) => invalid("taskset_id", "No taskset has this ID."),
        other => other,
    })?;
    let task = TaskInput {
        name: resources::typed(fields, "name").to_owned(),
        description: fields.get("description").map(str::to_owned),
        external_id: fields.get("external_id").map(str::to_owned),
        tags: Vec::new(),
        binarized: fields.is_checked("binarized"),
        column_values: std::collections::BTreeMap::new(),
    };
    let vendor = inputs::vendor(writer, operator, &taskset)?;
    let task = task_changes::add_task(writer, &vendor, id, &task)?;
    Ok(Some(resources::path_of::<Tasks>(&task.to_string())))
}

impl Resource for Versions {
    const LIST: &'static str = VERSIONS;
    const TITLE: &'static str = "Versions of tasks";
    const RECORDS: &'static Records = &TASK_VERSIONS;
    const LIST_API: &'static str = "/operator/v1/tasks/{task_id}/versions";
    const EMPTY: &'static str = "The versions of tasks appear here. The API adds them.";
    const TABS: &'static [(&'static str, &'static str)] = TASK_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Version", Id),
        RecordField::listed("version", "Number", Number),
        RecordField::listed("task_id", "Task", Record(TASKS)),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("current_state", "Status", State),
        RecordField::listed("lifecycle_stage", "Stage of the review", Word),
        RecordField::listed("latest_build", "Latest build", Number),
        RecordField::listed("trace_count", "Traces", Number),
        RecordField::listed("created_at", "Created", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[ListFilter::text("task_id", "Task, by name or ID")];

    const RECORD_TITLE: RecordTitle = RecordTitle::Number("Version", "version");

    const LINKS: Links =
        |record| vec![("Builds", format!("{BUILDS}?task_version_id={}", Self::key_of(record)))];

    const STEPS: &'static [Step] = &[Step {
        name: "build",
        label: "Record a build",
        question: "In the name of the vendor. It becomes the latest build of the environment of this version.",
        inputs: &[Input::Options("status", "Status of the build", text::word_choices::<BuildStatus>)],
        operation: "create_task_build",
        creates: Builds::SUBJECT,
        perform: |writer, operator, record, fields| {
            let (vendor, status) =
                (inputs::vendor(writer, operator, record)?, resources::choice(fields, "status")?);
            let (id, _): (Uuid, u32) = task_changes::record_build(writer, &vendor, id_of(record)?, status)?;
            Ok(Some(resources::path_of::<Builds>(&id.to_string())))
        },
        ..Step::DEFAULT
    }];

    fn below_fields(_: &Reader, _: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let parts =
            [("brief", "Content"), ("agent_config", "Settings of the agent"), ("environment", "Environment")];
        let parts = parts.map(|(name, heading)| (name, heading, pretty(record.text(name))));
        Ok(Some(Box::new(move |_: &Context| {
            html! { @for (id, heading, json) in &parts { (json_section(id, heading, json)) } }
        })))
    }
}

/// Returns JSON with line breaks.
fn pretty(json: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn json_section(id: &str, heading: &str, json: &str) -> Markup {
    tables::section(id, heading, &html! { pre { code { (json) } } })
}

impl Resource for Builds {
    const LIST: &'static str = BUILDS;
    const TITLE: &'static str = "Builds of tasks";
    const RECORDS: &'static Records = &TASK_BUILDS;
    const SUBJECT: &'static str = "task_build";
    const LIST_API: &'static str = "/operator/v1/task-versions/{task_version_id}/builds";
    const EMPTY: &'static str = "Builds of the environments of tasks appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TASK_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Build", Id),
        RecordField::listed("build", "Number", Number),
        RecordField::listed("task_version_id", "Version", Record(VERSIONS)),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("created_at", "Recorded", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[ListFilter::text("task_version_id", "ID of the version")];

    const RECORD_TITLE: RecordTitle = RecordTitle::Number("Build", "build");

    const STEPS: &'static [Step] = &[Step {
        name: "status",
        label: "Change the state",
        question: "In the name of the vendor. A build that has ended stays as it is.",
        inputs: &[Input::Options("status", "Status of the build", text::word_choices::<BuildStatus>)],
        obstacle: |record| {
            let status = BuildStatus::parse(record.text("status"));
            status.is_none_or(|status| status.next().is_empty()).then_some("The build has ended.")
        },
        operation: "update_task_build",
        perform: |writer, operator, record, fields| {
            let (vendor, status) =
                (inputs::vendor(writer, operator, record)?, resources::choice(fields, "status")?);
            task_changes::update_build(writer, &vendor, id_of(record)?, status).map(|()| None)
        },
        ..Step::DEFAULT
    }];
}
