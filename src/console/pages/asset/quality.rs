//! The quality runs of an asset: the latest one and earlier ones on its page, and each on a page of its own.

use super::{below_asset, follow, path};
use crate::{
    console::{parts::findings, prelude::*},
    domain::quality_runs::RunOutcome,
    operations::asset_details::{self, AssetDetails},
    store::quality_runs::RunRow,
};

/// Returns the path of a run of an asset.
pub fn run_path(asset: Uuid, run: Uuid) -> String {
    path(asset, &format!("runs/{run}"))
}

/// Whether a run is in progress.
pub fn is_running(details: &AssetDetails) -> bool {
    details.latest_run.as_ref().is_some_and(|latest| latest.run.completed_at.is_none())
}

/// Returns the outcome of the latest run; nothing if the asset was never checked.
pub fn badge(details: &AssetDetails) -> Markup {
    html! { @if let Some(latest) = &details.latest_run {
        span.row {
            span.note { "Checks:" }
            @if details.is_run_of_other_data() { (badges::badge(Tone::Neutral, "Of other data")) }
            @else { (badges::of(findings::tone_and_label(findings::outcome(latest.run.status, latest.has_passed)))) }
        }
    } }
}

/// Returns the section about the runs; nothing if the asset has none, and cannot be checked by itself.
pub fn section(context: &Context, details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    if details.runs.is_empty() && !asset.kind.supports_proposals() {
        return Markup::default();
    }
    let check = context.links.to(&path(asset.id, "check"));
    let content = html! {
        @match &details.latest_run {
            None => p { "It was never checked. " a href=(check) { "See what a check costs" } },
            Some(latest) => {
                p.row { span { "Run " (latest.run.run_number) } a href=(context.links.to(&run_path(asset.id, latest.run.id))) { "On its own page" } }
                @if details.is_run_of_other_data() {
                    p.note { "The data was detached or replaced since. These are the results of the earlier data." }
                }
                (findings::run(context, latest))
            }
        }
        (earlier(context, asset.id, details.runs.get(1..).unwrap_or_default()))
    };
    tables::section("checks", "Checks", &content)
}

fn earlier(context: &Context, asset: Uuid, runs: &[(RunRow, u64)]) -> Markup {
    let row = |(run, not_passed): &(RunRow, u64)| {
        let outcome: RunOutcome = findings::outcome(run.status, *not_passed == 0);
        [
            Head::text("Run").cell(
                html! { a href=(context.links.to(&run_path(asset, run.id))) { "Run " (run.run_number) } },
            ),
            Head::text("Result").cell(badges::of(findings::tone_and_label(outcome))),
            Head::number("Started").cell(text::day(run.started_at)),
            Head::number("Cost, USD").cell(text::money(run.charge)),
        ]
    };
    html! { @if !runs.is_empty() { h3 { "Earlier runs" } (tables::of("Earlier runs", runs, row)) } }
}

/// The page of a run of an asset.
pub struct AssetRun;

impl Page<Vendor> for AssetRun {
    const PATH: &'static str = "/inventory/{asset_id}/runs/{run_id}";
    const TITLE: &'static str = "Checks of an asset";
    const BUDGET: Budget = Budget::QualityChecks;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let (id, run) = (visit.id(0)?, visit.id(1)?);
        let read = move |reader: &Reader, vendor: &Vendor| {
            let (asset, found) = asset_details::find_run(reader, vendor, id, run)?;
            Ok((asset, found, notifications::list_about(reader, vendor, &[run], about::LIMIT)?))
        };
        let (asset, found, notifications) = visit.read(read).await?;
        let body = html! {
            @if found.run.completed_at.is_none() { (follow(&visit.context, &run_path(id, run))) }
            div.stack {
                (tables::section("run", "The run", &findings::summary(&found)))
                @if !found.checks.is_empty() {
                    (tables::section("found", "What was found", &findings::findings(&visit.context, &found.checks)))
                }
                (about::section(&visit.context, &notifications))
            }
        };
        let content = Content::new(format!("Run {} of the checks", found.run.run_number), body);
        Ok(below_asset(content, &asset).into())
    }
}
