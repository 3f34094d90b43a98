//! Assets of all teams. Operators read them; they can check one.

use super::{ASSETS, LISTING_TABS, LISTINGS, RUNS, TASKSETS, TEAMS, id_of, quality_runs};
use crate::{
    console::{
        parts::{assets, kinds},
        prelude::*,
        resources::{
            self, Below, Key, Links, Named, Resource, Shown,
            Shows::{
                Called, Flag, Id, Moment, Money, Number, Plain, Record, Records as Linked, Size, State, Text,
                Word, Words,
            },
            Step,
        },
    },
    domain::stages::Stage,
    operations::{access::Platform, records},
    store::records::{
        Records,
        any_record::AnyRecord,
        assets::{ASSETS as ASSET_RECORDS, AssetRecord},
    },
};

/// The resource.
pub struct Assets;

impl Resource for Assets {
    const LIST: &'static str = ASSETS;
    const TITLE: &'static str = "Assets";
    const RECORDS: &'static Records = &ASSET_RECORDS;
    const EMPTY: &'static str = "What vendors have in their inventories appears here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const SHOWN: &'static [Shown] = &[
        Shown::listed("title", "Name", Plain),
        Shown::listed("team_id", "Team", Record(TEAMS)),
        Shown::listed("kind", "Kind", Called(kinds::named)),
        Shown::listed("price_cents", "Price, USD", Money),
        Shown::listed("archive_status", "Copy of the data", State),
        Shown::listed("analysis_status", "Analysis", State),
        Shown::listed("created_at", "Created", Moment),
        Shown::detail("description", "Description, in the words of the vendor", Text),
        Shown::detail("domain_tags", "Domains", Words),
        Shown::detail("other_domain", "Other domain", Plain),
        Shown::detail("exclusivity", "Exclusive sale", Word),
        Shown::detail("lines_of_code", "Lines of code", Number),
        Shown::detail("commits", "Commits", Number),
        Shown::detail("contributors", "Contributors", Number),
        Shown::detail("merged_prs", "Merged pull requests", Number),
        Shown::detail("history_start", "First commit", Plain),
        Shown::detail("history_end", "Last commit", Plain),
        Shown::detail("channel", "Source of the data", Word),
        Shown::detail("repo_full_name", "Repository", Plain),
        Shown::detail("is_private", "Needs credentials", Flag),
        Shown::detail("archive_bytes", "Size of the copy", Size),
        Shown::detail("archive_error", "Why copying failed", Plain),
        Shown::detail("analysis_error", "Why the analysis failed", Plain),
        Shown::detail("commit_sha", "Analyzed commit", Id),
        Shown::detail("attached_at", "Data linked", Moment),
        Shown::detail("analyzed_at", "Analyzed", Moment),
        Shown::detail("task_type", "Subject of the task", Word),
        Shown::detail("listing_ids", "Listings with it", Linked(LISTINGS)),
        Shown::detail("taskset_ids", "Tasksets", Linked(TASKSETS)),
        Shown::detail("uuid", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter { name: "kind", label: "Kind", values: kinds::choices },
        ListFilter { name: "stage", label: "Stage", values: text::word_choices::<Stage> },
        ListFilter { name: "team_id", label: "Team, by name or ID", values: Vec::new },
        ListFilter { name: "listing_id", label: "Listing, by title or ID", values: Vec::new },
    ];

    const KEY: Key = Key::Id("uuid");

    const NAMED: Named = Named::By("title");

    const LINKS: Links = |record| vec![("Quality runs", format!("{RUNS}?asset_id={}", Self::key_of(record)))];

    const STEPS: &'static [Step] = &[Step {
        name: "check",
        label: "Start a quality run",
        question: "The asset is checked by itself. Its team pays for it. The run waits until the data is analyzed.",
        obstacle: |record| {
            record.text("channel").is_empty().then_some("It has no linked data that can be checked.")
        },
        operation: "create_quality_run",
        makes: quality_runs::QualityRuns::SUBJECT,
        perform: |writer, operator, record, _| {
            let run = quality_runs::start_of_asset(writer, operator.platform(), id_of(record)?)?;
            Ok(Some(resources::path_of::<quality_runs::QualityRuns>(&run.to_string())))
        },
        ..Step::PLAIN
    }];

    fn below(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<Below>> {
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
