//! Runs all checks in one pass, as callers do.

mod extra_files;

use zip::CompressionMethod;

use super::*;
use crate::{
    Limits, archive,
    contents::EntryKind,
    lfs_pointers::tests::POINTER,
    test_zips::{file_of, zip_of},
};

fn run_checks(subject: Subject, files: &[(&str, &[u8])]) -> Outcome {
    let mut checks = Checks::new(subject, Source::Zip);
    let limits = Limits { max_files: 1_000, max_ratio: 200 };
    let zip = file_of(&zip_of(CompressionMethod::Deflated, files));
    archive::visit(zip.path(), limits, &mut checks, &|| true).unwrap();
    checks.finish()
}

fn finding<'o>(outcome: &'o Outcome, key: &str) -> &'o Finding {
    outcome.findings.iter().find(|finding| finding.rule.key == key).unwrap_or_else(|| panic!("{key}"))
}

/// Runs one check over files that are passed in chunks of `length` bytes.
pub(super) fn findings_of(check: impl Check, files: &[(&str, &[u8])], length: usize) -> Vec<Finding> {
    let (mut check, mut root) = (Box::new(check), Root::default());
    for (path, bytes) in files {
        root.add_path(path);
        let is_binary = bytes[..bytes.len().min(HEAD_BYTES)].contains(&0);
        if check.start_file(&Entry::file(path, bytes.len() as u64)) == FileAction::Read {
            for (at, chunk) in bytes.chunks(length).enumerate() {
                check.chunk(Chunk::unchanged(chunk, at == 0, is_binary));
            }
        }
        check.end_file(None);
    }
    check.finish(&root)
}

const README: &[u8] = b"# Ledger\n\nA general ledger with its history of ten years.\n";

#[test]
fn valid_codebase_passes_all_checks() {
    let outcome = run_checks(
        Subject::Codebase,
        &[
            ("ledger/README.md", README),
            ("ledger/LICENSE-MIT", include_bytes!("../../../../LICENSE-MIT")),
            ("ledger/Cargo.toml", b"[package]\nname = \"ledger\"\nlicense = \"MIT\"\n"),
            ("ledger/Cargo.lock", b"version = 4\n"),
            ("ledger/src/lib.rs", b"pub fn add(a: u8, b: u8) -> u8 { a + b }\n#[cfg(test)]\nmod tests {}\n"),
            ("ledger/.github/workflows/ci.yml", b"on: push\n"),
        ],
    );
    for finding in &outcome.findings {
        assert_eq!(finding.status, CheckStatus::Passed, "{finding:?}");
    }
    let keys: Vec<&str> = outcome.findings.iter().map(|finding| finding.rule.key).collect();
    let expected = [
        "archive_intact",
        "no_path_traversal",
        "no_encrypted_entries",
        "readme_present",
        "license_found",
        "no_live_secrets",
        "personal_data_hints",
        "build_manifest",
        "tests_present",
        "ci_present",
        "generated_share",
        "binary_share",
        "duplicate_share",
    ];
    assert_eq!(keys, expected);
    assert!(!outcome.fingerprint.is_empty());
}

/// Paths and contents of files.
type Files<'a> = &'a [(&'a str, &'a [u8])];

/// Returns the keys of the checks that passed.
fn passed(outcome: &Outcome) -> Vec<&str> {
    let passed = outcome.findings.iter().filter(|finding| finding.status == CheckStatus::Passed);
    passed.map(|finding| finding.rule.key).collect()
}

/// Runs all checks of a repository with these files.
fn check_repository(files: &[(&str, &[u8])]) -> Outcome {
    let mut checks = Checks::new(Subject::Codebase, Source::Repository);
    for (path, bytes) in files {
        if checks.start_file(&Entry::file(path, bytes.len() as u64)) == FileAction::Read {
            checks.chunk(bytes);
        }
        checks.end_file(None);
    }
    checks.finish()
}

/// Returns a text in UTF-32, with a mark.
fn key_in_utf_32() -> Vec<u8> {
    "\u{feff}a key\n".chars().flat_map(|char| u32::from(char).to_le_bytes()).collect()
}

/// "A check must not pass on what it did not read."
#[test]
fn nothing_passes_that_was_not_read() {
    let (pointer, utf_32) = (POINTER.as_bytes(), key_in_utf_32());
    let cases: [(Files<'_>, &str, &str); 13] = [
        (&[], "archive_intact", "The archive has no files."),
        (&[("d/", b"")], "archive_intact", "The archive has no files."),
        (&[("__MACOSX/._a", b"x"), (".DS_Store", b"x")], "archive_intact", "The archive has no files."),
        (&[("a.txt", b""), ("d/b.csv", b"")], "archive_intact", "All files of the archive are empty."),
        (
            &[("train.csv", pointer)],
            "archive_intact",
            "1 file is a pointer of Git LFS without the content of the file: \"train.csv\". Run `git lfs pull`",
        ),
        (
            &[("train.csv", pointer)],
            "dataset_readable",
            "1 of 1 file cannot be read: \"train.csv\" is a pointer of Git LFS",
        ),
        (
            &[("a.csv", b"a,b\n1,2\n"), ("d/x.bin", pointer)],
            "archive_intact",
            "1 file is a pointer of Git LFS",
        ),
        (
            &[("k.txt", &utf_32)],
            "archive_intact",
            "1 of 1 file cannot be read: \"k.txt\" is text in UTF-32 (save it as UTF-8).",
        ),
        (
            &[("a.csv", b"id,text\n1,ok\n2,\"cut off he")],
            "dataset_readable",
            "1 of 1 file cannot be read: \"a.csv\" ends inside a quoted field, which starts in line 3.",
        ),
        (
            &[("a.csv", b"id,name\n1,Jos\xe9\n")],
            "dataset_readable",
            "1 of 1 file cannot be read: \"a.csv\" is not UTF-8 (line 2). Save it as UTF-8",
        ),
        (
            &[("a.jsonl", b"{\"name\": \"Jos\xe9\"}\n")],
            "dataset_readable",
            "1 of 1 file cannot be read: \"a.jsonl\" is not UTF-8 (line 1). Save it as UTF-8",
        ),
        (
            &[("a.csv", &[0; 500])],
            "dataset_readable",
            "1 of 1 file cannot be read: \"a.csv\" has bytes of zero",
        ),
        (
            &[("a.csv", b"a,b\n"), ("b.jsonl", b"")],
            "dataset_readable",
            "The tables have no rows: \"a.csv\"; \"b.jsonl\".",
        ),
    ];
    for (files, key, expected) in cases {
        let outcome = run_checks(Subject::RawData, files);
        let found = finding(&outcome, key);
        assert!(found.rule.is_mandatory && found.status == CheckStatus::Failed, "{found:?}");
        assert!(found.message.starts_with(expected), "{found:?}");
    }
}

#[test]
fn no_check_of_what_was_not_read_passes() {
    let pointer = POINTER.as_bytes();
    let utf_32 = key_in_utf_32();
    let unread: [Files<'_>; 3] = [&[], &[("a.csv", pointer)], &[("k.txt", &utf_32)]];
    for files in unread {
        assert_eq!(passed(&run_checks(Subject::RawData, files)), [""; 0], "{files:?}");
        assert_eq!(passed(&check_repository(files)), [""; 0], "{files:?}");
    }
    let repository = check_repository(&[("README.md", README), ("lib.js", pointer)]);
    let intact = finding(&repository, "archive_intact");
    assert_eq!(intact.status, CheckStatus::Failed);
    let expected = "1 file is a pointer of Git LFS without the content of the file: \"lib.js\". Copies of repositories have no";
    assert!(intact.message.starts_with(expected), "{intact:?}");
    assert!(finding(&repository, "tests_present").message.contains("in 0 source files"));
    let empty = finding(&check_repository(&[]), "archive_intact").message.clone();
    assert!(empty.starts_with("The repository has no files."), "{empty}");
}

/// Names are not enough: a file must have the content that its name promises.
#[test]
fn pointers_are_no_evidence() {
    let pointer = POINTER.as_bytes();
    let named = ["README.md", "LICENSE", "Makefile", "package.json", ".gitlab-ci.yml", "tests/a.js"];
    let files = named.map(|name| (name, pointer));
    assert_eq!(passed(&check_repository(&files)), [""; 0]);
    let with_text = [&files[..], &[("src/a.rs", &b"fn a() {}\n"[..])]].concat();
    let outcome = check_repository(&with_text);
    for key in ["readme_present", "license_found", "build_manifest", "ci_present", "tests_present"] {
        assert_eq!(finding(&outcome, key).status, CheckStatus::Failed, "{key}");
    }
}

/// "A check that does not apply is left out", and "binary files are not unreadable text".
#[test]
fn checks_that_do_not_apply_are_left_out() {
    let image = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &[7; 300]].concat();
    let outcome = run_checks(Subject::RawData, &[("scans/1.png", &image)]);
    let passed = passed(&outcome);
    assert_eq!(
        passed,
        ["archive_intact", "no_path_traversal", "no_encrypted_entries", "no_live_secrets", "duplicate_share"]
    );
    let keys: Vec<&str> = outcome.findings.iter().map(|finding| finding.rule.key).collect();
    for key in ["dataset_readable", "schema_consistent", "personal_data_hints"] {
        assert!(!keys.contains(&key), "{key}");
    }
}

/// PowerShell writes UTF-16 with a mark, and other programs write it without one.
#[test]
fn text_in_utf_16_is_checked() {
    let key = ["-----BEGIN ", "PRIVATE KEY-----\r\n"].concat()
        + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7x2rZk9Yt\r\n"
        + &["-----END ", "PRIVATE KEY-----\r\n"].concat();
    let text = format!("call 212-736-5000\r\n{key}");
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let long = format!("\u{feff}{}{text}", "words and more words\r\n".repeat(10_000));
    let long: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, line) in [
        (text.as_bytes(), 2),
        (&little, 2),
        (&big, 2),
        (&[&b"\xff\xfe"[..], &little].concat(), 2),
        (&long, 10_002),
    ] {
        let outcome = run_checks(Subject::RawData, &[("k.txt", bytes)]);
        let secrets = finding(&outcome, "no_live_secrets");
        assert_eq!(secrets.status, CheckStatus::Failed, "{secrets:?}");
        assert!(secrets.message.contains(&format!("in \"k.txt\", line {line}")), "{secrets:?}");
        let personal = finding(&outcome, "personal_data_hints");
        assert!(personal.message.starts_with("1 phone number"), "{personal:?}");
    }
}

/// A license is found in spite of a byte order mark or UTF-16, and in text with Latin-1.
#[test]
fn licenses_are_found_in_any_encoding() {
    let manifest = "\u{feff}{\"name\": \"a\", \"license\": \"ISC\"}";
    let utf_16: Vec<u8> = manifest.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mit = include_str!("../../../../LICENSE-MIT");
    let latin_1 = [&b"\xa9 Jos\xe9\n\n"[..], mit.as_bytes()].concat();
    let mit_utf_16: Vec<u8> = mit.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (path, bytes, expected) in [
        ("package.json", manifest.as_bytes(), "Found: ISC in"),
        ("package.json", &utf_16, "Found: ISC in"),
        ("LICENSE", &latin_1, "Found: MIT"),
        ("LICENSE", &mit_utf_16, "Found: MIT"),
    ] {
        let outcome = check_repository(&[(path, bytes)]);
        let license = finding(&outcome, "license_found");
        assert!(license.message.starts_with(expected), "{license:?}");
    }
}

#[test]
fn readmes_of_other_formats_are_found() {
    for name in ["README.adoc", "Readme.org"] {
        let outcome = check_repository(&[(name, README)]);
        assert_eq!(finding(&outcome, "readme_present").status, CheckStatus::Passed, "{name}");
    }
}

#[test]
fn raw_data_gets_dataset_checks() {
    let empty = run_checks(Subject::RawData, &[]);
    let keys: Vec<&str> = empty.findings.iter().map(|finding| finding.rule.key).collect();
    assert_eq!(keys, ["archive_intact", "readme_present", "license_found"], "only what fails");
    let tables = run_checks(
        Subject::RawData,
        &[
            ("d/part-00000.jsonl", b"{\"a\": 1}\n"),
            ("d/part-00001.jsonl", b"{\"a\": \"x\"}\n"),
            ("d/train-00000-of-00002.csv", b"a,b\n1,2\n"),
            ("d/train-00001-of-00002.csv", b"a,c\n1,2\n"),
            ("d/other.csv", b"x\n1\n2\n"),
            ("d/ragged.csv", b"x,y\n1\n"),
            ("d/broken.jsonl", b"{}\n{"),
            ("d/cut.parquet", b"PAR1 and no more"),
        ],
    );
    let readable = finding(&tables, "dataset_readable");
    assert_eq!(readable.status, CheckStatus::Failed);
    for expected in [
        "3 of 8 files cannot be read: ",
        r#""d/ragged.csv" has 1 field instead of 2 in line 2"#,
        r#""d/broken.jsonl" has invalid JSON in line 2"#,
        r#""d/cut.parquet" does not end like a Parquet file"#,
    ] {
        assert!(readable.message.contains(expected), "{}", readable.message);
    }
    let consistent = finding(&tables, "schema_consistent");
    assert_eq!(consistent.status, CheckStatus::Failed);
    for expected in [
        r#""d/part-00001.jsonl" has "text" instead of "integer" in column "a", unlike "d/part-00000.jsonl""#,
        r#""d/train-00001-of-00002.csv" has the column "c" instead of "b", unlike "d/train-00000-of-00002.csv""#,
    ] {
        assert!(consistent.message.contains(expected), "{}", consistent.message);
    }
}

#[test]
fn repository_links_and_submodules_are_checked() {
    let mut checks = Checks::new(Subject::Codebase, Source::Repository);
    let link =
        |path, target| Entry { kind: EntryKind::Link { target: Some(target) }, ..Entry::file(path, 4) };
    let entries = [
        Entry::file("README.md", 60),
        link("docs/inside", "../README.md"),
        link("outside", "../../etc"),
        Entry { kind: EntryKind::Submodule, ..Entry::file("dep", 0) },
    ];
    for entry in &entries {
        if checks.start_file(entry) == FileAction::Read {
            checks.chunk(README);
        }
        checks.end_file(None);
    }
    let outcome = checks.finish();
    let paths = finding(&outcome, "no_path_traversal");
    assert_eq!(paths.status, CheckStatus::Failed);
    assert!(paths.message.contains(r#"point outside the repository: "outside"."#), "{}", paths.message);
    assert!(!paths.message.contains("inside"));
    assert!(paths.message.contains(r#"1 submodule is not part of the data: "dep"."#), "{}", paths.message);
    assert!(outcome.findings.iter().all(|finding| finding.rule.key != "no_encrypted_entries"));
}

#[test]
fn damaged_and_encrypted_files_fail_checks() {
    for (problem, archive_problem, key, expected) in [
        (
            Some("has corrupt data"),
            None,
            "archive_intact",
            r#"1 of 1 file cannot be read: "a" has corrupt data."#,
        ),
        (None, Some(ArchiveProblem::Inconsistent), "archive_intact", "disagree"),
        (None, Some(ArchiveProblem::TooDense { times: 900 }), "no_path_traversal", "unpacks to 900 times"),
    ] {
        let mut checks = Checks::new(Subject::RawData, Source::Zip);
        checks.start_file(&Entry::file("a", 1));
        checks.end_file(problem);
        if let Some(problem) = archive_problem {
            checks.archive_problem(problem);
        }
        let outcome = checks.finish();
        let found = finding(&outcome, key);
        assert_eq!(
            (found.status, found.message.contains(expected)),
            (CheckStatus::Failed, true),
            "{found:?}"
        );
    }
    let mut checks = Checks::new(Subject::RawData, Source::Zip);
    checks.start_file(&Entry { is_encrypted: true, ..Entry::file("a", 1) });
    checks.end_file(Some("needs a password"));
    let outcome = checks.finish();
    assert_eq!(passed(&outcome), [""; 0], "nothing was read");
    assert!(finding(&outcome, "no_encrypted_entries").message.contains(r#"1 file needs a password: "a"."#));
}

#[test]
fn too_large_file_does_not_pass() {
    let mut checks = Checks::new(Subject::RawData, Source::Repository);
    for path in ["a.csv", "b.csv", "c.bin"] {
        let entry = Entry { is_too_large: true, ..Entry::file(path, 1 << 40) };
        assert_eq!(checks.start_file(&entry), FileAction::Skip);
        checks.end_file(None);
    }
    let outcome = checks.finish();
    let intact = finding(&outcome, "archive_intact");
    assert_eq!(
        (intact.status, intact.message.as_str()),
        (CheckStatus::Failed, r#"Too large to check: "a.csv"; "b.csv"; "c.bin". Split such files."#)
    );
    assert_eq!(passed(&outcome), [""; 0]);
    let readable = finding(&outcome, "dataset_readable");
    assert_eq!(readable.status, CheckStatus::Failed);
    assert!(readable.message.contains(r#"Too large to check: "a.csv"; "b.csv"."#), "{}", readable.message);
    assert!(outcome.fingerprint.is_empty());
}

#[test]
fn binary_files_are_detected_for_any_chunking() {
    for length in [1, 100, 8_192, 100_000] {
        let mut checks = Checks::new(Subject::Codebase, Source::Repository);
        let (mut late, mut early) = (vec![b'x'; 20_000], vec![b'x'; 30_000]);
        late[8_192] = 0;
        early[8_191] = 0;
        for (path, bytes) in [("late", &late), ("early", &early)] {
            checks.start_file(&Entry::file(path, bytes.len() as u64));
            bytes.chunks(length).for_each(|chunk| checks.chunk(chunk));
            checks.end_file(None);
        }
        let found = finding(&checks.finish(), "binary_share").clone();
        assert_eq!(found.status, CheckStatus::Failed);
        assert!(
            found.message.starts_with("60% of the bytes are in 1 binary file."),
            "{length} {}",
            found.message
        );
    }
}

#[test]
fn long_messages_are_truncated() {
    let long = Finding::passed(&readme::README_PRESENT, &"ü".repeat(501));
    assert_eq!((long.message.chars().count(), long.message.ends_with('…')), (500, true));
    assert_eq!(Finding::passed(&readme::README_PRESENT, &"ü".repeat(500)).message, "ü".repeat(500));
}

#[test]
fn rules_are_mandatory_or_informational() {
    for rule in [&integrity::ARCHIVE_INTACT, &secrets::NO_LIVE_SECRETS, &datasets::DATASET_READABLE] {
        assert!(rule.is_mandatory && !rule.is_informational);
    }
    for rule in [&duplicates::DUPLICATES_ELSEWHERE, &personal_data::PERSONAL_DATA_HINTS] {
        assert!(!rule.is_mandatory && rule.is_informational);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

    /// No file makes a check panic.
    #[test]
    fn arbitrary_files_do_not_panic(
        names in proptest::collection::vec("(Cargo.toml|package.json|x.(csv|parquet|jsonl|rs|js)|[.]gitattributes|meta/info.json)", 1..4),
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
        length in 1..100usize,
    ) {
        for subject in [Subject::RawData, Subject::Codebase] {
            let mut checks = Checks::new(subject, Source::Repository);
            for name in &names {
                if checks.start_file(&Entry::file(name, bytes.len() as u64)) == FileAction::Read {
                    bytes.chunks(length).for_each(|chunk| checks.chunk(chunk));
                }
                checks.end_file(None);
            }
            let _ = checks.finish();
        }
    }
}
