//! One advance of 90 days gives what 90 advances of a day give, in random markets.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        events::EventType,
        webhooks::{AttemptError, AttemptResult},
    },
    operations::{
        access::Platform,
        webhook_inbox,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
    store,
    string_enum::StringEnum,
    worlds::{DoneWork, WorkKind, World},
};
use serde_json::Value;

use super::{
    DAY, Sandbox,
    isolation::play,
    tables::{Tables, assert_same, tables},
};
use crate::{harness::environment, market_operations::driver::prepare};

/// Number of days of the advance.
const DAYS: i64 = 90;

/// Creates webhooks of all teams, of which some fail now and then, so that they are retried.
fn create_webhooks(world: &World) {
    world.set_receiver(std::sync::Arc::new(|message| {
        let sum: u64 = message.delivery.as_bytes().iter().map(|byte| u64::from(*byte)).sum();
        let outcome = match (sum + u64::from(message.earlier_attempts)) % 4 {
            0 => Ok(503),
            1 => Err(AttemptError::Unreachable),
            _ => return webhook_inbox::accept(),
        };
        AttemptResult { outcome, ..webhook_inbox::accept() }
    }));
    let market = world.market();
    let teams = market.read_blocking(|reader| store::teams::list(reader.rows)).unwrap();
    for team in teams {
        let settings = &market.settings().webhooks;
        let url = CheckedUrl::without_lookup(settings, "https://receiver.example/hook").unwrap();
        let team = team.id.to_string();
        let input = WebhookInput { team: Some(&team), url: &url, description: "", event_types: &[] };
        market
            .write_blocking(|writer| webhooks::create(writer, Platform::of_process(), &input).map(drop))
            .unwrap();
    }
}

/// Removes what an advance adds to the outbox and the audit: its own event and entry, and the numbers that these take
/// from later ones.
fn without_reports(mut tables: Tables) -> Tables {
    let is_report = |row: &BTreeMap<String, String>| {
        row.get("type").is_some_and(|kind| kind == EventType::ClockAdvanced.as_str())
    };
    let events = tables.get_mut("events").unwrap();
    events.retain(|row| !is_report(row));
    for row in events {
        row.remove("id");
        if row["type"] == EventType::OutboxTrimmed.as_str() {
            let mut data: Value = serde_json::from_str(&row["data"]).unwrap();
            for number in ["removed", "first_id", "first_occurred_at", "last_id"] {
                data.as_object_mut().unwrap().remove(number).unwrap();
            }
            row.insert("data".to_owned(), data.to_string());
        }
    }
    for name in ["audit", "trimmed_events", "sqlite_sequence"] {
        tables.remove(name);
    }
    tables
}

#[test]
fn one_advance_equals_many() {
    let sandbox = Sandbox::new(20);
    let (mut kinds, mut trimmed) = (BTreeMap::<String, u64>::new(), 0);
    let markets = environment::rounds(2, 40);
    for seed in 100..100 + markets {
        let advanced = |name: &str, steps: i64| -> (Vec<DoneWork>, Tables) {
            // So that events are removed on the way.
            let settings = [("events.keep_days", 20)];
            let world = sandbox.create_with(&format!("{name}-{seed}"), "empty", &settings);
            prepare(&world.market());
            create_webhooks(&world);
            play(&world, seed, 80);
            let start = world.clock().now;
            let advance = |step| world.advance_to(start.plus_micros(step * DAYS / steps * DAY)).unwrap();
            let done = (1..=steps).flat_map(advance).collect();
            assert_eq!(world.clock().now, start.plus_micros(DAYS * DAY));
            let tables = tables(&world.market());
            sandbox.worlds().delete(world.name());
            (done, tables)
        };
        let (once, daily) = (advanced("once", 1), advanced("daily", DAYS));
        assert_eq!(once.0, daily.0, "seed {seed}");
        for done in once.0 {
            *kinds.entry(format!("{} {}", done.kind.group(), done.outcome.as_str())).or_default() += 1;
            if let WorkKind::Step(kind) = done.kind {
                *kinds.entry(kind.as_str().to_owned()).or_default() += 1;
            }
        }
        trimmed += once.1["events"].iter().filter(|row| row["type"] == "outbox.trimmed").count();
        assert_same(&without_reports(once.1), &without_reports(daily.1), &format!("seed {seed}"));
    }
    eprintln!("{kinds:#?}");
    for kind in ["step completed", "job completed", "delivery completed", "delivery retried"] {
        assert!(kinds.contains_key(kind), "no {kind}: {kinds:#?}");
    }
    assert!(trimmed > 0, "events were removed");
}
