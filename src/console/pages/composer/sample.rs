//! The part of a listing's form that says what the sample has.

use super::subject::Subject;
use crate::{
    console::{
        forms::Inputs,
        parts::{icons, kinds, samples},
        prelude::*,
    },
    domain::{
        assets::Kind,
        inventory::Asset,
        samples::{DEFAULT_FILES, DEFAULT_TASKS, MAX_SAMPLE_ASSETS, SampledAsset},
    },
    operations::samples::SampleContent,
};

/// Field with the ID of an asset of the sample, repeated.
pub(super) const SAMPLE: &str = "sample";

/// Returns the name of the field with the paths of an asset.
pub(super) fn paths_field(asset: Uuid) -> String {
    format!("paths_{asset}")
}

/// Returns the name of the field with the tasks of an asset.
pub(super) fn tasks_field(asset: Uuid) -> String {
    format!("tasks_{asset}")
}

/// Shows which assets the sample has. A new listing has no assets yet.
pub(super) fn section(context: &Context, inputs: &Inputs, subject: &Subject<'_>, is_offered: bool) -> Markup {
    let Some(edited) =
        subject.edited.filter(|edited| edited.asset_count > 0 || !edited.fields.sample.is_empty())
    else {
        return html! { p.note #sample {
            "Attach assets after saving the draft. Then choose here which of them the sample has."
        } };
    };
    let shown = edited.assets.len();
    let is_sampled = |content: &&SampleContent| {
        let stored = edited.fields.sample.iter().any(|sampled| sampled.asset_id == content.asset);
        inputs.is_chosen(SAMPLE, &content.asset.to_string(), stored)
    };
    let chosen: Vec<SampleContent> = subject.contents.iter().filter(is_sampled).cloned().collect();
    let content = |asset: &Asset| subject.contents.iter().find(|content| content.asset == asset.id);
    let choice = |asset: &Asset, may_be_attached: bool| {
        asset_choice(context, inputs, (asset, content(asset)), &edited.fields.sample, may_be_attached)
    };
    inputs.add_label(SAMPLE, "What the sample has");
    let problem = inputs.problem(SAMPLE);
    html! {
        fieldset.stack #sample aria-describedby=[problem.as_ref().map(|_| "sample-p")] {
            legend { b { "What the sample has" } }
            p.note {
                "A free or cheap part of the listing, with which buyers judge the rest. Choose up to " (MAX_SAMPLE_ASSETS)
                " assets. Without paths and tasks, a sample has the readme, the license, the first " (DEFAULT_FILES)
                " files, and the first " (DEFAULT_TASKS) " tasks of each. If the data is small, that can be everything."
            }
            (samples::summary(&chosen, is_offered))
            @if let Some(problem) = problem { p.problem #sample-p { (icons::icon("bad")) span { (problem) } } }
            @for asset in &edited.assets { (choice(asset, true)) }
            @for asset in &edited.other_sampled { (choice(asset, edited.asset_count > shown)) }
            @if edited.asset_count > shown {
                p.note { "These are the first " (text::grouped(shown as u64)) " of " (text::grouped(edited.asset_count as u64))
                    " assets." }
            }
        }
    }
}

/// Shows an asset as a choice. `may_be_attached` is false if it is not on the listing.
fn asset_choice(
    context: &Context,
    inputs: &Inputs,
    (asset, content): (&Asset, Option<&SampleContent>),
    sample: &[SampledAsset],
    may_be_attached: bool,
) -> Markup {
    let (id, sampled) = (asset.id.to_string(), sample.iter().find(|sampled| sampled.asset_id == asset.id));
    let selection = sampled.map(|sampled| &sampled.selection);
    let stored_paths = selection.and_then(|selection| selection.paths.as_ref());
    let stored_tasks = selection.and_then(|selection| selection.task_ids.as_ref());
    let (paths_name, tasks_name) = (paths_field(asset.id), tasks_field(asset.id));
    let has_problem = inputs.problem(&paths_name).is_some() || inputs.problem(&tasks_name).is_some();
    let is_typed = |name: &str| inputs.typed().is_some_and(|typed| typed.get(name).is_some());
    let is_open = has_problem
        || stored_paths.is_some()
        || stored_tasks.is_some()
        || is_typed(&paths_name)
        || is_typed(&tasks_name);
    let is_chosen = inputs.is_chosen(SAMPLE, &id, sampled.is_some());
    let tasks: Vec<String> = stored_tasks.into_iter().flatten().map(Uuid::to_string).collect();
    html! {
        div.stack.tight {
            label.tick {
                input type="checkbox" name=(SAMPLE) value=(id) checked[is_chosen];
                span {
                    bdi.long { (title(asset)) } " "
                    span.note { (text::words(kinds::words(asset.kind).0))
                        @if !may_be_attached { ", no longer on the listing" } }
                    @if let Some(content) = content {
                        br; span.note { @if is_chosen { "The sample has " } @else { "If you choose it: " } (samples::part(&content.part)) }
                    }
                }
            }
            details open[is_open] {
                summary.note { "Choose its parts" span.out { ": " bdi { (title(asset)) } } }
                div.two {
                    @if has_files(asset.kind) || stored_paths.is_some() {
                        (Field::lines(&paths_name, "Files and folders")
                            .hint(html! { "One path on each line, from the root, such as docs/ or src/main.c." })
                            .value(stored_paths.map(|paths| paths.join("\n")).unwrap_or_default())
                            .show(inputs))
                    }
                    @if has_tasks(asset.kind) || stored_tasks.is_some() {
                        (Field::lines(&tasks_name, "Tasks")
                            .hint(html! { "One ID of a task on each line." })
                            .value(tasks.join("\n"))
                            .show(inputs))
                    }
                }
                p.note { a href=(context.links.to(&paths::asset(asset.id))) { "See what it contains" } }
            }
        }
    }
}

/// Returns the title of an asset, which can be missing.
pub(super) fn title(asset: &Asset) -> &str {
    if asset.title.trim().is_empty() { "Asset without a title" } else { &asset.title }
}

const fn has_tasks(kind: Kind) -> bool {
    matches!(kind, Kind::Task | Kind::Taskset | Kind::Bundle | Kind::Environment)
}

const fn has_files(kind: Kind) -> bool {
    !matches!(kind, Kind::Task | Kind::Taskset | Kind::Bundle)
}
