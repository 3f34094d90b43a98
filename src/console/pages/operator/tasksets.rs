//! Tasksets of all vendors, and the imports of their traces.

use super::prelude::*;
use crate::{
    domain::{
        tasks::Column,
        trace_imports::{RejectedLine, TraceImportStatus},
    },
    operations::task_changes,
    store::records::tasksets::{TASKSETS as TASKSET_RECORDS, TRACE_IMPORTS as IMPORT_RECORDS},
};

/// Tasksets.
pub struct Tasksets;

/// Imports of traces.
pub struct TraceImports;

impl Resource for Tasksets {
    const LIST: &'static str = TASKSETS;
    const TITLE: &'static str = "Tasksets";
    const RECORDS: &'static Records = &TASKSET_RECORDS;
    const EMPTY: &'static str = "Collections of tasks of vendors appear here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("name", "Name", Plain),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("task_count", "Tasks", Number),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] =
        &[ListFilter::text("name", "Name, as it is"), ListFilter::text("team_id", "Vendor, by name or ID")];

    const LINKS: Links = |record| {
        let id = Self::key_of(record);
        vec![
            ("Tasks", format!("{TASKS}?taskset_id={id}")),
            ("Imports of traces", format!("{TRACE_IMPORTS}?taskset_id={id}")),
        ]
    };

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a taskset",
        question: "It gets no tasks yet, and a table without columns of its own. The API creates one with columns.",
        inputs: &[inputs::TEAM, Input::Required(&Input::Line("name", "Name", ""))],
        operation: "create_taskset",
        perform: |writer, operator, _, fields| {
            let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
            let id = task_changes::create_taskset(writer, &vendor, resources::typed(fields, "name"), &[])?;
            Ok(Some(resources::path_of::<Tasksets>(&id.to_string())))
        },
        ..Step::DEFAULT
    });

    fn below_fields(_: &Reader, _: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let columns: Vec<Column> = serde_json::from_str(record.text("columns")).map_err(Error::internal)?;
        Ok(Some(Box::new(move |_: &Context| columns_of(&columns))))
    }
}

fn columns_of(columns: &[Column]) -> Markup {
    let row = |column: &Column| {
        let derives = column.derives.map(|derives| text::words(derives.as_str()));
        [
            Head::text("Name").cell(html! { span.mono.long { (column.name) } }),
            Head::text("Label").cell(html! { span.long { bdi { (column.label) } } }),
            Head::text("Kind").cell(text::words(column.kind.as_str())),
            Head::text("Shows").cell(derives.unwrap_or_else(|| "What the vendor stated".to_owned())),
        ]
    };
    let content = html! {
        @if columns.is_empty() { p.note { "Its table has no columns of its own." } }
        @else { (tables::of("Columns", columns, row)) }
    };
    tables::section("columns", "Columns of its table", &content)
}

impl Resource for TraceImports {
    const LIST: &'static str = TRACE_IMPORTS;
    const TITLE: &'static str = "Imports of traces";
    const RECORDS: &'static Records = &IMPORT_RECORDS;
    const SUBJECT: &'static str = "trace_import";
    const LIST_API: &'static str = "/operator/v1/tasksets/{taskset_id}/traces";
    const EMPTY: &'static str = "The API imports files with traces. How far it is appears here.";
    const TABS: &'static [(&'static str, &'static str)] = TASK_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Import", Id),
        RecordField::listed("taskset_id", "Taskset", Record(TASKSETS)),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("lines", "Lines", Number),
        RecordField::listed("inserted", "Added", Number),
        RecordField::listed("rejected", "Rejected", Number),
        RecordField::listed("requested_at", "Requested", Moment),
        RecordField::detail("existing", "Added before", Number),
        RecordField::detail("size_bytes", "Size of the file", Size),
        RecordField::detail("error", "Why it failed", Plain),
        RecordField::detail("started_at", "Started", Moment),
        RecordField::detail("finished_at", "Ended", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<TraceImportStatus>),
        ListFilter::text("taskset_id", "Taskset, by name or ID"),
    ];

    fn below_fields(_: &Reader, _: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let problems: Vec<RejectedLine> =
            serde_json::from_str(record.text("problems")).map_err(Error::internal)?;
        Ok(Some(Box::new(move |_: &Context| {
            let row = |problem: &RejectedLine| {
                [
                    Head::text("Line").cell(problem.line),
                    Head::text("What was wrong").cell(html! { span.long { bdi { (problem.message) } } }),
                ]
            };
            html! { @if !problems.is_empty() {
                (tables::section("problems", "The first rejected lines", &html! {
                    (tables::of("Rejected lines", &problems, row))
                }))
            } }
        })))
    }
}
