//! Only the owner can access the files of a market, for every umask.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use marketplace::{fixtures, market::Market};

use crate::harness::{archives::zip_of, market_options, usual_settings};

/// Environment variable with the directory in which [`market_is_opened_by_the_library`] opens a market. It is
/// set only in the process that the test starts with another umask.
const DIRECTORY_VARIABLE: &str = "OPEN_MARKET_IN";

/// Runs a program with umask 0, so that it creates files with the modes that it asks for.
fn run_without_umask(program: &Path, arguments: &[&str], directory: &Path) {
    let output = Command::new("sh")
        .args(["-c", "umask 0; exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .current_dir(directory)
        .env(DIRECTORY_VARIABLE, directory.join("market"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the files and directories below a directory, and the directory itself, with their modes.
fn modes(directory: &Path) -> Vec<(PathBuf, u32)> {
    let (mut found, mut pending) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = pending.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        found.push((path.clone(), metadata.permissions().mode() & 0o7777));
        if metadata.is_dir() {
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

fn assert_private(directory: &Path, expected: &[&str]) {
    let found = modes(directory);
    for (path, mode) in &found {
        assert_eq!(*mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    for name in expected {
        assert!(found.iter().any(|(path, _)| path.to_string_lossy().contains(name)), "{name}: {found:?}");
    }
}

#[test]
fn binary_creates_only_private_files() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    let binary = Path::new(env!("CARGO_BIN_EXE_marketplace"));
    std::fs::write(directory.join("a.zip"), zip_of::<&[u8]>(&[])).unwrap();
    for arguments in [
        &["team", "create", "Sellers", "--role", "vendor", "--data", "market"][..],
        &["upload", "a.zip", "--team", "Sellers", "--data", "market"],
        &["reindex", "--data", "market"],
        &["sweep", "--data", "market"],
    ] {
        run_without_umask(binary, arguments, directory);
    }
    assert_private(&directory.join("market"), &["market.sqlite", "/uploads/", "meta.json"]);
    // A market of an earlier version, or one that somebody opened to others, becomes private again.
    for (path, _) in modes(&directory.join("market")) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    run_without_umask(binary, &["reindex", "--data", "market"], directory);
    assert_private(&directory.join("market"), &["market.sqlite"]);
}

#[test]
fn library_creates_only_private_files() {
    let temporary = tempfile::tempdir().unwrap();
    let this_test = std::env::current_exe().unwrap();
    let arguments = ["--exact", "permissions::market_is_opened_by_the_library"];
    run_without_umask(&this_test, &arguments, temporary.path());
    assert_private(&temporary.path().join("market"), &["market.sqlite", "serve.lock", "/uploads/", ".term"]);
}

/// Opens a market and writes to it, if [`library_creates_only_private_files`] has started this process.
#[test]
fn market_is_opened_by_the_library() {
    let Some(directory) = std::env::var_os(DIRECTORY_VARIABLE) else { return };
    let directory = Path::new(&directory);
    let market = Market::open(market_options(directory, usual_settings())).unwrap();
    fixtures::seed_taxonomy(&market).unwrap();
    fixtures::seed(&market, &fixtures::demo_set().unwrap()).unwrap();
    assert_private(directory, &["market.sqlite-wal", "market.sqlite-shm"]);
}
