//! API keys of teams, and those of operators.

use poem_openapi::{Object, types::MaybeUndefined};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::{
    changes::{self, Change},
    pages::{self, ListQuery, page_of},
    references,
    resources::{self, Resource, subject},
    routes::{self, DEMO_TEAM, routes},
};
use crate::{
    domain::{
        events::EventType,
        keys::{KeyStatus, KeyTimes, TeamKeyScope},
        listings::Actor,
        principals::KeyScope,
        time::Timestamp,
    },
    error::Result,
    market::{CheckContext, Writer},
    operations::{
        access::{ActingOperator, Operator, Platform},
        keys, records,
    },
    rest::{
        arguments::{
            if_match::IfMatch,
            params::Params,
            request_body::{Body, MaybeInvalid},
        },
        json::JsonResult,
        route::{Call, Path},
        shapes::{RequestTime, UtcTime, strings::KeyName},
    },
    store::records::keys::{OperatorKeyRecord, TeamKeyRecord},
    web::enum_value::EnumValue,
};

/// The status and the times of a key.
#[derive(Debug, Object, Serialize)]
pub struct KeyState {
    /// Whether the key is valid, and if not, why.
    pub status: EnumValue<KeyStatus>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time at which the key expires; null if never.
    pub expires_at: Option<UtcTime>,
    /// Time at which another key replaced it; null if none did.
    pub rotated_at: Option<UtcTime>,
    /// Time at which the key was revoked; null unless revoked.
    pub revoked_at: Option<UtcTime>,
    /// Time of the last use, with a resolution of one minute; null if never used.
    pub last_used_at: Option<UtcTime>,
}

impl KeyState {
    fn new(key: &KeyTimes, last_used_at: Option<Timestamp>, now: Timestamp) -> KeyState {
        KeyState {
            status: EnumValue(key.status(now)),
            created_at: key.created_at.into(),
            expires_at: key.expires_at.map(UtcTime),
            rotated_at: key.rotated_at.map(UtcTime),
            revoked_at: key.revoked_at.map(UtcTime),
            last_used_at: last_used_at.map(UtcTime),
        }
    }
}

/// An API key of a team, without its secret.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Key")]
pub struct KeyOut {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Name of the key.
    pub name: String,
    /// What the key permits: requests of programs and agents (`api`), signing in to the console (`console`), or both.
    pub scope: EnumValue<TeamKeyScope>,
    /// Its status and times.
    #[oai(flatten)]
    #[serde(flatten)]
    pub state: KeyState,
}

subject!(KeyOut, "key", id, team_id);

impl Resource for KeyOut {
    type Record = TeamKeyRecord;

    fn new(record: TeamKeyRecord, context: &CheckContext) -> KeyOut {
        let TeamKeyRecord { key, team, last_used_at } = record;
        let state = KeyState::new(&key, last_used_at, context.now);
        let scope = EnumValue(key.team_scope);
        KeyOut { id: key.id, team_id: team, name: key.name, scope, state }
    }
}

page_of! {
    /// A page of API keys.
    KeyPage, KeyOut
}

/// A new API key of a team, with its secret.
#[derive(Debug, Object, Serialize)]
pub struct NewKey {
    /// The key, which is sent with requests. It cannot be shown again.
    pub secret: String,
    /// The key without its secret.
    pub key: KeyOut,
}

subject!(NewKey, KeyOut::KIND, key.id, key.team_id);

impl NewKey {
    fn find(writer: &Writer, platform: Platform, (id, secret): (Uuid, String)) -> Result<NewKey> {
        Ok(NewKey { secret, key: KeyOut::find(&writer.check_context(), platform, &id)? })
    }
}

/// What the list of keys can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct KeyFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// Name of the key.
    name: Option<String>,
}

/// An API key to create.
#[derive(Debug, Object)]
pub struct KeyIn {
    /// ID of the team that the key is for.
    team_id: MaybeInvalid<Uuid>,
    /// Name of the key, for instance its purpose.
    name: MaybeInvalid<KeyName>,
    /// What the key permits; `api` if absent: requests of programs and agents. People need a key with `console` or `all` to
    /// sign in, who can then create others.
    scope: Option<EnumValue<TeamKeyScope>>,
    /// Time at which the key expires, in the future; null or absent if never.
    expires_at: Option<RequestTime>,
}

/// Changes to an API key. Fields that are absent stay as they are.
#[derive(Clone, Copy, Debug, Object)]
pub struct KeyPatch {
    /// New time at which the key expires, in the future; null if never.
    expires_at: MaybeUndefined<RequestTime>,
}

/// How to rotate an API key.
#[derive(Debug, Object)]
pub struct KeyRotation {
    /// Time at which the new key expires, in the future. If null or absent, its lifetime is that which the
    /// replaced key had when it was created.
    expires_at: Option<RequestTime>,
}

#[routes(prefix = "/operator/v1", tag = Keys)]
impl KeysApi {
    /// List keys
    ///
    /// Returns the API keys of teams, newest first. Their secrets are not stored.
    #[get("/keys", routes::list(&["name=nothing", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_keys(call: Call<Operator>, query: Params<ListQuery<KeyFilters>>) -> JsonResult<KeyPage> {
        pages::list(call, query).await
    }

    /// Create a key
    ///
    /// Creates an API key for a team. Only this response contains its secret.
    #[post("/keys", routes::create(Actor::Platform, &[EventType::KeyCreated]))]
    async fn create_key(
        change: Change,
        #[example(json!({"team_id": DEMO_TEAM, "name": "Nightly build"}))] body: Body<KeyIn>,
    ) -> JsonResult<NewKey, 201> {
        changes::post_body_with(change, body, |writer, platform, body: KeyIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?.id.to_string();
            let expires_at = body.expires_at.map(|at| at.0);
            let (name, scope) =
                (body.name.into_valid()?.0, body.scope.map_or(TeamKeyScope::Api, |scope| scope.0));
            let created = keys::create_with_scope(writer, &team, &name, scope, expires_at)?;
            NewKey::find(writer, platform, created)
        })
        .await
    }

    /// Get a key
    ///
    /// Returns an API key of a team, without its secret.
    #[get("/keys/{key_id}", routes::get("keys"))]
    async fn get_key(call: Call<Operator>, key_id: Path<Uuid>) -> JsonResult<KeyOut> {
        resources::get(call, key_id.0).await
    }

    /// Update a key
    ///
    /// Changes when an API key expires. The key must be active.
    #[patch(
        "/keys/{key_id}",
        routes::transition("keys", Actor::Platform, &[EventType::KeyExpiryChanged]),
    )]
    async fn update_key(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        key_id: Path<Uuid>,
        #[example(json!({"expires_at": "2036-01-01T00:00:00Z"}))] body: Body<KeyPatch>,
    ) -> JsonResult<KeyOut> {
        changes::patch(call, if_match, key_id.0, body, change_expiry).await
    }

    /// Rotate a key
    ///
    /// Replaces an API key with a new one of the same name. The replaced key stays valid for a day, unless it expires
    /// earlier. Only this response contains the secret of the new key.
    #[post(
        "/keys/{key_id}/rotate",
        routes::transition("keys", Actor::Platform, &[EventType::KeyCreated, EventType::KeyRotated]),
    )]
    async fn rotate_key(
        change: Change,
        key_id: Path<Uuid>,
        #[example(json!({}))] body: Body<KeyRotation>,
    ) -> JsonResult<NewKey, 201> {
        changes::post_body_with(change, body, move |writer, platform, body: KeyRotation| {
            let key: TeamKeyRecord = records::find(writer.rows, platform, &key_id.0)?;
            let created = keys::rotate(writer, platform, key.key.id, body.expires_at.map(|at| at.0))?;
            NewKey::find(writer, platform, created)
        })
        .await
    }

    /// Revoke a key
    ///
    /// Revokes an API key of a team at once.
    #[post(
        "/keys/{key_id}/revoke",
        routes::transition("keys", Actor::Platform, &[EventType::KeyRevoked]),
    )]
    async fn revoke_key(change: Change, key_id: Path<Uuid>) -> JsonResult<KeyOut> {
        changes::transition(change, key_id, |writer, platform, _, id| {
            let key: TeamKeyRecord = records::find(writer.rows, platform, &id)?;
            keys::revoke(writer, key.key.id)
        })
        .await
    }
}

/// An operator key, without its secret.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "OperatorKey")]
pub struct OperatorKeyOut {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Name of the key.
    pub name: String,
    /// What the key permits.
    pub scope: EnumValue<KeyScope>,
    /// Its status and times.
    #[oai(flatten)]
    #[serde(flatten)]
    pub state: KeyState,
}

subject!(OperatorKeyOut, "operator_key", id);

impl Resource for OperatorKeyOut {
    type Record = OperatorKeyRecord;

    fn new(record: OperatorKeyRecord, context: &CheckContext) -> OperatorKeyOut {
        let OperatorKeyRecord { key, last_used_at } = record;
        let state = KeyState::new(&key, last_used_at, context.now);
        OperatorKeyOut { id: key.id, name: key.name, scope: EnumValue(key.scope), state }
    }
}

page_of! {
    /// A page of operator keys.
    OperatorKeyPage, OperatorKeyOut
}

/// A new operator key, with its secret.
#[derive(Debug, Object, Serialize)]
pub struct NewOperatorKey {
    /// The key, which is sent with requests. It cannot be shown again.
    pub secret: String,
    /// The key without its secret.
    pub key: OperatorKeyOut,
}

subject!(NewOperatorKey, OperatorKeyOut::KIND, key.id);

impl NewOperatorKey {
    fn find(writer: &Writer, platform: Platform, (id, secret): (Uuid, String)) -> Result<NewOperatorKey> {
        Ok(NewOperatorKey { secret, key: OperatorKeyOut::find(&writer.check_context(), platform, &id)? })
    }
}

/// What the list of operator keys can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct OperatorKeyFilters {
    /// Name of the key.
    name: Option<String>,
    /// What the key permits.
    scope: Option<EnumValue<KeyScope>>,
}

/// An operator key to create.
#[derive(Debug, Object)]
pub struct OperatorKeyIn {
    /// Name of the key, for instance its purpose.
    name: MaybeInvalid<KeyName>,
    /// What the key permits.
    scope: MaybeInvalid<EnumValue<KeyScope>>,
    /// Time at which the key expires, in the future; null or absent if never.
    expires_at: Option<RequestTime>,
}

#[routes(prefix = "/operator/v1", tag = Keys)]
impl OperatorKeysApi {
    /// List operator keys
    ///
    /// Returns the keys of operators, newest first. Their secrets are not stored.
    #[get("/operator-keys", routes::list(&["name=nothing", "scope=read"]))]
    async fn list_operator_keys(
        call: Call<Operator>,
        query: Params<ListQuery<OperatorKeyFilters>>,
    ) -> JsonResult<OperatorKeyPage> {
        pages::list(call, query).await
    }

    /// Create an operator key
    ///
    /// Creates a key for an operator. Only this response contains its secret.
    #[post("/operator-keys", routes::create(Actor::Platform, &[EventType::KeyCreated]))]
    async fn create_operator_key(
        change: Change,
        #[example(json!({"name": "Review desk", "scope": "all"}))] body: Body<OperatorKeyIn>,
    ) -> JsonResult<NewOperatorKey, 201> {
        changes::post_body_with(change, body, |writer, platform, body: OperatorKeyIn| {
            let (name, scope) = (body.name.into_valid()?, body.scope.into_valid()?.0);
            let expires_at = body.expires_at.map(|at| at.0);
            let created = keys::create_for_operator(writer, platform, &name.0, scope, expires_at)?;
            NewOperatorKey::find(writer, platform, created)
        })
        .await
    }

    /// Get an operator key
    ///
    /// Returns an operator key, without its secret.
    #[get("/operator-keys/{key_id}", routes::get("operator_keys"))]
    async fn get_operator_key(call: Call<Operator>, key_id: Path<Uuid>) -> JsonResult<OperatorKeyOut> {
        resources::get(call, key_id.0).await
    }

    /// Update an operator key
    ///
    /// Changes when an operator key expires. The key must be active.
    #[patch(
        "/operator-keys/{key_id}",
        routes::transition("operator_keys", Actor::Platform, &[EventType::KeyExpiryChanged]),
    )]
    async fn update_operator_key(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        key_id: Path<Uuid>,
        #[example(json!({"expires_at": "2036-01-01T00:00:00Z"}))] body: Body<KeyPatch>,
    ) -> JsonResult<OperatorKeyOut> {
        changes::patch(call, if_match, key_id.0, body, change_expiry).await
    }

    /// Rotate an operator key
    ///
    /// Replaces an operator key with a new one of the same name. The replaced key stays valid for a day, unless it expires
    /// earlier. Only this response contains the secret of the new key.
    #[post(
        "/operator-keys/{key_id}/rotate",
        routes::transition("operator_keys", Actor::Platform, &[EventType::KeyCreated, EventType::KeyRotated]),
    )]
    async fn rotate_operator_key(
        change: Change,
        key_id: Path<Uuid>,
        #[example(json!({}))] body: Body<KeyRotation>,
    ) -> JsonResult<NewOperatorKey, 201> {
        changes::post_body_with(change, body, move |writer, platform, body: KeyRotation| {
            let key: OperatorKeyRecord = records::find(writer.rows, platform, &key_id.0)?;
            let created = keys::rotate(writer, platform, key.key.id, body.expires_at.map(|at| at.0))?;
            NewOperatorKey::find(writer, platform, created)
        })
        .await
    }

    /// Revoke an operator key
    ///
    /// Revokes an operator key at once.
    #[post(
        "/operator-keys/{key_id}/revoke",
        routes::transition("operator_keys", Actor::Platform, &[EventType::KeyRevoked]),
    )]
    async fn revoke_operator_key(change: Change, key_id: Path<Uuid>) -> JsonResult<OperatorKeyOut> {
        changes::transition(change, key_id, |writer, platform, _, id| {
            let key: OperatorKeyRecord = records::find(writer.rows, platform, &id)?;
            keys::revoke(writer, key.key.id)
        })
        .await
    }
}

/// Changes when a key expires.
fn change_expiry(writer: &mut Writer, platform: Platform, id: &Uuid, patch: KeyPatch) -> Result<()> {
    match patch.expires_at {
        MaybeUndefined::Undefined => Ok(()),
        MaybeUndefined::Null => keys::change_expiry(writer, platform, *id, None),
        MaybeUndefined::Value(at) => keys::change_expiry(writer, platform, *id, Some(at.0)),
    }
}
