//! Files that people name: only regular files are read, and anything else is refused at once.

use std::{
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use super::{run, run_failing, stdout_of, temp_dir};

/// What is no regular file, with what an error calls it.
const KINDS: [(&str, &str); 4] = [
    ("pipe", "it is a named pipe, and not a regular file"),
    ("link to a pipe", "it is a named pipe, and not a regular file"),
    ("socket", "it is a socket, and not a regular file"),
    ("link to a device", "it is a device, and not a regular file"),
];

fn create(kind: &str, path: &Path) {
    let make_pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    match kind {
        "pipe" => make_pipe(path),
        "link to a pipe" => {
            // Outside of the directory, whose files are all found.
            let target = path.parent().unwrap().parent().unwrap().join("target");
            if !target.exists() {
                make_pipe(&target);
            }
            symlink(target, path).unwrap();
        }
        "socket" => drop(UnixListener::bind(path).unwrap()),
        "link to a device" => symlink("/dev/zero", path).unwrap(),
        _ => unreachable!(),
    }
}

#[test]
fn commands_read_only_regular_files() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor"], directory));
    stdout_of(&run(&["team", "accept-nda", "Acme Data"], directory));
    stdout_of(&run(&["taskset", "create", "Acme Data", "Tasks"], directory));
    for (kind, expected) in KINDS {
        let file = format!("{}.json", kind.replace(' ', "-"));
        create(kind, &directory.join(&file));
        std::fs::write(directory.join("nda.toml"), format!("[console]\nnda_file = {file:?}\n")).unwrap();
        for arguments in [
            &["seed", &file][..],
            &["team", "list", "--config", &file],
            &["team", "list", "--config", "nda.toml"],
            &["serve", "--demo", "--config", &file],
            &["upload", &file, "--team", "Acme Data"],
            &["taskset", "import", "Tasks", &file],
            &["replay", &file],
        ] {
            let (code, stderr) = run_failing(arguments, directory);
            assert!(code != 0 && stderr.contains(expected), "{arguments:?}: {stderr}");
        }
    }
}

/// The records of a set, its attachments, and a settings file that is found.
#[test]
fn files_that_are_found_are_regular_files() {
    for (kind, expected) in KINDS {
        for (file, arguments) in [
            ("set/b.json", &["seed", "set"][..]),
            ("set/artifacts/b.zip", &["seed", "set"]),
            ("set/readings/b.json", &["seed", "set"]),
            ("marketplace.toml", &["team", "list"]),
        ] {
            let temp_dir = temp_dir();
            let directory = temp_dir.path();
            for name in ["set/artifacts", "set/readings"] {
                std::fs::create_dir_all(directory.join(name)).unwrap();
            }
            std::fs::write(directory.join("set/a.json"), "{}").unwrap();
            create(kind, &directory.join(file));
            let (code, stderr) = run_failing(arguments, directory);
            assert!(
                code != 0 && stderr.contains(expected) && stderr.contains(file),
                "{kind} {file}: {stderr}"
            );
        }
    }
}
