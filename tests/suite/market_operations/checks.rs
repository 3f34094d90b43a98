//! Invariants of a market after any operations. Reads the tables, since no API shows all data.

mod projects;
mod taxonomy;
mod teams;

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{
    domain::{
        offers::OfferStatus,
        opportunities::{BidStatus, OpportunityStatus},
        purchases::PurchaseStatus,
        state_machine::StateMachine,
        time::Timestamp,
        withdrawals::WithdrawalStatus,
    },
    market::Market,
    operations::verify,
    string_enum::StringEnum,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::events::assert_events_match_document;

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// An event of the outbox.
struct Event {
    kind: String,
    team: Option<i64>,
    subject: String,
    occurred_at: i64,
    data: Value,
}

impl Event {
    fn resource(&self) -> &str {
        self.kind.split_once('.').unwrap().0
    }

    fn text(&self, field: &str) -> &str {
        self.data[field].as_str().unwrap_or_default()
    }
}

/// Checks everything. Call it when no step is due.
pub fn check_market(market: &Market) {
    assert_eq!(verify::find_inconsistencies(market).unwrap(), Vec::<String>::new());
    let path = market.data_dir().join("market.sqlite");
    let rows = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    check_money(&rows);
    check_sales(&rows);
    assert_events_match_document(market);
    let events = events(&rows);
    check_due_steps(&rows, &events, market.clock().now().0);
    check_schedule(&rows, market.clock().now().0);
    check_listings(&rows, &events);
    check_statuses(&rows, &events);
    teams::check_closed_teams(&rows);
    teams::check_teams(&rows, &events);
    teams::check_keys(&rows, &events);
    teams::check_grants(&rows, &events);
    projects::check_bids(&rows, &events);
    projects::check_estimations(&rows, &events);
    taxonomy::check_labels(&rows, &events);
    taxonomy::check_asset_types(&rows, &events);
}

fn strings(rows: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = rows.prepare(sql).unwrap();
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row| {
        (0..columns)
            .map(|column| {
                Ok(match row.get_ref(column)? {
                    rusqlite::types::ValueRef::Blob(id) => uuid::Uuid::from_slice(id).unwrap().to_string(),
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    rusqlite::types::ValueRef::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                    _ => String::new(),
                })
            })
            .collect()
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Checks that a query for defects finds none.
fn assert_none(rows: &Connection, what: &str, sql: &str) {
    assert_eq!(strings(rows, sql), Vec::<Vec<String>>::new(), "{what}");
}

fn events(rows: &Connection) -> Vec<Event> {
    let sql = "SELECT type, team, subject, occurred_at, data FROM events ORDER BY id";
    let mut statement = rows.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row| {
        let data: String = row.get(4)?;
        Ok(Event {
            kind: row.get(0)?,
            team: row.get(1)?,
            subject: row.get(2)?,
            occurred_at: row.get(3)?,
            data: serde_json::from_str(&data).unwrap(),
        })
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// The sum over all accounts is zero, no team has negative credits, and each paid purchase moved exactly its price
/// and its fees, or nothing if it was refunded. `verify` has compared each balance with the postings.
fn check_money(rows: &Connection) {
    let sum = strings(rows, "SELECT coalesce(sum(cents), 0) FROM ledger_postings");
    assert_eq!(sum, [["0"]]);
    assert_none(
        rows,
        "negative balance",
        "SELECT team, account, sum(cents) FROM ledger_postings WHERE team IS NOT NULL
         GROUP BY team, account HAVING sum(cents) < 0",
    );
    assert_none(
        rows,
        "money of a purchase",
        "SELECT p.id, p.status, p.price_cents, sum(l.cents) FROM purchases p
         LEFT JOIN ledger_entries e ON e.purchase = p.id
         LEFT JOIN ledger_postings l ON l.entry = e.id AND l.account = 'earnings'
         GROUP BY p.id
         HAVING coalesce(sum(l.cents), 0)
             <> iif(p.status = 'completed', p.price_cents - p.platform_fee_cents, 0)",
    );
    assert_none(
        rows,
        "purchase that is not paid, with money",
        "SELECT p.id, p.status FROM purchases p WHERE p.status IN ('pending', 'cancelled')
         AND EXISTS (SELECT 1 FROM ledger_entries e WHERE e.purchase = p.id)",
    );
}

/// After an exclusive sale, an asset is not sold again. No team has two purchases of a kind that are in effect.
fn check_sales(rows: &Connection) {
    assert_none(
        rows,
        "asset that is sold exclusively and otherwise",
        "SELECT a.asset, count(*) FROM purchases p JOIN purchase_assets a ON a.purchase = p.id
         WHERE p.status = 'completed' AND p.kind <> 'sample'
         GROUP BY a.asset HAVING count(*) > 1 AND max(p.exclusive) = 1",
    );
    assert_none(
        rows,
        "purchase twice",
        "SELECT buyer, listing, kind = 'sample' FROM purchases WHERE status IN ('pending', 'completed')
         GROUP BY buyer, listing, kind = 'sample' HAVING count(*) > 1",
    );
    assert_none(
        rows,
        "listing in the catalog with an asset that is sold exclusively",
        "SELECT l.id FROM listings l JOIN listing_assets a ON a.listing = l.id
         JOIN exclusive_sales s ON s.asset = a.asset WHERE l.catalog_status <> 'archived'",
    );
    assert_none(
        rows,
        "submitted offer on an archived listing",
        "SELECT o.id FROM offers o JOIN listings l ON l.id = o.listing
         WHERE o.status = 'submitted' AND l.catalog_status = 'archived'",
    );
}

/// No step is overdue or failed, and each step that happened, happened once and at its time.
fn check_due_steps(rows: &Connection, events: &[Event], now: i64) {
    assert_none(rows, "failed step", "SELECT kind, subject, error FROM due_steps WHERE error IS NOT NULL");
    assert_none(
        rows,
        "overdue step",
        &format!("SELECT kind, subject, due_at FROM due_steps WHERE due_at <= {now}"),
    );
    let mut seen = BTreeSet::new();
    for event in events {
        let due_at = match event.kind.as_str() {
            "offer.expired"
            | "earnings.available"
            | "key.expired"
            | "asset_type.retired"
            | "upload_grant.expired" => None,
            // A later deadline passes again.
            "opportunity.deadline_passed" => Some(event.text("deadline")),
            _ => continue,
        };
        let step = (&event.kind, &event.subject, event.team, due_at);
        assert!(seen.insert(step), "{step:?} happened twice");
        let is_in_time = due_at.is_none_or(|due_at| Timestamp(event.occurred_at).to_string() == due_at);
        assert!(is_in_time, "{step:?} happened at {}", event.occurred_at);
    }
    let created_at = |table: &str| -> BTreeMap<String, i64> {
        let all = strings(rows, &format!("SELECT uuid, created_at FROM {table}"));
        all.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
    };
    let (offers, purchases) = (created_at("offers"), created_at("purchases"));
    let sales = events.iter().filter(|event| event.kind == "purchase.completed");
    let sold_at: BTreeSet<i64> = sales.map(|event| event.occurred_at).collect();
    for event in events {
        let at = event.occurred_at;
        match event.kind.as_str() {
            "offer.expired" => assert_eq!(at, offers[&event.subject] + 30 * DAY, "{}", event.data),
            // An exclusive sale ends other purchases, too.
            "purchase.cancelled" if event.text("actor") == "system" => {
                let is_in_time = at == purchases[&event.subject] + 14 * DAY || sold_at.contains(&at);
                assert!(is_in_time, "{}", event.data);
            }
            _ => {}
        }
    }
}

/// A step is scheduled for each record that waits for a time, and for no other.
fn check_schedule(rows: &Connection, now: i64) {
    let check = |kind: &str, table: &str, id: &str, is_waiting: &str| {
        let scheduled = format!("SELECT 1 FROM due_steps d WHERE d.kind = '{kind}' AND d.subject = {id}");
        let sql = format!("SELECT {id} FROM {table} WHERE ({is_waiting}) <> EXISTS ({scheduled})");
        assert_none(rows, &format!("missing or needless step {kind}"), &sql);
    };
    check("offer_expires", "offers", "id", "status = 'submitted'");
    check("purchase_expires", "purchases", "id", "status = 'pending'");
    check("hold_ends", "ledger_entries", "id", "id IN (SELECT entry FROM earnings_holds)");
    let is_open = format!("status = 'published' AND deadline IS NOT NULL AND deadline > {now}");
    check("deadline_passes", "opportunities", "id", &is_open);
    let has_no_end = "revoked_at IS NULL AND expired_at IS NULL";
    check("key_expires", "keys", "id", &format!("{has_no_end} AND expires_at IS NOT NULL"));
    check("grant_expires", "upload_grants", "id", &format!("{has_no_end} AND consumed_at IS NULL"));
    check("asset_type_retires", "asset_types", "position", "retires_at IS NOT NULL AND retired_at IS NULL");
}

/// The events of each listing lead from stage to stage to its present state, and so does its history.
fn check_listings(rows: &Connection, events: &[Event]) {
    let mut stages: BTreeMap<&str, &Event> = BTreeMap::new();
    let is_change = |event: &&Event| event.resource() == "listing" && event.data.get("to_stage").is_some();
    for event in events.iter().filter(is_change) {
        if let Some(before) = stages.insert(&event.subject, event) {
            assert_eq!(before.text("to_stage"), event.text("from_stage"), "{} {}", event.kind, event.data);
        }
    }
    let sql = "SELECT uuid, review_status, catalog_status, certified_at IS NOT NULL, (
             SELECT to_stage FROM listing_history h WHERE h.listing = l.id ORDER BY h.occurred_at DESC, h.id DESC LIMIT 1)
         FROM listings l";
    for row in strings(rows, sql) {
        let last = stages[row[0].as_str()];
        let state = [last.text("review_status"), last.text("catalog_status")];
        assert_eq!(state, [row[1].as_str(), row[2].as_str()], "{}", last.data);
        assert_eq!(last.data["is_certified"], row[3] == "1", "{}", last.data);
        assert_eq!(last.text("to_stage"), row[4], "the history ends elsewhere: {}", last.data);
    }
}

/// The statuses in the events of each record follow each other by legal moves, and the last one is the present
/// one.
fn check_statuses(rows: &Connection, events: &[Event]) {
    let check = |resource: &str, table: &str, is_view: &dyn Fn(&Event) -> bool, moves: &Moves| {
        let mut statuses: BTreeMap<&str, &str> = BTreeMap::new();
        for event in events.iter().filter(|event| event.resource() == resource && is_view(event)) {
            let status = event.text("status");
            let before = statuses.insert(&event.subject, status).unwrap_or_default();
            let is_legal = moves.is_legal(before, status);
            assert!(is_legal, "{} from {before:?} to {status:?}: {}", event.kind, event.data);
        }
        for row in strings(rows, &format!("SELECT uuid, status FROM {table}")) {
            assert_eq!(statuses.get(row[0].as_str()), Some(&row[1].as_str()), "{resource} {}", row[0]);
        }
    };
    check(
        "offer",
        "offers",
        &|event| event.data.get("pay_with").is_some(),
        &Moves::new(OfferStatus::Submitted),
    );
    check(
        "purchase",
        "purchases",
        &|event| event.data.get("payment").is_some(),
        &Moves::new(PurchaseStatus::Pending),
    );
    check("withdrawal", "withdrawals", &|_| true, &Moves::new(WithdrawalStatus::Requested));
    check(
        "opportunity",
        "opportunities",
        &|event| !event.text("status").is_empty() && event.data.get("vendors").is_none(),
        &Moves::new(OpportunityStatus::Draft),
    );
    check("project_bid", "project_bids", &|_| true, &Moves::new(BidStatus::Submitted));
}

/// The statuses that a record can have after another one.
struct Moves {
    first: &'static str,
    legal: BTreeSet<(&'static str, &'static str)>,
}

impl Moves {
    fn new<S: StateMachine + StringEnum>(first: S) -> Moves {
        let mut legal = BTreeSet::new();
        for status in S::ALL {
            for operation in S::Operation::ALL {
                legal.extend(status.after(*operation).map(|after| (status.as_str(), after.as_str())));
            }
        }
        Moves { first: first.as_str(), legal }
    }

    /// Whether a status can follow another one. Several teams have an event of the same change, and some changes
    /// leave the status as it is.
    fn is_legal(&self, before: &str, after: &str) -> bool {
        match before {
            "" => after == self.first,
            _ => before == after || self.legal.contains(&(before, after)),
        }
    }
}
