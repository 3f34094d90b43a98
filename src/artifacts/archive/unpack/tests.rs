//! Passes over valid, damaged, and hostile ZIP archives.

use std::{cell::Cell, io::Write};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

const LIMITS: Limits = Limits { max_files: 1_000, max_ratio: 200 };

/// Records everything that it is passed.
#[derive(Default)]
struct RecordingVisitor {
    entries: Vec<String>,
    bytes: Vec<u8>,
    faults: Vec<String>,
    whole: Vec<ArchiveProblem>,
    largest: usize,
}

impl Visitor for RecordingVisitor {
    fn begin(&mut self, entry: &Entry<'_>) -> Wanted {
        self.entries.push(entry.path.to_owned());
        self.bytes.clear();
        if entry.path.starts_with("unwanted") { Wanted::Nothing } else { Wanted::All }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        self.largest = self.largest.max(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn end(&mut self, fault: Option<&str>) {
        let path = self.entries.last().unwrap();
        self.faults.extend(fault.map(|fault| format!("{path} {fault}")));
    }

    fn archive_problem(&mut self, fault: ArchiveProblem) {
        self.whole.push(fault);
    }
}

fn zip_of(method: CompressionMethod, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in files {
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn visited(zip: &[u8], limits: Limits) -> RecordingVisitor {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(zip).unwrap();
    let mut notes = RecordingVisitor::default();
    visit(file.path(), limits, &mut notes, &|| true).unwrap();
    notes
}

fn list_at(zip: &[u8]) -> usize {
    zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap()
}

#[test]
fn files_are_visited_in_chunks() {
    let large: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated, CompressionMethod::Zstd] {
        let files: [(&str, &[u8]); 4] =
            [("a/", b""), ("unwanted", b"x"), ("__MACOSX/._x", b"x"), ("a//./large", &large)];
        let notes = visited(&zip_of(method, &files), LIMITS);
        assert_eq!(
            (notes.entries, notes.faults),
            (vec!["unwanted".to_owned(), "a/large".to_owned()], vec![])
        );
        assert_eq!((notes.bytes == large, notes.whole), (true, vec![]));
        assert!(notes.largest <= CHUNK_BYTES);
    }
}

#[test]
fn attributes_files_come_first_and_outer_before_inner() {
    let files: [(&str, &[u8]); 4] = [
        ("x/b/.gitattributes", b"1"),
        ("x/a", b"2"),
        ("x/.gitattributes", b"3"),
        ("x/c.gitattributes/d", b"4"),
    ];
    let notes = visited(&zip_of(CompressionMethod::Stored, &files), LIMITS);
    assert_eq!(notes.entries, ["x/.gitattributes", "x/b/.gitattributes", "x/a", "x/c.gitattributes/d"]);
}

#[test]
fn damage_is_reported_for_the_damaged_file() {
    let words = "words and more words, ".repeat(50);
    let files: [(&str, &[u8]); 3] = [("one", b"1"), ("unwanted", words.as_bytes()), ("two", b"2")];
    let whole = zip_of(CompressionMethod::Stored, &files);
    let at = whole.windows(5).position(|bytes| bytes == b"words").unwrap();
    let list = list_at(&whole);
    let second = list + whole[list + 4..].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 4;
    // The data; the checksum and the size in the central directory; the name in the local header.
    for (place, byte, expected) in [
        (at, 0xff, "has data that does not match its checksum"),
        (second + 16, 0xff, "has a local header that contradicts"),
        (second + 24, 0x01, "has a local header that contradicts"),
        (at - 1, 0x01, "has a local header that contradicts"),
    ] {
        let mut damaged = whole.clone();
        damaged[place] ^= byte;
        let notes = visited(&damaged, LIMITS);
        assert_eq!(notes.entries, ["one", "unwanted", "two"]);
        assert_eq!(notes.faults.len(), 1, "{expected} {:?}", notes.faults);
        assert!(notes.faults[0].starts_with(&format!("unwanted {expected}")), "{:?}", notes.faults);
    }
    let packed = zip_of(CompressionMethod::Deflated, &files);
    let mut damaged = packed.clone();
    damaged[30 + 3 + 1 + 30 + 8 + 12] ^= 0xff;
    assert!(visited(&damaged, LIMITS).faults[0].starts_with("unwanted has "));
}

#[test]
fn wrong_sizes_are_detected_without_unpacking_more() {
    let zeros = vec![0; 500_000];
    let whole = zip_of(CompressionMethod::Deflated, &[("zeros", &zeros)]);
    for (size, expected) in [(1_000_u32, "has corrupt data"), (600_000, "is shorter")] {
        let mut lying = whole.clone();
        let list = list_at(&whole);
        lying[22..26].copy_from_slice(&size.to_le_bytes());
        lying[list + 24..list + 28].copy_from_slice(&size.to_le_bytes());
        let notes = visited(&lying, LIMITS);
        assert!(notes.faults[0].contains(expected), "{:?}", notes.faults);
        assert!(notes.bytes.len() <= size as usize + CHUNK_BYTES);
    }
}

#[test]
fn zip_bombs_are_not_unpacked() {
    let zeros = vec![0; 60_000_000];
    let bomb = zip_of(CompressionMethod::Deflated, &[("a", &zeros), ("b", &zeros), ("c", b"small")]);
    let notes = visited(&bomb, Limits { max_files: 10, max_ratio: 2 });
    assert_eq!(notes.entries, ["a", "b", "c"]);
    assert_eq!(notes.faults, ["b was not unpacked because the archive unpacks to far more than its size"]);
    assert!(matches!(notes.whole[..], [ArchiveProblem::TooDense { times: 400.. }]), "{:?}", notes.whole);
}

#[test]
fn harmful_entries_are_reported() {
    let plain = zip_of(CompressionMethod::Stored, &[("aa/secret", b"x"), ("b", b"y")]);
    let out = String::from_utf8_lossy(&plain).into_owned();
    assert!(out.contains("aa/secret"));
    let mut forged = plain.clone();
    for at in 0..forged.len() - 9 {
        if forged[at..].starts_with(b"aa/secret") {
            forged[at] = b'.';
            forged[at + 1] = b'.';
        }
    }
    assert_eq!(visited(&forged, LIMITS).entries, ["../secret", "b"]);
    // A file that the central directory omits: its last entry is removed.
    let list = list_at(&plain);
    let second = list + 4 + plain[list + 4..].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let end = plain.windows(4).position(|bytes| bytes == b"PK\x05\x06").unwrap();
    let mut hidden = [&plain[..second], &plain[end..]].concat();
    hidden[second + 8..second + 12].copy_from_slice(&[1, 0, 1, 0]);
    hidden[second + 12..second + 16].copy_from_slice(&((second - list) as u32).to_le_bytes());
    let notes = visited(&hidden, LIMITS);
    assert_eq!(
        (notes.entries, notes.whole),
        (vec!["aa/secret".to_owned()], vec![ArchiveProblem::Inconsistent])
    );
    let mut secret = zip_of(CompressionMethod::Stored, &[("secret", b"x")]);
    let list = list_at(&secret);
    secret[list + 8] |= 1;
    secret[6] |= 1;
    assert_eq!(visited(&secret, LIMITS).faults, ["secret needs a password"]);
}

#[test]
fn visit_stops_when_canceled() {
    let large = vec![7; 20 << 20];
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&zip_of(CompressionMethod::Stored, &[("large", &large)])).unwrap();
    let asked = Cell::new(0);
    let mut notes = RecordingVisitor::default();
    let stopped = visit(file.path(), LIMITS, &mut notes, &|| {
        asked.set(asked.get() + 1);
        asked.get() < 3
    });
    assert!(matches!(stopped, Err(ReadError::Canceled)));
    assert!(notes.bytes.len() <= 9 << 20, "{}", notes.bytes.len());
}

proptest::proptest! {
    /// No corruption makes the pass panic.
    #[test]
    fn arbitrary_bytes_do_not_panic(at in proptest::prelude::any::<usize>(), byte in 1..=255u8) {
        let mut bytes = zip_of(CompressionMethod::Deflated, &[("README.md", b"Words."), ("folder/b.txt", b"yyyyyyyyyyy")]);
        let length = bytes.len();
        bytes[at % length] ^= byte;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let _ = visit(file.path(), LIMITS, &mut RecordingVisitor::default(), &|| true);
    }
}
