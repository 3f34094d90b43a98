//! Valid, damaged, and hostile ZIP archives, built byte by byte or with the library's writer.

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;
use crate::{
    structure::Node,
    test_zips::{self, file_of},
};

const LIMITS: Limits = Limits { max_files: 1_000, max_ratio: 200 };

/// Builds a ZIP archive of the given paths and contents.
fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    test_zips::zip_of(CompressionMethod::Deflated, files)
}

fn read_bytes(bytes: &[u8]) -> Result<ArchiveSummary, ReadError> {
    read_summary(file_of(bytes).path(), LIMITS, &|| true)
}

fn rejection(bytes: &[u8]) -> String {
    match read_bytes(bytes) {
        Err(ReadError::Rejected(Rejection(message))) => message,
        other => panic!("{other:?}"),
    }
}

/// Returns the bytes with every occurrence of a text replaced by another of the same length.
fn forged(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let (mut forged, mut at) = (bytes.to_vec(), 0);
    while at + from.len() <= forged.len() {
        if &forged[at..at + from.len()] == from {
            forged[at..at + to.len()].copy_from_slice(to);
        }
        at += 1;
    }
    forged
}

#[test]
fn files_that_are_also_directories_are_rejected() {
    for paths in [["a", "a-b", "a/b.csv"], ["a/b.csv", "a-b", "a"], ["b", "a\\c/", "a/c"]] {
        let zip = zip_of(&paths.map(|path| (path, if path.ends_with('/') { &b""[..] } else { b"x" })));
        let message = rejection(&zip);
        assert!(
            message.ends_with("is a file and a directory. Rename one and pack the archive again."),
            "{message}"
        );
    }
    assert!(read_bytes(&zip_of(&[("a/", b""), ("a/b", b"x"), ("a-b", b"x"), ("ab/c", b"x")])).is_ok());
}

#[test]
fn repeated_directories_are_one() {
    let repeated = zip_of(&[("a/", b""), ("a/x", b"1"), ("b/", b""), ("c/", b""), ("a/y", b"2")]);
    let repeated = forged(&forged(&repeated, b"b/", b"a/"), b"c/", b"a/");
    let summary = read_bytes(&repeated).unwrap();
    assert_eq!((summary.files, summary.root.as_deref()), (2, Some("a")));
}

#[test]
fn summary_is_read_from_central_directory() {
    let summary = read_bytes(&zip_of(&[
        ("letters/README.md", b"# Letters\n\nCourt letters of 1890."),
        ("letters/scans/1.TIFF", b"x"),
        ("letters/scans/2.tiff", b"xy"),
        ("letters/empty/", b""),
        ("letters/.hidden", b""),
        ("letters/no.extension at all", b""),
    ]));
    let summary = summary.unwrap();
    assert_eq!((summary.files, summary.bytes), (5, 36));
    assert_eq!(summary.extensions, BTreeMap::from([("md".to_owned(), 1), ("tiff".to_owned(), 2)]));
    assert_eq!(summary.description.as_deref(), Some("Court letters of 1890."));
    let names = |nodes: &[Node]| nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&summary.structure.roots), ["letters"]);
    assert_eq!(
        names(&summary.structure.roots[0].children),
        ["empty", "scans", ".hidden", "README.md", "no.extension at all"]
    );
    // Some programs pack a directory together with its contents in this way.
    let dotted = zip_of(&[
        ("./", b""),
        ("./letters/README.md", b"Words."),
        ("__MACOSX/._x", b""),
        (".DS_Store", b""),
        ("letters/._README.md", b""),
    ]);
    let dotted = read_bytes(&dotted).unwrap();
    assert_eq!((dotted.files, dotted.description.as_deref()), (1, Some("Words.")));
    let empty = read_bytes(&zip_of(&[])).unwrap();
    assert_eq!((empty.files, empty.structure.roots.len(), empty.description), (0, 0, None));
}

#[test]
fn deep_and_non_utf8_names_are_read() {
    let deep = format!("{}/file", vec!["d"; 30_000].join("/"));
    let summary = read_bytes(&zip_of(&[(&deep, b"x")])).unwrap();
    assert_eq!((summary.files, summary.structure.max_depth), (1, 8));
    // "Grüße" in UTF-8, and in code page 437.
    assert_eq!(read_bytes(&zip_of(&[("Grüße", b"")])).unwrap().structure.roots[0].name, "Grüße");
    let old = forged(&zip_of(&[("Gr__e", b"")]), b"Gr__e", b"Gr\x81\xe1e");
    assert_eq!(read_bytes(&old).unwrap().structure.roots[0].name, "Grüße");
    // ZIP archives cannot declare Shift-JIS, so it is read as code page 437. The second byte of a character
    // may be a backslash.
    for name in [&b"\x83\x65\x83\x58\x83\x67"[..], b"\x95\x5c\x8e\x86ab", b"ab\x83\x5c\x83\x5c"] {
        let summary = read_bytes(&forged(&zip_of(&[("______", b"x")]), b"______", name)).unwrap();
        assert_eq!((summary.files, summary.structure.roots.len()), (1, 1), "{name:?}");
    }
    // A name that is declared as UTF-8 but is not valid is read as code page 437, too.
    let broken = forged(&zip_of(&[("Grüße", b"")]), "Grüße".as_bytes(), b"Gr\xff\xfe\xff\xfee");
    assert!(read_bytes(&broken).unwrap().structure.roots[0].name.starts_with("Gr"));
    assert!(rejection(&zip_of(&[(&"n".repeat(65_000), b"")])).contains("255 bytes"));
}

#[test]
fn nested_zip_is_a_file() {
    let zeros = vec![0; 200_000];
    let inner = zip_of(&[("../../out", b"x"), ("zeros", &zeros)]);
    let mut outer = zip_of(&[("inner.zip", &inner), ("README", b"Zips.")]);
    for _ in 0..3 {
        outer = zip_of(&[("inner.zip", &outer), ("README", b"Zips.")]);
    }
    let summary = read_bytes(&outer).unwrap();
    assert_eq!((summary.files, summary.extensions), (2, BTreeMap::from([("zip".to_owned(), 1)])));
}

/// Builds a central directory of `count` files without their data, whose end record states `stated` files.
fn directory_of(count: u64, stated: u64) -> Vec<u8> {
    let mut list = Vec::new();
    for index in 0..count {
        let at = list.len();
        list.extend_from_slice(b"PK\x01\x02");
        list.resize(at + 46, 0);
        list[at + 28] = 7;
        list.extend((0..7).rev().map(|exponent| b'0' + (index / 10_u64.pow(exponent) % 10) as u8));
    }
    let size = list.len() as u64;
    let mut record = vec![0; 56];
    record[..4].copy_from_slice(b"PK\x06\x06");
    for (at, value) in [(4, 44), (24, stated), (32, stated), (40, size)] {
        record[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let locator = [&b"PK\x06\x07\0\0\0\0"[..], &size.to_le_bytes(), &[1, 0, 0, 0]].concat();
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &[0xff; 12], &[0, 0]].concat();
    [list, record, locator, end].concat()
}

#[test]
fn too_many_files_are_rejected_before_listing() {
    let limits = Limits { max_files: 200_000, max_ratio: 200 };
    for (count, stated) in [(1_000_000, 1_000_000), (300_000, 1_000), (3, 1_000_000)] {
        let file = file_of(&directory_of(count, stated));
        let calls = Cell::new(0);
        let read = read_summary(file.path(), limits, &|| calls.replace(calls.get() + 1) < 1);
        let is_rejected = matches!(read, Err(ReadError::Rejected(_)));
        assert!(
            is_rejected && calls.get() == 0 || stated < count,
            "{count} files, {stated} stated: {read:?}"
        );
    }
}

#[test]
fn readme_counts_in_root_only() {
    let deep = zip_of(&[("a/b/README.md", b"Deep."), ("a/c", b"")]);
    assert_eq!(read_bytes(&deep).unwrap().description, None);
    let not_in_root = zip_of(&[("a/README.md", b"Of a."), ("b", b"")]);
    assert_eq!(read_bytes(&not_in_root).unwrap().description, None);
    let both = zip_of(&[("README", b"Plain."), ("readme.md", b"Marked."), ("c", b"")]);
    assert_eq!(read_bytes(&both).unwrap().description.as_deref(), Some("Marked."));
}

#[test]
fn harmful_entries_are_rejected_by_name() {
    let plain = zip_of(&[("aa/secret", b"x"), ("b", b"y")]);
    for (name, expected) in [
        (&b"../secret"[..], "points outside the archive"),
        (b"/a/secret", "points outside the archive"),
        (b"C:/secret", "points outside the archive"),
        (b"..\\secret", "points outside the archive"),
        (b"a\0/secret", "\"a/secret\" has the character NUL in its name"),
        (b"a/../secr", "points outside the archive"),
        (b".. /secre", "points outside the archive"),
        (b"./C:/secr", "points outside the archive"),
    ] {
        let message = rejection(&forged(&plain, b"aa/secret", name));
        assert!(message.contains(expected), "{}: {message}", String::from_utf8_lossy(name));
    }
    let duplicate = zip_of(&[("one", b"x"), ("two", b"y")]);
    assert!(rejection(&forged(&duplicate, b"two", b"one")).starts_with("Two files have the path \"one\"."));
    // A directory that has data is a file to some programs.
    let duplicate = forged(&zip_of(&[("one/", b""), ("two_", b"y")]), b"two_", b"one/");
    assert!(rejection(&duplicate).starts_with("Two files have the path \"one/\"."));

    for (first, second) in [("a/b", "a//b"), ("a/b", "./a/b"), ("a/b", "a\\b")] {
        let duplicate = zip_of(&[(first, b"x"), (second, b"y")]);
        assert!(rejection(&duplicate).contains("Two files have the path \"a/b\""), "{second}");
    }
    assert!(rejection(&zip_of(&[(&"n".repeat(256), b"")])).contains("255 bytes"));

    let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let link = writer.finish().unwrap().into_inner();
    assert!(rejection(&link).starts_with("\"link\" is a link"));

    // The same link, declared to come from a system without links (the byte after the version that made it).
    let list = link.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let mut hidden = link;
    hidden[list + 5] = 0;
    assert!(rejection(&hidden).starts_with("\"link\" is a link"));

    // Encryption is the first bit of the flags, which follow the signature and the versions.
    let mut secret = zip_of(&[("secret", b"x")]);
    let list = secret.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    secret[list + 8] |= 1;
    secret[6] |= 1;
    assert!(rejection(&secret).contains("needs a password"));
}

#[test]
fn oversized_archives_are_rejected() {
    let files: Vec<(String, &[u8])> = (0..1_001).map(|n| (n.to_string(), &b""[..])).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert!(rejection(&zip_of(&files)).contains("more than 1000 files"));

    let zeros = vec![0; 101_000_000];
    let bomb = zip_of(&[("zeros", &zeros)]);
    assert!(bomb.len() < 1_000_000);
    let message = rejection(&bomb);
    assert!(message.contains("times its size"), "{message}");

    let long = "x".repeat(60_000);
    let long: Vec<(String, &[u8])> = (0..40).map(|n| (format!("{long}{n}"), &b""[..])).collect();
    let long: Vec<(&str, &[u8])> = long.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert!(rejection(&zip_of(&long)).contains("names are too long"));

    // A ZIP64 record that states more files than there can be, and one that claims to be enormous.
    let mut record = vec![0; 56];
    record[..4].copy_from_slice(b"PK\x06\x06");
    record[4..12].copy_from_slice(&44_u64.to_le_bytes());
    record[24..40].copy_from_slice(&[0xff; 16]);
    let locator = [&b"PK\x06\x07\0\0\0\0"[..], &[0; 8], &[1, 0, 0, 0]].concat();
    let end = [&b"PK\x05\x06\0\0\0\0"[..], &[0xff; 12], &[0, 0]].concat();
    for size in [44_u64, u64::from(u32::MAX)] {
        record[4..12].copy_from_slice(&size.to_le_bytes());
        let forged = [record.as_slice(), &locator, &end].concat();
        assert!(matches!(read_bytes(&forged), Err(ReadError::Rejected(_))));
    }
}

#[test]
fn damage_is_reported_without_panic() {
    let valid = zip_of(&[("README.md", b"Words."), ("b", b"y")]);
    // A README that is damaged or uses an unknown compression method is ignored, and the rest is read.
    for (at, byte) in [(30 + "README.md".len() + 2, 0xff), (8, 99)] {
        let mut damaged = valid.clone();
        damaged[at] ^= byte;
        let list = damaged.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        if at == 8 {
            damaged[list + 10] ^= byte;
        }
        let summary = read_bytes(&damaged).unwrap();
        assert_eq!((summary.files, summary.description), (2, None));
    }
    for bytes in [&b""[..], b"PK\x05\x06", &valid[..valid.len() - 1], &valid[..40], &valid[30..]] {
        let message = rejection(bytes);
        assert!(message.contains("damaged"), "{message}");
    }
    // Two entries that share the same data.
    let mut overlapping = zip_of(&[("one", b"x"), ("two", b"y")]);
    let lists: Vec<usize> = overlapping
        .windows(4)
        .enumerate()
        .filter(|(_, bytes)| *bytes == b"PK\x01\x02")
        .map(|(at, _)| at)
        .collect();
    let offset = overlapping[lists[0] + 42..lists[0] + 46].to_vec();
    overlapping[lists[1] + 42..lists[1] + 46].copy_from_slice(&offset);
    assert!(rejection(&overlapping).contains("overlap"));
    let stopped = read_summary(file_of(&valid).path(), LIMITS, &|| false);
    assert!(matches!(stopped, Err(ReadError::Canceled)));
}

proptest::proptest! {
    /// No corruption makes the reader panic.
    #[test]
    fn arbitrary_bytes_do_not_panic(at in proptest::prelude::any::<usize>(), byte in proptest::prelude::any::<u8>(), cut in 0..200usize) {
        let mut bytes = zip_of(&[("README.md", b"Words."), ("folder/b.txt", b"y")]);
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(length - cut % 20);
        let _ = read_bytes(&bytes);
    }
}

#[test]
fn archives_are_recognized_by_their_ends() {
    let zip = zip_of(&[("a", b"x")]);
    let with_program = [&b"#!/bin/sh\nexit\n"[..], &zip].concat();
    for (bytes, expected) in [
        (zip.as_slice(), true),
        (&with_program, true),
        (b"\x1f\x8b", true),
        (b"plain text", false),
        (b"", false),
    ] {
        assert_eq!(looks_like_archive(&mut io::Cursor::new(bytes)).unwrap(), expected, "{bytes:?}");
    }
}

#[test]
fn archives_of_other_formats_are_named() {
    let tar = [&[b'a'; 257][..], b"ustar\0", &[0; 300]].concat();
    for (bytes, name) in [
        (&b"7z\xbc\xaf\x27\x1c and more"[..], "7z"),
        (b"Rar!\x1a\x07\x01\0", "RAR"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"BZh91AY&SY", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "Zstandard"),
        (b"\x04\x22\x4d\x18", "LZ4"),
        (&tar, "tar"),
    ] {
        let message = rejection(bytes);
        assert!(message.contains(&format!("its format is {name}, which is not supported")), "{message}");
    }
    assert!(rejection(b"no archive").contains("damaged or incomplete"));
    // What precedes an archive does not matter.
    let prefixed = [b"BZh", &zip_of(&[("a", b"x")])[..]].concat();
    assert_eq!(read_bytes(&prefixed).unwrap().files, 1);
}
