//! Backups of a served market, with the real binary.

use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use super::{NOBODY, Server, copy_program, is_root, marketplace, run, run_failing, stdout_of, temp_dir};

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
    run_without_write_access(program, directory, &["backup", name])
}

/// Runs a command as a user who can read `market` and write only to `backups`. Returns standard output and error.
fn run_without_write_access(program: &Path, directory: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(program);
    command.args(arguments).args(["--data", "../market"]);
    command.current_dir(directory.join("backups")).env_clear();
    // Root may write everywhere.
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn backup_in_the_data_directory_is_warned_about() {
    let temp_dir = temp_dir();
    stdout_of(&run(&["team", "create", "Acme Data"], temp_dir.path()));
    for (destination, is_warned_about) in [("data/backup", true), ("elsewhere", false)] {
        let output = run(&["backup", destination], temp_dir.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert_eq!(stderr.contains("is in the data directory"), is_warned_about, "{destination}: {stderr}");
    }
}

/// Also for the directories of other commands.
#[test]
fn file_in_the_place_of_a_directory_is_named() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    fs::write(directory.join("file"), "").unwrap();
    for (arguments, expected) in [
        (&["backup", "file"][..], "cannot create file: it exists, and is not a directory"),
        (&["backup", "file", "--keep", "daily=2"], "cannot create file: it exists, and is not a directory"),
        (&["backup", "file/one"], "cannot create file/one: a part of the path is not a directory"),
        (&["man", "file"], "cannot write manual pages to file: it exists, and is not a directory"),
        (
            &["man", "file/one"],
            "cannot write manual pages to file/one: a part of the path is not a directory",
        ),
        (&["init", "file/one"], "file/one: a part of the path is not a directory"),
        (&["serve", "--demo", "--data", "file"], "file cannot be used: it exists, and is not a directory"),
    ] {
        let (code, stderr) = run_failing(arguments, directory);
        assert!(code == 1 && stderr.contains(expected), "{arguments:?}: {code} {stderr}");
    }
}

#[test]
fn market_that_is_only_readable_is_backed_up() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let market = directory.join("market");
    // Where the other user can execute it.
    let program = directory.join("marketplace");
    copy_program(&program);
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
    if is_root() {
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

/// The drill: a server is killed after it was backed up several times. Restored elsewhere, the market has everything that was
/// acknowledged before the last backup.
#[test]
fn lost_machine_is_replaced_by_its_last_backup() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let server = Server::start(&["--data", "market"], directory);
    let command = |arguments: &[&str]| stdout_of(&run(arguments, directory));
    let create = |name: &str| command(&["team", "create", name, "--role", "vendor", "--data", "market"]);
    for name in ["first", "second"] {
        create(name);
        command(&["backup", "copies", "--keep", "hourly=5,daily=1", "--data", "market"]);
    }
    create("late");
    server.signal("KILL");
    drop(server);
    fs::rename(directory.join("market"), directory.join("lost")).unwrap();
    let restored = command(&["restore", "copies", "--data", "restored"]);
    assert!(restored.ends_with("\nno problems found\n"), "{restored}");
    let teams = command(&["team", "list", "--data", "restored"]);
    assert!(teams.contains("first") && teams.contains("second") && !teams.contains("late"), "{teams}");
    let listed = command(&["restore", "copies", "--list"]);
    assert!(listed.lines().count() >= 1 && listed.contains("  dated  "), "{listed}");
    let (code, stderr) =
        run_failing(&["restore", "copies", "--at", "2020-01-01", "--data", "old"], directory);
    assert!(code == 1 && stderr.contains("has no backup that was made at 2020-01-01T23:59:59"), "{stderr}");
    let (code, stderr) = run_failing(&["restore", "copies", "--at", "monday", "--data", "old"], directory);
    assert!(code == 2 && stderr.contains("write it as 2026-11-28"), "{stderr}");
    let (code, stderr) = run_failing(&["backup", "copies", "--keep", "daily", "--data", "lost"], directory);
    assert!(code == 2 && stderr.contains("daily=7,weekly=4"), "{stderr}");
}

#[test]
fn restore_is_tried_and_recorded() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let command = |arguments: &[&str]| stdout_of(&run(arguments, directory));
    command(&["team", "create", "Acme", "--role", "vendor", "--data", "market"]);
    command(&["backup", "copy", "--data", "market"]);
    let last = || -> serde_json::Value {
        serde_json::from_slice(&fs::read(directory.join("market/last-backup.json")).unwrap()).unwrap()
    };
    assert_eq!(last()["check"], serde_json::Value::Null);
    let checked = command(&["restore", "copy", "--check", "--data", "market"]);
    assert!(checked.contains("no problems found") && checked.contains(" can be restored: "), "{checked}");
    assert_eq!((&last()["check"]["problems"], &last()["check"]["made_at"]), (&0.into(), &last()["made_at"]));
    command(&["backup", "copy", "--data", "market"]);
    assert_eq!(last()["check"]["problems"], 0, "the next backup keeps it");
    command(&["team", "create", "Other", "--role", "vendor", "--data", "other"]);
    let checked = command(&["restore", "copy", "--check", "--data", "other"]);
    assert!(checked.contains("not recorded: the backup is not of the market in other"), "{checked}");
    assert!(!directory.join("other/last-backup.json").exists());
    // Of which market it is cannot be read any more.
    let manifest = fs::read(directory.join("copy/backup.json")).unwrap();
    fs::write(directory.join("copy/backup.json"), "{").unwrap();
    for market in ["other", "market"] {
        let (code, stderr) = run_failing(&["restore", "copy", "--check", "--data", market], directory);
        assert!(code == 1 && stderr.contains("backup.json is damaged"), "{stderr}");
    }
    assert!(!directory.join("other/last-backup.json").exists(), "no backup of it is known");
    assert_eq!((&last()["check"]["problems"], &last()["check"]["made_at"]), (&1.into(), &last()["made_at"]));
    fs::write(directory.join("copy/backup.json"), manifest).unwrap();
    command(&["restore", "copy", "--check", "--data", "market"]);
    assert_eq!(last()["check"]["problems"], 0);
    let objects = fs::read_dir(directory.join("copy/objects")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(objects).unwrap();
    let (code, stderr) = run_failing(&["restore", "copy", "--check", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("cannot read copy/objects"), "{stderr}");
    assert_eq!(last()["check"]["problems"], 1);
}

/// Creates the data directory of an earlier version. Returns the path of its database.
fn create_earlier_market(market: &Path) -> PathBuf {
    fs::create_dir(market).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/databases/before-0.2.0.sqlite.zst");
    let database = market.join("market.sqlite");
    fs::write(&database, zstd::decode_all(fs::File::open(fixture).unwrap()).unwrap()).unwrap();
    database
}

#[test]
fn upgrade_of_a_market_that_is_only_readable_is_checked() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let market = directory.join("market");
    // Where the other user can execute it.
    let program = directory.join("marketplace");
    copy_program(&program);
    create_earlier_market(&market);
    fs::create_dir(directory.join("backups")).unwrap();
    set_modes(directory, 0o755, 0o755);
    set_modes(&directory.join("backups"), 0o777, 0o666);
    set_modes(&market, 0o555, 0o444);
    for arguments in [&["upgrade", "--check"][..], &["upgrade", "--check", "--rehearse"]] {
        let (succeeded, said) = run_without_write_access(&program, directory, arguments);
        assert!(succeeded && said.contains("migration: 0058_operator_start, cannot be undone\n"), "{said}");
    }
    // An owner gets write access again.
    if is_root() {
        let (succeeded, said) = run_without_write_access(&program, directory, &["upgrade"]);
        assert!(!succeeded && said.contains("the directory ../market cannot be written to"), "{said}");
    }
    set_modes(&market, 0o755, 0o644);
}

#[test]
fn missing_directory_for_temporary_files_is_named_with_what_helps() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    stdout_of(&run(&["backup", "copy"], directory));
    for (arguments, helps) in [
        (&["restore", "copy", "--check"][..], "; choose another place for temporary files with TMPDIR"),
        (&["gym", "questions", "--demo"], "; choose another place for temporary files with TMPDIR"),
        (
            &["serve", "--demo", "--listen", "127.0.0.1:0"],
            "; choose a directory with --data, or another place",
        ),
    ] {
        let output = marketplace(arguments, directory).env("TMPDIR", "/nowhere").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(helps), "{stderr}");
    }
}

#[test]
fn upgrade_says_what_it_would_do() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let market = directory.join("market");
    let database = create_earlier_market(&market);
    let before = fs::read(&database).unwrap();
    let command = |arguments: &[&str]| {
        stdout_of(&run(&[&["upgrade", "--data", "market"], arguments].concat(), directory))
    };
    for arguments in [&["--check"][..], &["--check", "--rehearse"]] {
        let said = command(arguments);
        assert!(said.contains("migration: 0058_operator_start, cannot be undone\n"), "{said}");
        assert!(said.contains("migration: 0059_program_versions, can be undone\n"), "{said}");
        assert!(
            said.contains("copy before it: market/market-before-") && said.contains("\ntime: about "),
            "{said}"
        );
        assert!(said.ends_with("\nnothing was changed\n"), "{said}");
    }
    assert!(fs::read(&database).unwrap() == before);
    assert_eq!(fs::read_dir(&market).unwrap().count(), 1, "nothing was created");
    let (code, stderr) = run_failing(&["upgrade", "--undo", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("no earlier version of marketplace is known"), "{stderr}");
    let said: serde_json::Value = serde_json::from_str(&command(&["--json"])).unwrap();
    assert_eq!((&said["is_done"], &said["schema"]), (&true.into(), &57.into()));
    assert!(fs::read(said["copy"].as_str().map(|copy| directory.join(copy)).unwrap()).unwrap() == before);
    assert!(command(&["--check"]).starts_with("the database is up to date for this version, "));
    let (code, stderr) = run_failing(&["upgrade", "--undo", "--data", "market"], directory);
    assert!(code == 1 && stderr.contains("cannot be undone"), "{stderr}");
    let (code, stderr) = run_failing(&["upgrade", "--check", "--data", "nowhere"], directory);
    assert!(code == 1 && stderr.contains("there is no market in nowhere"), "{stderr}");
}
