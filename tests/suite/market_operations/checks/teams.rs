//! Invariants of teams, their API keys, and their upload grants.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{
    clock::fixture_record_id,
    domain::{
        grants::{GrantOperation, GrantState},
        keys::{KeyOperation, KeyStatus},
        state_machine::StateMachine,
        time::Timestamp,
    },
};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{super::driver::TEAMS, Event, assert_none, strings};

/// A closed team has begun nothing that is not finished, and none of its keys and grants can be used.
pub fn check_closed_teams(rows: &Connection) {
    let check = |what: &str, table: &str, teams: &str, is_unfinished: &str| {
        let sql = format!(
            "SELECT r.id, t.name FROM {table} JOIN teams t ON t.id IN ({teams})
             WHERE t.closed_at IS NOT NULL AND {is_unfinished}"
        );
        assert_none(rows, &format!("{what} of a closed team"), &sql);
    };
    let with_listing = |table: &str| format!("{table} r JOIN listings l ON l.id = r.listing");
    check("pending purchase", &with_listing("purchases"), "r.buyer, l.team", "r.status = 'pending'");
    check("submitted offer", &with_listing("offers"), "r.buyer, l.team", "r.status = 'submitted'");
    check("offered listing", "listings r", "r.team", "r.catalog_status <> 'archived'");
    check("opportunity", "opportunities r", "r.owner", "r.status IN ('draft', 'published')");
    let bids = "project_bids r JOIN opportunities o ON o.id = r.opportunity";
    check("submitted project bid", bids, "r.team, o.owner", "r.status = 'submitted'");
    check("owed delivery", bids, "r.team", "r.status = 'accepted'");
    check("working key", "keys r", "r.team", "r.revoked_at IS NULL AND r.expired_at IS NULL");
    check(
        "open grant",
        "upload_grants r",
        "r.team",
        "r.revoked_at IS NULL AND r.expired_at IS NULL AND r.consumed_at IS NULL",
    );
}

/// The events of each team lead to its present state. Nothing was bought or requested by a team without the buyer
/// role and the NDA, and nothing was begun by or with a closed team.
pub fn check_teams(rows: &Connection, events: &[Event]) {
    let ids: BTreeMap<String, String> = strings(rows, "SELECT id, uuid FROM teams")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let mut buyers: BTreeSet<String> = BTreeSet::new();
    buyers.extend(
        TEAMS.iter().filter(|team| team.2).map(|team| fixture_record_id("teams", team.0).to_string()),
    );
    let (mut states, mut closed) = (BTreeMap::new(), BTreeMap::new());
    for event in events {
        let Some(team) = event.team.map(|row_id| &ids[&row_id.to_string()]) else { continue };
        assert!(!closed.contains_key(team) || may_follow_closing(event), "{}: {}", event.kind, event.data);
        assert!(!begins_as_buyer(event) || buyers.contains(team), "{}: {}", event.kind, event.data);
        match event.kind.as_str() {
            "team.closed" => {
                closed.insert(team.clone(), event.occurred_at);
            }
            "team.payout_setup_changed" => {}
            _ if event.resource() == "team" => {
                assert_eq!(&event.subject, team);
                let roles = event.data["roles"].as_array().unwrap();
                if roles.contains(&json!("buyer")) && !event.data["nda_accepted_at"].is_null() {
                    buyers.insert(team.clone());
                } else {
                    buyers.remove(team);
                }
                states.insert(team.clone(), &event.data);
            }
            _ => {}
        }
    }
    let sql =
        "SELECT uuid, name, is_vendor, is_buyer, tier, avatar_url, nda_accepted_at, closed_at FROM teams";
    for row in strings(rows, sql) {
        assert_eq!(time(&row[7]), closed.get(&row[0]).copied(), "{row:?}");
        let Some(state) = states.get(&row[0]) else { continue };
        let mut roles = vec!["vendor", "buyer"];
        roles.retain(|role| row[if *role == "vendor" { 2 } else { 3 }] == "1");
        assert_eq!((&state["name"], &state["roles"]), (&json!(row[1]), &json!(roles)));
        assert_eq!(
            (state["tier"].to_string(), text(&state["avatar_url"])),
            (row[4].clone(), row[5].as_str())
        );
        assert_eq!(state["nda_accepted_at"], time_text(time(&row[6])), "{row:?}");
    }
}

/// Whether an event begins something that only a buyer with the NDA can begin.
fn begins_as_buyer(event: &Event) -> bool {
    match event.kind.as_str() {
        "offer.submitted" => event.data.get("pay_with").is_some(),
        "opportunity.created" | "opportunity.published" | "purchase.created" => true,
        _ => false,
    }
}

/// Whether an event in the view of a team can happen after the team was closed: what the platform, other teams,
/// and time do with what was finished, and with its money.
fn may_follow_closing(event: &Event) -> bool {
    const ALLOWED: [&str; 7] = [
        "team.payout_setup_changed",
        "purchase.refunded",
        "project_bid.delivered",
        "project_bid.completed",
        "listing.certified",
        "listing.certification_revoked",
        "listing.featured",
    ];
    const RESOURCES: [&str; 6] = ["wallet", "withdrawal", "earnings", "quality_run", "estimation", "asset"];
    ALLOWED.contains(&event.kind.as_str())
        || event.kind == "listing.unfeatured"
        || RESOURCES.contains(&event.resource())
}

/// The events of each API key lead from status to status to its present state, and it expired at its time, if at
/// all.
pub fn check_keys(rows: &Connection, events: &[Event]) {
    let mut keys: BTreeMap<&str, (KeyStatus, &Value, i64)> = BTreeMap::new();
    for event in events.iter().filter(|event| event.resource() == "key") {
        let expires_at = &event.data["expires_at"];
        let status = match event.kind.as_str() {
            "key.created" => KeyStatus::Active,
            kind => {
                let operation = match kind {
                    "key.expiry_changed" => KeyOperation::ChangeExpiry,
                    "key.rotated" => KeyOperation::Rotate,
                    "key.expired" => KeyOperation::Expire,
                    "key.revoked" => KeyOperation::Revoke,
                    other => panic!("{other}"),
                };
                let before = keys[event.subject.as_str()].0;
                before.after(operation).unwrap_or_else(|| panic!("{kind} of a key that is {before:?}"))
            }
        };
        if event.kind == "key.rotated" {
            let successor = keys[event.text("successor_id")];
            assert_eq!((successor.0, successor.1), (KeyStatus::Active, &event.data["successor_expires_at"]));
        }
        if event.kind == "key.expired" {
            assert_eq!(*expires_at, time_text(Some(event.occurred_at)), "{}", event.data);
        }
        keys.insert(&event.subject, (status, expires_at, event.occurred_at));
    }
    let sql = "SELECT uuid, expires_at, rotated_at, expired_at, revoked_at FROM keys";
    for row in strings(rows, sql) {
        let (status, expires_at, at) = keys[row[0].as_str()];
        let [rotated_at, expired_at, revoked_at] = [2, 3, 4].map(|column| time(&row[column]));
        let (present, since) = match (revoked_at, expired_at, rotated_at) {
            (Some(at), _, _) => (KeyStatus::Revoked, Some(at)),
            (None, Some(at), _) => (KeyStatus::Expired, Some(at)),
            (None, None, Some(at)) => (KeyStatus::Rotated, Some(at)),
            (None, None, None) => (KeyStatus::Active, None),
        };
        assert_eq!((status, expires_at), (present, &time_text(time(&row[1]))), "{row:?}");
        assert!(since.is_none_or(|since| since == at), "{row:?}");
    }
}

/// The events of each upload grant lead to its present state, and an expired one expired at its time.
pub fn check_grants(rows: &Connection, events: &[Event]) {
    let mut grants: BTreeMap<&str, (GrantState, i64)> = BTreeMap::new();
    for event in events.iter().filter(|event| event.resource() == "upload_grant") {
        let state = match event.kind.as_str() {
            "upload_grant.created" => GrantState::Open,
            kind => {
                let is_expiry = kind == "upload_grant.expired";
                let operation = if is_expiry { GrantOperation::Expire } else { GrantOperation::Revoke };
                if is_expiry {
                    assert_eq!(event.data["expires_at"], time_text(Some(event.occurred_at)));
                }
                let before = grants[event.subject.as_str()].0;
                before.after(operation).unwrap_or_else(|| panic!("{kind} of a grant that is {before:?}"))
            }
        };
        grants.insert(&event.subject, (state, event.occurred_at));
    }
    for row in strings(rows, "SELECT uuid, created_at, expired_at, revoked_at FROM upload_grants") {
        let present = match (time(&row[2]), time(&row[3])) {
            (None, None) => (GrantState::Open, time(&row[1]).unwrap()),
            (Some(at), None) => (GrantState::Expired, at),
            (None, Some(at)) => (GrantState::Revoked, at),
            both => panic!("{both:?}"),
        };
        assert_eq!(grants[row[0].as_str()], present, "{row:?}");
    }
}

/// Returns a time of a row, in microseconds.
pub fn time(column: &str) -> Option<i64> {
    (!column.is_empty()).then(|| column.parse().unwrap())
}

/// Returns a time as events have it.
pub fn time_text(at: Option<i64>) -> Value {
    at.map_or(Value::Null, |at| json!(Timestamp(at).to_string()))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
