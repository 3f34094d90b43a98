//! Cursors: encoding and decoding are inverse, and anything else is rejected.

use marketplace_index::cursor::{decode, encode};
use marketplace_index::document::Stage;
use marketplace_index::{Bounds, CursorKey, Filters, InvalidCursor, Position, Scope, Search, Sort, Start};

use crate::market::{Market, everything, titled};

fn position(search: &Search) -> Position {
    let mut market = Market::new();
    market.commit(&[titled(1, "robot"), titled(2, "robot"), titled(3, "robot")], &[]);
    market.search(&Search { limit: 1, ..search.clone() }).next.unwrap()
}

fn key() -> CursorKey {
    CursorKey::new([7; 32])
}

#[test]
fn a_cursor_comes_back() {
    let search = Search { text: "robot".into(), ..everything() };
    let position = position(&search);
    let cursor = encode(&key(), &position, &search);
    assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    assert_eq!(decode(&key(), &cursor, &search), Ok(position));
    let elsewhere =
        Search { limit: 3, viewer: Some(4), totals: false, start: Start::After(position), ..search };
    assert_eq!(decode(&key(), &cursor, &elsewhere), Ok(position));
}

#[test]
fn the_order_of_filter_values_does_not_matter() {
    let with = |tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Search { filters: Filters { tags, ..Filters::default() }, ..everything() }
    };
    let position = position(&everything());
    let cursor = encode(&key(), &position, &with(&["a", "b"]));
    assert_eq!(decode(&key(), &cursor, &with(&["b", "a", "b"])), Ok(position));
    assert_eq!(decode(&key(), &cursor, &with(&["ab"])), Err(InvalidCursor));
}

/// Changes each filter in turn.
const FILTERS: [fn(&mut Filters); 33] = [
    |filters| filters.tags = a_value(),
    |filters| filters.tag_slugs = a_value(),
    |filters| filters.asset_types = a_value(),
    |filters| filters.languages = a_value(),
    |filters| filters.file_extensions = a_value(),
    |filters| filters.robotics_formats = a_value(),
    |filters| filters.capabilities = a_value(),
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
    |filters| filters.price = AT_LEAST_ONE,
    |filters| filters.price.max = Some(1),
    |filters| filters.sample_price = AT_LEAST_ONE,
    |filters| filters.price_per_task = AT_LEAST_ONE,
    |filters| filters.vendor_tier = AT_LEAST_ONE,
    |filters| filters.tasks = AT_LEAST_ONE,
    |filters| filters.loc = AT_LEAST_ONE,
    |filters| filters.zip_files = AT_LEAST_ONE,
    |filters| filters.zip_bytes = AT_LEAST_ONE,
    |filters| filters.codebases = AT_LEAST_ONE,
    |filters| filters.tasksets = AT_LEAST_ONE,
    |filters| filters.environments = AT_LEAST_ONE,
    |filters| filters.robotics_datasets = AT_LEAST_ONE,
    |filters| filters.raw_data = AT_LEAST_ONE,
];

const AT_LEAST_ONE: Bounds = Bounds { min: Some(1), max: None };

fn a_value() -> Vec<String> {
    vec!["a".to_owned()]
}

#[test]
fn cursors_of_other_searches_are_refused() {
    let mut others = vec![
        everything(),
        Search { scope: Scope::Team(0), ..everything() },
        Search { scope: Scope::Team(1), ..everything() },
        Search { text: "robot".into(), ..everything() },
        Search { text: "robots".into(), ..everything() },
        Search { sort: Sort::Recent, ..everything() },
        Search { sort: Sort::PriceLow, ..everything() },
        Search { sort: Sort::PriceHigh, ..everything() },
    ];
    others.extend(FILTERS.map(|set| {
        let mut search = everything();
        set(&mut search.filters);
        search
    }));
    let position = position(&everything());
    for (made, search) in others.iter().enumerate() {
        let cursor = encode(&key(), &position, search);
        for (read, other) in others.iter().enumerate() {
            assert_eq!(decode(&key(), &cursor, other).is_ok(), made == read, "{made} as {read}");
        }
    }
}

#[test]
fn forged_and_broken_cursors_are_refused() {
    let search = everything();
    let cursor = encode(&key(), &position(&search), &search);
    let refused = |text: &str| assert_eq!(decode(&key(), text, &search), Err(InvalidCursor), "{text:?}");
    for place in 0..cursor.len() {
        for letter in "AQgw9-_=+/ é".chars() {
            let (before, behind) = (&cursor[..place], &cursor[place + 1..]);
            let forged = format!("{before}{letter}{behind}");
            if forged != cursor {
                refused(&forged);
            }
        }
        refused(&cursor[..place]);
    }
    for text in ["", "=", "\0", "null", &format!("{cursor}="), &format!("{cursor}A"), &cursor.repeat(10_000)]
    {
        refused(text);
    }
    refused(&"é".repeat(cursor.len()));
    assert_eq!(decode(&CursorKey::new([8; 32]), &cursor, &search), Err(InvalidCursor));
}
