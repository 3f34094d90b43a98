//! Runs all checks in one pass, as callers do.

use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;
use crate::artifacts::{Limits, archive, contents::EntryKind};

fn zip_file(files: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&writer.finish().unwrap().into_inner()).unwrap();
    file
}

fn run_checks(subject: Subject, files: &[(&str, &[u8])]) -> Outcome {
    let mut checks = Checks::new(subject, Source::Zip);
    let limits = Limits { max_files: 1_000, max_ratio: 200 };
    archive::visit(zip_file(files).path(), limits, &mut checks, &|| true).unwrap();
    checks.finish()
}

fn finding<'o>(outcome: &'o Outcome, key: &str) -> &'o Finding {
    outcome.findings.iter().find(|finding| finding.rule.key == key).unwrap_or_else(|| panic!("{key}"))
}

const README: &[u8] = b"# Ledger\n\nA general ledger with its history of ten years.\n";

#[test]
fn valid_codebase_passes_all_checks() {
    let outcome = run_checks(
        Subject::Codebase,
        &[
            ("ledger/README.md", README),
            ("ledger/LICENSE-MIT", include_bytes!("../../../LICENSE-MIT")),
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

#[test]
fn raw_data_gets_dataset_checks() {
    let empty = run_checks(Subject::RawData, &[]);
    for (key, status, message) in [
        ("archive_intact", CheckStatus::Passed, "0 files were read to the end."),
        ("readme_present", CheckStatus::Failed, "No README was found"),
        ("dataset_readable", CheckStatus::Passed, "No dataset files."),
        ("schema_consistent", CheckStatus::Passed, "No dataset files."),
        ("duplicate_share", CheckStatus::Passed, "No duplicate files"),
    ] {
        let found = finding(&empty, key);
        assert_eq!((found.status, found.message.starts_with(message)), (status, true), "{found:?}");
    }
    assert!(empty.findings.iter().all(|finding| finding.rule.key != "build_manifest"));
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
        r#""d/ragged.csv" has 1 fields instead of 2 in line 2"#,
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
    assert_eq!(finding(&outcome, "archive_intact").status, CheckStatus::Passed);
    assert!(finding(&outcome, "no_encrypted_entries").message.contains(r#"1 file needs a password: "a"."#));
}

#[test]
fn too_large_file_is_not_damaged() {
    let mut checks = Checks::new(Subject::RawData, Source::Repository);
    for path in ["a.csv", "b.csv", "c.bin"] {
        let entry = Entry { is_too_large: true, ..Entry::file(path, 1 << 40) };
        assert_eq!(checks.start_file(&entry), FileAction::Skip);
        checks.end_file(None);
    }
    let outcome = checks.finish();
    for key in ["archive_intact", "duplicate_share"] {
        assert_eq!(finding(&outcome, key).status, CheckStatus::Passed, "{key}");
    }
    // But a file that was not read must not pass.
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
