//! Worlds: creation, list, details, reset, and deletion.

use std::collections::BTreeMap;

use poem::Request;
use serde_json::Value;

use super::access::{WorldOperator, WorldReader};
use crate::{
    domain::clock_modes::ClockMode,
    error::{Problem, Result},
    operations::access::{ActingOperator, ActingProof as _, Operator},
    rest::{
        prelude::*,
        shapes::{RequestTime, strings::WorldName},
    },
    web::{served_market::LinkBaseUrl, world_host::SandboxHost},
    worlds::{JobTiming, NewWorld, WebhookMode, World},
};

/// A world.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "World")]
pub struct WorldOut {
    /// ID of the world. Another world with the same name has another one.
    pub id: Uuid,
    /// Name of the world, which is part of its addresses.
    pub name: String,
    /// Base address of the world: what the server has at `/X`, the world has at this address with `/X` at the end.
    pub base_url: String,
    /// Address of the port that only this world has; null if it has none.
    pub port_url: Option<String>,
    /// Name of what the world was forked from.
    pub from: String,
    /// Time of the world's clock.
    pub now: UtcTime,
    /// Whether the clock runs.
    pub clock: EnumValue<ClockMode>,
    /// What the IDs and secrets of the world are derived from.
    pub seed: u64,
    /// Settings that differ from those of other worlds, by key.
    pub settings: BTreeMap<String, Value>,
    /// API keys that were valid when the world began. Keys that were created later are not listed.
    pub keys: Vec<WorldKeyOut>,
    /// Time of the machine at which the world ends; null if it does not end by itself.
    pub expires_at: Option<UtcTime>,
}

/// An API key that is valid when a world begins.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "WorldKey")]
pub struct WorldKeyOut {
    /// The key, which is sent with requests.
    pub key: String,
    /// Who it acts for.
    pub description: String,
}

/// The worlds of the server.
#[derive(Debug, Object, Serialize)]
pub struct WorldList {
    /// The worlds, in the order of their names.
    pub items: Vec<WorldOut>,
}

/// A world to create.
#[derive(Debug, Object)]
pub struct WorldIn {
    /// Name of the world, which neither another world nor a snapshot may have; generated if absent.
    name: Option<WorldName>,
    /// What the world is forked from: `demo` (if absent), `empty`, `market` for the market of the server, or the name of a
    /// snapshot or of another world.
    from: Option<WorldName>,
    /// Time at which the world begins; that of what it is forked from, if absent. What is due until then is carried out
    /// first.
    now: Option<RequestTime>,
    /// Whether the clock runs; `frozen` if absent.
    clock: Option<EnumValue<ClockMode>>,
    /// What IDs and secrets are derived from. Worlds with the same seed that get the same requests respond alike.
    #[oai(validator(minimum(value = "0")))]
    seed: Option<i64>,
    /// Seconds of the machine's time until the world ends; if absent, it does not end by itself.
    #[oai(validator(minimum(value = "1"), maximum(value = "2592000")))]
    ttl_seconds: Option<i64>,
    /// Settings of the world, by key, such as `fees.buyer_percent`. Only rules of the market can be set, not the server.
    settings: Option<BTreeMap<String, Value>>,
    /// When jobs run that are due; `before_requests` if absent.
    jobs: Option<EnumValue<JobTiming>>,
    /// What becomes of the messages to webhooks; `inbox` if absent. An advance of the clock does not wait for what is sent.
    webhooks: Option<EnumValue<WebhookMode>>,
    /// Whether the world gets a port of its own, for clients that drop the path of a base address.
    port: Option<bool>,
}

impl WorldOut {
    /// Creates the response. `base_url` is the base address of the server.
    pub fn new(world: &World, base_url: &str) -> WorldOut {
        let (details, clock) = (world.details(), world.clock());
        let (keys, settings) = (world.keys(), world.given_settings());
        WorldOut {
            id: details.id,
            name: details.name.clone(),
            base_url: SandboxHost::world_url(base_url, world),
            port_url: SandboxHost::port_url(base_url, world),
            from: details.origin.source.clone(),
            now: clock.now.into(),
            clock: EnumValue(if clock.is_running { ClockMode::Running } else { ClockMode::Frozen }),
            seed: clock.seed,
            settings: settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect(),
            keys: keys
                .iter()
                .map(|key| WorldKeyOut { key: key.key.clone(), description: key.description.clone() })
                .collect(),
            expires_at: details.expires_at.map(UtcTime),
        }
    }
}

impl WorldIn {
    /// Converts the body.
    fn into_new_world(self, creator: &ActingOperator) -> Result<NewWorld> {
        let defaults = NewWorld::default();
        let mut settings = Vec::new();
        for (key, value) in self.settings.unwrap_or_default() {
            let value = toml::Value::try_from(&value).map_err(|_| {
                let message = format!("{key} must be a number, a text, or true or false.");
                Error::invalid(Problem::body(&["settings", &key], "value_error", message))
            })?;
            settings.push((key, value));
        }
        Ok(NewWorld {
            name: self.name.map(String::from),
            source: self.from.map_or(defaults.source, String::from),
            now: self.now.map(|at| at.0),
            is_running: self.clock.is_some_and(|mode| mode.0 == ClockMode::Running),
            seed: self.seed.map(i64::unsigned_abs),
            time_to_live: self.ttl_seconds,
            settings,
            has_port: self.port.unwrap_or(false),
            job_timing: self.jobs.map_or(defaults.job_timing, |timing| timing.0),
            webhooks: self.webhooks.map_or(defaults.webhooks, |mode| mode.0),
            creator: creator.used_key().0,
        })
    }
}

/// The attributes of a GET operation.
pub const fn read(target: Target) -> RouteAttributes {
    read_with(Contract::new(target))
}

/// The attributes of a GET operation with query parameters.
pub const fn read_with(contract: Contract) -> RouteAttributes {
    RouteAttributes::read(Tool::Excluded("agents use a market as it is"), contract)
}

/// The attributes of an operation that changes something.
pub const fn change(target: Target) -> RouteAttributes {
    RouteAttributes::change(Contract::new(target))
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl WorldsApi {
    /// List worlds
    ///
    /// Returns all worlds that have not ended.
    #[get("/worlds", read(Target::None))]
    async fn list_worlds(call: Call<Operator>, base: LinkBaseUrl) -> JsonResult<WorldList> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || {
            let worlds = sandbox.worlds().list();
            Ok(WorldList { items: worlds.iter().map(|world| WorldOut::new(world, &base.0)).collect() })
        };
        Json::of_blocking(&call.served, read).await
    }

    /// Create a world
    ///
    /// Forks a market: the world has everything that the market has now, and nothing that happens in one of them later is
    /// visible in the other. Its clock is frozen unless told otherwise.
    #[post("/worlds", change(Target::None).with_conflicts(&[Code::TooManyWorlds]))]
    async fn create_world(
        call: Call<ActingOperator>,
        request: &Request,
        idempotent: Idempotent,
        base: LinkBaseUrl,
        #[example(json!({"from": "demo", "settings": {"fees.buyer_percent": 4.0}}))] body: Body<WorldIn>,
    ) -> JsonResult<WorldOut, 201> {
        let sandbox = call.served.require_sandbox()?;
        let Call { served, access, .. } = call;
        let holder = (served.market().id(), access.principal());
        // It can take long, since everything that is due until `now` is carried out.
        let create = async {
            let Body { value, source } = body;
            // Nothing changes the world that it is forked from meanwhile.
            let turn = match value.from.as_ref().and_then(|name| sandbox.worlds().find(&name.0)) {
                Some(world) => Some(world.admit().await?),
                None => None,
            };
            let work = move |creator: &ActingOperator| {
                let _turn = turn;
                let world = sandbox.create(&value.into_new_world(creator)?)?;
                Ok(WorldOut::new(&world, &base.0))
            };
            idempotent.run(&served, access, source, work).await
        };
        served.held_requests().finish(request, holder, create).await
    }

    /// Get a world
    ///
    /// Returns the world with the time of its clock.
    #[get("/worlds/{world}", read(Target::World))]
    async fn get_world(
        call: Call<WorldReader>,
        base: LinkBaseUrl,
        /// Name of the world.
        world: Path<String>,
    ) -> JsonResult<WorldOut> {
        let sandbox = call.served.require_sandbox()?;
        let read = move || Ok(WorldOut::new(&*sandbox.worlds().require(&world.0)?, &base.0));
        Json::of_blocking(&call.served, read).await
    }

    /// Delete a world
    ///
    /// Ends the world. Nothing of it stays on the disk, apart from its snapshots. Requests that wait for
    /// something end, and others in progress may still finish.
    #[delete("/worlds/{world}", change(Target::World))]
    async fn delete_world(
        call: Call<WorldOperator>,
        /// Name of the world.
        world: Path<String>,
    ) -> std::result::Result<NoContent, ApiError> {
        let sandbox = call.served.require_sandbox()?;
        let delete = move |_: &_| {
            let is_deleted = sandbox.worlds().delete(&world.0);
            if is_deleted { Ok(NoContent) } else { Err(Error::WorldNotFound(world.0)) }
        };
        call.served.market().spawn_blocking(delete).await.map_err(ApiError)
    }

    /// Reset a world
    ///
    /// Returns the world to where it was forked: data, clock, counters of IDs, and settings. Its clock is frozen then, at the time
    /// of what it was forked from, whatever `now` and `clock` it was created with. It has no faults.
    #[post("/worlds/{world}/reset", change(Target::World))]
    async fn reset_world(
        call: Call<WorldOperator>,
        idempotent: Idempotent,
        base: LinkBaseUrl,
        /// Name of the world.
        world: Path<String>,
    ) -> JsonResult<WorldOut> {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let turn = world.admit().await?;
        let work = move |_: &WorldOperator| {
            let _turn = turn;
            sandbox.worlds().reset(&world)?;
            Ok(WorldOut::new(&world, &base.0))
        };
        idempotent.run_without_body(&call.served, call.access, work).await
    }
}
