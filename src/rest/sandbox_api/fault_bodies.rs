//! The bodies of requests that add faults, and their validation.

use std::borrow::Cow;

use poem_openapi::{
    Object,
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::fault_checks;
use crate::{
    domain::{events::EventType, jobs::JobKind, problems::Problems},
    error::{Problem, Result},
    request_problems::ProblemsExt,
    rest::{
        arguments::request_body::MaybeInvalid,
        shapes::{
            RequestTime,
            strings::{ErrorCode, HostName, Name, OperationId, PathMatch, TextMatch},
        },
    },
    string_enum::StringEnum,
    web::{
        documented_operations::DocumentedOperations,
        enum_value::{EnumValue, own_values},
    },
    worlds::{
        CutPlace, FaultRule, FaultTiming, Interruption, NewFault, RequestEffect, RequestMatch, TextPattern,
        WebhookEffect, WebhookMatch, journal::WorldApi,
    },
};

/// Maximum delay in milliseconds.
const MAX_DELAY_MS: u32 = 60_000;

/// What stands for all jobs, and for all webhooks.
const ALL: &str = "*";

/// Milliseconds: a number, or two of which one between them is chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct DelayMs(Value);

impl Type for DelayMs {
    own_values!();

    fn name() -> Cow<'static, str> {
        "DelayMs".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(Self::name().into_owned())
    }

    fn register(registry: &mut Registry) {
        registry.create_schema::<Self, _>(Self::name().into_owned(), |_| {
            let number = || MetaSchema {
                minimum: Some(0.0),
                maximum: Some(MAX_DELAY_MS.into()),
                ..MetaSchema::new_with_format("integer", "int64")
            };
            let range = MetaSchema {
                items: Some(Box::new(MetaSchemaRef::Inline(Box::new(number())))),
                min_items: Some(2),
                max_items: Some(2),
                ..MetaSchema::new("array")
            };
            let alternatives = [number(), range].map(|schema| MetaSchemaRef::Inline(Box::new(schema)));
            MetaSchema { any_of: alternatives.into(), ..MetaSchema::ANY }
        });
    }
}

impl ParseFromJSON for DelayMs {
    /// Takes any value, which [`DelayMs::range`] checks.
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        Ok(DelayMs(value.unwrap_or_default()))
    }
}

impl ToJSON for DelayMs {
    fn to_json(&self) -> Option<Value> {
        Some(self.0.clone())
    }
}

impl DelayMs {
    /// Creates the value for a delay from `min` to `max`.
    pub fn new((min, max): (u32, u32)) -> DelayMs {
        DelayMs(if min == max { json!(min) } else { json!([min, max]) })
    }

    fn range(&self) -> Option<(u32, u32)> {
        let number = |value: &Value| {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            number.filter(|number| *number <= MAX_DELAY_MS)
        };
        match self.0.as_array().map(Vec::as_slice) {
            Some([min, max]) => Some((number(min)?, number(max)?)).filter(|(min, max)| min <= max),
            Some(_) => None,
            None => number(&self.0).map(|number| (number, number)),
        }
    }
}

/// A fault to add.
#[derive(Debug, Object)]
pub struct FaultIn {
    /// What the fault is for, and when: requests, or else jobs, a host, or webhooks. Everything that is given must hold.
    #[oai(rename = "match")]
    cases: MaybeInvalid<FaultMatchIn>,
    /// What the fault does.
    then: MaybeInvalid<FaultEffectIn>,
    /// Whether the fault may answer with what the documents of the operations do not name: any status from 400 to 599, and
    /// any code.
    force: Option<bool>,
}

/// What a fault is for. Without `job`, `host`, `webhook`, and `event_type`, it is for requests.
#[derive(Debug, Object)]
#[oai(rename = "FaultMatchInput")]
pub struct FaultMatchIn {
    /// ID of the operation, `operationId` in the documents. Operations of several APIs can have the same.
    operation: Option<OperationId>,
    /// API that has the operation. Vendors and buyers have some in common.
    api: Option<EnumValue<WorldApi>>,
    /// Path in the world without its base address, such as `/v2/wallet`; with `*` at the end, all that begin so.
    path: Option<PathMatch>,
    /// ID or name of the team whose key the request has.
    team: Option<Name>,
    /// Kind of a background job, or `*` for all jobs.
    job: Option<TextMatch>,
    /// Host of repositories, such as `github.com`.
    host: Option<HostName>,
    /// URL of a webhook; with `*` at the end, all that begin so.
    webhook: Option<TextMatch>,
    /// Type of the event that a webhook gets.
    event_type: Option<EnumValue<EventType>>,
    /// Only the case with this number, counted from 1.
    #[oai(validator(minimum(value = "1")))]
    nth: Option<i64>,
    /// Only so many cases.
    #[oai(validator(minimum(value = "1")))]
    next: Option<i64>,
    /// Share of the cases, from 0 to 1. Which they are follows from the seed of the world.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    share: Option<f64>,
    /// Time of the world from which the fault applies.
    from: Option<RequestTime>,
    /// Time of the world from which the fault does not apply any more.
    until: Option<RequestTime>,
}

/// What a fault does.
#[derive(Debug, Object)]
#[oai(rename = "FaultEffectInput")]
pub struct FaultEffectIn {
    /// Of requests: status of the answer, without executing the request. Of webhooks: status with which it answers.
    #[oai(validator(minimum(value = "200"), maximum(value = "599")))]
    status: Option<i64>,
    /// Error code of the answer. It may be absent if the documents name only one for the status.
    code: Option<ErrorCode>,
    /// Delay of the response in milliseconds of the machine's time, at most 60,000: a number, or the least and the greatest.
    delay_ms: Option<DelayMs>,
    /// Rate at which the body of the response is sent, for at most 60 seconds.
    #[oai(validator(minimum(value = "1"), maximum(value = "100000000")))]
    body_bytes_per_second: Option<i64>,
    /// Where the connection is closed. A response without a body is cut in its headers.
    cut: Option<EnumValue<CutPlace>>,
    /// Whether nothing follows the first part of the body or of the stream, for at most 5 minutes.
    stall: Option<bool>,
    /// Of jobs: whether an attempt fails.
    fail: Option<bool>,
    /// Of hosts: whether the host cannot be reached.
    unreachable: Option<bool>,
    /// Of webhooks: whether the message is lost, as if there were no connection.
    lost: Option<bool>,
    /// Of webhooks: whether the message arrives twice.
    duplicate: Option<bool>,
}

/// What a fault is for, which decides what it can do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    Requests,
    Jobs,
    Host,
    Webhooks,
}

impl Cases {
    /// Returns the name in messages.
    const fn name(self) -> &'static str {
        match self {
            Cases::Requests => "requests",
            Cases::Jobs => "jobs",
            Cases::Host => "a host",
            Cases::Webhooks => "webhooks",
        }
    }
}

impl FaultIn {
    /// Checks the body, and converts it. `operations` are those that the documents of worlds describe.
    pub fn into_fault(self, operations: &DocumentedOperations) -> Result<NewFault> {
        let (cases, then) = (self.cases.into_valid()?, self.then.into_valid()?);
        let is_forced = self.force.unwrap_or(false);
        let mut problems = Problems::default();
        let kind = cases.kind(&mut problems);
        then.check_fields(kind, &mut problems);
        let timing = cases.timing(&mut problems);
        let rule = match kind {
            Cases::Requests => {
                let of = cases.request_match(operations, &mut problems);
                let effect = then.request_effect(&of, operations, is_forced, &mut problems);
                FaultRule::Requests(of, effect)
            }
            Cases::Jobs => FaultRule::Jobs(cases.job_kind(&mut problems)),
            Cases::Host => FaultRule::Host(cases.host.map(String::from).unwrap_or_default()),
            Cases::Webhooks => {
                let of = WebhookMatch {
                    url: cases.webhook.map(|url| TextPattern(url.0)),
                    event_type: cases.event_type.map(|event_type| event_type.0),
                };
                FaultRule::Webhooks(of, then.webhook_effect(&mut problems))
            }
        };
        problems.into_result()?;
        Ok(NewFault { rule, timing, is_forced })
    }
}

impl FaultMatchIn {
    /// Returns what the fault is for.
    fn kind(&self, problems: &mut Problems) -> Cases {
        let given = [
            (Cases::Requests, "operation", self.operation.is_some()),
            (Cases::Requests, "api", self.api.is_some()),
            (Cases::Requests, "path", self.path.is_some()),
            (Cases::Requests, "team", self.team.is_some()),
            (Cases::Jobs, "job", self.job.is_some()),
            (Cases::Host, "host", self.host.is_some()),
            (Cases::Webhooks, "webhook", self.webhook.is_some()),
            (Cases::Webhooks, "event_type", self.event_type.is_some()),
        ];
        let mut given = given.into_iter().filter(|(.., is_given)| *is_given);
        let Some((kind, first, _)) = given.next() else { return Cases::Requests };
        for (_, name, _) in given.filter(|(other, ..)| *other != kind) {
            let message = format!("`{name}` cannot be combined with `{first}`. A fault is for one of them.");
            problems.push(Problem::body(&["match", name], "value_error", message));
        }
        kind
    }

    fn timing(&self, problems: &mut Problems) -> FaultTiming {
        let [from, until] = [&self.from, &self.until].map(|time| time.as_ref().map(|time| time.0));
        if from.zip(until).is_some_and(|(from, until)| from >= until) {
            let message = "`until` must be later than `from`.";
            problems.push(Problem::body(&["match", "until"], "value_error", message));
        }
        if self.nth.is_some() && self.next.is_some() {
            let message = "`next` cannot be combined with `nth`, which is one case.";
            problems.push(Problem::body(&["match", "next"], "value_error", message));
        }
        let [nth, next] = [self.nth, self.next].map(|count| count.map(i64::unsigned_abs));
        FaultTiming { nth, next, share: self.share, from, until }
    }

    fn request_match(&self, operations: &DocumentedOperations, problems: &mut Problems) -> RequestMatch {
        let api = self.api.map(|api| api.0);
        let operation = self.operation.as_ref().map(|operation| operation.0.clone());
        if let Some(id) = &operation
            && let Some(problem) = fault_checks::find_unknown_operation(operations, id, api)
        {
            problems.push(problem);
        }
        let path = self.path.as_ref().map(|path| TextPattern(path.0.clone()));
        RequestMatch { operation, api, path, team: self.team.as_ref().map(|team| team.0.clone()) }
    }

    fn job_kind(&self, problems: &mut Problems) -> Option<JobKind> {
        let name = self.job.as_ref().map(|job| job.0.as_str()).filter(|name| *name != ALL)?;
        let kind = JobKind::parse(name);
        if kind.is_none() {
            let kinds: Vec<_> = JobKind::ALL.iter().map(|kind| kind.as_str()).collect();
            let message = format!("`job` must be `*` or one of {}.", kinds.join(", "));
            problems.push(Problem::body(&["match", "job"], "enum", message));
        }
        kind
    }
}

impl FaultEffectIn {
    /// Checks that there is an effect, and that all effects are some that the fault can have.
    fn check_fields(&self, kind: Cases, problems: &mut Problems) {
        let is_set = |flag: Option<bool>| flag == Some(true);
        let effects: [(&str, bool, &[Cases]); 10] = [
            ("status", self.status.is_some(), &[Cases::Requests, Cases::Webhooks]),
            ("code", self.code.is_some(), &[Cases::Requests]),
            ("delay_ms", self.delay_ms.is_some(), &[Cases::Requests]),
            ("body_bytes_per_second", self.body_bytes_per_second.is_some(), &[Cases::Requests]),
            ("cut", self.cut.is_some(), &[Cases::Requests]),
            ("stall", is_set(self.stall), &[Cases::Requests]),
            ("fail", is_set(self.fail), &[Cases::Jobs]),
            ("unreachable", is_set(self.unreachable), &[Cases::Host]),
            ("lost", is_set(self.lost), &[Cases::Webhooks]),
            ("duplicate", is_set(self.duplicate), &[Cases::Webhooks]),
        ];
        let possible: Vec<_> =
            effects.iter().filter(|(.., kinds)| kinds.contains(&kind)).map(|(name, ..)| *name).collect();
        for (name, ..) in effects.iter().filter(|(_, is_given, kinds)| *is_given && !kinds.contains(&kind)) {
            let message = format!(
                "A fault for {} cannot have `{name}`. It can have {}.",
                kind.name(),
                possible.join(", ")
            );
            problems.push(Problem::body(&["then", name], "value_error", message));
        }
        if !effects.iter().any(|(_, is_given, _)| *is_given) {
            let message = format!(
                "`then` must say what happens. A fault for {} can have {}.",
                kind.name(),
                possible.join(", ")
            );
            problems.push(Problem::body(&["then"], "value_error", message));
        }
    }

    fn request_effect(
        &self,
        of: &RequestMatch,
        operations: &DocumentedOperations,
        is_forced: bool,
        problems: &mut Problems,
    ) -> RequestEffect {
        let mut refuse = |field: &str, message: &str| {
            problems.push(Problem::body(&["then", field], "value_error", message));
        };
        let delay_ms = self.delay_ms.as_ref().and_then(DelayMs::range);
        if self.delay_ms.is_some() && delay_ms.is_none() {
            let message = "`delay_ms` must be an integer from 0 to 60000, or two of them in ascending order.";
            refuse("delay_ms", message);
        }
        if self.code.is_some() && self.status.is_none() {
            refuse("code", "`code` needs the `status` that it belongs to.");
        }
        let cut = self.cut.map(|cut| cut.0);
        if cut.is_some() && self.status.is_some() {
            refuse("cut", "`cut` cannot be combined with `status`.");
        }
        if cut.is_some() && self.stall == Some(true) {
            refuse("stall", "`stall` cannot be combined with `cut`.");
        }
        if self.body_bytes_per_second.is_some() && cut.is_some_and(|cut| cut != CutPlace::Body) {
            refuse("body_bytes_per_second", "With this `cut`, no body is sent.");
        }
        let answer = match self.status.and_then(|status| u16::try_from(status).ok()) {
            Some(status) => {
                let code = self.code.as_ref().map(|code| code.0.as_str());
                fault_checks::check(of, (status, code), operations, is_forced, problems)
            }
            None => None,
        };
        let stall = (self.stall == Some(true)).then_some(Interruption::Stall);
        let rate = self.body_bytes_per_second.and_then(|rate| u32::try_from(rate).ok());
        RequestEffect {
            answer,
            delay_ms,
            body_bytes_per_second: rate,
            interruption: cut.map(Interruption::Cut).or(stall),
        }
    }

    fn webhook_effect(&self, problems: &mut Problems) -> WebhookEffect {
        let status = self.status.and_then(|status| u16::try_from(status).ok()).map(WebhookEffect::Answer);
        let flags = [(self.lost, WebhookEffect::Lose), (self.duplicate, WebhookEffect::Duplicate)];
        let flags = flags.into_iter().filter(|(flag, _)| *flag == Some(true)).map(|(_, effect)| effect);
        let mut effects = status.into_iter().chain(flags);
        let first = effects.next();
        if effects.next().is_some() {
            let message = "A fault for webhooks has only one of `status`, `lost`, and `duplicate`.";
            problems.push(Problem::body(&["then"], "value_error", message));
        }
        first.unwrap_or(WebhookEffect::Lose)
    }
}
