//! Pages of events: their order, filters, and cursors.

use std::collections::BTreeSet;

use marketplace::{
    domain::events::EventType,
    error::{Code, Error},
    operations::events::Filters,
    string_enum::StringEnum,
};
use uuid::Uuid;

use super::{all, append, assert_events_match_document, page, row_ids, walk};
use crate::harness::{TestMarket, demo, documents::operator_document};

#[test]
fn pages_contain_every_event_of_the_demo_once_in_order() {
    let events = all(demo());
    assert!(events.len() > 1_000);
    assert!(row_ids(&events).is_sorted_by(|left, right| left < right));
    for limit in [7, 100] {
        assert_eq!(row_ids(&walk(demo(), None, &Filters::default(), limit)), row_ids(&events));
    }
}

#[test]
fn filters_select_types_and_teams() {
    let events = all(demo());
    let teams: BTreeSet<_> = events.iter().filter_map(|event| event.team).collect();
    let team = *teams.first().unwrap();
    for types in [
        vec![],
        vec![EventType::ListingPublished],
        vec![EventType::OfferAccepted, EventType::ListingPublished],
    ] {
        for team in [None, Some(team)] {
            let matching: Vec<_> = events
                .iter()
                .filter(|event| types.is_empty() || types.contains(&event.event_type))
                .filter(|event| team.is_none() || event.team == team)
                .cloned()
                .collect();
            let filters = Filters { types: types.clone(), team, subject: None };
            assert_eq!(row_ids(&walk(demo(), None, &filters, 10)), row_ids(&matching), "{filters:?}");
        }
    }
    let unknown = Filters { types: Vec::new(), team: Some(Uuid::nil()), subject: None };
    let found = page(demo(), None, &unknown, 10).unwrap();
    assert!(found.events.is_empty() && !found.has_more, "an unknown team has no events");
    assert_eq!(found.through, events.last().unwrap().row_id);
}

/// The documents have a schema of the data of each type.
#[test]
fn every_event_of_the_demo_matches_the_document() {
    assert_events_match_document(demo().market());
    let mapping = &operator_document().schemas()["MarketEvent"]["discriminator"]["mapping"];
    let documented: BTreeSet<&str> = mapping.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(documented, EventType::ALL.iter().map(|event_type| event_type.as_str()).collect());
}

#[test]
fn cursor_is_the_id_of_an_event_or_now() {
    let market = TestMarket::empty();
    append(&market, 3);
    let from = |cursor: &str| page(&market, Some(cursor), &Filters::default(), 10);
    let count = all(&market).len();
    assert_eq!(from("evt_0000000000000000").unwrap().events.len(), count);
    assert_eq!(from("evt_0000000000000001").unwrap().events.len(), count - 1);
    let last = format!("evt_{count:016}");
    let now = from("now").unwrap();
    assert!(now.events.is_empty() && !now.has_more && from(&last).unwrap().events.is_empty());
    append(&market, 1);
    assert_eq!(from(&last).unwrap().events.len(), 1);
    // A list that begins there would miss the events that get the IDs up to it.
    for cursor in ["", "3", "evt_3", "evt_9999999999999999", "Now", "msg_0000000000000001"] {
        assert!(matches!(from(cursor), Err(Error::InvalidCursor)), "{cursor}");
    }
    assert_eq!(from("evt_x").unwrap_err().code(), Some(Code::InvalidCursor));
}
