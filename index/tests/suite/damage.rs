//! Damaged files: how they are found, that searches survive them, and that two indexes can be compared.

use std::fs;
use std::path::{Path, PathBuf};

use marketplace_index::{Error, Index, OLDEST_SCHEMA_VERSION, Search, catch_panics, find_damage};

use crate::market::{TestIndex, listing_with_title, search_all};

/// The segment files of an index: all that have checksums.
fn segment_files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| {
            path.file_stem().is_some_and(|name| name.to_str().unwrap().split('.').next().unwrap().len() == 32)
        })
        .collect();
    files.sort();
    files
}

/// What damages the bytes of a file.
type Damage = fn(&mut Vec<u8>);

/// Ways to damage a file.
const DAMAGES: [(&str, Damage); 6] = [
    ("half of it is overwritten", |bytes| {
        let half = bytes.len() / 2;
        for byte in &mut bytes[..half] {
            *byte = !*byte;
        }
    }),
    ("sixteen bytes are overwritten", |bytes| {
        for byte in bytes.iter_mut().take(16) {
            *byte ^= 0x5a;
        }
    }),
    ("a bit is flipped", |bytes| bytes[0] ^= 1),
    ("the last byte is overwritten", |bytes| *bytes.last_mut().unwrap() ^= 0xff),
    ("it is truncated", |bytes| bytes.truncate(bytes.len() / 2)),
    ("it is empty", Vec::clear),
];

fn finished_market() -> TestIndex {
    let mut market = TestIndex::new();
    let docs: Vec<_> =
        (1..40).map(|listing| listing_with_title(listing, &format!("robot arm number {listing}"))).collect();
    market.commit(&docs, &[]);
    market.commit(&[listing_with_title(2, "gripper")], &[3]);
    market.finish();
    market
}

#[test]
fn each_damaged_file_is_named() {
    let market = finished_market();
    let dir = market.directory.path();
    assert_eq!(find_damage(dir).unwrap(), [""; 0]);
    let files = segment_files(dir);
    for extension in ["term", "idx", "pos", "fieldnorm", "fast", "store", "columns", "del"] {
        assert!(
            files.iter().any(|file| file.extension().is_some_and(|other| other == extension)),
            "{extension}"
        );
    }
    for file in files {
        let (name, intact) = (file.file_name().unwrap().to_str().unwrap(), fs::read(&file).unwrap());
        for (what, damage) in DAMAGES {
            let mut bytes = intact.clone();
            damage(&mut bytes);
            fs::write(&file, &bytes).unwrap();
            let found = find_damage(dir).unwrap();
            assert!(matches!(&found[..], [one] if one.starts_with(name)), "{name}: {what}: {found:?}");
            // The caller rebuilds a corrupt index. It would report any other error.
            let opened = Index::open(dir).map(drop);
            assert!(matches!(opened, Ok(()) | Err(Error::Corrupt(_))), "{name}: {what}: {opened:?}");
        }
        fs::remove_file(&file).unwrap();
        assert_eq!(find_damage(dir).unwrap(), [format!("{name} is missing")]);
        fs::write(&file, &intact).unwrap();
    }
    assert_eq!(market.index.find_damage().unwrap(), [""; 0]);
    fs::remove_file(dir.join("meta.json")).unwrap();
    assert!(matches!(find_damage(dir), Err(Error::Missing)));
}

#[test]
fn search_of_a_damaged_index_fails_without_a_panic() {
    let market = finished_market();
    // Each ends with a directory of its fields, which is read when the index is opened, and which is more than half of a file
    // of few documents. So a file of many documents is damaged.
    for kind in ["idx", "pos"] {
        let files = segment_files(market.directory.path()).into_iter();
        let of_kind = files.filter(|file| file.extension().is_some_and(|extension| extension == kind));
        let file = of_kind.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let half = bytes.len() / 2;
        bytes[..half].fill(0xff);
        fs::write(&file, bytes).unwrap();
    }
    // The checksums of these files are not verified when the index is opened.
    let index = Index::open(market.directory.path()).unwrap();
    let snapshot = index.snapshot();
    let mut failed = 0;
    for text in ["robot", "arm", "\"robot arm\"", "gripper", "numb", "robto"] {
        let search = Search { text: text.into(), ..search_all() };
        failed += usize::from(catch_panics(|| snapshot.search(&search)).is_err());
    }
    assert!(failed > 0);
    let mut writer = index.writer(15_000_000, 1).unwrap();
    // Either call finds the damage, or none needs the damaged part.
    let _ = writer.put(&listing_with_title(4, "robot")).and_then(|()| writer.commit(9));
}

#[test]
fn contents_of_two_indexes_are_compared_listing_by_listing() {
    let docs = [
        listing_with_title(1, "robot arm"),
        listing_with_title(2, "robot robot 机器人 C++"),
        listing_with_title(3, "kitchen"),
    ];
    let mut at_once = TestIndex::new();
    at_once.commit(&docs, &[]);
    let expected = at_once.index.snapshot().content_digests().unwrap();
    assert_eq!(expected.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    // In several segments, with replaced and deleted documents, and with some that are only in memory.
    let mut in_parts = TestIndex::new();
    in_parts.commit(&[listing_with_title(2, "other"), listing_with_title(9, "gone")], &[]);
    in_parts.commit(&docs[1..2], &[9]);
    in_parts.commit(&docs[..1], &[]);
    in_parts.show(&docs[2..], &[]);
    assert_eq!(in_parts.index.snapshot().content_digests().unwrap(), expected);
    in_parts.commit(&[listing_with_title(1, "arm robot")], &[]);
    let changed = in_parts.index.snapshot().content_digests().unwrap();
    let differing: Vec<u64> =
        expected.keys().copied().filter(|listing| changed[listing] != expected[listing]).collect();
    assert_eq!(differing, [1], "the positions of the words differ");
    // The same documents, whose text is split by other rules.
    let directory = tempfile::tempdir().unwrap();
    let older = Index::create_with_version(&directory.path().join("older"), OLDEST_SCHEMA_VERSION).unwrap();
    let mut writer = older.writer(15_000_000, 1).unwrap();
    for doc in &docs {
        writer.put(doc).unwrap();
    }
    writer.commit(1).unwrap();
    let older = older.snapshot().content_digests().unwrap();
    assert_eq!((older[&1], older[&3]), (expected[&1], expected[&3]));
    assert_ne!(older[&2], expected[&2]);
}
