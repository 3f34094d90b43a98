//! The audit: who changed what.

use super::{KEYS, OPERATOR_KEYS, TEAMS};
use crate::{
    console::{
        prelude::*,
        resources::{
            Resource, Shown,
            Shows::{Id, Moment, Number, Record, Word},
        },
    },
    store::records::{
        Records,
        any_record::{AnyRecord, RecordKey},
        audit::AUDIT,
    },
};

/// The resource.
pub struct Audit;

impl Resource for Audit {
    const LIST: &'static str = "/operator/audit";
    const NEW_PATH: &'static str = "/operator/audit/new";
    const RECORD: &'static str = "/operator/audit/{id}";
    const STEP: &'static str = "/operator/audit/{id}/{step}";
    const TITLE: &'static str = "Audit";
    const FILE_NAME: &'static str = "audit";
    const RECORDS: &'static Records = &AUDIT;
    const API: &'static str = "/operator/v1/audit";
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
        Shown::listed("subject_id", "ID of the record", Id),
        Shown::listed("occurred_at", "Time", Moment),
        Shown::detail("session_id", "Session", Id),
        Shown::detail("request_id", "ID of the request", Id),
        Shown::detail("number", "Number", Number),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![
            ListFilter { name: "operation", label: "Name of the operation", values: Vec::new },
            ListFilter { name: "subject_id", label: "ID of the record", values: Vec::new },
            ListFilter { name: "team_id", label: "ID of the team", values: Vec::new },
            ListFilter { name: "operator_key_id", label: "ID of the key", values: Vec::new },
        ]
    }

    fn identify(text: &str) -> Result<RecordKey> {
        text.parse().map(RecordKey::Number).map_err(|_| Error::not_found("page"))
    }

    fn key_of(record: &AnyRecord) -> String {
        record.integer("number").map(|number| number.to_string()).unwrap_or_default()
    }

    fn title_of(record: &AnyRecord) -> String {
        text::words(record.text("operation"))
    }
}
