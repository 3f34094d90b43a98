//! Scans of data that is not as vendors mean it, and scans that do not come to their end.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
        net::UnixListener,
    },
    path::Path,
    process::{Command, Output, Stdio},
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};

use super::{FILES, SECRET, report, repository, sarif_results, scan};
use crate::{
    cli::{marketplace, temp_dir},
    harness::{git, panics, waiting::wait_until},
};

/// Returns the command that scans a path, with this directory for temporary files.
fn command(path: &Path, options: &[&str], temporary: &Path) -> Command {
    let mut command = marketplace(&[&["scan", path.to_str().unwrap()], options].concat(), temporary);
    command.env("TMPDIR", temporary);
    command
}

/// Runs a command, and asserts its exit code. Returns its standard output and its standard error.
fn run(command: &mut Command, code: i32) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    panics::assert_none_in(&err);
    assert_eq!(status.code(), Some(code), "{out}{err}");
    (out, err)
}

/// Creates a directory with raw data that passes every mandatory check.
fn raw_data(at: &Path) {
    fs::create_dir_all(at).unwrap();
    for (path, text) in [("levels.csv", "day,level\n2024-01-01,1.5\n"), FILES[0]] {
        fs::write(at.join(path), text).unwrap();
    }
}

/// Bytes that cannot be packed to fewer.
fn incompressible(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn only_regular_files_of_others_are_packed() {
    let directory = temp_dir();
    let root = directory.path().join("rows");
    raw_data(&root);
    let temporary = root.join("tmp");
    fs::create_dir(&temporary).unwrap();
    mknodat(CWD, root.join("pipe\u{1b}[31m"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    symlink(&root, root.join("link")).unwrap();
    fs::write(root.join("a\u{1b}[32m.txt"), "text").unwrap();
    symlink(&root, root.join("invoice\u{202e}fdp")).unwrap();
    let found = scan(&root, &["--json"], &temporary);
    assert_eq!(found.status.code(), Some(0));
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    // The directory with what is packed is in the data.
    assert_eq!(found["figures"]["files"], 3, "{found:#}");
    let expected = json!([
        {"path": "invoice\u{202e}fdp", "reason": "is a link, which is not followed"},
        {"path": "link", "reason": "is a link, which is not followed"},
        {"path": "pipe\u{1b}[31m", "reason": "is not a regular file"},
        {"path": "socket", "reason": "is not a regular file"},
    ]);
    assert_eq!(found["left_out"], expected);
    let text = String::from_utf8(scan(&root, &[], &temporary).stdout).unwrap();
    assert!(text.contains("pipe") && !text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    let mut of_pipe = command(&root.join("pipe\u{1b}[31m"), &[], &temporary);
    let (out, err) = run(&mut of_pipe, 2);
    assert!(err.contains("a named pipe") && !(out + &err).contains('\u{1b}'), "{err:?}");
}

#[test]
fn names_that_a_zip_cannot_have_are_reported() {
    let directory = temp_dir();
    for name in [&b"a\xff"[..], b"a\xfe"] {
        fs::write(directory.path().join(OsStr::from_bytes(name)), "text").unwrap();
    }
    let found = report(directory.path(), &[], 2);
    assert!(found["problem"].as_str().unwrap().contains("is not in UTF-8"), "{found:#}");
}

/// Data that is scanned does not set the limits of its own scan.
#[test]
fn settings_of_the_working_directory_do_not_count() {
    let directory = temp_dir();
    let (root, temporary) = (directory.path().join("rows"), temp_dir());
    raw_data(&root);
    fs::write(root.join("marketplace.toml"), "[archives]\nmax_files = 1\n").unwrap();
    let scan_here = |options: &[&str]| {
        let mut command = command(Path::new("."), options, temporary.path());
        command.current_dir(&root);
        command
    };
    run(&mut scan_here(&[]), 0);
    run(&mut scan_here(&["--config", "marketplace.toml"]), 2);
    let (out, err) = run(scan_here(&[]).env("MARKETPLACE_ARCHIVES_MAX_FILES", "2"), 2);
    assert!(err.contains("more than 2 files"), "{err}");
    assert_eq!(out, "Limits of the settings:\n  archives.max_files = 2\n");
}

#[test]
fn limits_are_stated_when_they_are_reached() {
    let (directory, temporary) = (temp_dir(), temp_dir());
    let root = directory.path().join("rows");
    raw_data(&root);
    fs::write(root.join("random.bin"), incompressible(5_000)).unwrap();
    let zip = directory.path().join("a.zip");
    fs::write(&zip, vec![b'P'; 1_001]).unwrap();
    let sparse = directory.path().join("sparse.csv");
    File::create(&sparse).unwrap().set_len(1 << 42).unwrap();
    for path in [&root, &zip, &sparse] {
        let mut limited = command(path, &[], temporary.path());
        let (out, err) = run(limited.env("MARKETPLACE_BLOBS_MAX_UPLOAD_BYTES", "1000"), 2);
        assert_eq!(out, "Limits of the settings:\n  blobs.max_upload_bytes = 1,000\n", "{}", path.display());
        assert!(err.contains("more than 1000 bytes"), "{err}");
    }
    let (out, _) = run(&mut command(Path::new("/absent"), &[], temporary.path()), 2);
    assert_eq!(out, "");
    let large = "x".repeat(10_001);
    let path = repository(directory.path(), &[("large.txt", &large)]);
    let mut limited = command(&path, &[], temporary.path());
    let output = limited.env("MARKETPLACE_REPOSITORIES_MAX_FILE_BYTES", "10000").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.ends_with("Limits of the settings:\n  repositories.max_file_bytes = 10,000\n"), "{out}");
    let full =
        command(&root, &[], temporary.path()).env("MARKETPLACE_DATA_RESERVE_MB", "1000000000").output();
    let full = full.unwrap();
    assert_eq!(full.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&full.stderr).contains("no space to pack"));
}

/// Places that are not listed are counted, each with its own list.
#[test]
fn further_places_are_counted_by_list() {
    let directory = temp_dir();
    let root = directory.path().join("rows");
    raw_data(&root);
    for number in 0..250 {
        symlink("/etc/passwd", root.join(format!("link{number:03}"))).unwrap();
    }
    let secrets = format!("{}{}\n", SECRET.0, SECRET.1).repeat(230);
    fs::write(root.join("tokens.txt"), secrets).unwrap();
    let found = report(&root, &[], 1);
    assert_eq!(found["left_out"].as_array().unwrap().len(), 200);
    assert_eq!(found["further_left_out"], 50);
    let checks = found["checks"].as_array().unwrap();
    let secrets = checks.iter().find(|check| check["key"] == "no_live_secrets").unwrap();
    assert_eq!(secrets["places"].as_array().unwrap().len(), 200);
    assert_eq!(secrets["further_places"], json!({"cause": 30, "note": 0, "left_out": 0}));
    let temporary = temp_dir();
    let (text, _) = run(&mut command(&root, &[], temporary.path()), 1);
    assert!(
        text.contains("and 210 more places\n") && text.contains("and 230 more files left out\n"),
        "{text}"
    );
    let results = sarif_results(&root, 1);
    let results: Vec<&Value> =
        results.iter().filter(|result| result["ruleId"] == "no_live_secrets").collect();
    assert_eq!(results.len(), 201);
    let of_all = &results[200]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(of_all, ".", "there is one result for those that are only counted");
}

#[test]
fn fingerprints_do_not_depend_on_how_often_something_is_found() {
    let directory = temp_dir();
    let root = directory.path().join("rows");
    raw_data(&root);
    let fingerprints = |text: &str| {
        fs::write(root.join("people.txt"), text).unwrap();
        let results = sarif_results(&root, 0);
        let found = results.iter().find(|result| result["ruleId"] == "personal_data_hints").unwrap();
        assert!(found["locations"][0]["physicalLocation"]["region"].is_object(), "{found:#}");
        found["partialFingerprints"].clone()
    };
    let one = fingerprints("jane.doe@mail.org\n");
    assert_eq!(one, fingerprints("jane.doe@mail.org\nmax.roe@mail.org\n"));
    assert!(one.get("primaryLocationLineHash").is_none(), "{one}");
    // Code hosts recognize results without a line only by this name.
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{:064}\nsize 12345\n", 1);
    fs::write(root.join("model.bin"), pointer).unwrap();
    let results = sarif_results(&root, 1);
    let found = results.iter().find(|result| result["ruleId"] == "archive_intact").unwrap();
    let fingerprints = &found["partialFingerprints"];
    assert_eq!(fingerprints["primaryLocationLineHash"], fingerprints["marketplaceFinding/v1"]);
}

/// The reasons are those of this machine, which has no host.
#[test]
fn sources_that_cannot_be_scanned_have_their_own_reasons() {
    let directory = temp_dir();
    let path = repository(directory.path(), &[]);
    let at = |name: &str| directory.path().join(name);
    git::git(&path, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", path.display());
    git::git(directory.path(), &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    git::git(directory.path(), &["init", "-q", "empty"]);
    let damaged = repository(&at("damaged"), &[]);
    let readme = git::git(&damaged, &["rev-parse", "HEAD:README.md"]);
    fs::remove_file(damaged.join(".git/objects").join(&readme[..2]).join(readme[2..].trim_end())).unwrap();
    fs::create_dir(at("dangling")).unwrap();
    fs::write(at("dangling/.git"), "gitdir: /nonexistent/repository\n").unwrap();
    fs::write(at("dangling/levels.csv"), "day,level\n2024-01-01,1.5\n").unwrap();
    fs::write(at("plain.txt"), "Some words.\n").unwrap();
    fs::write(at("empty.txt"), "").unwrap();
    for (name, expected) in [
        ("partial", "is a partial clone: some of its objects are missing"),
        ("empty", "has no commits. Commit something first."),
        ("damaged/ledger", "damaged or incomplete. Check it with `git fsck`."),
        ("dangling", "has a `.git` that is no Git repository"),
        ("plain.txt", "is neither a Git repository or a bundle of one, nor a directory, a zip, or a table"),
        ("empty.txt", "is neither a Git repository"),
    ] {
        let found = report(&at(name), &[], 2);
        let problem = found["problem"].as_str().unwrap();
        assert!(problem.contains(expected) && !problem.contains("host"), "{name}: {problem}");
    }
}

/// The exit code 1 only says that a mandatory check did not pass.
#[test]
fn scans_without_a_result_exit_with_2() {
    let (directory, temporary) = (temp_dir(), temp_dir());
    let root = directory.path().join("rows");
    raw_data(&root);
    let (_, err) = run(command(&root, &[], temporary.path()).env("TMPDIR", "/nonexistent"), 2);
    assert!(err.contains("TMPDIR") && !err.contains("--data"), "{err}");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let lost = command(&root, &["--sarif"], temporary.path()).stdout(full).output().unwrap();
    assert_eq!(lost.status.code(), Some(2));
    let (_, err) = run(command(&root, &[], temporary.path()).env("MARKETPLACE_ARCHIVES_MAX_FILES", "no"), 2);
    assert!(err.contains("MARKETPLACE_ARCHIVES_MAX_FILES"), "{err}");
    let path = repository(directory.path(), &[]);
    let (_, err) = run(command(&path, &[], temporary.path()).env("PATH", "/nonexistent"), 2);
    assert!(err.contains("`git`"), "{err}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn rows_that_a_market_refuses_are_not_printed() {
    let (directory, temporary) = (temp_dir(), temp_dir());
    let damaged = directory.path().join("two\nlines");
    fs::write(&damaged, "PK but no zip").unwrap();
    let row = |options: &[&str]| {
        let (out, err) = run(&mut command(&damaged, &[&["--row"], options].concat(), temporary.path()), 2);
        assert_eq!(out, "");
        err
    };
    // Each before anything is read.
    assert!(row(&[]).contains("must be one line without control characters: state another one with --title"));
    assert!(row(&["--title", &"x".repeat(201)]).contains("has 201 characters"));
    assert!(row(&["--title", "a", "--kind", "codebase"]).contains("--exclusivity available"));
    assert!(!row(&["--title", "a"]).contains("--exclusivity"));
}

#[test]
fn signals_stop_a_scan_and_delete_its_copies() {
    let (directory, temporary) = (temp_dir(), temp_dir());
    // Takes minutes.
    File::create(directory.path().join("zeros.csv")).unwrap().set_len(1 << 40).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        if signal == Signal::HUP && ignores_hangups() {
            continue;
        }
        let mut command = command(directory.path(), &[], temporary.path());
        let scan = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the copy", || {
            let mut entries = fs::read_dir(temporary.path()).unwrap();
            entries.any(|entry| entry.unwrap().path().join("packed.zip").exists())
        });
        kill_process(Pid::from_child(&scan), signal).unwrap();
        let output = scan.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.as_str()), (Some(2), "error: the scan was stopped\n"));
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}

/// Whether this process ignores SIGHUP, for instance under `nohup`. Its child processes inherit this.
fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() & 1 == 1
}

#[test]
fn programs_of_others_have_limits() {
    let (directory, temporary, programs) = (temp_dir(), temp_dir(), temp_dir());
    let path = repository(directory.path(), &[]);
    let limits = directory.path().join("limits");
    let program = programs.path().join("git-upload-pack");
    let script = format!("#!/bin/sh\n{{ ulimit -t; ulimit -v; }} > {}\nexit 1\n", limits.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let mut limited = command(&path, &[], temporary.path());
    limited.env("PATH", programs.path()).env("MARKETPLACE_CHILD_PROCESSES_CPU_SECONDS", "60");
    run(&mut limited, 2);
    // Kilobytes: 1,024 MB, and the size of a repository.
    assert_eq!(fs::read_to_string(limits).unwrap(), "60\n3001701\n");
}
