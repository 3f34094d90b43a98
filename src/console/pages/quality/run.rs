//! The page of a quality run: of a listing, or of an asset that was deleted. The run of another asset is below the page of
//! its asset.

use super::{kind, name, run_path};
use crate::{
    console::{parts::findings, prelude::*},
    operations::{quality_reports, quality_runs::CheckedRun},
    store::{
        notifications::Notification,
        records::team_lists::quality_runs::{RunSubject, TeamRun},
    },
};

/// The page.
pub struct RunPage;

impl Page<Vendor> for RunPage {
    const PATH: &'static str = "/quality/runs/{id}";
    const TITLE: &'static str = "Quality run";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let (summary, run) = quality_reports::find_run(reader, vendor, id)?;
            Ok((summary, run, notifications::list_about(reader, vendor, &[id], about::LIMIT)?))
        };
        let (summary, run, notifications) = visit.read(read).await?;
        let path = run_path(id, &summary.subject);
        if path != format!("{}/runs/{id}", paths::QUALITY) {
            return Ok(Answer::Redirect(path));
        }
        Ok(content(&visit.context, &summary, &run, &notifications).into())
    }
}

fn content(
    context: &Context,
    summary: &TeamRun,
    run: &CheckedRun,
    notifications: &[Notification],
) -> Content {
    let here = context.links.to(&context.path);
    let body = html! {
        @if summary.completed_at.is_none() {
            // With scripts, the page updates itself during the run.
            div hx-get=(here) hx-trigger="every 5s" hx-target="#main" hx-select="#main" hx-swap="outerMorph" {}
            p { a href=(here) { "See how far it is" } }
        }
        (tables::section("run", "The run", &findings::summary(run)))
        @if !run.checks.is_empty() {
            (tables::section("findings", "What was checked", &findings::findings(context, &run.checks)))
        }
        (about::section(context, notifications))
    };
    let content = Content::new(format!("{}, run {}", name(&summary.subject), summary.run_number), body)
        .with_parent("Quality", paths::QUALITY)
        .with_note(html! { (kind(&summary.subject)) });
    match &summary.subject {
        RunSubject::Listing { id, .. } => content
            .with_actions(
                html! { a.button href=(context.links.to(&paths::own_listing(*id))) { "Open the listing" } },
            )
            .with_request(format!("/v2/listings/{id}/qc")),
        RunSubject::Asset { .. } => content,
    }
}
