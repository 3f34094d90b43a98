//! Upload grants of teams. A new token is shown once.

use super::prelude::*;
use crate::{
    console::resources::Revealed,
    domain::{
        assets::Exclusivity,
        grants::{Grant, GrantOperation, GrantState},
        row_ids::GrantRowId,
        teams::TeamRowId,
    },
    operations::{
        grants as operations,
        team_grants::{self, TeamGrantInput},
    },
    store::records::grants::{GRANTS as GRANT_RECORDS, GrantRecord},
};

/// The resource.
pub struct Grants;

impl Resource for Grants {
    const LIST: &'static str = GRANTS;
    const TITLE: &'static str = "Upload grants";
    const FILE_NAME: &'static str = "upload-grants";
    const RECORDS: &'static Records = &GRANT_RECORDS;
    const EMPTY: &'static str =
        "With a grant, a program uploads one codebase of a team as a zip file, and can do nothing else.";
    const TABS: &'static [(&'static str, &'static str)] = TEAM_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("title", "Codebase", Plain),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("exclusivity", "Exclusive sale", Word),
        RecordField::listed("max_bytes", "Largest upload", Size),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::listed("expires_at", "Ends", Moment),
        RecordField::detail("file_name", "Uploaded file", Plain),
        RecordField::detail("size_bytes", "Its size", Size),
        RecordField::detail("consumed_at", "Used", Moment),
        RecordField::detail("revoked_at", "Revoked", Moment),
        RecordField::detail("group_uuid", "Group of the inventory", Id),
        RecordField::detail("uuid", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<GrantState>),
        ListFilter::text("team_id", "Team, by name or ID"),
    ];

    const DERIVED_COLUMNS: DeriveColumns = |record, now| {
        let grant = Grant {
            row_id: GrantRowId(0),
            id: Uuid::nil(),
            team: TeamRowId(0),
            title: String::new(),
            exclusivity: Exclusivity::Available,
            group_row_id: None,
            max_bytes: 0,
            created_at: record.time("created_at").unwrap_or_default(),
            expires_at: record.time("expires_at").unwrap_or_default(),
            revoked_at: record.time("revoked_at"),
            consumed_at: record.time("consumed_at"),
            expired_at: record.time("expired_at"),
        };
        record.set("status", Value::Text(grant.state(now).as_str().to_owned()));
    };

    const KEY: Key = Key::Id("uuid");

    const STEPS: &'static [Step] = &[Step {
        name: "revoke",
        label: "Revoke",
        question: "Nothing can be uploaded with it from now on, and what was uploaded so far is discarded.",
        obstacle: |record| {
            let reason = "The grant has ended already.";
            resources::refused::<GrantState>(record, "status", GrantOperation::Revoke, reason)
        },
        is_final: true,
        operation: "revoke_grant",
        perform: |writer, operator, record, _| {
            let found: GrantRecord = records::find(writer.rows, operator.platform(), &id_of(record)?)?;
            operations::revoke(writer, found.grant.row_id).map(|()| None)
        },
        ..Step::DEFAULT
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create an upload grant",
        question: "Whoever has its token, and a key of the team, can upload one zip file within 24 hours, which becomes a codebase.",
        inputs: &[
            inputs::TEAM,
            Input::Required(&Input::Line("title", "Name of the codebase", "")),
            Input::Options("exclusivity", "Exclusive sale", text::word_choices::<Exclusivity>),
            Input::Line("group_id", "ID of the group", "Leave it empty for the group of everything."),
            Input::Number(
                "max_bytes",
                "Largest upload, bytes",
                "Leave it empty for the largest that the market allows.",
            ),
        ],
        operation: "create_grant",
        perform_revealing: Some(|writer, operator, _, fields| {
            let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
            let input = TeamGrantInput {
                title: resources::typed(fields, "title"),
                exclusivity: resources::choice(fields, "exclusivity")?,
                group: resources::optional_id(fields, "group_id")?,
                max_bytes: resources::number(fields, "max_bytes")?,
            };
            let (grant, token) = team_grants::create(writer, &vendor, &input)?;
            Ok(revealed(grant.id, token))
        }),
        ..Step::DEFAULT
    });
}

fn revealed(id: Uuid, token: String) -> Revealed {
    Revealed {
        title: "The upload grant was created",
        label: "Its token",
        secret: token,
        note: "The team sends it with one of its keys when it uploads.".to_owned(),
        path: resources::path_of::<Grants>(&id.to_string()),
    }
}
