//! Operations of operators on teams, keys, grants, and the taxonomy: rules, events, and automatic ends.

mod grants;
mod keys;
pub mod tasksets;
mod taxonomy;
mod teams;
mod texts;
mod trace_imports;

use marketplace::{
    domain::{events::EventRowId, notifications::NotificationType, time::Timestamp},
    error::{Error, Result},
    operations::access::Platform,
    store,
};
use serde_json::Value;

use crate::harness::{NOW, TestMarket};

/// Microseconds per hour.
const HOUR: i64 = 3_600_000_000;

fn platform() -> Platform {
    Platform::of_process()
}

/// An event of the outbox: its type, its subject, whether a team sees it, and its data.
#[derive(Debug)]
struct Event {
    kind: String,
    subject: String,
    has_team: bool,
    occurred_at: String,
    data: Value,
}

/// Returns all events whose type begins with one of the prefixes, in their order, after those of the set with which
/// the market began.
fn events(market: &TestMarket, prefixes: &[&str]) -> Vec<Event> {
    use marketplace::string_enum::StringEnum;
    let list =
        |reader: &marketplace::market::Reader| store::events::list_after(reader.rows, EventRowId(0), 10_000);
    let started_at = Timestamp::parse(NOW).unwrap();
    let all = market.read(list).unwrap().into_iter();
    let all = all.filter(|event| event.occurred_at >= started_at).map(|event| Event {
        kind: event.event_type.as_str().to_owned(),
        subject: event.subject.0,
        has_team: event.team.is_some(),
        occurred_at: event.occurred_at.to_string(),
        data: serde_json::from_str(&event.data).unwrap(),
    });
    all.filter(|event| prefixes.iter().any(|prefix| event.kind.starts_with(prefix))).collect()
}

/// Returns the types of [`events`].
fn event_types(market: &TestMarket, prefixes: &[&str]) -> Vec<String> {
    events(market, prefixes).into_iter().map(|event| event.kind).collect()
}

/// Carries out the steps that are due.
fn run_steps(market: &TestMarket) {
    market.market().run_due_steps().unwrap();
}

/// Returns the current status and the allowed operations of a refused transition.
fn refusal<T: std::fmt::Debug>(result: Result<T>) -> (&'static str, Vec<&'static str>) {
    match result {
        Err(Error::InvalidTransition { from, allowed }) => (from, allowed),
        other => panic!("not a refused transition: {other:?}"),
    }
}

/// Returns the fields of an [`Error::Invalid`], and how each is wrong.
fn problems<T: std::fmt::Debug>(result: Result<T>) -> Vec<String> {
    match result {
        Err(Error::Invalid(problems)) => {
            problems.iter().map(|problem| format!("{:?}", problem.loc)).collect()
        }
        other => panic!("not invalid: {other:?}"),
    }
}

/// Returns the notifications of a team, newest first: their types and messages.
fn notifications(market: &TestMarket, team: &str) -> Vec<(NotificationType, String)> {
    let list = |reader: &marketplace::market::Reader| {
        let team = marketplace::operations::teams::resolve(reader.rows, team)?;
        store::notifications::list_newest(reader.rows, team.row_id, 100)
    };
    let found = market.read(list).unwrap();
    found.into_iter().map(|notification| (notification.kind, notification.message)).collect()
}
