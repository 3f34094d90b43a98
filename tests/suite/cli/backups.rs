//! Backups of a served market, with the real binary.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use super::{Server, run, run_failing, stdout_of, temp_dir};

/// A user without permissions of its own.
const NOBODY: u32 = 65534;

/// Sets the modes of a directory, and of everything in it.
fn set_modes(path: &Path, directories: u32, files: u32) {
    let is_directory = path.is_dir();
    let mode = if is_directory { directories } else { files };
    // The server may have deleted it.
    if fs::set_permissions(path, Permissions::from_mode(mode | 0o700)).is_err() {
        return;
    }
    if is_directory {
        for entry in fs::read_dir(path).unwrap() {
            set_modes(&entry.unwrap().path(), directories, files);
        }
    }
    let _ = fs::set_permissions(path, Permissions::from_mode(mode));
}

/// Backs up `market` as a user who can read it and write only to `backups`. Returns standard output and
/// error.
fn back_up_without_write_access(program: &Path, directory: &Path, name: &str) -> (bool, String) {
    let mut command = Command::new(program);
    command.args(["backup", name, "--data", "../market"]).current_dir(directory.join("backups")).env_clear();
    // Root may write everywhere.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn market_that_is_only_readable_is_backed_up() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let market = directory.join("market");
    // Where the other user can execute it.
    let program = directory.join("marketplace");
    fs::copy(env!("CARGO_BIN_EXE_marketplace"), &program).unwrap();
    let server = Server::start(&["--demo", "--data", "market"], directory);
    // Creates the lock of the copies of repositories, so that the server creates no file after the modes are
    // set.
    stdout_of(&run(&["backup", "own", "--data", "market"], directory));
    fs::create_dir(directory.join("backups")).unwrap();
    set_modes(directory, 0o755, 0o755);
    set_modes(&directory.join("backups"), 0o777, 0o666);
    let can_read = || set_modes(&market, 0o555, 0o444);
    can_read();
    let (is_made, text) = back_up_without_write_access(&program, directory, "served");
    assert!(is_made, "next to a server: {text}");
    set_modes(&market, 0o755, 0o644);
    assert_eq!(server.terminate(), 0);
    can_read();
    let (is_made, text) = back_up_without_write_access(&program, directory, "stopped");
    assert!(is_made, "without a server: {text}");
    set_modes(&market, 0o700, 0o600);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let (is_made, text) = back_up_without_write_access(&program, directory, "denied");
        assert!(!is_made && text.contains("as the user that runs the server"), "{text}");
    }
    for name in ["served", "stopped"] {
        stdout_of(&run(&["restore", &format!("backups/{name}"), "--data", name], directory));
    }
}

#[test]
fn backup_of_a_served_market_is_restored() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let server = Server::start(&["--demo", "--data", "market"], directory);
    let made = stdout_of(&run(&["backup", "copy", "--data", "market"], directory));
    assert!(made.starts_with("backed up the database, ") && made.contains(" to copy: "), "{made}");
    let again = stdout_of(&run(&["backup", "copy", "--data", "market"], directory));
    assert!(
        again.starts_with("backed up the database, "),
        "an earlier backup is brought up to date: {again}"
    );
    let (code, stderr) = run_failing(&["restore", "copy", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("market is in use by another process"), "{stderr}");
    assert_eq!(server.terminate(), 0);
    let (code, stderr) = run_failing(&["restore", "copy", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("market is not empty"), "{stderr}");
    let restored = stdout_of(&run(&["restore", "copy", "--data", "restored"], directory));
    assert!(restored.starts_with("restored the database, "), "{restored}");
    assert!(restored.ends_with("\nno problems found\n"), "a restore ends with verify: {restored}");
    let teams = |data: &str| stdout_of(&run(&["team", "list", "--data", data], directory));
    assert_eq!(teams("restored"), teams("market"));
    let (code, stderr) = run_failing(&["backup", "copy", "--data", "nowhere"], directory);
    assert!(code == 1 && stderr.contains("there is no market in nowhere"), "{stderr}");
}
