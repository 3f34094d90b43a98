//! Keys of teams, and those of operators. A new secret is shown once.

use super::prelude::*;
use crate::{
    console::resources::Revealed,
    domain::{
        keys::{KeyOperation, KeyStatus, KeyTimes, TeamKeyScope},
        principals::KeyScope,
        row_ids::KeyRowId,
    },
    operations::keys,
    store::records::keys::{OPERATOR_KEYS as OPERATOR_KEY_RECORDS, TEAM_KEYS},
};

/// Keys of teams.
pub struct Keys;

/// Keys of operators.
pub struct OperatorKeys;

const EXPIRES: Input = Input::Day(
    "expires_at",
    "Expires on",
    "It ends when this day begins (UTC). Leave it empty for a key that does not expire.",
);

const NAME: Input = Input::Required(&Input::Line("name", "Name", "Who or what uses it."));

impl Resource for Keys {
    const LIST: &'static str = KEYS;
    const TITLE: &'static str = "Keys of teams";
    const RECORDS: &'static Records = &TEAM_KEYS;
    const EMPTY: &'static str = "Keys with which teams sign in here, or use the API, appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TEAM_TABS;

    const FIELDS: &'static [RecordField] = &shown([
        RecordField::listed("team_uuid", "Team", Record(TEAMS)),
        RecordField::listed("team_scope", "For", Word),
    ]);

    const FILTERS: &'static [ListFilter] =
        &[ListFilter::text("team_id", "Team, by name or ID"), ListFilter::text("name", "Name")];

    const DERIVED_COLUMNS: DeriveColumns = set_status;

    const KEY: Key = Key::Id("uuid");

    const STEPS: &'static [Step] = &steps::<Keys>(["update_key", "rotate_key", "revoke_key"]);

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a key",
        question: "People need a key for the console to sign in. Give programs a key for the API only, which cannot spend money.",
        inputs: &[
            inputs::TEAM,
            NAME,
            Input::Options("scope", "For", text::word_choices::<TeamKeyScope>),
            EXPIRES,
        ],
        operation: "create_key",
        perform_revealing: Some(|writer, _, record, fields| {
            let team = inputs::team(writer, fields)?.id.to_string();
            let (name, scope) = (resources::typed(fields, "name"), resources::choice(fields, "scope")?);
            let expires_at = fields.start_of_day("expires_at", record.time("expires_at"))?;
            let (id, secret) = keys::create_with_scope(writer, &team, name, scope, expires_at)?;
            Ok(revealed::<Keys>("The key was created", id, secret))
        }),
        ..Step::DEFAULT
    });
}

impl Resource for OperatorKeys {
    const LIST: &'static str = OPERATOR_KEYS;
    const TITLE: &'static str = "Keys of operators";
    const RECORDS: &'static Records = &OPERATOR_KEY_RECORDS;
    const EMPTY: &'static str = "Keys of those who run the market appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TEAM_TABS;

    const FIELDS: &'static [RecordField] = &shown([
        RecordField::listed("scope", "Permits", Word),
        RecordField::listed("expired_at", "Expired", Moment),
    ]);

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::text("name", "Name"),
        ListFilter::choice("scope", "Permits", text::word_choices::<KeyScope>),
    ];

    const DERIVED_COLUMNS: DeriveColumns = set_status;

    const KEY: Key = Key::Id("uuid");

    const STEPS: &'static [Step] =
        &steps::<OperatorKeys>(["update_operator_key", "rotate_operator_key", "revoke_operator_key"]);

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a key of an operator",
        question: "It gives access to everything here. With “read”, it can change nothing. With “payments”, it cannot sign in to the web app: a \
                   program uses it to report how purchases and withdrawals were paid.",
        inputs: &[NAME, Input::Options("scope", "Permits", text::word_choices::<KeyScope>), EXPIRES],
        operation: "create_operator_key",
        perform_revealing: Some(|writer, operator, record, fields| {
            let (name, scope) = (resources::typed(fields, "name"), resources::choice(fields, "scope")?);
            let expires_at = fields.start_of_day("expires_at", record.time("expires_at"))?;
            let (id, secret) =
                keys::create_for_operator(writer, operator.platform(), name, scope, expires_at)?;
            Ok(revealed::<OperatorKeys>("The key was created", id, secret))
        }),
        ..Step::DEFAULT
    });
}

/// Returns the columns of keys: the name, two others, and what follows.
const fn shown([first, second]: [RecordField; 2]) -> [RecordField; 10] {
    [
        RecordField::listed("name", "Name", Plain),
        first,
        second,
        RecordField::listed("status", "Status", State),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::listed("last_used_at", "Last used", Moment),
        RecordField::listed("expires_at", "Expires", Moment),
        RecordField::detail("rotated_at", "Replaced", Moment),
        RecordField::detail("revoked_at", "Revoked", Moment),
        RecordField::detail("uuid", "ID", Id),
    ]
}

/// Returns what can be done to keys, by operations with these names.
const fn steps<R: Resource>([update, rotate, revoke]: [&'static str; 3]) -> [Step; 3] {
    let change_expiry = Step {
        name: "expiry",
        label: "Change the expiry",
        question: "The key expires at another time, or never.",
        inputs: &[EXPIRES],
        obstacle: |record| {
            let reason = "Only the expiry of a valid key that was not replaced can be changed.";
            refused(record, KeyOperation::ChangeExpiry, reason)
        },
        operation: update,
        perform: |writer, operator, record, fields| {
            let expires_at = fields.start_of_day("expires_at", record.time("expires_at"))?;
            keys::change_expiry(writer, operator.platform(), id_of(record)?, expires_at).map(|()| None)
        },
        ..Step::DEFAULT
    };
    let replace = Step {
        name: "rotate",
        label: "Replace",
        question: "This makes a new key with the same name and the same lifetime. This one stays valid for a while, which gives you \
                   time to replace it where it is used. People who have signed in with it stay signed in.",
        obstacle: |record| {
            let reason = "Only a valid key that was not replaced can be replaced.";
            refused(record, KeyOperation::Rotate, reason)
        },
        operation: rotate,
        perform_revealing: Some(|writer, operator, record, _| {
            let (id, secret) = keys::rotate(writer, operator.platform(), id_of(record)?, None)?;
            Ok(revealed::<R>("The key was replaced", id, secret))
        }),
        ..Step::DEFAULT
    };
    let revoke = Step {
        name: "revoke",
        label: "Revoke",
        question: "Every request with this key is refused from now on, and sessions that were opened with it end. It cannot be made \
                   valid again. If you have signed in with it, you are signed out.",
        obstacle: |record| refused(record, KeyOperation::Revoke, "The key has ended already."),
        is_final: true,
        operation: revoke,
        perform: |writer, _, record, _| keys::revoke(writer, id_of(record)?).map(|()| None),
        ..Step::DEFAULT
    };
    [change_expiry, replace, revoke]
}

fn refused(record: &AnyRecord, operation: KeyOperation, reason: &'static str) -> Option<&'static str> {
    resources::refused::<KeyStatus>(record, "status", operation, reason)
}

fn set_status(record: &mut AnyRecord, now: Timestamp) {
    let times = KeyTimes {
        row_id: KeyRowId(0),
        id: Uuid::nil(),
        team: None,
        scope: KeyScope::Read,
        team_scope: TeamKeyScope::Api,
        name: String::new(),
        created_at: record.time("created_at").unwrap_or_default(),
        expires_at: record.time("expires_at"),
        rotated_at: record.time("rotated_at"),
        revoked_at: record.time("revoked_at"),
        expired_at: record.time("expired_at"),
    };
    record.set("status", Value::Text(times.status(now).as_str().to_owned()));
}

fn revealed<R: Resource>(title: &'static str, id: Uuid, secret: String) -> Revealed {
    Revealed {
        title,
        label: "The key",
        secret,
        note: "Send it to who uses it on a way that nobody else reads.".to_owned(),
        path: resources::path_of::<R>(&id.to_string()),
    }
}
