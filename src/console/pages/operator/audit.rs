//! The audit: who changed what.

use std::collections::BTreeSet;

use super::{KEYS, OPERATOR_KEYS, TEAMS, field_changes::FieldChanges, paths::search_for};
use crate::{
    console::{
        prelude::*,
        resources::{
            Below, Key, Named, Resource, Shown,
            Shows::{Id, Moment, Number, Record, Subject, Word},
        },
    },
    operations::access::Platform,
    store::records::{Records, any_record::AnyRecord, audit::AUDIT},
};

/// The resource.
pub struct Audit;

impl Resource for Audit {
    const LIST: &'static str = paths::OPERATOR_AUDIT;
    const TITLE: &'static str = "Audit";
    const RECORDS: &'static Records = &AUDIT;
    const HAS_API: bool = false;
    const NAVIGATION: Option<NavigationItem> =
        Some(NavigationItem { section: Section::System, label: "Audit" });
    const EMPTY: &'static str = "What operators change, and teams change here, appears here.";

    const SHOWN: &'static [Shown] = &[
        Shown::listed("operation", "What was done", Word),
        Shown::listed("actor_kind", "By", Word),
        Shown::listed("operator_key_id", "Operator's key", Record(OPERATOR_KEYS)),
        Shown::listed("team_key_id", "Team's key", Record(KEYS)),
        Shown::listed("team_id", "Team", Record(TEAMS)),
        Shown::listed("subject_kind", "Record", Word),
        Shown::listed("subject_id", "Which record", Subject("subject_kind")),
        Shown::listed("occurred_at", "Time", Moment),
        Shown::detail("session_id", "Session", Id),
        Shown::detail("request_id", "ID of the request", Id),
        Shown::detail("number", "Number", Number),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter { name: "operation", label: "What was done", values: operations },
            ListFilter::day("occurred_from", "From the day (UTC)"),
            ListFilter::day("occurred_until", "Until the day (UTC)"),
            ListFilter { name: "subject_id", label: "ID of the record", values: Vec::new },
            ListFilter { name: "team_id", label: "Team, by name or ID", values: Vec::new },
            ListFilter { name: "operator_key_id", label: "Key, by name or ID", values: Vec::new },
        ]
    }

    const KEY: Key = Key::Number("number");

    const NAMED: Named = Named::Words("operation");

    fn below(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<Below>> {
        let changes = FieldChanges::of(reader, platform, record)?;
        Ok(Some(Box::new(move |context| changes.show(context))))
    }

    fn links(record: &AnyRecord) -> Vec<(&'static str, String)> {
        let found = |column: &str| Some(record.text(column)).filter(|id| !id.is_empty()).map(search_for);
        let links = [("The record", found("subject_id")), ("What the request did", found("request_id"))];
        links.into_iter().filter_map(|(label, path)| Some((label, path?))).collect()
    }
}

/// Returns the operations of operators with their words, in the order of the words. Those of teams can be stated in the address.
fn operations() -> Vec<(&'static str, String)> {
    // The description of a resource states the values of its filters, so that of the audit would be without end.
    let rows: Vec<_> = super::rows().into_iter().filter(|row| row.path != Audit::LIST).collect();
    let infos: Vec<_> = rows.iter().filter_map(|row| row.resource).map(|info| info()).collect();
    let of_steps = infos.iter().flat_map(|info| info.all_steps().map(|step| step.operation));
    let of_pages = rows.iter().flat_map(|row| row.operations.iter().copied());
    let reads = ["get_", "list_", "aggregate_", "export_"];
    let changes = of_steps.chain(of_pages).filter(|name| !reads.iter().any(|read| name.starts_with(read)));
    let names: BTreeSet<&'static str> = changes.filter(|name| !name.is_empty()).collect();
    let mut named: Vec<_> = names.into_iter().map(|name| (name, text::words(name))).collect();
    named.sort_by(|(_, one), (_, other)| one.cmp(other));
    named
}
