//! Shows which fields of a record were changed, with their values before and after, from the audit.

use super::prelude::*;
use crate::{
    operations::audit::{self, FieldChange},
    store::records::{
        Filters,
        any_record::Names,
        audit::AUDIT,
        pages::{Start, TeamPageRequest},
    },
};

/// Number of entries of a record among which the entry of a request is searched.
const MAX_ENTRIES: u32 = 100;

/// The fields of a record that were changed.
pub struct FieldChanges {
    changes: Vec<FieldChange>,
    /// The kind of the record, as in the audit.
    kind: String,
    names: Names,
}

impl FieldChanges {
    /// Reads the changes of an entry of the audit.
    pub fn of(reader: &Reader, platform: Platform, entry: &AnyRecord) -> Result<FieldChanges> {
        let changes = audit::parse_changes(entry.text("changes"));
        let ids: Vec<Uuid> = changes.iter().flat_map(ids_of).collect();
        let names = records::names(reader.rows, platform, &ids)?;
        Ok(FieldChanges { changes, kind: entry.text("subject_kind").to_owned(), names })
    }

    /// Reads the changes of a record that a request has made; `None` if the audit has none.
    pub fn of_request(
        reader: &Reader,
        platform: Platform,
        (subject, request): (&str, &str),
    ) -> Result<Option<FieldChanges>> {
        let filters = Filters::default().with("subject_id", subject);
        let page = TeamPageRequest { start: Start::Newest, limit: MAX_ENTRIES, counts: false };
        let found = records::page_of_any(reader, platform, &AUDIT, &filters, page)?.rows;
        let entry = found.iter().find(|entry| entry.text("request_id") == request);
        let changes = entry.map(|entry| FieldChanges::of(reader, platform, entry)).transpose()?;
        Ok(changes.filter(|changes| !changes.changes.is_empty()))
    }

    /// Shows the values before and after.
    pub fn show(&self, context: &Context) -> Markup {
        let fields = context.pages.fields_of(&self.kind);
        let row = |change| self.row(context, fields, change);
        html! { @if !self.changes.is_empty() {
            (tables::section("changes", "What changed", &tables::of("Changes", &self.changes, row)))
        } }
    }

    fn row(&self, context: &Context, fields: &'static [RecordField], change: &FieldChange) -> [Cell; 3] {
        let known = fields.iter().find(|field| field.name == change.field);
        let label = known.map_or_else(|| text::words(&change.field), |field| field.label.to_owned());
        let is_kept = change.before != Value::Missing || change.after != Value::Missing;
        let shows = |value: &Value| match (known, is_kept) {
            (_, false) => html! { span.note { "Not kept" } },
            (Some(field), true) => field.show(context, &record_of(&change.field, value), &self.names),
            (None, true) => RecordField::detail("value", "", FieldFormat::Plain).show(
                context,
                &record_of("value", value),
                &self.names,
            ),
        };
        [
            Head::text("Field").cell(label),
            Head::text("Before").cell(shows(&change.before)),
            Head::text("After").cell(shows(&change.after)),
        ]
    }
}

/// Returns a record that has nothing but a field.
fn record_of(field: &str, value: &Value) -> AnyRecord {
    let mut record = AnyRecord::default();
    record.set(field, value.clone());
    record
}

fn ids_of(change: &FieldChange) -> Vec<Uuid> {
    let records = [&change.before, &change.after].map(|value| record_of("value", value));
    records.iter().filter_map(|record| record.id("value")).collect()
}
