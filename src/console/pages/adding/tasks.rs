//! Tasks of the platform as assets: from tasksets of the team.

use super::{GROUP, below_adding, chosen_group};
use crate::{
    console::prelude::*,
    domain::{assets::TaskType, tasks::SkipReason},
    operations::{
        groups,
        tasks::{self, ImportSummary},
    },
    store::{groups::Group, tasksets::TasksetSummary},
};

/// Number of tasksets that are shown: the newest that match.
const SHOWN: usize = 100;

/// Number of skipped tasks that are shown by name.
const SKIPPED_SHOWN: usize = 200;

/// The page.
pub struct AddTasks;

impl Page<Vendor> for AddTasks {
    const PATH: &'static str = "/inventory/add/tasks";
    const TITLE: &'static str = "Add tasks from tasksets";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let searched = visit.query.get("query").unwrap_or_default().to_owned();
        let text = searched.clone();
        let read = move |reader: &Reader, vendor: &Vendor| {
            Ok((tasks::list_tasksets(reader, vendor, &text, SHOWN)?, groups::list(reader, vendor)?))
        };
        let (tasksets, groups) = visit.read(read).await?;
        let body = html! {
            form.row action=(visit.links.to(Self::PATH)) aria-label="Filter" {
                (Field::text("query", "Name has").value(&searched).at_most(200).show(&crate::console::forms::Inputs::default()))
                button { "Filter" }
            }
            @if tasksets.is_empty() && searched.is_empty() {
                (tables::empty(
                    "Your team has no tasksets",
                    "The market creates a taskset for tasks that your team builds on the platform.",
                    Some(("Add assets in another way", &visit.links.to(paths::ADD_ASSETS))),
                ))
            } @else if tasksets.is_empty() {
                (tables::empty("Nothing matches", "No taskset of your team has this in its name.", Some(("Show all", &visit.links.to(Self::PATH)))))
            } @else {
                (form(&visit.context, &tasksets, &groups))
            }
        };
        let note =
            html! { "The latest version of each task becomes an asset, if its latest build has succeeded." };
        Ok(below_adding(Content::new(Self::TITLE, body).with_note(note)).into())
    }
}

fn form(context: &Context, tasksets: &[TasksetSummary], groups: &[Group]) -> Markup {
    let inputs = &context.inputs;
    let choices = tasksets.iter().map(|taskset| {
        let tasks = text::counted(taskset.tasks, "task", "tasks");
        (taskset.id, format!("{} ({tasks})", taskset.name))
    });
    let types = text::word_choices::<TaskType>();
    let groups = groups.iter().map(|group| (group.id.to_string(), group.name.clone()));
    let none = (String::new(), "One with the name of each taskset".to_owned());
    let groups = std::iter::once(none).chain(groups);
    let content = html! {
        (fields::required_checkboxes(inputs, "taskset_id", "Tasksets", choices, |_| false))
        @if tasksets.len() == SHOWN { p.note { "Only the newest " (SHOWN) " are shown. Filter by name to find others." } }
        (fields::select(inputs, "task_type", "Subject of the tasks", types, TaskType::Coding.as_str()))
        (fields::select(inputs, GROUP, "Group", groups, ""))
        (fields::buttons(context, "Add the tasks", ("Leave", paths::ADD_ASSETS)))
    };
    fields::form(context, AddTasks::PATH, &content)
}

impl FormPage<Vendor> for AddTasks {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let mut problems = Vec::new();
        let chosen: Vec<Uuid> =
            fields.all("taskset_id").filter_map(|text| Uuid::try_parse(text).ok()).take(SHOWN).collect();
        if chosen.is_empty() {
            problems.push(problem("taskset_id", "Choose at least one taskset."));
        }
        let task_type = fields.get("task_type").and_then(TaskType::parse);
        if task_type.is_none() {
            problems.push(problem("task_type", "Choose the subject of the tasks."));
        }
        let group = collect(chosen_group(fields), &mut problems)?.flatten();
        let (Some(task_type), true) = (task_type, problems.is_empty()) else {
            return Err(Error::Invalid(problems));
        };
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            tasks::import_tasksets(writer, vendor, &chosen, task_type, group)
        };
        let change = Change::new("import_tasks", "team", visit.access.team().id);
        let summary: ImportSummary = changes::perform(visit, fields, change, work).await?;
        Ok(result(&visit.context, &summary).into())
    }
}

fn result(context: &Context, summary: &ImportSummary) -> Content {
    let ImportSummary { imported, existing, skipped } = summary;
    let figures = [
        ("Added", html! { (text::grouped(*imported)) }, html! { "New assets" }),
        ("There already", html! { (text::grouped(*existing)) }, html! { "Assets of the same version" }),
        ("Skipped", html! { (text::grouped(skipped.len() as u64)) }, html! { "See why below" }),
    ];
    let row = |(id, name, reason): &(Uuid, String, String)| {
        [
            Head::text("Task").cell(html! { span.long { bdi { (name) } } br; span.note.mono.long { (id) } }),
            Head::text("Why it was skipped").cell(why_skipped(reason)),
        ]
    };
    let body = html! {
        (tables::figures(&figures))
        @if !skipped.is_empty() {
            (tables::section("skipped", "Skipped tasks", &html! {
                (tables::of("Skipped tasks", skipped.iter().take(SKIPPED_SHOWN), row))
                @if skipped.len() > SKIPPED_SHOWN { p.note { "Only the first " (SKIPPED_SHOWN) " are shown." } }
            }))
        }
        div.row {
            a.button.primary href=(context.links.to(paths::INVENTORY)) { "Open the inventory" }
            a.button href=(context.links.to(AddTasks::PATH)) { "Add more tasks" }
        }
    };
    let title = format!("{} added", text::counted(*imported, "task was", "tasks were"));
    below_adding(Content::new(title, body))
}

fn why_skipped(reason: &str) -> &'static str {
    match SkipReason::parse(reason) {
        Some(SkipReason::NoVersion) => "It has no version yet",
        Some(SkipReason::NoBuild) => "Its latest version has no build",
        Some(SkipReason::BuildNotSucceeded) => "The latest build of its latest version has not succeeded",
        Some(SkipReason::Deleted) => "It was deleted",
        Some(SkipReason::Foreign) => "It belongs to another team",
        None => "Its state does not allow it",
    }
}
