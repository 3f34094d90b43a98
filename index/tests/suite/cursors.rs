//! Cursors: they come back as they went, and nothing else comes in.

use marketplace_index::cursor::{decode, encode};
use marketplace_index::document::Stage;
use marketplace_index::{Bounds, CursorKey, Filters, InvalidCursor, Position, Scope, Search, Sort, Start};

use crate::market::{Market, everything, titled};

fn position(search: &Search) -> Position {
    let mut market = Market::new();
    market.commit(&[titled(1, "robot"), titled(2, "robot"), titled(3, "robot")], &[]);
    market
        .search(&Search {
            limit: 1,
            ..search.clone()
        })
        .next
        .unwrap()
}

fn key() -> CursorKey {
    CursorKey::new([7; 32])
}

#[test]
fn a_cursor_comes_back() {
    let search = Search {
        text: "robot".into(),
        ..everything()
    };
    let position = position(&search);
    let cursor = encode(&key(), &position, &search);
    assert!(
        cursor
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    );
    assert_eq!(decode(&key(), &cursor, &search), Ok(position));
    let elsewhere = Search {
        limit: 3,
        viewer: Some(4),
        totals: false,
        start: Start::After(position),
        ..search
    };
    assert_eq!(decode(&key(), &cursor, &elsewhere), Ok(position));
}

#[test]
fn the_order_of_filter_values_does_not_matter() {
    let with = |tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Search {
            filters: Filters {
                tags,
                ..Filters::default()
            },
            ..everything()
        }
    };
    let position = position(&everything());
    let cursor = encode(&key(), &position, &with(&["a", "b"]));
    assert_eq!(decode(&key(), &cursor, &with(&["b", "a", "b"])), Ok(position));
    assert_eq!(decode(&key(), &cursor, &with(&["ab"])), Err(InvalidCursor));
}

#[test]
fn cursors_of_other_searches_are_refused() {
    let some = Bounds {
        min: Some(1),
        max: None,
    };
    let filtered = |filters: Filters| Search {
        filters,
        ..everything()
    };
    let values = || vec!["a".to_owned()];
    let none = Filters::default;
    let others = [
        Search {
            scope: Scope::Team(0),
            ..everything()
        },
        Search {
            scope: Scope::Team(1),
            ..everything()
        },
        Search {
            text: "robot".into(),
            ..everything()
        },
        Search {
            text: "robots".into(),
            ..everything()
        },
        Search {
            sort: Sort::Recent,
            ..everything()
        },
        Search {
            sort: Sort::PriceLow,
            ..everything()
        },
        Search {
            sort: Sort::PriceHigh,
            ..everything()
        },
        filtered(Filters {
            tags: values(),
            ..none()
        }),
        filtered(Filters {
            tag_slugs: values(),
            ..none()
        }),
        filtered(Filters {
            asset_types: values(),
            ..none()
        }),
        filtered(Filters {
            languages: values(),
            ..none()
        }),
        filtered(Filters {
            file_extensions: values(),
            ..none()
        }),
        filtered(Filters {
            robotics_formats: values(),
            ..none()
        }),
        filtered(Filters {
            capabilities: values(),
            ..none()
        }),
        filtered(Filters {
            stages: vec![Stage::Active],
            ..none()
        }),
        filtered(Filters {
            team: Some(0),
            ..none()
        }),
        filtered(Filters {
            team: Some(1),
            ..none()
        }),
        filtered(Filters {
            certified: true,
            ..none()
        }),
        filtered(Filters {
            active_bids: true,
            ..none()
        }),
        filtered(Filters {
            rare_languages: true,
            ..none()
        }),
        filtered(Filters {
            no_assets: true,
            ..none()
        }),
        filtered(Filters {
            sample_available: Some(false),
            ..none()
        }),
        filtered(Filters {
            sample_available: Some(true),
            ..none()
        }),
        filtered(Filters {
            vendor_tiers: Some(vec![]),
            ..none()
        }),
        filtered(Filters {
            vendor_tiers: Some(vec![1]),
            ..none()
        }),
        filtered(Filters {
            price: some,
            ..none()
        }),
        filtered(Filters {
            price: Bounds {
                min: None,
                max: Some(1),
            },
            ..none()
        }),
        filtered(Filters {
            sample_price: some,
            ..none()
        }),
        filtered(Filters {
            price_per_task: some,
            ..none()
        }),
        filtered(Filters {
            vendor_tier: some,
            ..none()
        }),
        filtered(Filters {
            tasks: some,
            ..none()
        }),
        filtered(Filters { loc: some, ..none() }),
        filtered(Filters {
            zip_files: some,
            ..none()
        }),
        filtered(Filters {
            zip_bytes: some,
            ..none()
        }),
        filtered(Filters {
            codebases: some,
            ..none()
        }),
        filtered(Filters {
            tasksets: some,
            ..none()
        }),
        filtered(Filters {
            environments: some,
            ..none()
        }),
        filtered(Filters {
            robotics_datasets: some,
            ..none()
        }),
        filtered(Filters {
            raw_data: some,
            ..none()
        }),
        everything(),
    ];
    let position = position(&everything());
    for (made, search) in others.iter().enumerate() {
        let cursor = encode(&key(), &position, search);
        for (read, other) in others.iter().enumerate() {
            assert_eq!(
                decode(&key(), &cursor, other).is_ok(),
                made == read,
                "{made} as {read}"
            );
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
    for text in [
        "",
        "=",
        "\0",
        "null",
        &format!("{cursor}="),
        &format!("{cursor}A"),
        &cursor.repeat(10_000),
    ] {
        refused(text);
    }
    refused(&"é".repeat(cursor.len()));
    assert_eq!(
        decode(&CursorKey::new([8; 32]), &cursor, &search),
        Err(InvalidCursor)
    );
}
