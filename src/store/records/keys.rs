//! API keys of teams, and those of operators, as operators see them.

use uuid::Uuid;

use super::{
    Filter::{Equals, RefersTo},
    FromRow, Record, Records,
};
use crate::{
    domain::{keys::KeyTimes, time::Timestamp},
    store::keys,
};

/// An API key of a team.
#[derive(Clone, Debug, FromRow)]
pub struct TeamKeyRecord {
    /// The key and its times.
    #[row(with = keys::read_times)]
    pub key: KeyTimes,
    /// ID of the team.
    #[row(name = "team_uuid")]
    pub team: Uuid,
    /// Time of the last use, with a resolution of one minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

/// An API key of an operator.
#[derive(Clone, Debug, FromRow)]
pub struct OperatorKeyRecord {
    /// The key and its times.
    #[row(with = keys::read_times)]
    pub key: KeyTimes,
    /// Time of the last use, with a resolution of one minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

impl Record for TeamKeyRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &TEAM_KEYS;
}

impl Record for OperatorKeyRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &OPERATOR_KEYS;
}

/// API keys of teams.
pub const TEAM_KEYS: Records = Records {
    name: "key",
    columns: &[keys::COLUMNS, ", k.last_used_at, t.uuid AS team_uuid"],
    tables: &["keys k JOIN teams t ON t.id = k.team"],
    row_id: "k.id",
    id: "k.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("k.team", "teams")), ("name", Equals("k.name"))],
};

/// API keys of operators.
pub const OPERATOR_KEYS: Records = Records {
    name: "operator key",
    columns: &[keys::COLUMNS, ", k.last_used_at"],
    tables: &["keys k"],
    row_id: "k.id",
    id: "k.uuid",
    condition: Some("k.kind = 'operator'"),
    filters: &[("name", Equals("k.name")), ("scope", Equals("k.scope"))],
};
