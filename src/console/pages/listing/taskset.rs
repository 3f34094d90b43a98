//! A taskset of a listing: its newest tasks, with their latest versions, and the rewards of runs on them.

use serde_json::Value;

use crate::{
    console::{
        parts::{listing_view::ListingView, markdown},
        prelude::*,
    },
    domain::tasks::{self, Column, ColumnKind, DerivedColumn, GradedRun, VersionStage, VersionState},
    operations::{access::ListingViewer, browse, tasksets},
    store::{
        tasks::{PreviewedTask, PreviewedVersion, Trace},
        tasksets::Taskset,
    },
};

/// Maximum number of runs of a task that are shown.
const MAX_RUNS: usize = 20;

/// Maximum number of characters that are shown of a value in a task.
const MAX_VALUE: usize = 4_000;

/// The page.
pub struct TasksetPage;

impl Page<ListingViewer> for TasksetPage {
    const PATH: &'static str = "/listings/{listing_id}/tasksets/{taskset_id}";
    const TITLE: &'static str = "Taskset";
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<ListingViewer>) -> Result<Answer> {
        let (listing_id, taskset_id) = (visit.id(0)?, visit.id(1)?);
        let read = visit.read(move |reader, viewer| {
            let found = browse::find_rendering(reader, viewer.for_listing(listing_id)?, listing_id)?;
            let rendering = found.ok_or_else(|| Error::not_found("listing"))?;
            let (taskset, tasks) = tasksets::preview(reader, viewer, listing_id, taskset_id)?;
            Ok((ListingView::full(&rendering)?, taskset, tasks))
        });
        let (listing, taskset, tasks) = read.await?;
        let content = Content::new(taskset.name.clone(), body(&listing, &taskset, &tasks))
            .with_note(html! { "Taskset of " bdi { (listing.summary.team_name) } ", created " (text::day(taskset.created_at)) })
            .with_parent("Catalog", paths::CATALOG)
            .with_parent(listing.summary.title.clone(), paths::listing(listing_id))
            .with_request(format!("/v2/listings/browse/{listing_id}/tasksets/{taskset_id}/tasks"));
        Ok(content.into())
    }
}

fn body(listing: &ListingView, taskset: &Taskset, tasks: &[PreviewedTask]) -> Markup {
    if tasks.is_empty() {
        let advice = "The vendor has added none yet, or has deleted all of them.";
        return tables::empty("This taskset has no tasks", advice, None);
    }
    let tasksets = listing.details.iter().flat_map(|details| &details.tasksets);
    let all = tasksets.into_iter().find(|listed| listed.id == taskset.id).map(|listed| listed.task_count);
    html! {
        (figures(all, tasks))
        (tables::section("tasks", "Newest tasks", &table(&taskset.columns, tasks)))
        section.section aria-labelledby="each" {
            h2 #each { "Each task" }
            p.note { "Written by the vendor. Rewards are those of graded runs on the latest version of a task." }
            @for task in tasks { (details(&taskset.columns, task)) }
        }
    }
}

fn figures(all: Option<u64>, tasks: &[PreviewedTask]) -> Markup {
    let runs: Vec<GradedRun> = tasks.iter().flat_map(graded).collect();
    let shown = format!("the newest {} below", text::grouped(tasks.len() as u64));
    let mut figures = Vec::new();
    if let Some(all) = all {
        figures.push(("Tasks", html! { (text::grouped(all)) }, html! { (shown) }));
    }
    let note = html! { "on the tasks below" };
    figures.push(("Graded runs", html! { (text::grouped(runs.len() as u64)) }, note.clone()));
    for (name, column) in
        [("Average reward", DerivedColumn::AverageReward), ("Best reward", DerivedColumn::BestReward)]
    {
        figures.push((name, html! { (derived(column, &runs)) }, note.clone()));
    }
    tables::figures(&figures)
}

fn table(columns: &[Column], tasks: &[PreviewedTask]) -> Markup {
    let row = |previewed: &PreviewedTask| {
        let runs: Vec<GradedRun> = graded(previewed).collect();
        let name = html! { a href={ "#task-" (previewed.task.id) } { bdi { (previewed.task.name) } } };
        let [version, status, review] = match &previewed.version {
            Some(PreviewedVersion { version, .. }) => [
                html! { (version.version) },
                state(version.current_state),
                html! { (stage(version.lifecycle_stage)) },
            ],
            None => [html! { (text::MISSING) }, html! { "No version yet" }, html! { (text::MISSING) }],
        };
        [
            Head::text("Task").cell(name),
            Head::number("Version").cell(version),
            Head::text("Status").cell(status),
            Head::text("Review").cell(review),
            Head::number("Runs").cell(derived(DerivedColumn::Runs, &runs)),
            Head::number("Average reward").cell(derived(DerivedColumn::AverageReward, &runs)),
            Head::number("Best reward").cell(derived(DerivedColumn::BestReward, &runs)),
        ]
    };
    html! {
        (tables::of("Newest tasks", tasks, row))
        @if !columns.is_empty() { p.note { "The vendor's own columns are shown with each task below." } }
    }
}

/// Returns the graded runs on the latest version of a task.
fn graded(previewed: &PreviewedTask) -> impl Iterator<Item = GradedRun> {
    let traces = previewed.version.iter().flat_map(|version| &version.traces);
    traces.filter_map(|trace| Some(GradedRun { reward: trace.reward?, graded_at: trace.graded_at? }))
}

fn derived(column: DerivedColumn, runs: &[GradedRun]) -> String {
    tasks::derived_value(column, runs).map_or_else(|| text::MISSING.to_owned(), |value| value_text(&value))
}

pub fn state(state: VersionState) -> Markup {
    match state {
        VersionState::Draft => badges::badge(Tone::Neutral, "Draft"),
        VersionState::Submitted => badges::badge(Tone::Waiting, "Submitted"),
        VersionState::Live => badges::badge(Tone::Good, "Live"),
        VersionState::Superseded => badges::badge(Tone::Neutral, "Superseded"),
    }
}

pub const fn stage(stage: VersionStage) -> &'static str {
    match stage {
        VersionStage::Authoring => "Being written",
        VersionStage::InternalReview => "In review by the vendor",
        VersionStage::PlatformReview => "In review by the market",
        VersionStage::Accepted => "Accepted by the market",
    }
}

fn details(columns: &[Column], previewed: &PreviewedTask) -> Markup {
    let task = &previewed.task;
    let mut facts: Vec<(&str, Markup)> = Vec::new();
    facts.extend(task.external_id.as_ref().map(|id| ("Vendor's ID", html! { span.mono.long { (id) } })));
    if !task.tags.is_empty() {
        facts.push(("Tags", html! { span.long { bdi { (task.tags.join(", ")) } } }));
    }
    let rewards = if task.binarized { "Either 0 or 1" } else { "Between 0 and 1" };
    facts.push(("Rewards", html! { (rewards) }));
    facts.push(("Added", text::day(task.created_at)));
    let own_columns = columns.iter().filter(|column| column.kind != ColumnKind::Derived);
    let own_values = own_columns.filter_map(|column| {
        let value = task.column_values.get(&column.name).filter(|value| !value.is_null())?;
        Some((column.label.clone(), value))
    });
    let own_values: Vec<(String, &Value)> = own_values.collect();
    html! {
        details id={ "task-" (task.id) } {
            summary.long { bdi { (task.name) } }
            div.stack {
                @if let Some(description) = &task.description { div.prose.long { (markdown::render(description)) } }
                (tables::facts(&facts))
                (values("The vendor's columns", &own_values))
                @match &previewed.version { Some(version) => (version_of(version)), None => p.note { "This task has no version yet." } }
            }
        }
    }
}

fn version_of(previewed: &PreviewedVersion) -> Markup {
    let version = &previewed.version;
    html! {
        h3 { "Version " (version.version) }
        p.row {
            (state(version.current_state)) span.note { (stage(version.lifecycle_stage)) }
            span.note { "made " (text::day(version.created_at)) }
            @if let Some(at) = version.internally_reviewed_at { span.note { "reviewed by the vendor " (text::day(at)) } }
            @if let Some(build) = previewed.latest_build { span.note { "environment build " (build) } }
        }
        @for (name, fields) in [
            ("Content", &version.brief), ("Environment", &version.environment), ("Settings of the agent", &version.agent_config),
        ] {
            (values(name, &fields.iter().map(|(name, value)| (text::words(name), value)).collect::<Vec<_>>()))
        }
        (runs(&previewed.traces))
    }
}

fn runs(traces: &[Trace]) -> Markup {
    let row = |trace: &Trace| {
        let model = trace.model.as_deref().unwrap_or("A model that the market does not know");
        [
            Head::text("Model").cell(model),
            Head::number("Reward").cell(trace.reward.map_or_else(|| "Not graded".to_owned(), reward)),
            Head::number("Environment build").cell(trace.build),
            Head::number("Graded").cell(text::optional_day(trace.graded_at)),
        ]
    };
    let left_out = traces.len().saturating_sub(MAX_RUNS);
    html! {
        @if traces.is_empty() { p.note { "Nobody has run this version yet." } }
        @else { (tables::of("Runs", traces.iter().take(MAX_RUNS), row)) }
        @if left_out > 0 { p.note { "And " (text::counted(left_out as u64, "earlier run", "earlier runs")) "." } }
    }
}

fn reward(reward: f64) -> String {
    value_text(&Value::from((reward * 1e4).round() / 1e4))
}

/// Shows values that the vendor wrote, with their names, which may be long.
pub fn values(name: &str, values: &[(String, &Value)]) -> Markup {
    html! {
        @if !values.is_empty() { details {
            summary { (name) }
            div.stack { @for (name, value) in values { div.stack.tight {
                b.long { bdi { (name) } }
                (value_of(value))
            } } }
        } }
    }
}

/// Shows a value that the vendor wrote: texts as they are, anything nested as JSON.
fn value_of(value: &Value) -> Markup {
    let text = value_text(value);
    let shown: String = text.chars().take(MAX_VALUE).collect();
    let is_cut = shown.len() < text.len();
    html! {
        @if shown.contains('\n') || value.is_object() || value.is_array() { pre.long tabindex="0" { bdi { (shown) } } }
        @else { span.long { bdi { (shown) } } }
        @if is_cut { p.note { "Cut after " (text::grouped(MAX_VALUE as u64)) " characters." } }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        other => other.to_string(),
    }
}
