//! Events are kept for a number of days. An event reports the removal of those before.

use marketplace::{
    domain::events::{EventId, EventType},
    error::{Code, Error},
    operations::{
        cleanup,
        events::{Event, Filters},
        retention::{self, Removed},
    },
    store::event_retention::DATED_TABLES,
};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{DAY, all, append, page, platform, row_ids, walk};
use crate::harness::{
    TestMarket,
    backups::{back_up, open_restored, temp_dir},
};

fn remove(market: &TestMarket) -> Removed {
    retention::remove_old(market.market(), platform()).unwrap()
}

/// Returns the events that report removals.
fn reports(market: &TestMarket) -> Vec<Value> {
    let filters = Filters { types: vec![EventType::OutboxTrimmed], team: None, subject: None };
    let data = |event: &Event| serde_json::from_str(&event.data).unwrap();
    walk(market, None, &filters, 10).iter().map(data).collect()
}

fn connection(market: &TestMarket) -> Connection {
    Connection::open(market.market().data_dir().join("market.sqlite")).unwrap()
}

/// Returns the number of rows of the outbox, whether or not their events were removed.
fn count_rows(market: &TestMarket) -> i64 {
    connection(market).query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
}

#[test]
fn events_are_removed_when_they_are_older_than_the_setting() {
    let market = TestMarket::with_settings(|settings| settings.events.keep_days = 30);
    append(&market, 3);
    market.clock().advance(10 * DAY);
    append(&market, 2);
    let before = all(&market);
    let first = EventId(before[0].row_id).to_string();
    market.clock().advance(20 * DAY);
    assert_eq!(remove(&market), Removed::default(), "the oldest events are exactly 30 days old");
    market.clock().advance(1);
    let old = before.len() - 2;
    assert_eq!(cleanup::sweep(market.market()).unwrap().old_records.events, old as u64);
    let after = all(&market);
    assert_eq!(row_ids(&after[..2]), row_ids(&before[old..]), "the newer ones stay");
    assert_eq!((after.len(), after[2].event_type), (3, EventType::OutboxTrimmed));
    let report = &reports(&market)[0];
    assert_eq!(report["removed"], old);
    assert_eq!(report["first_id"], first);
    assert_eq!(report["last_id"], EventId(before[old - 1].row_id).to_string());
    assert_eq!(
        (&report["first_occurred_at"], &report["keep_days"]),
        (&json!("2026-03-01T09:00:00.000Z"), &json!(30))
    );
    // A cursor before the place through which events were removed has expired, the one of that place has not.
    let last = EventId(before[old - 1].row_id).to_string();
    assert_eq!(row_ids(&walk(&market, Some(&last), &Filters::default(), 1)), row_ids(&after));
    for cursor in ["evt_0000000000000000", &EventId(before[old - 2].row_id).to_string()] {
        let error = page(&market, Some(cursor), &Filters::default(), 10).unwrap_err();
        assert_eq!(error.code(), Some(Code::CursorExpired));
        assert!(error.message().contains(&last), "{}", error.message());
    }
    assert_eq!(remove(&market), Removed::default(), "nothing more is old");
}

/// The report says how many records there are, so that a subscriber can start again with the lists.
#[test]
fn report_counts_the_records_of_the_market() {
    let market = TestMarket::demo();
    market.clock().advance(200 * DAY);
    // The steps that are due meanwhile are new events.
    market.market().run_due_steps().unwrap();
    let count = |sql: &str| connection(&market).query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    remove(&market);
    let records = &reports(&market)[0]["records"];
    assert_eq!(records["teams"], count("SELECT count(*) FROM teams WHERE closed_at IS NULL"));
    assert_eq!(records["assets"], count("SELECT count(*) FROM assets WHERE deleted_at IS NULL"));
    for (kind, column) in [
        ("listings", "catalog_status"),
        ("offers", "status"),
        ("purchases", "status"),
        ("opportunities", "status"),
        ("project_bids", "status"),
    ] {
        let by_status = records[kind].as_object().unwrap();
        assert!(!by_status.is_empty(), "{kind}");
        for (status, found) in by_status {
            let expected = count(&format!("SELECT count(*) FROM {kind} WHERE {column} = '{status}'"));
            assert_eq!(found, expected, "{kind} {status}");
        }
        let total: i64 = by_status.values().map(|found| found.as_i64().unwrap()).sum();
        assert_eq!(total, count(&format!("SELECT count(*) FROM {kind}")), "{kind}");
    }
}

#[test]
fn many_events_are_deleted_in_several_transactions() {
    let market = TestMarket::empty();
    append(&market, 2_500);
    market.clock().advance(91 * DAY);
    let (commits, events) = (market.market().commit_count(), all(&market).len() as u64);
    assert_eq!(remove(&market).events, events);
    // One that removes them, one for each other table, and those that delete up to a thousand rows each, until one
    // finds none.
    let others = DATED_TABLES.len() as u64;
    assert_eq!(market.market().commit_count() - commits, 1 + others + events.div_ceil(1_000) + 1);
    assert_eq!(count_rows(&market), 1);
}

/// A removal is one transaction. Whatever follows it can be interrupted, and continues later.
#[test]
fn interrupted_removal_is_complete_for_readers_and_continues() {
    let market = TestMarket::empty();
    append(&market, 2_500);
    let events = all(&market).len() as i64;
    market.clock().advance(91 * DAY);
    let rows = connection(&market);
    rows.execute_batch(
        "CREATE TRIGGER interruption BEFORE DELETE ON events WHEN old.id > 1500 BEGIN SELECT RAISE(ABORT, 'killed'); END;",
    )
    .unwrap();
    assert!(matches!(retention::remove_old(market.market(), platform()), Err(Error::Internal(_))));
    assert_eq!(count_rows(&market), events - 1_000 + 1, "the first transaction stays");
    let check = |market: &TestMarket| {
        let (kept, reports) = (all(market), reports(market));
        assert_eq!((kept.len(), reports.len()), (1, 1), "one report, and no event that was removed");
        assert_eq!(reports[0]["removed"], events);
        let error = page(market, Some("evt_0000000000002000"), &Filters::default(), 10).unwrap_err();
        assert_eq!(error.code(), Some(Code::CursorExpired));
    };
    check(&market);
    rows.execute_batch("DROP TRIGGER interruption").unwrap();
    let backup = temp_dir();
    back_up(market.market(), backup.path()).unwrap();
    for market in [market, open_restored(backup.path())] {
        check(&market);
        assert_eq!(remove(&market), Removed::default(), "it was reported once");
        check(&market);
        assert_eq!(count_rows(&market), 1);
    }
}

#[test]
fn newer_event_keeps_older_ones_behind_it() {
    let market = TestMarket::empty();
    append(&market, 1);
    market.clock().advance(-100 * DAY);
    append(&market, 1);
    market.clock().advance(100 * DAY + 80 * DAY);
    assert_eq!(remove(&market), Removed::default());
    market.clock().advance(11 * DAY);
    assert!(remove(&market).events > 1);
}

#[test]
fn market_in_which_nothing_happens_keeps_its_last_report() {
    let market = TestMarket::empty();
    append(&market, 1);
    market.clock().advance(91 * DAY);
    assert!(remove(&market).events > 0);
    for _ in 0..3 {
        market.clock().advance(91 * DAY);
        assert_eq!(remove(&market), Removed::default());
    }
    append(&market, 1);
    market.clock().advance(91 * DAY);
    assert_eq!(remove(&market).events, 2);
    assert_eq!(reports(&market).len(), 1);
}

#[test]
fn nothing_is_removed_without_a_number_of_days() {
    let market = TestMarket::with_settings(|settings| settings.events.keep_days = 0);
    append(&market, 1);
    market.clock().advance(100 * 365 * DAY);
    assert_eq!(remove(&market), Removed::default());
    assert!(page(&market, Some("evt_0000000000000000"), &Filters::default(), 10).is_ok());
}

/// A restored market lacks the last events of the original, and does not use their IDs again.
#[test]
fn events_of_a_restored_market_have_ids_of_their_own() {
    let market = TestMarket::empty();
    append(&market, 3);
    let backup = temp_dir();
    back_up(market.market(), backup.path()).unwrap();
    append(&market, 1);
    let lost = all(&market).last().unwrap().row_id;
    let restored = open_restored(backup.path());
    let kept = all(&restored).len();
    let cursor = EventId(lost).to_string();
    let from_lost = |filters: &Filters| walk(&restored, Some(&cursor), filters, 1);
    assert!(from_lost(&Filters::default()).is_empty());
    append(&restored, 2);
    let new = all(&restored).split_off(kept);
    assert!(new.len() == 2 && new[0].row_id > lost);
    let typed = Filters { types: vec![EventType::DomainUpdated], ..Filters::default() };
    for filters in [Filters::default(), typed] {
        assert_eq!(row_ids(&from_lost(&filters)), row_ids(&new));
    }
    // The events are removed together. Skipped IDs do not count.
    restored.clock().advance(91 * DAY);
    let count = all(&restored).len() as u64;
    assert_eq!(remove(&restored).events, count);
    assert_eq!(reports(&restored)[0]["removed"], count);
}
