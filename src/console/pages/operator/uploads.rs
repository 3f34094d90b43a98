//! Zips that programs of operators are uploading for teams.

use super::prelude::*;
use crate::{operations::team_uploads, store::records::operator_uploads::ZIP_UPLOADS};

/// The resource.
pub struct Uploads;

impl Resource for Uploads {
    const LIST: &'static str = UPLOADS;
    const TITLE: &'static str = "Uploads in progress";
    const RECORDS: &'static Records = &ZIP_UPLOADS;
    const SUBJECT: &'static str = "upload";
    const EMPTY: &'static str =
        "Files that a program of the market is sending for a team appear here until they are complete.";
    const TABS: &'static [(&'static str, &'static str)] = TEAM_TABS;
    const KEY: Key = Key::Id("uuid");
    const FIXED: &'static [(&'static str, bool)] = &[("in_progress", true)];

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("file_name", "File", Plain),
        RecordField::listed("team_uuid", "Team", Record(TEAMS)),
        RecordField::listed("size_bytes", "Size", Size),
        RecordField::listed("created_at", "Planned", Moment),
        RecordField::listed("expires_at", "Discarded unless complete by", Moment),
        RecordField::detail("sha256", "Digest that it must have", Id),
        RecordField::detail("uuid", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[ListFilter::text("team_id", "Team, by name or ID")];

    const STEPS: &'static [Step] = &[Step {
        name: "cancel",
        label: "Cancel",
        question: "What was sent so far is discarded.",
        is_final: true,
        operation: "cancel_team_upload",
        perform: |writer, operator, record, _| {
            team_uploads::cancel(writer, operator.platform(), id_of(record)?)
                .map(|_| Some(UPLOADS.to_owned()))
        },
        ..Step::DEFAULT
    }];
}
