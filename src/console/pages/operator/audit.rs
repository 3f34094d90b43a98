//! The audit: who changed what.

use super::{field_changes::FieldChanges, prelude::*};
use crate::{console::resources::FieldFormat::Subject, store::records::audit::AUDIT};

/// The resource.
pub struct Audit;

impl Resource for Audit {
    const LIST: &'static str = paths::OPERATOR_AUDIT;
    const TITLE: &'static str = "Audit";
    const RECORDS: &'static Records = &AUDIT;
    const HAS_API: bool = false;
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Audit"));
    const EMPTY: &'static str = "What operators change, and teams change here, appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("operation", "What was done", Word),
        RecordField::listed("actor_kind", "By", Word),
        RecordField::listed("operator_key_id", "Operator's key", Record(OPERATOR_KEYS)),
        RecordField::listed("team_key_id", "Team's key", Record(KEYS)),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("subject_kind", "Record", Word),
        RecordField::listed("subject_id", "Which record", Subject("subject_kind")),
        RecordField::listed("occurred_at", "Time", Moment),
        RecordField::detail("session_id", "Session", Id),
        RecordField::detail("request_id", "ID of the request", Id),
        RecordField::detail("number", "Number", Number),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::operation("What was done"),
        ListFilter::day("occurred_from", "From the day (UTC)"),
        ListFilter::day("occurred_until", "Until the day (UTC)"),
        ListFilter::text("subject_id", "ID of the record"),
        ListFilter::text("team_id", "Team, by name or ID"),
        ListFilter::text("operator_key_id", "Key, by name or ID"),
    ];

    const KEY: Key = Key::Number("number");

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let changes = FieldChanges::of(reader, platform, record)?;
        Ok(Some(Box::new(move |context| changes.show(context))))
    }

    const LINKS: Links = |record| {
        let found = |column: &str| Some(record.text(column)).filter(|id| !id.is_empty()).map(search_for);
        let links = [("The record", found("subject_id")), ("What the request did", found("request_id"))];
        links.into_iter().filter_map(|(label, path)| Some((label, path?))).collect()
    };
}
