//! API keys of teams, and those of operators.

use poem_openapi::types::MaybeUndefined;

use crate::{
    domain::{
        keys::{KeyStatus, KeyTimes, TeamKeyScope},
        principals::KeyScope,
        time::Timestamp,
    },
    operations::keys,
    rest::{
        operator_api::prelude::*,
        shapes::{RequestTime, strings::KeyName},
    },
    store::records::keys::{OperatorKeyRecord, TeamKeyRecord},
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

impl KeyIn {
    fn create(self, writer: &mut Writer, _: Platform) -> Result<(Uuid, String)> {
        let team = references::team(writer.rows, "team_id", self.team_id.into_valid()?)?.id.to_string();
        let (name, scope) =
            (self.name.into_valid()?.0, self.scope.map_or(TeamKeyScope::Api, |scope| scope.0));
        keys::create_with_scope(writer, &team, &name, scope, self.expires_at.map(|at| at.0))
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

impl OperatorKeyIn {
    fn create(self, writer: &mut Writer, platform: Platform) -> Result<(Uuid, String)> {
        let (name, scope) = (self.name.into_valid()?.0, self.scope.into_valid()?.0);
        keys::create_for_operator(writer, platform, &name, scope, self.expires_at.map(|at| at.0))
    }
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

/// Declares the pages, the bodies of new keys, and the routes for one kind of key. The kinds differ only in names and texts. A new
/// key of a team also names the team.
macro_rules! keys_of_kind {
    (
        $out:ident, $in:ident, $filters:ty, $collection:literal;
        #[doc = $page_doc:tt] $page:ident;
        #[doc = $new_doc:tt] $new:ident { $($team_id:ident)? };

        $api:ident at $path:literal: $keys:literal, $a_key:literal, $any_key:literal;
        all: $all_keys:literal, one: $one_key:literal, new: $new_key:literal;
        $list:ident, $queries:expr;
        $create:ident, $example:expr;
        $get:ident, $update:ident, $rotate:ident, $revoke:ident;
    ) => {
        page_of! {
            #[doc = $page_doc]
            $page, $out
        }

        #[doc = $new_doc]
        #[derive(Debug, Object, Serialize)]
        pub struct $new {
            /// The key, which is sent with requests. It cannot be shown again.
            pub secret: String,
            /// The key without its secret.
            pub key: $out,
        }

        subject!($new, $out::KIND, key.id $(, key.$team_id)?);

        impl $new {
            fn find(writer: &Writer, platform: Platform, (id, secret): (Uuid, String)) -> Result<$new> {
                Ok($new { secret, key: $out::find(&writer.check_context(), platform, &id)? })
            }
        }

        #[routes(prefix = "/operator/v1", tag = Keys)]
        impl $api {
            #[doc = concat!("List ", $keys)]
            ///
            #[doc = concat!("Returns ", $all_keys, ", newest first. Their secrets are not stored.")]
            #[get($path, routes::list($queries))]
            async fn $list(call: Call<Operator>, query: Params<ListQuery<$filters>>) -> JsonResult<$page> {
                pages::list(call, query).await
            }

            #[doc = concat!("Create ", $a_key)]
            ///
            #[doc = concat!("Creates ", $new_key, ". Only this response contains its secret.")]
            #[post($path, routes::create(Actor::Platform, &[EventType::KeyCreated]))]
            async fn $create(change: Change, #[example($example)] body: Body<$in>) -> JsonResult<$new, 201> {
                changes::post_body_with(change, body, |writer, platform, body: $in| {
                    let created = body.create(writer, platform)?;
                    $new::find(writer, platform, created)
                })
                .await
            }

            #[doc = concat!("Get ", $a_key)]
            ///
            #[doc = concat!("Returns ", $one_key, ", without its secret.")]
            #[get(concat!($path, "/{key_id}"), routes::get($collection))]
            async fn $get(call: Call<Operator>, key_id: Path<Uuid>) -> JsonResult<$out> {
                resources::get(call, key_id.0).await
            }

            #[doc = concat!("Update ", $a_key)]
            ///
            #[doc = concat!("Changes when ", $any_key, " expires. The key must be active.")]
            #[patch(
                concat!($path, "/{key_id}"),
                routes::transition($collection, Actor::Platform, &[EventType::KeyExpiryChanged]),
            )]
            async fn $update(
                call: Call<ActingOperator>,
                if_match: IfMatch,
                key_id: Path<Uuid>,
                #[example(json!({"expires_at": "2036-01-01T00:00:00Z"}))] body: Body<KeyPatch>,
            ) -> JsonResult<$out> {
                changes::patch(call, if_match, key_id.0, body, change_expiry).await
            }

            #[doc = concat!("Rotate ", $a_key)]
            ///
            #[doc = concat!(
                "Replaces ", $any_key,
                " with a new one of the same name. The replaced key stays valid for a day, unless it expires",
            )]
            /// earlier. Only this response contains the secret of the new key.
            #[post(
                concat!($path, "/{key_id}/rotate"),
                routes::transition($collection, Actor::Platform, &[EventType::KeyCreated, EventType::KeyRotated]),
            )]
            async fn $rotate(
                change: Change,
                key_id: Path<Uuid>,
                #[example(json!({}))] body: Body<KeyRotation>,
            ) -> JsonResult<$new, 201> {
                changes::post_body_with(change, body, move |writer, platform, body: KeyRotation| {
                    let key = $out::find(&writer.check_context(), platform, &key_id.0)?;
                    let created = keys::rotate(writer, platform, key.id, body.expires_at.map(|at| at.0))?;
                    $new::find(writer, platform, created)
                })
                .await
            }

            #[doc = concat!("Revoke ", $a_key)]
            ///
            #[doc = concat!("Revokes ", $one_key, " at once.")]
            #[post(
                concat!($path, "/{key_id}/revoke"),
                routes::transition($collection, Actor::Platform, &[EventType::KeyRevoked]),
            )]
            async fn $revoke(change: Change, key_id: Path<Uuid>) -> JsonResult<$out> {
                changes::transition(change, key_id, |writer, platform, _, id| {
                    let key = $out::find(&writer.check_context(), platform, &id)?;
                    keys::revoke(writer, key.id)
                })
                .await
            }
        }
    };
}

keys_of_kind! {
    KeyOut, KeyIn, KeyFilters, "keys";
    /// A page of API keys.
    KeyPage;
    /// A new API key of a team, with its secret.
    NewKey { team_id };

    KeysApi at "/keys": "keys", "a key", "an API key";
    all: "the API keys of teams", one: "an API key of a team", new: "an API key for a team";
    list_keys, &["name=nothing", "team_id=00000000-0000-0000-0000-000000000000"];
    create_key, json!({"team_id": DEMO_TEAM, "name": "Nightly build"});
    get_key, update_key, rotate_key, revoke_key;
}

keys_of_kind! {
    OperatorKeyOut, OperatorKeyIn, OperatorKeyFilters, "operator_keys";
    /// A page of operator keys.
    OperatorKeyPage;
    /// A new operator key, with its secret.
    NewOperatorKey {};

    OperatorKeysApi at "/operator-keys": "operator keys", "an operator key", "an operator key";
    all: "the keys of operators", one: "an operator key", new: "a key for an operator";
    list_operator_keys, &["name=nothing", "scope=read"];
    create_operator_key, json!({"name": "Review desk", "scope": "all"});
    get_operator_key, update_operator_key, rotate_operator_key, revoke_operator_key;
}

/// Changes when a key expires.
fn change_expiry(writer: &mut Writer, platform: Platform, id: &Uuid, patch: KeyPatch) -> Result<()> {
    match patch.expires_at {
        MaybeUndefined::Undefined => Ok(()),
        MaybeUndefined::Null => keys::change_expiry(writer, platform, *id, None),
        MaybeUndefined::Value(at) => keys::change_expiry(writer, platform, *id, Some(at.0)),
    }
}
