//! Scans of hostile data: it costs no more than its limits, which the report states.

use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
};

use marketplace::{
    config::Settings,
    domain::time::Timestamp,
    operations::scans::{Report, Scan, Verdict},
};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::child_processes::{Program, zip_of_many_files};
use crate::harness::archives::zip_of;

/// Scans data with the program that is tested, or another one, and returns the report.
fn scan(path: &Path, program: Option<PathBuf>, change: impl FnOnce(&mut Settings)) -> Report {
    let mut settings = Settings::default();
    change(&mut settings);
    let work = tempfile::tempdir().unwrap();
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_marketplace").into());
    let scan = Scan {
        path,
        kind: None,
        settings: &settings,
        program: &program,
        work_directory: work.path(),
        languages: &[],
        now: Timestamp(1_800_000_000_000_000),
    };
    scan.run(&|_| {}, &|| true).unwrap()
}

fn zip_at(directory: &Path, bytes: &[u8]) -> PathBuf {
    let path = directory.join("a.zip");
    fs::write(&path, bytes).unwrap();
    path
}

/// Asserts that data was not read, for a reason, and that the report states a limit.
fn assert_unreadable(report: &Report, reason: &str, limit: &str) {
    let problem = report.problem.as_deref().unwrap_or_default();
    assert_eq!(report.verdict, Verdict::Unreadable);
    assert!(problem.contains(reason), "{problem}");
    assert!(report.limits.contains_key(limit), "{:?}", report.limits);
    assert!(report.figures.is_none() && report.checks.is_empty());
}

#[test]
fn memory_is_limited() {
    let directory = tempfile::tempdir().unwrap();
    let path = zip_at(directory.path(), &zip_of_many_files());
    let report = scan(&path, None, |settings| settings.child_processes.memory_mb = 16);
    assert_unreadable(&report, "within its limits", "child_processes.memory_mb");
    assert_eq!(report.limits["child_processes.memory_mb"], 16);
}

#[test]
fn time_is_limited() {
    let directory = tempfile::tempdir().unwrap();
    let path = zip_at(directory.path(), &zip_of(&[("a.txt", "text")]));
    let program = Program::new("sleep 600");
    let report = scan(&path, Some(program.path()), |settings| settings.archives.max_seconds = 0);
    assert_unreadable(&report, "within its limits", "archives.max_seconds");
    let program = Program::new("kill -XCPU $$");
    let report = scan(&path, Some(program.path()), |_| {});
    assert_unreadable(&report, "within its limits", "child_processes.cpu_seconds");
}

#[test]
fn unpacked_size_and_number_of_files_are_limited() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("zeros.csv", SimpleFileOptions::default()).unwrap();
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..101 {
        writer.write_all(&zeros).unwrap();
    }
    let path = zip_at(directory.path(), &writer.finish().unwrap().into_inner());
    assert_unreadable(&scan(&path, None, |_| {}), "times its size", "archives.max_ratio");
    let path = zip_at(directory.path(), &zip_of(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]));
    let few = |settings: &mut Settings| settings.archives.max_files = 2;
    assert_unreadable(&scan(&path, None, few), "files", "archives.max_files");
    let files = directory.path().join("files");
    fs::create_dir(&files).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(files.join(name), name).unwrap();
    }
    assert_unreadable(&scan(&files, None, few), "archives.max_files", "archives.max_files");
}

/// Paths that leave the archive are named, and nothing is written there.
#[test]
fn paths_that_leave_the_archive_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = zip_at(directory.path(), &zip_of(&[("../outside.txt", "text")]));
    assert_unreadable(&scan(&path, None, |_| {}), "points outside", "archives.max_files");
    assert!(!directory.path().parent().unwrap().join("outside.txt").exists());
}
