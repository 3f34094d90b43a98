//! Faults of worlds: failures on demand.

use super::{
    access::{WorldOperator, WorldReader},
    fault_bodies::{DelayMs, FaultIn},
    worlds::{change, read_with},
};
use crate::{
    domain::events::EventType,
    rest::{prelude::*, route::Link},
    string_enum::StringEnum,
    worlds::{
        CutPlace, Fault, FaultRule, FaultTiming, Interruption, RequestEffect, RequestMatch, WebhookEffect,
        WebhookMatch, journal::WorldApi,
    },
};

/// A fault of a world.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Fault")]
pub struct FaultOut {
    /// ID of the fault in the world: `fault-1`, `fault-2`, and so on.
    pub id: String,
    /// What the fault is for, and when.
    #[oai(rename = "match")]
    #[serde(rename = "match")]
    pub cases: FaultMatchOut,
    /// What the fault does.
    pub then: FaultEffectOut,
    /// Whether the fault may answer with what the documents do not name.
    pub force: bool,
    /// Number of cases that the fault is for, within its times. This is what `nth`, `next`, and `share` count.
    pub seen: u64,
    /// Number of these in which all conditions were met.
    pub matched: u64,
    /// Number of these in which the fault took effect, since no earlier one did.
    pub used: u64,
}

/// What a fault is for, and when; null where nothing is required.
#[derive(Debug, Default, Object, Serialize)]
#[oai(rename = "FaultMatch")]
pub struct FaultMatchOut {
    /// ID of the operation in the documents.
    pub operation: Option<String>,
    /// API that has the operation.
    pub api: Option<EnumValue<WorldApi>>,
    /// Path in the world; with `*` at the end, all that begin so.
    pub path: Option<String>,
    /// ID or name of the team whose key the request has.
    pub team: Option<String>,
    /// Kind of a background job, or `*` for all jobs.
    pub job: Option<String>,
    /// Host of repositories.
    pub host: Option<String>,
    /// URL of a webhook; with `*` at the end, all that begin so.
    pub webhook: Option<String>,
    /// Type of the event that a webhook gets.
    pub event_type: Option<EnumValue<EventType>>,
    /// Number of the only case.
    pub nth: Option<u64>,
    /// Number of cases.
    pub next: Option<u64>,
    /// Share of the cases.
    pub share: Option<f64>,
    /// Time of the world from which the fault applies.
    pub from: Option<UtcTime>,
    /// Time of the world from which the fault does not apply any more.
    pub until: Option<UtcTime>,
}

/// What a fault does; null or false for what it does not.
#[derive(Debug, Default, Object, Serialize)]
#[oai(rename = "FaultEffect")]
pub struct FaultEffectOut {
    /// Status of the answer of a request, or of a webhook.
    pub status: Option<u16>,
    /// Error code of the answer.
    pub code: Option<String>,
    /// Delay of the response in milliseconds: a number, or the least and the greatest.
    pub delay_ms: Option<DelayMs>,
    /// Rate at which the body of the response is sent.
    pub body_bytes_per_second: Option<u32>,
    /// Where the connection is closed.
    pub cut: Option<EnumValue<CutPlace>>,
    /// Whether nothing follows the first part of the body.
    pub stall: bool,
    /// Whether an attempt of a job fails.
    pub fail: bool,
    /// Whether a host cannot be reached.
    pub unreachable: bool,
    /// Whether a message to a webhook is lost.
    pub lost: bool,
    /// Whether a message to a webhook arrives twice.
    pub duplicate: bool,
}

/// The faults of a world.
#[derive(Debug, Object, Serialize)]
pub struct FaultList {
    /// The faults, in the order in which they were added.
    pub items: Vec<FaultOut>,
}

/// Which faults are returned.
#[derive(Debug, Object)]
pub struct FaultsQuery {
    /// Returns only faults whose conditions were never met.
    #[oai(default)]
    unmatched: bool,
}

impl FaultOut {
    fn new(fault: &Fault) -> FaultOut {
        let FaultTiming { nth, next, share, from, until } = fault.new.timing;
        let (cases, then) = match &fault.new.rule {
            FaultRule::Requests(of, effect) => {
                (FaultMatchOut::of_requests(of), FaultEffectOut::on_request(effect))
            }
            FaultRule::Jobs(kind) => {
                let job = Some(kind.map_or("*", StringEnum::as_str).to_owned());
                let then = FaultEffectOut { fail: true, ..FaultEffectOut::default() };
                (FaultMatchOut { job, ..FaultMatchOut::default() }, then)
            }
            FaultRule::Host(host) => {
                let then = FaultEffectOut { unreachable: true, ..FaultEffectOut::default() };
                (FaultMatchOut { host: Some(host.clone()), ..FaultMatchOut::default() }, then)
            }
            FaultRule::Webhooks(of, effect) => {
                (FaultMatchOut::of_webhooks(of), FaultEffectOut::on_message(*effect))
            }
        };
        let [from, until] = [from, until].map(|time| time.map(UtcTime));
        FaultOut {
            id: fault.id(),
            cases: FaultMatchOut { nth, next, share, from, until, ..cases },
            then,
            force: fault.new.is_forced,
            seen: fault.seen,
            matched: fault.matched,
            used: fault.used,
        }
    }
}

impl FaultMatchOut {
    fn of_requests(RequestMatch { operation, api, path, team }: &RequestMatch) -> FaultMatchOut {
        FaultMatchOut {
            operation: operation.clone(),
            api: api.map(EnumValue),
            path: path.as_ref().map(|path| path.0.clone()),
            team: team.clone(),
            ..FaultMatchOut::default()
        }
    }

    fn of_webhooks(WebhookMatch { url, event_type }: &WebhookMatch) -> FaultMatchOut {
        FaultMatchOut {
            webhook: url.as_ref().map(|url| url.0.clone()),
            event_type: event_type.map(EnumValue),
            ..FaultMatchOut::default()
        }
    }
}

impl FaultEffectOut {
    fn on_request(effect: &RequestEffect) -> FaultEffectOut {
        let cut = match effect.interruption {
            Some(Interruption::Cut(place)) => Some(EnumValue(place)),
            Some(Interruption::Stall) | None => None,
        };
        FaultEffectOut {
            status: effect.answer.as_ref().map(|answer| answer.status),
            code: effect.answer.as_ref().and_then(|answer| answer.code.clone()),
            delay_ms: effect.delay_ms.map(DelayMs::new),
            body_bytes_per_second: effect.body_bytes_per_second,
            cut,
            stall: effect.interruption == Some(Interruption::Stall),
            ..FaultEffectOut::default()
        }
    }

    fn on_message(effect: WebhookEffect) -> FaultEffectOut {
        let status = match effect {
            WebhookEffect::Answer(status) => Some(status),
            WebhookEffect::Lose | WebhookEffect::Duplicate => None,
        };
        FaultEffectOut {
            status,
            lost: effect == WebhookEffect::Lose,
            duplicate: effect == WebhookEffect::Duplicate,
            ..FaultEffectOut::default()
        }
    }
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl FaultsApi {
    /// List the faults of a world
    ///
    /// Returns the faults in their order, with how often each was used.
    #[get(
        "/worlds/{world}/faults",
        read_with(
            Contract::new(Target::World)
                .with_queries(&["unmatched=true"])
                .with_misspelled("unmatchd=true", "unmatched"),
        )
        .with_links(&[Link::new("/items/0/id", "delete_fault", "fault")]),
    )]
    async fn list_faults(
        call: Call<WorldReader>,
        /// Name of the world.
        world: Path<String>,
        query: Params<FaultsQuery>,
    ) -> JsonResult<FaultList> {
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let list = move || {
            let faults = world.faults().list();
            let listed = faults.iter().filter(|fault| !query.0.unmatched || fault.matched == 0);
            Ok(FaultList { items: listed.map(FaultOut::new).collect() })
        };
        Json::of_blocking(&call.served, list).await
    }

    /// Add a fault to a world
    ///
    /// Lets requests, background jobs, hosts of repositories, or webhooks of the world fail from now on. Of several faults
    /// that match, the first one that was added takes effect. A request can be answered with each status and code that the
    /// document of its operation names, with the body and the headers that the server sends otherwise; with `force`, also
    /// with others. A response that a fault has changed has the ID of the fault in the header `X-Sandbox-Fault`. A world has
    /// up to 100 faults, until they are deleted or it is reset.
    #[post(
        "/worlds/{world}/faults",
        change(Target::World).with_links(&[Link::new("/id", "delete_fault", "fault")]),
    )]
    async fn add_fault(
        call: Call<WorldOperator>,
        idempotent: Idempotent,
        /// Name of the world.
        world: Path<String>,
        #[example(json!({
            "match": {"operation": "get_wallet", "next": 2},
            "then": {"status": 503, "code": "at_capacity"},
        }))]
        body: Body<FaultIn>,
    ) -> JsonResult<FaultOut, 201> {
        let sandbox = call.served.require_sandbox()?;
        let world = sandbox.worlds().require(&world.0)?;
        let Body { value, source } = body;
        let work = move |_: &WorldOperator| {
            let fault = value.into_fault(sandbox.operations())?;
            Ok(FaultOut::new(&world.faults().add(fault)?))
        };
        idempotent.run(&call.served, call.access, source, work).await
    }

    /// Delete all faults of a world
    ///
    /// Lets everything work again. Responses that a fault delays already stay delayed.
    #[delete("/worlds/{world}/faults", change(Target::World))]
    async fn delete_faults(
        call: Call<WorldOperator>,
        /// Name of the world.
        world: Path<String>,
    ) -> std::result::Result<NoContent, ApiError> {
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let delete = move |_: &_| {
            world.faults().delete_all();
            Ok(NoContent)
        };
        call.served.market().spawn_blocking(delete).await.map_err(ApiError)
    }

    /// Delete a fault
    ///
    /// Deletes one fault. The others keep their order and their counts.
    #[delete("/worlds/{world}/faults/{fault}", change(Target::WorldFault))]
    async fn delete_fault(
        call: Call<WorldOperator>,
        /// Name of the world.
        world: Path<String>,
        /// ID of the fault.
        fault: Path<String>,
    ) -> std::result::Result<NoContent, ApiError> {
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let delete = move |_: &_| {
            let is_deleted = world.faults().delete(&fault.0);
            if is_deleted { Ok(NoContent) } else { Err(Error::not_found("fault")) }
        };
        call.served.market().spawn_blocking(delete).await.map_err(ApiError)
    }
}
