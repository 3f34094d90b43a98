//! The part of a listing's form that says what the sample has.

use super::{field_names, read, subject::Subject};
use crate::{
    console::{parts::samples, prelude::*},
    domain::{
        assets::Kind,
        inventory::Asset,
        samples::{DEFAULT_FILES, DEFAULT_TASKS, MAX_SAMPLE_ASSETS, SampledAsset, Selection},
    },
    operations::samples::{SampleContent, SampledPart},
};

/// Maximum size in bytes of the checkboxes for files of all assets in a form if all are ticked. Together with the
/// longest texts, they fit into [`MAX_FORM_BYTES`](crate::console::forms::MAX_FORM_BYTES).
const MAX_BOX_BYTES: usize = 32_000;

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
    let is_sampled =
        |content: &&SampleContent| read::choice(inputs.typed(), content.asset, &edited.fields.sample).0;
    let chosen: Vec<SampleContent> = subject.contents.iter().filter(is_sampled).cloned().collect();
    let boxes = boxes(subject.contents);
    let content = |asset: &Asset| subject.contents.iter().find(|content| content.asset == asset.id);
    let files =
        |asset: &Asset| boxes.iter().find(|(id, _)| *id == asset.id).map(|(_, files)| files.as_slice());
    let choice = |asset: &Asset, may_be_attached: bool| {
        let shown = AssetChoice { asset, content: content(asset), files: files(asset).unwrap_or_default() };
        asset_choice(context, inputs, &shown, &edited.fields.sample, may_be_attached)
    };
    inputs.add_label(field_names::SAMPLE, "Content of the sample");
    let problem = inputs.problem(field_names::SAMPLE);
    html! {
        fieldset.stack #sample aria-describedby=[problem.as_ref().map(|_| "sample-p")] {
            legend { b { "Content of the sample" } }
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

/// An asset as a choice.
struct AssetChoice<'s> {
    asset: &'s Asset,
    content: Option<&'s SampleContent>,
    /// Its files, if they are few enough to be chosen from a list.
    files: &'s [&'s str],
}

/// Returns the files of the assets that are chosen from a list, and not typed.
fn boxes(contents: &[SampleContent]) -> Vec<(Uuid, Vec<&str>)> {
    // A browser sends these as they are.
    let is_plain = |path: &&str| path.trim() == *path && !path.contains(char::is_control);
    let mut left = MAX_BOX_BYTES;
    let mut boxes = Vec::new();
    for content in contents {
        let SampledPart::Files(files) = &content.part else { continue };
        let bytes = files.paths.iter().map(|path| box_bytes(content.asset, path)).sum();
        let Some(rest) = left.checked_sub(bytes) else { continue };
        left = rest;
        boxes.push((content.asset, files.paths.iter().map(String::as_str).filter(is_plain).collect()));
    }
    boxes
}

/// Returns the size of a ticked file in a form, as browsers encode it.
fn box_bytes(asset: Uuid, path: &str) -> usize {
    let encoded: usize = form_urlencoded::byte_serialize(path.as_bytes()).map(str::len).sum();
    "&=".len() + field_names::files_field(asset).len() + encoded
}

/// Shows an asset as a choice. `may_be_attached` is false if it is not on the listing.
fn asset_choice(
    context: &Context,
    inputs: &Inputs,
    shown: &AssetChoice<'_>,
    sample: &[SampledAsset],
    may_be_attached: bool,
) -> Markup {
    let AssetChoice { asset, content, .. } = shown;
    let (is_chosen, selection) = read::choice(inputs.typed(), asset.id, sample);
    let has_problem = [field_names::paths_field(asset.id), field_names::tasks_field(asset.id)]
        .iter()
        .any(|name| inputs.problem(name).is_some());
    let is_open = has_problem || selection.paths.is_some() || selection.task_ids.is_some();
    html! {
        div.stack.tight {
            label.tick {
                input type="checkbox" name=(field_names::SAMPLE) value=(asset.id) checked[is_chosen];
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
                div.stack.tight {
                    p.note { "What you choose here is in the sample, even if the asset is not ticked above." }
                    (parts(inputs, shown, &selection))
                    p.note { a href=(context.links.to(&paths::asset(asset.id))) target="_blank" rel="noopener" {
                        "See what it contains" span.out { ": " bdi { (title(asset)) } } " (in a new tab)"
                    } }
                }
            }
        }
    }
}

/// Shows the fields with the parts of an asset: its files as checkboxes if there are not too many, and other paths and tasks as text.
fn parts(
    inputs: &Inputs,
    AssetChoice { asset, files, .. }: &AssetChoice<'_>,
    selection: &Selection,
) -> Markup {
    let (paths_name, tasks_name, files_name) = (
        field_names::paths_field(asset.id),
        field_names::tasks_field(asset.id),
        field_names::files_field(asset.id),
    );
    let chosen = selection.paths.as_deref().unwrap_or_default();
    let is_listed = |path: &&String| files.contains(&path.as_str());
    let (listed, others): (Vec<&String>, Vec<&String>) = chosen.iter().partition(is_listed);
    let others: Vec<&str> = others.into_iter().map(String::as_str).collect();
    let tasks: Vec<String> = selection.task_ids.iter().flatten().map(Uuid::to_string).collect();
    let (label, hint) = if files.is_empty() {
        ("Files and folders", "One path on each line, from the root, such as docs/ or src/main.c.")
    } else {
        (
            "Whole folders",
            "One path on each line, from the root, such as docs/. All files in it are in the sample.",
        )
    };
    html! {
        @if !files.is_empty() {
            fieldset.stack.tight.files {
                legend { b { "Files" } span.out { ": " bdi { (title(asset)) } } }
                @for file in *files {
                    label.tick {
                        input type="checkbox" name=(files_name) value=(file)
                            checked[inputs.is_chosen(&files_name, file, listed.iter().any(|path| path == file))];
                        bdi.mono.long { (file) }
                    }
                }
            }
        }
        div.two {
            @if has_files(asset.kind) || !others.is_empty() {
                (Field::lines(&paths_name, label)
                    .of(title(asset))
                    .hint(html! { (hint) })
                    .value(others.join("\n"))
                    .show(inputs))
            }
            @if has_tasks(asset.kind) || !tasks.is_empty() {
                (Field::lines(&tasks_name, "Tasks")
                    .of(title(asset))
                    .hint(html! { "One task ID on each line." })
                    .value(tasks.join("\n"))
                    .show(inputs))
            }
        }
    }
}

/// Returns the title of an asset, which can be missing.
pub(super) fn title(asset: &Asset) -> &str {
    samples::title_or_default(&asset.title)
}

const fn has_tasks(kind: Kind) -> bool {
    matches!(kind, Kind::Task | Kind::Taskset | Kind::Bundle | Kind::Environment)
}

const fn has_files(kind: Kind) -> bool {
    !matches!(kind, Kind::Task | Kind::Taskset | Kind::Bundle)
}
