//! Faults in words.

use crate::{
    console::{pages::settings::webhook_forms::event_text, parts::job_kinds, text},
    string_enum::StringEnum,
    worlds::{
        CutPlace, Fault, FaultRule, FaultTiming, Interruption, RequestEffect, RequestMatch, WebhookEffect,
        WebhookMatch,
    },
};

/// Returns what a fault is for.
pub fn cases(fault: &Fault) -> String {
    match &fault.new.rule {
        FaultRule::Requests(of, _) => requests(of),
        FaultRule::Jobs(None) => "All jobs".to_owned(),
        FaultRule::Jobs(Some(kind)) => format!("Jobs: {}", job_kinds::words(*kind)),
        FaultRule::Host(host) => format!("The host {host}"),
        FaultRule::Webhooks(of, _) => webhooks(of),
    }
}

fn requests(RequestMatch { operation, api, path, team }: &RequestMatch) -> String {
    let parts = [
        operation.as_ref().map(|operation| format!("to the operation {operation}")),
        api.map(|api| format!("to the {} API", api.as_str())),
        path.as_ref().map(|path| format!("to {}", path.0)),
        team.as_ref().map(|team| format!("of the team {team}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "All requests".to_owned() } else { format!("Requests {}", parts.join(", ")) }
}

fn webhooks(WebhookMatch { url, event_type }: &WebhookMatch) -> String {
    let parts = [
        url.as_ref().map(|url| format!("to {}", url.0)),
        event_type.map(|kind| format!("about “{}”", event_text(kind))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        "All messages to webhooks".to_owned()
    } else {
        format!("Messages {}", parts.join(", "))
    }
}

/// Returns what a fault does.
pub fn effect(fault: &Fault) -> String {
    match &fault.new.rule {
        FaultRule::Requests(_, effect) => request_effect(effect),
        FaultRule::Jobs(_) => "The attempt fails".to_owned(),
        FaultRule::Host(_) => "It cannot be reached".to_owned(),
        FaultRule::Webhooks(_, WebhookEffect::Answer(status)) => format!("The receiver answers {status}"),
        FaultRule::Webhooks(_, WebhookEffect::Lose) => "The message is lost".to_owned(),
        FaultRule::Webhooks(_, WebhookEffect::Duplicate) => "The message arrives twice".to_owned(),
    }
}

fn request_effect(effect: &RequestEffect) -> String {
    let interruption = effect.interruption.map(|interruption| match interruption {
        Interruption::Cut(CutPlace::Before) => "the connection is closed before it is carried out",
        Interruption::Cut(CutPlace::Headers) => "the connection is closed in the head of the answer",
        Interruption::Cut(CutPlace::Body) => "the connection is closed in the middle of the answer",
        Interruption::Cut(CutPlace::AfterWrite) => {
            "it is carried out, and the connection is closed without an answer"
        }
        Interruption::Stall => "the answer stops in the middle",
    });
    let parts = [
        effect.answer.as_ref().map(|answer| match &answer.code {
            Some(code) => format!("answered {} {code}", answer.status),
            None => format!("answered {}", answer.status),
        }),
        effect.delay_ms.map(|(min, max)| {
            if min == max { format!("delayed by {min} ms") } else { format!("delayed by {min} to {max} ms") }
        }),
        effect
            .body_bytes_per_second
            .map(|rate| format!("sent at {} per second", text::counted(rate.into(), "byte", "bytes"))),
        interruption.map(str::to_owned),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns when a fault applies.
pub fn timing(FaultTiming { nth, next, share, from, until }: &FaultTiming) -> String {
    let parts = [
        nth.map(|nth| format!("only case {nth}")),
        next.map(|next| format!("the next {}", text::counted(next, "case", "cases"))),
        share.map(|share| format!("{} of the cases", text::percent(share))),
        from.map(|from| format!("from {}", text::moment_text(from))),
        until.map(|until| format!("until {}", text::moment_text(until))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "Always".to_owned() } else { text::words(&parts.join(", ")) }
}
