//! Data directories of which something belongs to another user than the one who runs the program. Only root can make them,
//! so the tests do nothing for other users.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use super::{NOBODY, Server, copy_program, is_root, run, stdout_of, temp_dir};
use crate::harness::archives::zip_of;

/// Returns a command of a user without permissions of its own, who can enter the directory from now on.
fn as_nobody(arguments: &[&str], directory: &Path) -> Command {
    fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
    // Where the user can execute it.
    let program = directory.join("marketplace");
    if !program.exists() {
        copy_program(&program);
    }
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env_clear().uid(NOBODY).gid(NOBODY);
    command
}

fn serve_as_nobody(directory: &Path, data: &str) -> Server {
    Server::spawn(as_nobody(&["serve", "--listen", "127.0.0.1:0", "--data", data], directory))
}

/// Creates a directory with an owner and a mode. Its group is that of nobody.
fn create_directory(path: &Path, owner: u32, mode: u32) {
    fs::create_dir(path).unwrap();
    chown(path, Some(owner), Some(NOBODY)).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Returns everything below a directory, except for the directory of a new file system.
fn entries_below(directory: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let (mut found, mut pending) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = pending.pop() {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            if entry.file_name() == "lost+found" {
                continue;
            }
            if metadata.is_dir() {
                pending.push(entry.path());
            }
            found.push((entry.path(), metadata));
        }
    }
    found
}

/// The file system belongs to the user of the market, as after `chown`, or to a group of the user, as in Kubernetes (`fsGroup`).
#[test]
fn volume_is_a_data_directory() {
    if !is_root() {
        return;
    }
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    for (data, owner, mode) in [("owned", NOBODY, 0o755), ("of-group", 0, 0o2775)] {
        let volume = directory.join(data);
        create_directory(&volume, owner, mode);
        let lost_and_found = volume.join("lost+found");
        create_directory(&lost_and_found, 0, 0o700);
        let state = || {
            let metadata = fs::metadata(&lost_and_found).unwrap();
            (metadata.uid(), metadata.mode(), metadata.ctime(), metadata.ctime_nsec())
        };
        let before = state();
        assert_eq!(serve_as_nobody(directory, data).terminate(), 0, "{data}");
        // What others can access becomes private again.
        let database = volume.join("market.sqlite");
        for (path, mode) in [(&volume, mode), (&database, 0o644)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(serve_as_nobody(directory, data).terminate(), 0, "{data}");
        let found = entries_below(&volume);
        assert!(found.iter().any(|(path, _)| *path == database), "{found:?}");
        for (path, metadata) in found {
            assert_eq!(metadata.mode() & 0o077, 0, "{}", path.display());
        }
        assert_eq!(state(), before, "{data}");
    }
}

#[test]
fn commands_of_root_leave_files_to_the_owner_of_the_directory() {
    if !is_root() {
        return;
    }
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let data = ["market", "restored", "created"].map(|name| directory.join(name));
    for path in &data {
        create_directory(path, NOBODY, 0o700);
        create_directory(&path.join("lost+found"), 0, 0o700);
    }
    fs::write(directory.join("scans.zip"), zip_of::<&[u8]>(&[])).unwrap();
    for arguments in [
        &["team", "create", "Acme Data", "--role", "vendor", "--nda", "--data", "market"][..],
        &["upload", "scans.zip", "--team", "Acme Data", "--data", "market"],
        &["backup", "copies", "--data", "market"],
        &["restore", "copies", "--check", "--data", "market"],
        &["verify", "--data", "market"],
        &["sweep", "--data", "market"],
        &["restore", "copies", "--data", "restored"],
        &["init", "settings", "--data", "created", "--key-file", "operator.key"],
    ] {
        stdout_of(&run(arguments, directory));
        assert_of_nobody(&data);
    }
    for file in ["market/blobs/uploads", "market/last-backup.json", "restored/index", "created/market.sqlite"]
    {
        assert!(directory.join(file).exists(), "{file}");
    }
    for file in ["settings/marketplace.toml", "operator.key"] {
        assert_eq!(fs::metadata(directory.join(file)).unwrap().uid(), 0, "{file}");
    }
    for name in ["market", "restored", "created"] {
        let server = serve_as_nobody(directory, name);
        stdout_of(&run(&["reindex", "--data", name], directory));
        assert_eq!(server.terminate(), 0, "{name}");
        assert_eq!(serve_as_nobody(directory, name).terminate(), 0, "with the new index of {name}");
    }
    assert_of_nobody(&data);
}

/// Fails if something in the directories belongs to another user.
fn assert_of_nobody(directories: &[PathBuf]) {
    for (path, metadata) in directories.iter().flat_map(|directory| entries_below(directory)) {
        assert_eq!((metadata.uid(), metadata.gid()), (NOBODY, NOBODY), "{}", path.display());
    }
}

#[test]
fn directory_of_another_user_is_not_called_read_only() {
    if !is_root() {
        return;
    }
    let temp_dir = temp_dir();
    create_directory(&temp_dir.path().join("other"), 0, 0o755);
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", "other"];
    let output = as_nobody(&arguments, temp_dir.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("the directory other cannot be written to (Permission denied"), "{stderr}");
}
