//! Reads the form for a fault.

use crate::{
    console::pages::operator::prelude::*,
    domain::{events::EventType, jobs::JobKind, typed_numbers::parse_whole_number},
    string_enum::string_enum,
    web::documented_operations::DocumentedOperations,
    worlds::{
        CutPlace, FaultAnswer, FaultRule, FaultTiming, Interruption, NewFault, RequestEffect, RequestMatch,
        TextPattern, WebhookEffect, WebhookMatch,
    },
};

string_enum! {
    /// What a fault is for.
    FaultKind {
        /// Requests.
        Requests = "requests",
        /// Background jobs.
        Jobs = "jobs",
        /// A host of repositories.
        Host = "host",
        /// Messages to webhooks.
        Webhooks = "webhooks",
    }
}

/// Name of the field with the kind.
pub const KIND: &str = "kind";

/// The value of the field for connections with which the connection stays open, but nothing more is sent.
pub const STALL: &str = "stall";

/// The value of the field for messages to webhooks with which the message is lost.
pub const LOSE: &str = "lose";

/// Its value if the message arrives twice.
pub const DUPLICATE: &str = "duplicate";

/// Maximum delay in milliseconds.
const MAX_DELAY_MS: i64 = 60_000;

/// The statuses that an answer can have.
const STATUSES: std::ops::RangeInclusive<i64> = 400..=599;

/// Reads a fault of a kind.
pub fn read(kind: FaultKind, fields: &Fields, operations: &DocumentedOperations) -> Result<NewFault> {
    let rule = match kind {
        FaultKind::Requests => requests(fields, operations)?,
        FaultKind::Jobs => {
            let kind = fields
                .get("job")
                .map(|name| JobKind::parse(name).ok_or_else(|| invalid("job", "Choose a kind of job.")));
            FaultRule::Jobs(kind.transpose()?)
        }
        FaultKind::Host => {
            let host = fields.require("host", "Enter a host, for example github.com.")?;
            FaultRule::Host(host.to_owned())
        }
        FaultKind::Webhooks => webhooks(fields)?,
    };
    // Errors that the documents do not name are allowed, since this form is for trying them.
    Ok(NewFault { rule, timing: timing(fields)?, is_forced: kind == FaultKind::Requests })
}

fn requests(fields: &Fields, operations: &DocumentedOperations) -> Result<FaultRule> {
    let operation = fields.get("operation").map(str::to_owned);
    if let Some(id) = &operation
        && operations.with_id(id).next().is_none()
    {
        return Err(invalid("operation", "No operation has this ID. The documents list them."));
    }
    let path = fields.get("path").map(str::to_owned);
    if path.as_ref().is_some_and(|path| !path.starts_with('/')) {
        return Err(invalid("path", "A path begins with a slash, for example /v2/wallet."));
    }
    let status = number(fields, "status", "Enter a status from 400 to 599.", STATUSES)?;
    let code = fields.get("code").map(str::to_owned);
    if code.is_some() && status.is_none() {
        return Err(invalid("code", "An error code needs the status that it belongs to."));
    }
    let answer = status.and_then(|status| u16::try_from(status).ok()).map(|status| {
        let code = code.or_else(|| documented_code(operations, operation.as_deref()?, status));
        FaultAnswer { status, code }
    });
    let interruption = match fields.get("ending") {
        None => None,
        Some(STALL) => Some(Interruption::Stall),
        Some(place) => {
            let place = CutPlace::parse(place);
            let place = place.ok_or_else(|| invalid("ending", "Choose one of these."))?;
            if answer.is_some() {
                return Err(invalid("ending", "A closed connection has no status. Choose one of both."));
            }
            Some(Interruption::Cut(place))
        }
    };
    let delay_ms = delay(fields)?;
    if answer.is_none() && interruption.is_none() && delay_ms.is_none() {
        return Err(invalid("status", "Say what happens: a status, a delay, or how the answer ends."));
    }
    let effect = RequestEffect { answer, delay_ms, body_bytes_per_second: None, interruption };
    let (path, team) = (path.map(TextPattern), fields.get("team").map(str::to_owned));
    let of = RequestMatch { operation, api: None, path, team };
    Ok(FaultRule::Requests(of, effect))
}

/// Returns the first code that the document of an operation names for a status.
fn documented_code(operations: &DocumentedOperations, operation: &str, status: u16) -> Option<String> {
    let mut outcomes = operations.with_id(operation).flat_map(|operation| &operation.outcomes);
    let found = outcomes.find(|outcome| outcome.status == status && outcome.code.is_some());
    found.and_then(|outcome| outcome.code).map(|code| code.as_str().to_owned())
}

fn delay(fields: &Fields) -> Result<Option<(u32, u32)>> {
    let delay = number(fields, "delay", "Enter a number of milliseconds up to 60,000.", 0..=MAX_DELAY_MS)?;
    Ok(delay.and_then(|delay| u32::try_from(delay).ok()).map(|delay| (delay, delay)))
}

fn webhooks(fields: &Fields) -> Result<FaultRule> {
    let event_type = fields
        .get("event_type")
        .map(|name| EventType::parse(name).ok_or_else(|| invalid("event_type", "Choose a type of events.")));
    let of = WebhookMatch {
        url: fields.get("url").map(|url| TextPattern(url.to_owned())),
        event_type: event_type.transpose()?,
    };
    let status = number(fields, "status", "Enter a status from 200 to 599.", 200..=599)?;
    let effect = match (fields.get("message"), status.and_then(|status| u16::try_from(status).ok())) {
        (None, Some(status)) => WebhookEffect::Answer(status),
        (Some(LOSE), None) => WebhookEffect::Lose,
        (Some(DUPLICATE), None) => WebhookEffect::Duplicate,
        _ => {
            let message =
                "Say either what becomes of the message, or with which status the receiver answers.";
            return Err(invalid("message", message));
        }
    };
    Ok(FaultRule::Webhooks(of, effect))
}

fn timing(fields: &Fields) -> Result<FaultTiming> {
    const COUNT: &str = "Enter a whole number from 1.";
    let nth = number(fields, "nth", COUNT, 1..=i64::MAX)?.map(i64::unsigned_abs);
    let next = number(fields, "next", COUNT, 1..=i64::MAX)?.map(i64::unsigned_abs);
    if nth.is_some() && next.is_some() {
        return Err(invalid("next", "One case alone needs no number of cases."));
    }
    let share = number(fields, "share", "Enter a number from 0 to 100.", 0..=100)?;
    let from = fields.moment("from")?;
    let until = fields.moment("until")?;
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(invalid("until", "It must be later than the time from which the fault applies."));
    }
    Ok(FaultTiming { nth, next, share: share.map(|share| share as f64 / 100.0), from, until })
}

fn number(
    fields: &Fields,
    name: &'static str,
    message: &str,
    range: std::ops::RangeInclusive<i64>,
) -> Result<Option<i64>> {
    fields.parsed(name, message, |text| parse_whole_number(text).filter(|number| range.contains(number)))
}
