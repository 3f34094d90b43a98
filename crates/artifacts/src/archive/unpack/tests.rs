//! Passes over valid, damaged, and hostile ZIP archives.

use std::cell::Cell;

use zip::CompressionMethod;

use super::*;
use crate::test_zips::{file_of, zip_of};

const LIMITS: Limits = Limits { max_files: 1_000, max_ratio: 200 };

/// Records everything that it is passed.
#[derive(Default)]
struct RecordingVisitor {
    entries: Vec<String>,
    bytes: Vec<u8>,
    problems: Vec<String>,
    archive_problems: Vec<ArchiveProblem>,
    largest: usize,
}

impl Visitor for RecordingVisitor {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.entries.push(entry.path.to_owned());
        self.bytes.clear();
        if entry.path.starts_with("unwanted") { FileAction::Skip } else { FileAction::Read }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        self.largest = self.largest.max(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let path = self.entries.last().unwrap();
        self.problems.extend(problem.map(|problem| format!("{path} {problem}")));
    }

    fn archive_problem(&mut self, problem: ArchiveProblem) {
        self.archive_problems.push(problem);
    }
}

fn visited(zip: &[u8], limits: Limits) -> RecordingVisitor {
    let mut visitor = RecordingVisitor::default();
    visit(file_of(zip).path(), limits, &mut visitor, &|| true).unwrap();
    visitor
}

fn central_directory_at(zip: &[u8]) -> usize {
    zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap()
}

#[test]
fn files_that_are_also_directories_are_a_problem() {
    let zip = zip_of(CompressionMethod::Stored, &[("a", b"x"), ("a-b", b"x"), ("a/b.csv", b"x")]);
    assert_eq!(visited(&zip, LIMITS).problems, ["a is a file and a directory"]);
}

#[test]
fn files_are_visited_in_chunks() {
    let large: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated, CompressionMethod::Zstd] {
        let files: [(&str, &[u8]); 4] =
            [("a/", b""), ("unwanted", b"x"), ("__MACOSX/._x", b"x"), ("a//./large", &large)];
        let visitor = visited(&zip_of(method, &files), LIMITS);
        assert_eq!(
            (visitor.entries, visitor.problems),
            (vec!["unwanted".to_owned(), "a/large".to_owned()], vec![])
        );
        assert_eq!((visitor.bytes == large, visitor.archive_problems), (true, vec![]));
        assert!(visitor.largest <= CHUNK_BYTES);
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
    let visitor = visited(&zip_of(CompressionMethod::Stored, &files), LIMITS);
    assert_eq!(visitor.entries, ["x/.gitattributes", "x/b/.gitattributes", "x/a", "x/c.gitattributes/d"]);
}

#[test]
fn damage_is_reported_for_the_damaged_file() {
    let words = "words and more words, ".repeat(50);
    let files: [(&str, &[u8]); 3] = [("one", b"1"), ("unwanted", words.as_bytes()), ("two", b"2")];
    let valid = zip_of(CompressionMethod::Stored, &files);
    let at = valid.windows(5).position(|bytes| bytes == b"words").unwrap();
    let list = central_directory_at(&valid);
    let second = list + valid[list + 4..].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 4;
    // The data; the checksum and the size in the central directory; the name in the local header.
    for (position, byte, expected) in [
        (at, 0xff, "has data that does not match its checksum"),
        (second + 16, 0xff, "has a local header that contradicts"),
        (second + 24, 0x01, "has a local header that contradicts"),
        (at - 1, 0x01, "has a local header that contradicts"),
    ] {
        let mut damaged = valid.clone();
        damaged[position] ^= byte;
        let visitor = visited(&damaged, LIMITS);
        assert_eq!(visitor.entries, ["one", "unwanted", "two"]);
        assert_eq!(visitor.problems.len(), 1, "{expected} {:?}", visitor.problems);
        assert!(visitor.problems[0].starts_with(&format!("unwanted {expected}")), "{:?}", visitor.problems);
    }
    let packed = zip_of(CompressionMethod::Deflated, &files);
    let mut damaged = packed.clone();
    damaged[30 + 3 + 1 + 30 + 8 + 12] ^= 0xff;
    assert!(visited(&damaged, LIMITS).problems[0].starts_with("unwanted has "));
}

#[test]
fn wrong_sizes_are_detected_without_unpacking_more() {
    let zeros = vec![0; 500_000];
    let valid = zip_of(CompressionMethod::Deflated, &[("zeros", &zeros)]);
    for (size, expected) in [(1_000_u32, "has corrupt data"), (600_000, "is shorter")] {
        let mut forged = valid.clone();
        let list = central_directory_at(&valid);
        forged[22..26].copy_from_slice(&size.to_le_bytes());
        forged[list + 24..list + 28].copy_from_slice(&size.to_le_bytes());
        let visitor = visited(&forged, LIMITS);
        assert!(visitor.problems[0].contains(expected), "{:?}", visitor.problems);
        assert!(visitor.bytes.len() <= size as usize + CHUNK_BYTES);
    }
}

#[test]
fn zip_bombs_are_not_unpacked() {
    let zeros = vec![0; 60_000_000];
    let bomb = zip_of(CompressionMethod::Deflated, &[("a", &zeros), ("b", &zeros), ("c", b"small")]);
    let visitor = visited(&bomb, Limits { max_files: 10, max_ratio: 2 });
    assert_eq!(visitor.entries, ["a", "b", "c"]);
    assert_eq!(
        visitor.problems,
        ["b was not unpacked because the archive unpacks to far more than its size"]
    );
    assert!(
        matches!(visitor.archive_problems[..], [ArchiveProblem::TooDense { times: 400.. }]),
        "{:?}",
        visitor.archive_problems
    );
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
    let list = central_directory_at(&plain);
    let second = list + 4 + plain[list + 4..].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let end = plain.windows(4).position(|bytes| bytes == b"PK\x05\x06").unwrap();
    let mut hidden = [&plain[..second], &plain[end..]].concat();
    hidden[second + 8..second + 12].copy_from_slice(&[1, 0, 1, 0]);
    hidden[second + 12..second + 16].copy_from_slice(&((second - list) as u32).to_le_bytes());
    let visitor = visited(&hidden, LIMITS);
    assert_eq!(
        (visitor.entries, visitor.archive_problems),
        (vec!["aa/secret".to_owned()], vec![ArchiveProblem::Inconsistent])
    );
    let mut secret = zip_of(CompressionMethod::Stored, &[("secret", b"x")]);
    let list = central_directory_at(&secret);
    secret[list + 8] |= 1;
    secret[6] |= 1;
    assert_eq!(visited(&secret, LIMITS).problems, ["secret needs a password"]);
}

#[test]
fn headers_are_compared_although_directories_are_repeated() {
    let files: [(&str, &[u8]); 4] = [("a/", b""), ("a/x", b"1"), ("b/", b""), ("a/y", b"2")];
    let mut repeated = zip_of(CompressionMethod::Stored, &files);
    while let Some(at) = repeated.windows(2).position(|bytes| bytes == b"b/") {
        repeated[at] = b'a';
    }
    let visitor = visited(&repeated, LIMITS);
    assert_eq!(
        (visitor.entries, visitor.archive_problems),
        (vec!["a/x".to_owned(), "a/y".to_owned()], vec![])
    );
    assert_eq!(visitor.problems, Vec::<String>::new());
    // Another name in the header before the data.
    let mut forged = repeated.clone();
    let local = forged.windows(3).position(|bytes| bytes == b"a/x").unwrap();
    forged[local + 2] = b'z';
    assert_eq!(visited(&forged, LIMITS).archive_problems, [ArchiveProblem::Inconsistent]);
    // Space for a file that is not listed.
    let list = central_directory_at(&repeated);
    let mut hidden = repeated.clone();
    hidden.splice(list..list, [0; 30]);
    let end = hidden.len() - 6;
    let at = u32::from_le_bytes(hidden[end..end + 4].try_into().unwrap()) + 30;
    hidden[end..end + 4].copy_from_slice(&at.to_le_bytes());
    assert_eq!(visited(&hidden, LIMITS).archive_problems, [ArchiveProblem::Inconsistent]);
    // Two files with one name.
    let mut twice = repeated;
    while let Some(at) = twice.windows(3).position(|bytes| bytes == b"a/y") {
        twice[at + 2] = b'x';
    }
    assert_eq!(visited(&twice, LIMITS).archive_problems, [ArchiveProblem::Inconsistent]);
}

#[test]
fn visit_stops_when_canceled() {
    let large = vec![7; 20 << 20];
    let file = file_of(&zip_of(CompressionMethod::Stored, &[("large", &large)]));
    let calls = Cell::new(0);
    let mut visitor = RecordingVisitor::default();
    let stopped = visit(file.path(), LIMITS, &mut visitor, &|| {
        calls.set(calls.get() + 1);
        calls.get() < 3
    });
    assert!(matches!(stopped, Err(ReadError::Canceled)));
    assert!(visitor.bytes.len() <= 9 << 20, "{}", visitor.bytes.len());
}

/// Returns the zip with another number of the compression method of all files.
fn with_method(zip: &[u8], method: u16) -> Vec<u8> {
    let mut forged = zip.to_vec();
    for at in 0..zip.len() - 4 {
        let field = match &zip[at..at + 4] {
            b"PK\x03\x04" => at + 8,
            b"PK\x01\x02" => at + 10,
            _ => continue,
        };
        forged[field..field + 2].copy_from_slice(&method.to_le_bytes());
    }
    forged
}

#[test]
fn unsupported_compression_is_named() {
    let zip = zip_of(CompressionMethod::Stored, &[("a.csv", b"id,name\n1,x\n"), ("unwanted", b"x")]);
    for (method, name) in [
        (1, "Shrink"),
        (3, "Reduce"),
        (6, "Implode"),
        (9, "Deflate64"),
        (10, "Implode"),
        (12, "bzip2"),
        (14, "LZMA"),
        (20, "Zstandard under its old number"),
        (95, "xz"),
        (96, "JPEG"),
        (97, "WavPack"),
        (98, "PPMd"),
        (777, "an unknown one"),
    ] {
        let visitor = visited(&with_method(&zip, method), LIMITS);
        let predicate =
            format!("uses an unsupported compression method, {name} (Deflate and Zstandard are supported)");
        assert_eq!(visitor.problems, [format!("a.csv {predicate}"), format!("unwanted {predicate}")]);
        assert_eq!((visitor.archive_problems, visitor.bytes.len()), (vec![], 0), "{name}");
    }
}

proptest::proptest! {
    /// No corruption makes the pass panic.
    #[test]
    fn arbitrary_bytes_do_not_panic(at in proptest::prelude::any::<usize>(), byte in 1..=255u8) {
        let mut bytes = zip_of(CompressionMethod::Deflated, &[("README.md", b"Words."), ("folder/b.txt", b"yyyyyyyyyyy")]);
        let length = bytes.len();
        bytes[at % length] ^= byte;
        let _ = visit(file_of(&bytes).path(), LIMITS, &mut RecordingVisitor::default(), &|| true);
    }
}
