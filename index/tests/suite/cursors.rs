//! Cursors: encoding and decoding are inverse, and anything else is rejected.

use std::sync::Arc;

use marketplace_index::cursor::{SHORT_CURSOR_CHARS, decode, decode_short, encode, encode_short};
use marketplace_index::document::{Labels, Stage};
use marketplace_index::{
    Bounds, CursorKey, Filters, InvalidCursor, Measure, PerMeasure, Position, Scope, Search, Sort, Start,
};

use crate::market::{TestIndex, listing_with_title, search_all};

fn position(search: &Search) -> Position {
    let mut market = TestIndex::new();
    market.commit(
        &[listing_with_title(1, "robot"), listing_with_title(2, "robot"), listing_with_title(3, "robot")],
        &[],
    );
    market.search(&Search { limit: 1, ..search.clone() }).next.unwrap()
}

fn key() -> CursorKey {
    CursorKey::new([7; 32])
}

#[test]
fn cursor_round_trips() {
    let search = Search { text: "robot".into(), ..search_all() };
    let position = position(&search);
    let cursor = encode(&key(), &position, &search);
    assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    assert_eq!(decode(&key(), &cursor, &search), Ok(position));
    assert_eq!(position.as_of(), 1);
    let other_page =
        Search { limit: 3, viewer: Some(4), totals: false, start: Start::After(position), ..search };
    assert_eq!(decode(&key(), &cursor, &other_page), Ok(position));
}

/// Covers paging for agents: a model can copy a short cursor, and a miscopied one is noticed.
#[test]
fn short_cursor_is_short_and_notices_miscopied_characters() {
    let search = search_all();
    let position = position(&search);
    let cursor = encode_short(&key(), &position, &search);
    assert!(cursor.len() == SHORT_CURSOR_CHARS && SHORT_CURSOR_CHARS <= 24, "{cursor}");
    assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    let bytes = cursor.as_bytes();
    assert!(bytes.windows(4).all(|four| four.iter().any(|byte| *byte != four[0])), "a run: {cursor}");
    assert_eq!(decode_short(&key(), &cursor, &search).unwrap().as_of, position.as_of());
    for at in 0..bytes.len() {
        let mut miscopied = bytes.to_vec();
        miscopied[at] = if miscopied[at] == b'A' { b'B' } else { b'A' };
        let text = String::from_utf8(miscopied).unwrap();
        assert_eq!(decode_short(&key(), &text, &search), Err(InvalidCursor));
        assert_eq!(decode_short(&key(), &cursor[..at], &search), Err(InvalidCursor));
    }
}

/// A short cursor names a listing, so it is invalid once that listing is elsewhere in the order, or not there at all.
#[test]
fn short_cursor_notices_that_its_listing_has_moved() {
    let search = Search { limit: 1, ..search_all() };
    let mut market = TestIndex::new();
    market.commit(&[listing_with_title(1, "robot"), listing_with_title(2, "robot")], &[]);
    let position = market.search(&search).next.unwrap();
    let short = decode_short(&key(), &encode_short(&key(), &position, &search), &search).unwrap();
    assert_eq!(market.index.snapshot().position_of(&short, &search).unwrap(), Some(position));
    let mut archived = listing_with_title(2, "robot");
    (archived.stage, archived.published_at) = (Stage::Archived, None);
    market.commit(&[archived], &[]);
    assert_eq!(market.index.snapshot().position_of(&short, &search).unwrap(), None);
    market.commit(&[], &[2]);
    assert_eq!(market.index.snapshot().position_of(&short, &search).unwrap(), None);
}

#[test]
fn order_of_filter_values_does_not_matter() {
    let with = |tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Search {
            filters: Filters { labels: Labels { tags, ..Labels::default() }, ..Filters::default() },
            ..search_all()
        }
    };
    let position = position(&search_all());
    let cursor = encode(&key(), &position, &with(&["a", "b"]));
    assert_eq!(decode(&key(), &cursor, &with(&["b", "a", "b"])), Ok(position));
    assert_eq!(decode(&key(), &cursor, &with(&["ab"])), Err(InvalidCursor));
}

/// Changes each filter except bounds in turn.
const FILTERS: [fn(&mut Filters); 23] = [
    |filters| filters.labels.tags = one_value(),
    |filters| filters.labels.tag_slugs = one_value(),
    |filters| filters.labels.asset_types = one_value(),
    |filters| filters.labels.languages = one_value(),
    |filters| filters.labels.file_extensions = one_value(),
    |filters| filters.labels.robotics_formats = one_value(),
    |filters| filters.labels.capabilities = one_value(),
    |filters| filters.stages = vec![Stage::Draft],
    |filters| filters.stages = vec![Stage::Active],
    |filters| filters.team = Some(0),
    |filters| filters.team = Some(1),
    |filters| filters.certified = true,
    |filters| filters.active_bids = true,
    |filters| filters.rare_languages = true,
    |filters| filters.no_assets = true,
    |filters| filters.sample_available = Some(false),
    |filters| filters.sample_available = Some(true),
    |filters| filters.vendor_tiers = Some(vec![]),
    |filters| filters.vendor_tiers = Some(vec![1]),
    |filters| filters.teams = Some(vec![1]),
    |filters| filters.listings = Some(Arc::new([1].into())),
    |filters| filters.published = (Some(1), None),
    |filters| filters.published = (None, Some(1)),
];

fn one_value() -> Vec<String> {
    vec!["a".to_owned()]
}

#[test]
fn cursors_of_other_searches_are_rejected() {
    let mut others = vec![
        search_all(),
        Search { scope: Scope::Team(0), ..search_all() },
        Search { scope: Scope::Team(1), ..search_all() },
        Search { text: "robot".into(), ..search_all() },
        Search { text: "robots".into(), ..search_all() },
        Search { sort: Sort::Recent, ..search_all() },
        Search { sort: Sort::PriceLow, ..search_all() },
        Search { sort: Sort::PriceHigh, ..search_all() },
    ];
    others.extend(FILTERS.map(|set| {
        let mut search = search_all();
        set(&mut search.filters);
        search
    }));
    let bounds = [Bounds { min: Some(1), max: None }, Bounds { min: None, max: Some(1) }];
    for bounds in Measure::ALL.into_iter().flat_map(|measure| bounds.map(|bounds| [(measure, bounds)])) {
        let filters = Filters { bounds: PerMeasure::from(bounds), ..Filters::default() };
        others.push(Search { filters, ..search_all() });
    }
    let position = position(&search_all());
    for (encoded_for, search) in others.iter().enumerate() {
        let cursor = encode(&key(), &position, search);
        let short = encode_short(&key(), &position, search);
        for (decoded_for, other) in others.iter().enumerate() {
            assert_eq!(decode_short(&key(), &short, other).is_ok(), encoded_for == decoded_for);
            assert_eq!(
                decode(&key(), &cursor, other).is_ok(),
                encoded_for == decoded_for,
                "{encoded_for} as {decoded_for}"
            );
        }
    }
}

#[test]
fn forged_and_broken_cursors_are_rejected() {
    let search = search_all();
    let cursor = encode(&key(), &position(&search), &search);
    let assert_rejected =
        |text: &str| assert_eq!(decode(&key(), text, &search), Err(InvalidCursor), "{text:?}");
    for index in 0..cursor.len() {
        for character in "AQgw9-_=+/ é".chars() {
            let (start, end) = (&cursor[..index], &cursor[index + 1..]);
            let forged = format!("{start}{character}{end}");
            if forged != cursor {
                assert_rejected(&forged);
            }
        }
        assert_rejected(&cursor[..index]);
    }
    for text in ["", "=", "\0", "null", &format!("{cursor}="), &format!("{cursor}A"), &cursor.repeat(10_000)]
    {
        assert_rejected(text);
    }
    assert_rejected(&"é".repeat(cursor.len()));
    assert_eq!(decode(&CursorKey::new([8; 32]), &cursor, &search), Err(InvalidCursor));
}
