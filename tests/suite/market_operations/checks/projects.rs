//! Invariants of project bids and estimations.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{
    Event, strings,
    teams::{time, time_text},
};

/// A bid has tasksets of its vendor if, and only if, it was delivered. Its last event states its status.
pub fn check_bids(rows: &Connection, events: &[Event]) {
    let mut states: BTreeMap<&str, &Value> = BTreeMap::new();
    for event in events.iter().filter(|event| event.resource() == "project_bid") {
        states.insert(&event.subject, &event.data);
    }
    let sql = "SELECT b.uuid, b.status, t.uuid, b.num_tasks, b.completed_at, b.id
         FROM project_bids b JOIN teams t ON t.id = b.team";
    for bid in strings(rows, sql) {
        let tasksets = strings(
            rows,
            &format!(
                "SELECT s.uuid, t.uuid FROM project_bids b JOIN json_each(b.delivery_tasksets) d
                 JOIN tasksets s ON s.id = d.value JOIN teams t ON t.id = s.team WHERE b.id = {} ORDER BY d.key",
                bid[5]
            ),
        );
        let is_delivered = ["delivered", "completed"].contains(&bid[1].as_str());
        assert_eq!(is_delivered, !tasksets.is_empty(), "{bid:?}");
        assert!(tasksets.iter().all(|taskset| taskset[1] == bid[2]), "{bid:?} delivers {tasksets:?}");
        let tasksets: Vec<&str> = tasksets.iter().map(|taskset| taskset[0].as_str()).collect();
        let state = states[bid[0].as_str()];
        assert_eq!((&state["status"], &state["delivery_taskset_ids"]), (&json!(bid[1]), &json!(tasksets)));
        assert_eq!(state["num_tasks"].to_string(), bid[3]);
        assert_eq!(state["completed_at"], time_text(time(&bid[4])), "{bid:?}");
    }
}

/// Each estimation was requested once and ended at most once, and its last event says what it is.
pub fn check_estimations(rows: &Connection, events: &[Event]) {
    let mut estimations: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.resource() == "estimation") {
        estimations.entry(&event.subject).or_default().push(event);
    }
    for row in strings(rows, "SELECT uuid, status, quote_low_cents, completed_at FROM estimations") {
        let events = &estimations[row[0].as_str()];
        let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
        let expected: &[&str] = match row[1].as_str() {
            "pending" => &["estimation.requested"],
            "failed" => &["estimation.requested", "estimation.failed"],
            _ => &["estimation.requested", "estimation.completed"],
        };
        assert_eq!(kinds, expected, "{row:?}");
        let last = events.last().unwrap();
        assert_eq!(last.text("status"), row[1]);
        assert_eq!(last.data["quote_low_cents"], row[2].parse::<i64>().map_or(Value::Null, Value::from));
        assert!(row[3].is_empty() || time(&row[3]) == Some(last.occurred_at), "{row:?}");
    }
}
