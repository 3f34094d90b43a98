//! The list of all quality runs of a vendor.

use super::{kind, name, run_path, tabs};
use crate::{
    console::{parts::findings, prelude::*},
    domain::quality_runs::RunOutcome,
    store::records::team_lists::quality_runs::TeamRun,
};

/// The list.
pub struct Runs;

impl List<Vendor> for Runs {
    const PATH: &'static str = paths::QUALITY;
    const TITLE: &'static str = "Quality";
    const FILE_NAME: &'static str = "quality-runs";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Selling.link("Quality"));

    type Row = TeamRun;

    fn columns() -> Vec<Column<TeamRun>> {
        vec![
            Column::new(Head::text("Checked"), title, |row| name(&row.subject)),
            Column::words_in_file("Run", |row| row.run_number.to_string()),
            Column::words("Kind", |row| kind(&row.subject)),
            Column::badge("Result", |row| findings::tone_and_label(outcome(row))),
            Column::figures("Checks passed", passed).only_in_table(),
            Column::words_in_file("Checks passed", |row| row.passed.to_string()),
            Column::words_in_file("Checks", |row| row.checks.to_string()),
            Column::day("Started", |row| row.started_at),
            Column::optional_day("Ended", |row| row.completed_at),
            Column::words("Started by", |row| findings::starter(row.triggered_by).to_owned()),
            Column::money("Cost, USD", |row| row.charge),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("text", "Title contains"),
        ListFilter::choice("subject", "What was checked", subjects),
        ListFilter::choice("result", "Result", results),
    ];

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<TeamRun>> {
        team_records::page(reader, vendor, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "Nothing was checked yet",
            "A run checks an asset, or a listing with all of its assets. Start one on the page of an asset. Submitting a listing for \
             review starts one of the listing. Both pages say before what it costs.",
            Some(("See your assets", &context.links.to(paths::INVENTORY))),
        )
    }

    fn finish(context: &Context, mut content: Content) -> Content {
        content.body = html! { (tabs(&context.links, paths::QUALITY)) (content.body) };
        content
            .with_note(html! { "Runs of checks of your assets and listings, newest first." })
            .with_request("/v2/listings/qc-reports")
    }
}

fn title(context: &Context, row: &TeamRun) -> Markup {
    html! {
        a.long href=(context.links.to(&run_path(row.id, &row.subject))) { bdi { (name(&row.subject)) } }
        span.note { ", run " (row.run_number) }
    }
}

fn outcome(row: &TeamRun) -> RunOutcome {
    findings::outcome(row.status, row.mandatory_not_passed == 0)
}

fn passed(row: &TeamRun) -> String {
    if row.checks == 0 {
        return text::MISSING.to_owned();
    }
    format!("{} of {}", text::grouped(row.passed), text::grouped(row.checks))
}

fn subjects() -> Vec<(&'static str, String)> {
    let kinds = text::choices(kinds::plural);
    std::iter::once(("listing", "Listings".to_owned())).chain(kinds).collect()
}

fn results() -> Vec<(&'static str, String)> {
    let ended = RunOutcome::ALL.iter().filter(|outcome| **outcome != RunOutcome::None);
    ended.map(|outcome| (outcome.as_str(), findings::tone_and_label(*outcome).1.to_owned())).collect()
}
