//! Background jobs: those that wait or run, and those that were given up or canceled.

use super::prelude::*;
use crate::{
    console::parts::job_kinds,
    domain::{jobs::JobState, row_ids::JobRowId},
    operations::job_changes,
    store::records::jobs::JOBS,
};

/// The resource.
pub struct Jobs;

fn row_id(record: &AnyRecord) -> Result<JobRowId> {
    record.text("id").parse().map(JobRowId).map_err(|_| Error::internal("a job without its number"))
}

impl Resource for Jobs {
    const LIST: &'static str = "/operator/jobs";
    const TITLE: &'static str = "Jobs";
    const RECORDS: &'static Records = &JOBS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Jobs"));
    const EMPTY: &'static str =
        "Work in the background that waits, runs, or has failed appears here. What is done is not kept.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Job", Plain),
        RecordField::listed("kind", "Kind", Called(job_kinds::named)),
        RecordField::listed("state", "Status", State),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("attempts", "Attempts", Number),
        RecordField::listed("enqueued_at", "Queued", Moment),
        RecordField::listed("due_at", "Starts from", Moment),
        RecordField::listed("ended_at", "Ended", Moment),
        RecordField::detail("subject_id", "ID of what it works on", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("kind", "Kind", job_kinds::choices),
        ListFilter::choice("state", "Status", text::word_choices::<JobState>),
        ListFilter::text("team_id", "Team, by name or ID"),
    ];

    const KEY: Key = Key::Number("id");

    /// For a job that starts later, this is the time of its start: the time at which it was queued is not known.
    const DERIVED_COLUMNS: DeriveColumns = |record, now| {
        if record.time("enqueued_at").is_some_and(|at| at > now) {
            record.set("enqueued_at", Value::Missing);
        }
    };

    fn title_of(record: &AnyRecord) -> String {
        format!("Job {}: {}", record.text("id"), job_kinds::named(record.text("kind")))
    }

    const STEPS: &'static [Step] = &[
        Step {
            name: "retry",
            label: "Try again",
            question: "It starts as soon as possible, with all its attempts. One that has ended is queued again as a new job.",
            obstacle: |record| (record.text("state") == "running").then_some("It is running."),
            operation: "retry_job",
            perform: |writer, operator, record, _| {
                let JobRowId(id) = job_changes::retry(writer, operator.platform(), row_id(record)?)?;
                Ok(Some(resources::path_of::<Jobs>(&id.to_string())))
            },
            ..Step::DEFAULT
        },
        Step {
            name: "cancel",
            label: "Cancel",
            question: "It stops, and what it was for ends as failed: the analysis of data, a quality run (whose charge is returned \
                       unless it had begun), an import, a refresh, or an estimation.",
            obstacle: |record| {
                match record.text("kind") {
                    "sweep" => return Some("The cleanup cannot be canceled."),
                    "seal_log" => {
                        return Some("Buyers wait for the next head of the log, so this cannot be canceled.");
                    }
                    _ => {}
                }
                let is_open = ["waiting", "running"].contains(&record.text("state"));
                (!is_open).then_some("It has ended.")
            },
            is_final: true,
            operation: "cancel_job",
            perform: |writer, operator, record, _| {
                job_changes::cancel(writer, operator.platform(), row_id(record)?).map(|()| None)
            },
            ..Step::DEFAULT
        },
    ];
}
