//! Tests of pages of the outbox: they are compared with a list in memory.

use proptest::prelude::*;

use super::*;
use crate::{
    domain::events::{EventId, LabelData},
    store::{Durability, Store, event_retention},
};

/// The types of the events in these tests.
const TYPES: [EventType; 3] =
    [EventType::DomainCreated, EventType::DomainUpdated, EventType::ContentTagCreated];

fn open(directory: &std::path::Path) -> Store {
    let store = Store::open(&directory.join("market.sqlite"), 1, Durability::None).unwrap();
    store
        .write(|writer| {
            for id in 1..=3 {
                let sql =
                    "INSERT INTO teams (id, uuid, name, is_vendor, is_buyer, tier, created_at, name_key)
                     VALUES (?1, randomblob(16), 'T', 1, 0, 1, 1, '')";
                writer.execute(sql, [id])?;
            }
            Ok(())
        })
        .unwrap();
    store
}

/// Appends events of these types and teams. 0 means no team.
fn append(writer: &Writer, events: &[(usize, i64)]) -> Result<()> {
    for (kind, team) in events {
        let label = || LabelData { slug: "s".to_owned(), label: "L".to_owned() };
        let data = [
            EventData::DomainCreated(label()),
            EventData::DomainUpdated(label()),
            EventData::ContentTagCreated(label()),
        ];
        let team = Some(TeamRowId(*team)).filter(|team| team.0 > 0);
        let subject = EventSubject("s".to_owned());
        let event = NewEvent {
            team,
            subject: &subject,
            occurred_at: Timestamp(1),
            data: &data[*kind],
            request_id: None,
        };
        insert(writer, &event, &event.data.to_json().unwrap())?;
    }
    Ok(())
}

fn newest(reader: &Reader) -> Result<EventRowId> {
    Ok(find_bounds(reader)?.newest)
}

/// Returns the events that pages contain, from a place to the end.
fn walk(reader: &Reader, filter: &EventFilter, mut after: EventRowId, limits: PageLimits) -> Vec<EventRowId> {
    let mut found = Vec::new();
    loop {
        let page = list_page(reader, filter, after, newest(reader).unwrap(), limits).unwrap();
        assert!(page.events.len() <= limits.events && (!page.has_more || page.through > after));
        assert!(page.events.iter().all(|event| event.row_id > after && event.row_id <= page.through));
        found.extend(page.events.iter().map(|event| event.row_id));
        after = page.through;
        if !page.has_more {
            assert_eq!(after, newest(reader).unwrap());
            return found;
        }
    }
}

/// Returns the events that pages contain, from the newest one back to a place.
fn walk_back(
    reader: &Reader,
    filter: &EventFilter,
    through: EventRowId,
    limits: PageLimits,
) -> Vec<EventRowId> {
    let mut found = Vec::new();
    let mut before = EventRowId(newest(reader).unwrap().0 + 1);
    while before.0 > through.0 + 1 {
        let (events, end) = list_before(reader, filter, (through, before), limits).unwrap();
        assert!(events.len() <= limits.events && end < before);
        assert!(events.iter().all(|event| event.row_id >= end && event.row_id < before));
        found.extend(events.iter().map(|event| event.row_id));
        before = end;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn pages_contain_each_matching_event_once(
        events in prop::collection::vec((0..3_usize, 0..4_i64), 0..60),
        kinds in prop::collection::btree_set(0..3_usize, 0..3),
        team in prop::option::of(1..4_i64),
        limit in 1..20_usize,
        bytes in 1..200_usize,
        scanned in 1..20_u32,
        after in 0..60_i64,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        store.write(|writer| append(writer, &events)).unwrap();
        let filter = EventFilter { types: kinds.iter().map(|kind| TYPES[*kind]).collect(), team: team.map(TeamRowId), subject: None };
        let expected: Vec<_> = (1..).zip(&events)
            .filter(|(row_id, (kind, of))| {
                *row_id > after
                    && (kinds.is_empty() || kinds.contains(kind))
                    && team.is_none_or(|team| team == *of)
            })
            .map(|(row_id, _)| EventRowId(row_id))
            .collect();
        let after = EventRowId(after.min(events.len() as i64));
        let limits = PageLimits { events: limit, bytes, scanned };
        let found = store.read(|reader| Ok(walk(reader, &filter, after, limits))).unwrap();
        prop_assert_eq!(&found, &expected);
        let mut found = store.read(|reader| Ok(walk_back(reader, &filter, after, limits))).unwrap();
        found.reverse();
        prop_assert_eq!(found, expected);
    }
}

/// A page reads no more than its limits allow, however few events match.
#[test]
fn page_without_matches_ends_after_a_bounded_number_of_events() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.write(|writer| append(writer, &[(0, 1); 1_000])).unwrap();
    let limits = PageLimits { events: 10, bytes: 1_000, scanned: 100 };
    for team in [None, Some(TeamRowId(1))] {
        let filter = EventFilter { types: vec![EventType::DomainUpdated], team, subject: None };
        let page =
            store.read(|reader| list_page(reader, &filter, EventRowId(50), newest(reader)?, limits)).unwrap();
        assert!(page.events.is_empty() && page.has_more);
        assert_eq!(page.through, EventRowId(150));
        let bounds = (EventRowId(0), EventRowId(951));
        let (events, end) = store.read(|reader| list_before(reader, &filter, bounds, limits)).unwrap();
        assert!(events.is_empty());
        assert_eq!(end, EventRowId(851));
    }
}

#[test]
fn events_of_a_team_are_found_by_the_index() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let types = vec![EventType::DomainUpdated];
    let filter = EventFilter { types, team: Some(TeamRowId(1)), subject: None };
    let sql = filter.select("e.id <= ?2", "e.id");
    let plan = store.read(|reader| Ok(reader.plan_of(&sql))).unwrap().join("\n");
    assert!(plan.contains("events_by_team (team=? AND id>? AND id<?)"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE FOR ORDER BY"), "{plan}");
}

#[test]
fn only_removed_events_can_be_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.write(|writer| append(writer, &[(0, 1); 5])).unwrap();
    let trim =
        |through| store.write(|writer| event_retention::set_trimmed_through(writer, EventRowId(through)));
    let delete = |sql: &str| store.write(|writer| writer.execute(sql, []));
    for sql in ["DELETE FROM events WHERE id = 1", "DELETE FROM events", "DELETE FROM trimmed_events"] {
        delete(sql).unwrap_err();
    }
    trim(6).unwrap_err();
    trim(2).unwrap();
    trim(1).unwrap_err();
    delete("DELETE FROM events WHERE id = 3").unwrap_err();
    assert_eq!(store.write(|writer| event_retention::delete_trimmed(writer, 1)).unwrap().0, 1);
    assert_eq!(store.write(|writer| event_retention::delete_trimmed(writer, 9)).unwrap().0, 1);
    assert_eq!(store.read(event_retention::find_inconsistencies).unwrap(), [""; 0]);
    // IDs continue, even if all events were deleted.
    trim(5).unwrap();
    assert_eq!(store.write(|writer| event_retention::delete_trimmed(writer, 9)).unwrap().0, 3);
    assert_eq!(store.read(newest).unwrap(), EventRowId(5));
    store.write(|writer| append(writer, &[(0, 1)])).unwrap();
    assert_eq!(store.read(newest).unwrap(), EventRowId(6));
    assert_eq!(EventId(EventRowId(6)).to_string(), "evt_0000000000000006");
}

/// In a copy of the database, events continue with later IDs.
#[test]
fn pages_continue_after_skipped_ids() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let skip = |last: i64| {
        store.write(|writer| {
            writer.execute("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'events'", [last])
        })
    };
    store.write(|writer| append(writer, &[(0, 1), (1, 2)])).unwrap();
    skip(5 * SKIPPED_ID_UNIT).unwrap();
    let bounds = store.read(find_bounds).unwrap();
    assert_eq!((bounds.newest, bounds.last_id), (EventRowId(2), EventRowId(5 * SKIPPED_ID_UNIT)));
    let (first, lost) = (5 * SKIPPED_ID_UNIT + 1, EventRowId(1_000));
    store.write(|writer| append(writer, &[(0, 1), (1, 1)])).unwrap();
    let limits = PageLimits { events: 10, bytes: 1_000, scanned: 3 };
    for (types, team, expected) in [
        (vec![], None, vec![1, 2, first, first + 1]),
        (vec![TYPES[0]], None, vec![1, first]),
        (vec![TYPES[0]], Some(TeamRowId(1)), vec![1, first]),
        (vec![], Some(TeamRowId(1)), vec![1, first, first + 1]),
    ] {
        let expected: Vec<EventRowId> = expected.into_iter().map(EventRowId).collect();
        let filter = EventFilter { types, team, subject: None };
        let walk_from = |after| store.read(|reader| Ok(walk(reader, &filter, after, limits))).unwrap();
        assert_eq!(walk_from(EventRowId(0)), expected);
        let new: Vec<EventRowId> = expected.iter().copied().filter(|id| *id > lost).collect();
        assert_eq!(walk_from(lost), new);
        let back = |reader: &Reader| Ok(walk_back(reader, &filter, EventRowId(0), limits));
        let mut found = store.read(back).unwrap();
        found.reverse();
        assert_eq!(found, expected);
    }
    let find_newer = |since| {
        store.read(|reader| event_retention::find_newer(reader, EventRowId(2), Timestamp(since), 1)).unwrap()
    };
    assert_eq!(find_newer(1), event_retention::Found::Newer(EventRowId(first)));
    assert_eq!(find_newer(2), event_retention::Found::OlderThrough(EventRowId(first)));
    assert_eq!(store.read(event_retention::find_inconsistencies).unwrap(), [""; 0]);
    skip(5 * SKIPPED_ID_UNIT + 5).unwrap();
    let found = store.read(event_retention::find_inconsistencies).unwrap();
    assert!(found.len() == 1 && found[0].contains(": 3, beginning with these IDs: 5000003"), "{found:?}");
}

#[test]
fn ids_of_a_copy_are_later_than_all_earlier_ones() {
    let now = Timestamp::parse("2026-03-01T09:00:00.700Z").unwrap();
    let second = Timestamp::parse("2026-03-01T09:00:00Z").unwrap().0;
    assert_eq!(last_skipped_id(0, now), second);
    assert_eq!(last_skipped_id(second - 1, now), second);
    // Restored twice within a second, or with a clock that is behind.
    assert_eq!(last_skipped_id(second, now), second + SKIPPED_ID_UNIT);
    assert_eq!(last_skipped_id(second + 5, Timestamp(0)), second + SKIPPED_ID_UNIT);
}
