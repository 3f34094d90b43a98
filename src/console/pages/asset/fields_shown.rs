//! The fields of an asset by its kind, each with the reason why it is read-only if it is.

use super::{columns, lock_reason};
use crate::{
    console::prelude::*,
    domain::{
        assets::{Environment, Exclusivity, Kind, TaskType},
        inventory::{Asset, TaskDetails},
        task_quality::ModelResults,
        time::Day,
    },
    operations::asset_details::AssetDetails,
};

/// Returns the words for whether a codebase can be sold exclusively.
pub const fn exclusivity(exclusivity: Exclusivity) -> &'static str {
    match exclusivity {
        Exclusivity::Available => "Can be sold exclusively",
        Exclusivity::Unavailable => "Cannot be sold exclusively",
    }
}

/// Returns the words for a subject area.
pub const fn task_type(task_type: TaskType) -> &'static str {
    match task_type {
        TaskType::Coding => "Software development",
        TaskType::Finance => "Finance",
        TaskType::Legal => "Law",
        TaskType::General => "General",
    }
}

/// Returns why a field is read-only; nothing if it is not.
pub fn lock_note(asset: &Asset, field: &str) -> Markup {
    html! { @if let Some(source) = asset.locks.get(field) { p.note { (lock_reason(*source)) } } }
}

/// Returns the fields.
pub fn fields(details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    let mut facts = Facts { asset, facts: Vec::new() };
    if asset.kind.is_edited_by_vendors() {
        facts.add("price_usd", "Asking price, USD", asset.price.map(text::money));
    }
    facts.add("domain_tags", "Domains", domains(details));
    if let Some(words) = asset.other_domain.clone() {
        facts.add("other_domain", "Domain in words", Some(words));
    }
    match asset.kind {
        Kind::Codebase => codebase(&mut facts, details.is_sold_exclusively),
        Kind::Task => {
            if let Some(details) = &asset.task {
                facts.add("task_type", "Subject", Some(task_type(details.task_type).to_owned()));
                facts.add("", "Version", Some(details.version.to_string()));
            }
        }
        Kind::Environment => environment(&mut facts, asset.environment.as_ref()),
        Kind::RoboticsDataset => robotics(&mut facts, details),
        Kind::RawData | Kind::Taskset | Kind::Bundle | Kind::Other => {}
    }
    if let Some(notes) = &asset.notes {
        facts.add("notes", "Your notes", Some(notes.clone()));
    }
    for (name, value) in &asset.extra_columns {
        facts.facts.push((name, html! { bdi.long { (columns::value_text(value)) } }));
    }
    html! {
        @if !asset.kind.is_edited_by_vendors() {
            p.note { "The market manages " (kinds::words(asset.kind).1) ", so they cannot be edited here." }
        }
        (tables::facts(&facts.facts))
        @if !asset.extra_columns.is_empty() { (lock_note(asset, "extra_columns")) }
        @if let Some(task) = &asset.task { (quality_of_task(task)) }
    }
}

/// Fields with their names.
struct Facts<'a> {
    asset: &'a Asset,
    facts: Vec<(&'a str, Markup)>,
}

impl<'a> Facts<'a> {
    /// Adds a field. `field` is its name in the locks.
    fn add(&mut self, field: &str, name: &'a str, value: Option<String>) {
        let note = lock_note(self.asset, field);
        let shown = html! {
            @match value { Some(value) => bdi.long { (value) }, None => (text::MISSING) }
            (note)
        };
        self.facts.push((name, shown));
    }
}

fn domains(details: &AssetDetails) -> Option<String> {
    let label = |slug: &String| details.domain_labels.get(slug).cloned().unwrap_or_else(|| text::words(slug));
    let labels: Vec<String> = details.asset.domain_tags.iter().map(label).collect();
    (!labels.is_empty()).then(|| labels.join(", "))
}

fn codebase(facts: &mut Facts, is_sold: bool) {
    let fields = &facts.asset.codebase;
    let number = |number: Option<i64>| number.map(|number| text::grouped(number.unsigned_abs()));
    let day = |day: Option<Day>| {
        day.map(|day| {
            Timestamp::parse(&format!("{day}T00:00:00Z")).map_or_else(|| day.to_string(), text::day_text)
        })
    };
    let exclusive = match fields.exclusivity {
        Some(_) if is_sold => Some("Sold exclusively".to_owned()),
        known => known.map(|known| exclusivity(known).to_owned()),
    };
    facts.add("exclusivity", "Exclusive sale", exclusive);
    facts.add("lines_of_code", "Lines of code", number(fields.lines_of_code));
    facts.add("commits", "Commits", number(fields.commits));
    facts.add("contributors", "Contributors", number(fields.contributors));
    facts.add("merged_prs", "Merged pull requests", number(fields.merged_prs));
    facts.add("history_start", "First commit", day(fields.history_start));
    facts.add("history_end", "Last commit", day(fields.history_end));
    let ci = fields.ci_on_prs.map(|runs| if runs { "Yes" } else { "No" }.to_owned());
    facts.add("ci_on_prs", "CI runs on pull requests", ci);
}

fn environment(facts: &mut Facts, environment: Option<&Environment>) {
    let Some(environment) = environment else { return };
    facts.add("", "Build", Some(environment.build_version.to_string()));
    let built = environment.built_at.map(|at| text::moment_text(Timestamp(at)));
    facts.add("", "Built", Some(built.unwrap_or_else(|| "Not built".to_owned())));
    facts.add("", "Capabilities", Some(environment.capabilities.join(", ")).filter(|text| !text.is_empty()));
    facts.add("", "Tasks", Some(text::grouped(environment.task_count)));
}

fn robotics(facts: &mut Facts, details: &AssetDetails) {
    let Some(robotics) = &details.facts.robotics else { return };
    let format = |format: &crate::domain::assets::RoboticsFormat| {
        kinds::robotics_format(format.as_str()).unwrap_or(format.as_str())
    };
    let formats: Vec<&str> = robotics.formats.iter().map(format).collect();
    facts.add("", "Formats", Some(formats.join(", ")).filter(|text| !text.is_empty()));
    facts.add("", "Episodes", Some(text::grouped(robotics.episodes)));
    facts.add("", "Size", Some(text::size(robotics.size_bytes)));
}

/// Returns how models did on a task, as of the last refresh.
fn quality_of_task(task: &TaskDetails) -> Markup {
    let quality = &task.quality;
    let models = quality.pass_at_k.iter().map(|(model, results)| (model.as_str(), results));
    let others =
        quality.unattributed_runs.iter().map(|results| ("Models that the market does not know", results));
    let mut results = models.chain(others).peekable();
    let row = |(model, results): (&str, &ModelResults)| {
        [
            Head::text("Model").cell(html! { bdi { (model) } }),
            Head::number("Graded runs").cell(text::grouped(results.runs.into())),
            Head::number("Average reward").cell(format!("{:.2}", results.avg_reward)),
            Head::number("Of the newest five").cell(format!("{:.2}", results.pass_at_k)),
        ]
    };
    html! {
        p.row {
            @if quality.is_built { (badges::badge(Tone::Good, "Environment built")) }
            @else { (badges::badge(Tone::Neutral, "Environment not built")) }
            @if let Some(at) = task.refreshed_at { span.note { "as of " (text::moment(at)) } }
        }
        @if results.peek().is_none() { p.note { "No model has a graded run on this version yet." } }
        @else { (tables::of("Results of models", results, row)) }
    }
}
