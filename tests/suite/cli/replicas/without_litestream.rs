//! Replicas, primaries, and promotions without Litestream, or with settings that are incomplete.

use std::{fs, path::Path, process::Command};

use crate::cli::{Server, marketplace, monitoring, run_failing, temp_dir};

#[test]
fn replica_says_which_settings_it_needs() {
    let directory = temp_dir();
    let mut set: Vec<(&str, &str)> = Vec::new();
    for (missing, name, value) in [
        ("replica.primary_url", "MARKETPLACE_REPLICA_PRIMARY_URL", "http://127.0.0.1:1"),
        ("replica.source", "MARKETPLACE_REPLICA_SOURCE", "file:///nowhere"),
        ("blobs.kind", "MARKETPLACE_BLOBS_KIND", "s3"),
    ] {
        let mut command = marketplace(&["serve", "--replica", "--listen", "127.0.0.1:0"], directory.path());
        let output = command.envs(set.iter().copied()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(missing), "{missing}: {message}");
        set.push((name, value));
    }
    let (code, message) = run_failing(&["promote", "--primary-is-stopped"], directory.path());
    assert!(code == 2 && message.contains("replication.destination is empty"), "{code}: {message}");
}

/// Returns a command on a data directory that replicates to a directory, by a Litestream that is not there.
fn replicated(arguments: &[&str], directory: &Path) -> Command {
    let mut command = marketplace(arguments, directory);
    command.args(["--data", "market"]).envs([
        ("MARKETPLACE_REPLICATION_LITESTREAM", "true"),
        ("MARKETPLACE_REPLICATION_DESTINATION", &format!("file://{}/store", directory.display())),
        ("MARKETPLACE_REPLICA_LITESTREAM", "/nowhere/litestream"),
    ]);
    command
}

#[test]
fn primary_without_litestream_says_so() {
    let directory = temp_dir();
    let mut command = replicated(&["serve", "--listen", "127.0.0.1:0"], directory.path());
    command.env("MARKETPLACE_METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Server::spawn(command);
    let address = monitoring::address_of(&mut server);
    let state = monitoring::get_until(&address, "/readyz", "not_replicated");
    assert!(state.starts_with("HTTP/1.1 200 ") && state.contains("degraded"), "{state}");
    monitoring::get_until(&address, "/metrics", "marketplace_replication_running 0");
}

/// Also if the data directory does not know about it, because no server was started with it since the promotion.
#[test]
fn commands_refuse_the_directory_of_a_former_primary() {
    let directory = temp_dir();
    let server = Server::spawn(replicated(&["serve", "--listen", "127.0.0.1:0"], directory.path()));
    assert_eq!(server.terminate(), 0);
    let create = ["team", "create", "Acme Data", "--role", "vendor"];
    let created = replicated(&create, directory.path()).output().unwrap();
    assert!(created.status.success(), "{created:?}");
    fs::write(directory.path().join("store/generations/2"), "").unwrap();
    let refused = replicated(&["key", "create", "Acme Data"], directory.path()).output().unwrap();
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && message.contains("belongs to generation 2"), "{message}");
    // What was replicated can still be looked at.
    assert!(replicated(&["verify"], directory.path()).output().unwrap().status.success());
}

/// The last primary would change nothing any more, and there would be no other.
#[test]
fn promotion_that_cannot_restore_does_not_begin() {
    let directory = temp_dir();
    let store = directory.path().join("store");
    fs::create_dir_all(store.join("generations")).unwrap();
    fs::write(store.join("generations/1"), "").unwrap();
    fs::create_dir(store.join("1")).unwrap();
    fs::write(store.join("1/replicated"), "").unwrap();
    let output = replicated(&["promote", "--primary-is-stopped"], directory.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("Litestream (the setting replica.litestream) cannot be run"), "{message}");
    assert!(!output.status.success() && !store.join("generations/2").exists());
}

#[test]
fn file_in_the_place_of_the_data_directory_is_named() {
    let directory = temp_dir();
    fs::write(directory.path().join("market"), "").unwrap();
    let output = replicated(&["promote", "--primary-is-stopped"], directory.path()).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("market cannot be used: it exists, and is not a directory"), "{message}");
}
