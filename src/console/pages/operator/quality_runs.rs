//! Quality runs of all teams, with the findings of their checks.

use super::prelude::*;
use crate::{
    domain::{
        quality_checks::CheckStatus,
        quality_runs::{RunOperation, RunStatus, RunTrigger},
    },
    operations::{assets, listing_lifecycle, operator_views, quality_runs as operations, teams},
    store::{
        quality_checks::CheckRow,
        records::{assets::AssetRecord, quality_runs::QUALITY_RUNS},
    },
};

/// Number of checks that are shown, those that did not pass first.
const CHECKS: usize = 500;

/// The resource.
pub struct QualityRuns;

impl Resource for QualityRuns {
    const LIST: &'static str = RUNS;
    const TITLE: &'static str = "Quality runs";
    const RECORDS: &'static Records = &QUALITY_RUNS;
    const EMPTY: &'static str = "Checks of listings and assets appear here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Run", Id),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("listing_id", "Listing", Record(LISTINGS)),
        RecordField::listed("asset_id", "Asset", Record(ASSETS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("passed", "Passed", Flag),
        RecordField::listed("triggered_by", "Started by", Word),
        RecordField::listed("started_at", "Started", Moment),
        RecordField::detail("run_number", "Number of the run", Number),
        RecordField::detail("charge", "Cost, USD", Money),
        RecordField::detail("error", "Why there is no result", Plain),
        RecordField::detail("review_feedback", "Note of the review", Text),
        RecordField::detail("completed_at", "Ended", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<RunStatus>),
        ListFilter::text("team_id", "Team, by name or ID"),
        ListFilter::text("listing_id", "Listing, by title or ID"),
        ListFilter::text("asset_id", "Asset, by title or ID"),
    ];

    const STEPS: &'static [Step] = &[Step {
        name: "cancel",
        label: "Cancel",
        question: "What it has computed is lost. The team gets the cost back, unless the checks have begun.",
        obstacle: |record| {
            let reason = "The run has ended already.";
            resources::refused::<RunStatus>(record, "status", RunOperation::Cancel, reason)
        },
        is_final: true,
        operation: "cancel_quality_run",
        perform: |writer, operator, record, _| {
            operations::cancel_run(writer, operator.platform(), id_of(record)?).map(|()| None)
        },
        ..Step::DEFAULT
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Start a quality run",
        question: "The team of the listing or the asset pays for it. Enter one of the two IDs.",
        inputs: &[
            Input::Line("listing_id", "ID of a listing", "It is checked with all its assets."),
            Input::Line("asset_id", "ID of an asset", "It is checked by itself."),
        ],
        operation: "create_quality_run",
        perform: |writer, operator, _, fields| {
            let listing = resources::optional_id(fields, "listing_id")?;
            let asset = resources::optional_id(fields, "asset_id")?;
            let platform = operator.platform();
            let run = match (listing, asset) {
                (Some(listing), None) => start_of_listing(writer, platform, listing)?,
                (None, Some(asset)) => start_of_asset(writer, platform, asset)?,
                _ => {
                    return Err(invalid("listing_id", "Enter the ID of a listing, or that of an asset."));
                }
            };
            Ok(Some(resources::path_of::<QualityRuns>(&run.to_string())))
        },
        ..Step::DEFAULT
    });

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let checks = operator_views::checks_of_run(reader, platform, id_of(record)?)?;
        Ok(Some(Box::new(move |context: &Context| checks_of(context, checks))))
    }
}

fn start_of_listing(writer: &mut Writer, platform: Platform, listing: Uuid) -> Result<Uuid> {
    // Fails if the team was closed.
    platform.vendor_of_listing(writer.rows, listing).map_err(|error| of_field("listing_id", error))?;
    Ok(listing_lifecycle::start_run(writer, platform, listing)?.run_id)
}

/// Starts a run of an asset for the market. Returns its ID.
pub fn start_of_asset(writer: &mut Writer, platform: Platform, asset: Uuid) -> Result<Uuid> {
    let found: Result<AssetRecord> = records::find(writer.rows, platform, &asset);
    let found = found.map_err(|error| of_field("asset_id", error))?;
    let vendor = platform.vendor(teams::resolve(writer.rows, &found.team.to_string())?)?;
    let asset = assets::find(writer.rows, &vendor, asset, None)?;
    Ok(operations::start_asset_run(writer, &asset, RunTrigger::Platform)?.run_id)
}

/// Converts the error that there is no such record into a problem with the field that names it.
fn of_field(name: &'static str, error: Error) -> Error {
    match error {
        Error::NotFound(_) => invalid(name, "Nothing has this ID."),
        other => other,
    }
}

/// Returns the findings of a run. Checks that did not pass come first.
pub(super) fn checks_of(context: &Context, mut checks: Vec<CheckRow>) -> Markup {
    checks.sort_by_key(|check| check.status == CheckStatus::Passed);
    let all = checks.len();
    checks.truncate(CHECKS);
    // If all checks are of the whole listing, or none has a finding, the columns for assets or findings are left out.
    let has_asset = checks.iter().any(|check| check.asset.is_some());
    let has_finding = checks.iter().any(|check| check.message.is_some());
    let columns = [true, has_asset, true, true, has_finding];
    let row = |check| {
        let cells = columns.into_iter().zip(row(context, check));
        cells.filter(|(is_shown, _)| *is_shown).map(|(_, cell)| cell)
    };
    let content = html! {
        @if checks.is_empty() { p.note { "There are none until the run is complete." } }
        @else { (tables::of("Checks", &checks, row)) }
        @if all > checks.len() { p.note { "The first " (checks.len()) " of " (text::grouped(all as u64)) " checks are shown." } }
    };
    tables::section("checks", "Checks", &content)
}

fn row(context: &Context, check: &CheckRow) -> [Cell; 5] {
    let asset = check.asset.as_ref();
    let required = match (check.is_mandatory, check.is_informational) {
        (true, _) => "Yes",
        (false, true) => "No, for information",
        (false, false) => "No",
    };
    let tone = match check.status {
        CheckStatus::Passed => Tone::Good,
        CheckStatus::Queued | CheckStatus::Running => Tone::Waiting,
        _ if check.is_mandatory => Tone::Bad,
        _ => Tone::Warning,
    };
    [
        Head::text("Check").cell(&check.label),
        Head::text("Asset").cell(html! { @match asset {
            Some(asset) => {
                @if let Some(id) = asset.readable_id() { a.long href=(context.links.to(&format!("{ASSETS}/{id}"))) { bdi { (asset.title) } } }
                @else { span.long { bdi { (asset.title) } } }
                br; span.note { (text::words(kinds::words(asset.kind).0)) }
            }
            None => "The whole listing",
        } }),
        Head::text("Result").cell(badges::badge(tone, &text::words(check.status.as_str()))),
        Head::text("Required").cell(required),
        Head::text("Finding")
            .cell(html! { span.long { bdi { (check.message.as_deref().unwrap_or_default()) } } }),
    ]
}
