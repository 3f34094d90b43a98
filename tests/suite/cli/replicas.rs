//! Replicas, with the real Litestream: what they answer, what they forward, and what happens when a process is killed.
//!
//! Litestream comes from a package registry, so `.ci/replicas` runs these tests.

mod cluster;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::cluster::{Answer, Cluster, POSITION};
use super::{marketplace, run_failing, temp_dir};
use crate::harness::random::Random;

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

/// Creates a team. Returns its ID, and the position of the response.
fn create_team(cluster: &Cluster, at: &str, name: &str) -> (String, String) {
    let body = json!({"name": name, "roles": ["vendor"]});
    let created = cluster.send(at, "POST", "/operator/v1/teams", Some(&body), &[]);
    assert_eq!(created.status, 201, "{created:?}");
    (created.json()["id"].as_str().unwrap().to_owned(), created.header(POSITION).expect("a position"))
}

/// Paths of operations that list or show something, and of pages.
fn paths(cluster: &Cluster) -> Vec<String> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for document in ["vendor", "buyer", "operator"] {
        let document =
            cluster.send(cluster.primary_url(), "GET", &format!("/{document}/openapi.json"), None, &[]);
        let document = document.json();
        for (path, item) in document["paths"].as_object().unwrap() {
            let is_plain = !path.contains('{') && !path.contains("/sandbox/");
            let is_stream =
                path.ends_with("/stream") || path.contains("/market") || path.ends_with("/settings");
            if is_plain && !is_stream && item.get("get").is_some() {
                paths.insert(path.clone());
            }
        }
    }
    assert!(paths.len() > 60, "{paths:?}");
    paths.into_iter().collect()
}

/// Compares all answers of a replica with those of the primary, byte for byte.
fn assert_equal_answers(cluster: &Cluster, replica: &str) {
    for path in paths(cluster) {
        for key in ["mkt_demo_both", "mkt_demo_operator"] {
            let of = |url: &str| cluster.send_as(key, url, "GET", &path, None, &[]);
            let (own, expected) = (of(replica), of(cluster.primary_url()));
            assert_eq!((own.status, own.text()), (expected.status, expected.text()), "{path} {key}");
        }
    }
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_answers_like_its_primary_and_forwards_changes() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    assert_equal_answers(&cluster, &replica);
    for number in 0..10 {
        let (team, position) = create_team(&cluster, &replica, &format!("Team {number}"));
        let path = format!("/operator/v1/teams/{team}");
        let shown = cluster.send(&replica, "GET", &path, None, &[(POSITION, &position)]);
        assert_eq!(shown.status, 200, "what was written is read: {shown:?}");
    }
    // What was published is found by search.
    let listing = cluster.first_listing();
    for (step, is_found) in [("unpublish", false), ("publish", true)] {
        let path = format!("/operator/v1/listings/{listing}/{step}");
        let changed = cluster.send(&replica, "POST", &path, Some(&json!({})), &[]);
        assert_eq!(changed.status, 200, "{changed:?}");
        let position = changed.header(POSITION).unwrap();
        let browse = "/v2/listings/browse?limit=100";
        let found =
            cluster.send_as("mkt_demo_buyer", &replica, "GET", browse, None, &[(POSITION, &position)]);
        assert_eq!(found.status, 200, "{found:?}");
        assert_eq!(found.text().contains(&listing), is_found, "{step}");
    }
    cluster.wait_until_equal(&replica);
    assert_equal_answers(&cluster, &replica);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let accept = [("accept", "application/json, text/event-stream")];
    let tools = cluster.send_as("mkt_demo_buyer", &replica, "POST", "/v2/mcp/", Some(&message), &accept);
    assert!(tools.status == 200 && tools.header(POSITION).is_none(), "agents only read: {tools:?}");
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_outlives_its_primary() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    assert_eq!(cluster.send(&replica, "GET", "/readyz", None, &[]).json()["status"], "ready");
    cluster.stop_primary();
    let refused = cluster.send(
        &replica,
        "POST",
        "/operator/v1/teams",
        Some(&json!({"name": "A", "roles": ["vendor"]})),
        &[],
    );
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.json()["error"]["code"], "at_capacity", "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let read = cluster.send(&replica, "GET", "/operator/v1/teams", None, &[]);
    assert_eq!(read.status, 200, "reads go on");
    let state = cluster.send(&replica, "GET", "/readyz", None, &[]);
    assert_eq!((state.status, state.json()["status"].clone()), (200, json!("degraded")));
    assert_eq!(state.json()["notes"], json!(["primary_away"]));
    cluster.start_primary();
    create_team(&cluster, &replica, "After the restart");
    assert_eq!(cluster.send(&replica, "GET", "/readyz", None, &[]).json()["status"], "ready");
}

/// After a planned promotion, nothing is missing, other replicas follow the new primary, and the former one is refused.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn promoted_replica_takes_over() {
    let mut cluster = Cluster::start(2);
    let (team, _) = create_team(&cluster, cluster.primary_url(), "Before the promotion");
    cluster.stop_primary();
    let printed = cluster.promote(0);
    assert!(printed.contains("generation 2 has begun"), "{printed}");
    assert!(printed.contains("no problems found"), "{printed}");
    cluster.start_primary();
    let shown = cluster.send(cluster.primary_url(), "GET", &format!("/operator/v1/teams/{team}"), None, &[]);
    assert_eq!(shown.status, 200, "nothing is missing");
    let replica = cluster.replica_url(1);
    create_team(&cluster, &replica, "After the promotion");
    cluster.wait_until_equal(&replica);
    assert_equal_answers(&cluster, &replica);
    cluster.stop_primary();
    let error = cluster.start_former_primary();
    assert!(error.contains("belongs to generation 2"), "{error}");
}

/// Random changes and reads while processes are killed: nothing that was acknowledged is missing where its position is brought, no
/// answer is a mixture of two states, and in the end all machines answer alike.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replicas_are_consistent_while_processes_are_killed() {
    let mut cluster = Cluster::start(2);
    let mut random = Random::new(7);
    let seconds = if std::env::var_os("THOROUGH").is_some() { 60 } else { 20 };
    let began = Instant::now();
    let (mut teams, mut kills, mut next_kill) = (0, 0, Duration::from_secs(2));
    while began.elapsed() < Duration::from_secs(seconds) {
        if began.elapsed() > next_kill {
            next_kill += Duration::from_secs(3);
            cluster.kill_one(kills);
            kills += 1;
        }
        let urls = [cluster.replica_url(0), cluster.replica_url(1)];
        let at = &urls[random.below(2) as usize];
        let name = format!("Team {teams}");
        let body = json!({"name": name, "roles": ["vendor"]});
        let created = cluster.try_send(at, "POST", "/operator/v1/teams", Some(&body), &[]);
        let Some(created) = created.filter(|created| created.status == 201) else { continue };
        teams += 1;
        let id = created.json()["id"].as_str().unwrap().to_owned();
        let position = created.header(POSITION).unwrap();
        for url in &urls {
            let path = format!("/operator/v1/teams/{id}");
            let shown = cluster.try_send(url, "GET", &path, None, &[(POSITION, &position)]);
            let Some(shown) = shown.filter(|shown| shown.status != 503) else { continue };
            assert_eq!(shown.status, 200, "{url} lacks team {teams} after {kills} kills: {shown:?}");
            // The total and the list are of one state.
            let listed = cluster.try_send(url, "GET", "/operator/v1/teams?limit=200", None, &[]);
            let Some(listed) = listed.filter(|listed| listed.status == 200) else { continue };
            assert_consistent(&listed);
        }
    }
    assert!(teams > 20 && kills > 3, "{teams} teams, {kills} kills");
    for index in 0..2 {
        let url = cluster.replica_url(index);
        cluster.wait_until_equal(&url);
        assert_equal_answers(&cluster, &url);
    }
}

/// The teams of the test have consecutive numbers, each once, whichever state they are of.
fn assert_consistent(listed: &Answer) {
    let page: Value = listed.json();
    let names = page["items"].as_array().unwrap().iter().filter_map(|team| team["name"].as_str());
    let numbers: BTreeSet<u32> = names.filter_map(|name| name.strip_prefix("Team ")?.parse().ok()).collect();
    let first = numbers.first().copied().unwrap_or_default();
    let last = numbers.last().copied().unwrap_or_default();
    assert!(numbers.is_empty() || numbers.len() as u32 == last - first + 1, "{numbers:?}");
}
