//! Assets of all teams. Operators read them; they can check one.

use super::{prelude::*, quality_runs};
use crate::{
    console::parts::assets,
    domain::stages::Stage,
    store::records::assets::{ASSETS as ASSET_RECORDS, AssetRecord},
};

/// The resource.
pub struct Assets;

impl Resource for Assets {
    const LIST: &'static str = ASSETS;
    const TITLE: &'static str = "Assets";
    const RECORDS: &'static Records = &ASSET_RECORDS;
    const EMPTY: &'static str = "What vendors have in their inventories appears here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("title", "Name", Plain),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("kind", "Kind", Called(kinds::named)),
        RecordField::listed("price_cents", "Price, USD", Money),
        RecordField::listed("archive_status", "Copy of the data", State),
        RecordField::listed("analysis_status", "Analysis", State),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::detail("description", "Description, in the words of the vendor", Text),
        RecordField::detail("domain_tags", "Domains", Words),
        RecordField::detail("other_domain", "Other domain", Plain),
        RecordField::detail("exclusivity", "Exclusive sale", Word),
        RecordField::detail("lines_of_code", "Lines of code", Number),
        RecordField::detail("commits", "Commits", Number),
        RecordField::detail("contributors", "Contributors", Number),
        RecordField::detail("merged_prs", "Merged pull requests", Number),
        RecordField::detail("history_start", "First commit", Plain),
        RecordField::detail("history_end", "Last commit", Plain),
        RecordField::detail("channel", "Source of the data", Word),
        RecordField::detail("repo_full_name", "Repository", Plain),
        RecordField::detail("is_private", "Needs credentials", Flag),
        RecordField::detail("archive_bytes", "Size of the copy", Size),
        RecordField::detail("archive_error", "Why copying failed", Plain),
        RecordField::detail("analysis_error", "Why the analysis failed", Plain),
        RecordField::detail("commit_sha", "Analyzed commit", Id),
        RecordField::detail("attached_at", "Data linked", Moment),
        RecordField::detail("analyzed_at", "Analyzed", Moment),
        RecordField::detail("task_type", "Subject of the task", Word),
        RecordField::detail("listing_ids", "Listings with it", Linked(LISTINGS)),
        RecordField::detail("taskset_ids", "Tasksets", Linked(TASKSETS)),
        RecordField::detail("uuid", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("kind", "Kind", kinds::choices),
        ListFilter::choice("stage", "Stage", text::word_choices::<Stage>),
        ListFilter::text("team_id", "Team, by name or ID"),
        ListFilter::text("listing_id", "Listing, by title or ID"),
    ];

    const KEY: Key = Key::Id("uuid");

    const LINKS: Links = |record| vec![("Quality runs", format!("{RUNS}?asset_id={}", Self::key_of(record)))];

    const STEPS: &'static [Step] = &[Step {
        name: "check",
        label: "Start a quality run",
        question: "The asset is checked by itself. Its team pays for it. The run waits until the data is analyzed.",
        obstacle: |record| {
            record.text("channel").is_empty().then_some("It has no linked data that can be checked.")
        },
        operation: "create_quality_run",
        creates: quality_runs::QualityRuns::SUBJECT,
        perform: |writer, operator, record, _| {
            let run = quality_runs::start_of_asset(writer, operator.platform(), id_of(record)?)?;
            Ok(Some(resources::path_of::<quality_runs::QualityRuns>(&run.to_string())))
        },
        ..Step::DEFAULT
    }];

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let found: AssetRecord = records::find(reader.rows, platform, &id_of(record)?)?;
        let stage = assets::stage_text(&found.asset);
        let missing = assets::missing(&found.asset);
        Ok(Some(Box::new(move |_: &Context| {
            let missing = if missing.is_empty() { "Nothing".to_owned() } else { missing };
            let facts = [("Stage", html! { (stage) }), ("Missing", html! { (missing) })];
            tables::section("stage", "On the way to a listing", &tables::facts(&facts))
        })))
    }
}
