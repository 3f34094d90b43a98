//! The formats of columns, digests, and cursors. If a test fails, the change needs a new `SCHEMA_VERSION`, or
//! rejects all cursors that users have.

use std::fs;

use marketplace_index::cursor::{decode, encode};
use marketplace_index::document::{Flags, Labels, ListingDocument, Stage, Text};
use marketplace_index::{Bounds, CursorKey, Filters, Measure, PerMeasure, Search, Start};
use sha2::{Digest, Sha256};

use crate::directory::files;
use crate::market::{TestIndex, active_listing, search_all};

fn one_value(value: &str) -> Vec<String> {
    vec![value.to_owned()]
}

fn full_listing() -> ListingDocument {
    ListingDocument {
        listing: 1,
        team: 2,
        stage: Stage::Active,
        text: Text {
            title: "Robot arms".to_owned(),
            description: "Kitchen data".to_owned(),
            tag_labels: one_value("Robotics"),
            team_name: "Acme".to_owned(),
        },
        labels: Labels {
            tags: one_value("tag"),
            tag_slugs: one_value("slug"),
            asset_types: one_value("type"),
            languages: one_value("language"),
            file_extensions: one_value("extension"),
            robotics_formats: one_value("format"),
            capabilities: one_value("capability"),
        },
        measures: PerMeasure::from_fn(|measure| Some(101 + measure as u64)),
        flags: Flags { certified: true, active_bids: false, sample_available: true, rare_languages: false },
        featured: Some(3),
        published_at: Some(4),
        created_at: -5,
    }
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[test]
fn columns_file_is_unchanged() {
    let mut market = TestIndex::new();
    market.commit(&[full_listing(), active_listing(6)], &[]);
    let file = fs::read(&files(market.directory.path(), "columns")[0]).unwrap();
    // The engine appends a footer with its version, then the length of the footer and a magic number.
    let (file, _magic) = file.split_last_chunk::<4>().unwrap();
    let (file, footer) = file.split_last_chunk::<4>().unwrap();
    let columns = &file[..file.len() - u32::from_le_bytes(*footer) as usize];
    assert_eq!(columns.len(), 2562);
    assert_eq!(sha256(columns), "f5cf4fac931f93feacb4a74fc002e34ef6334b3beb153233c60616f986d395ec");
}

#[test]
fn cursor_is_unchanged() {
    let mut market = TestIndex::new();
    market.commit(&[active_listing(1), active_listing(2)], &[]);
    let position = market.search(&Search { limit: 1, ..search_all() }).next.unwrap();
    let mut filters = Filters {
        labels: Labels { tags: one_value("tag"), ..Labels::default() },
        no_assets: true,
        team: Some(7),
        ..Filters::default()
    };
    for (measure, min) in Measure::ALL.into_iter().zip(0..).filter(|(measure, _)| *measure != Measure::Assets)
    {
        filters.bounds[measure] = Bounds { min: Some(min), max: Some(100 + min) };
    }
    let cursor = |filters| encode(&CursorKey::new([7; 32]), &position, &Search { filters, ..search_all() });
    assert_eq!(
        [cursor(Filters::default()), cursor(filters.clone())],
        [
            "AgAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAIAAAAAAHoSBAAAAAAAAAAKULA8ofr0MwNHBjoTsSDvIJ7EgeOshm5cgEuTXBFQ-iQ",
            "AgAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAIAAAAAAHoSBAAAAAAAAAALzEvJguq91lZgreCtOe8Qssi-JFOqffcAXXmCYL_RPUw",
        ]
    );
    // Cursors of the first version, without the number of a change, are still accepted.
    for (older, filters) in [
        (
            "AQAAAAAAAAAAAAAAAAAAAACAAAAAAB6EgQAAAAAAAAACgjB4WVHS_zqo6l4qDIBmCrKxWm5Um0nZrpxcuixerOI",
            Filters::default(),
        ),
        ("AQAAAAAAAAAAAAAAAAAAAACAAAAAAB6EgQAAAAAAAAAC5f5aSvR-8C8xKDJ1HpeYw0Kvb5oB0aAjUbcQDIRsfYk", filters),
    ] {
        let search = Search { filters, ..search_all() };
        let decoded = decode(&CursorKey::new([7; 32]), older, &search).unwrap();
        assert_eq!(decoded.as_of(), 0);
        let next =
            |position| market.search(&Search { start: Start::After(position), ..search_all() }).listings;
        assert_eq!(next(decoded), next(position));
    }
}

#[test]
fn digests_are_unchanged() {
    assert_eq!(
        [full_listing().digest(), active_listing(6).digest()],
        [8_772_972_889_933_712_400, 9_418_503_270_458_201_529]
    );
}
