//! Replicas, with the real Litestream: what they answer, what they forward, and what happens when a process is killed.
//!
//! Litestream comes from a package registry, so `.ci/replicas` runs these tests.

mod cluster;
mod proxy;
mod without_litestream;

use std::{
    cell::Cell,
    collections::BTreeSet,
    io::Read,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::cluster::{Answer, Call, Cluster, POSITION};
use crate::harness::random::Random;

/// Number of rounds after which a process is killed.
const ROUNDS_PER_KILL: u32 = 35;

/// Time between two kills that make a replica restore the database again: a follower that ends so soon after its start cannot
/// continue, and a new copy is restored within this time.
const BETWEEN_KILLS: Duration = Duration::from_secs(5);

/// Name of the key `mkt_demo_locked`.
const LOCKED_KEY: &str = "Demo: vendor behind the browse gate";

/// Creates a team. Returns its ID, and the position of the response.
fn create_team(cluster: &Cluster, at: &str, name: &str) -> (String, String) {
    let body = json!({"name": name, "roles": ["vendor"]});
    let created = cluster.send(at, &Call::post("/operator/v1/teams", &body));
    assert_eq!(created.status, 201, "{created:?}");
    (created.json()["id"].as_str().unwrap().to_owned(), created.header(POSITION).expect("a position"))
}

/// Paths of operations that list or show something, and of pages.
fn paths(cluster: &Cluster) -> Vec<String> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for document in ["vendor", "buyer", "operator"] {
        let document = Call::get(&format!("/{document}/openapi.json"));
        let document = cluster.send(cluster.primary_url(), &document).json();
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

/// Compares all answers of a replica with those of the primary, byte for byte. The times at which keys were used may take a moment.
fn assert_equal_answers(cluster: &mut Cluster, replica: &str) {
    for path in paths(cluster) {
        for key in ["mkt_demo_both", "mkt_demo_operator"] {
            let call = Call::get(&path).by(key);
            cluster.wait_for(&format!("equal answers to {path} by {key}"), |cluster| {
                let of = |url: &str| cluster.send(url, &call);
                let (own, expected) = (of(replica), of(cluster.primary_url()));
                (own.status, own.text()) == (expected.status, expected.text())
            });
        }
    }
}

/// Returns when a key was last used, as the primary knows.
fn last_use(cluster: &Cluster, name: &str) -> Value {
    let keys = cluster.send(cluster.primary_url(), &Call::get("/operator/v1/keys?limit=100")).json();
    let key = keys["items"].as_array().unwrap().iter().find(|key| key["name"] == name);
    key.unwrap_or_else(|| panic!("{keys}"))["last_used_at"].clone()
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_reports_uses_of_keys() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    assert_eq!(last_use(&cluster, LOCKED_KEY), Value::Null);
    assert_eq!(cluster.send(&replica, &Call::get("/v2/wallet").by("mkt_demo_locked")).status, 200);
    for forged in ["", "Replica ", "Replica AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let report = Call::post("/replication/uses", &json!({"keys": [], "sessions": []}));
        let refused = cluster.send(cluster.primary_url(), &report.with("authorization", forged));
        assert_eq!(refused.status, 404, "{forged}: {refused:?}");
    }
    cluster.stop_replica(0);
    assert!(last_use(&cluster, LOCKED_KEY).is_string());
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_answers_like_its_primary_and_forwards_changes() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    assert_equal_answers(&mut cluster, &replica);
    for number in 0..10 {
        let (team, position) = create_team(&cluster, &replica, &format!("Team {number}"));
        let path = format!("/operator/v1/teams/{team}");
        let shown = cluster.send(&replica, &Call::get(&path).with(POSITION, &position));
        assert_eq!(shown.status, 200, "what was written is read: {shown:?}");
    }
    // What was published is found by search.
    let listing = cluster.first_listing();
    for (step, is_found) in [("unpublish", false), ("publish", true)] {
        let path = format!("/operator/v1/listings/{listing}/{step}");
        let changed = cluster.send(&replica, &Call::post(&path, &json!({})));
        assert_eq!(changed.status, 200, "{changed:?}");
        let position = changed.header(POSITION).unwrap();
        let browse = Call::get("/v2/listings/browse?limit=100").by("mkt_demo_buyer");
        let found = cluster.send(&replica, &browse.with(POSITION, &position));
        assert_eq!(found.status, 200, "{found:?}");
        assert_eq!(found.text().contains(&listing), is_found, "{step}");
    }
    cluster.wait_until_equal(&replica);
    assert_equal_answers(&mut cluster, &replica);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let list = Call::post("/v2/mcp/", &message).by("mkt_demo_buyer");
    let tools = cluster.send(&replica, &list.with("accept", "application/json, text/event-stream"));
    assert!(tools.status == 200 && tools.header(POSITION).is_none(), "agents only read: {tools:?}");
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_outlives_its_primary() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    assert_eq!(cluster.send(&replica, &Call::get("/readyz")).json()["status"], "ready");
    cluster.stop_primary();
    let team = json!({"name": "A", "roles": ["vendor"]});
    let refused = cluster.send(&replica, &Call::post("/operator/v1/teams", &team));
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(refused.json()["error"]["code"], "at_capacity", "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let read = cluster.send(&replica, &Call::get("/operator/v1/teams"));
    assert_eq!(read.status, 200, "reads go on");
    let state = cluster.send(&replica, &Call::get("/readyz"));
    assert_eq!((state.status, state.json()["status"].clone()), (200, json!("degraded")));
    assert_eq!(state.json()["notes"], json!(["primary_away"]));
    cluster.start_primary();
    create_team(&cluster, &replica, "After the restart");
    assert_eq!(cluster.send(&replica, &Call::get("/readyz")).json()["status"], "ready");
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn sessions_and_bodies_pass_through_a_replica() {
    let cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    let sign_in = Call::form("/console/sign-in", "key=mkt_demo_buyer", &replica);
    let signed_in = cluster.send(&replica, &sign_in);
    assert_eq!(signed_in.status, 303, "{signed_in:?}");
    let cookies = signed_in.cookies();
    assert!(cookies.contains("market_position_"), "pages have a cookie for the position: {cookies}");
    let page = cluster.send(&replica, &Call::get("/console/catalog").with("cookie", &cookies));
    assert!(page.status == 200 && page.text().contains("Git surgery"), "{}", page.text());
    let codebases: Vec<Value> = (0..500)
        .map(|number| json!({"title": format!("Codebase {number}"), "exclusivity": "available", "description": "x".repeat(1000)}))
        .collect();
    let batch = Call::post("/v2/codebases/batch", &json!({"items": codebases})).by("mkt_demo_vendor");
    let created = cluster.send(&replica, &batch);
    assert_eq!(created.status, 201, "{}", created.text());
    let of_others = cluster.send(&replica, &Call::get("/v2/wallet").by("mkt_other").with(POSITION, "forged"));
    assert_eq!(of_others.status, 401, "an unknown position is answered by the primary: {of_others:?}");
    let looping = Call::post("/operator/v1/teams", &json!({})).with("via", "1.1 marketplace-replica");
    assert_eq!(cluster.send(&replica, &looping).status, 503, "a replica of a replica");
}

/// The market is backed up where the primary is.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn start_page_of_a_replica_asks_for_no_backup() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    let sign_in = Call::form("/console/sign-in", "key=mkt_demo_operator", &replica);
    let start = Call::get("/console/operator").with("cookie", &cluster.send(&replica, &sign_in).cookies());
    let of_primary = cluster.send(cluster.primary_url(), &start).text();
    assert!(of_primary.contains("No backup yet"), "{of_primary}");
    // Until the replica has the session, it forwards the request.
    cluster.wait_for("a page without a concern about backups", |cluster| {
        let page = cluster.send(&replica, &start);
        page.status == 200 && !page.text().contains("No backup yet")
    });
}

/// A proxy sends requests to any machine, whatever they do.
#[test]
#[ignore = "needs nginx and Litestream, which `.ci/replicas` provides"]
fn any_machine_answers_behind_a_proxy() {
    let mut cluster = Cluster::start(2);
    let proxy = cluster.start_proxy();
    cluster.wait_for("nginx", |_| proxy.is_ready());
    let sign_in = Call::form("/console/sign-in", "key=mkt_demo_buyer", &proxy.url);
    let cookies = cluster.send(&proxy.url, &sign_in).cookies();
    for number in 0..12 {
        let (id, position) = create_team(&cluster, &proxy.url, &format!("Behind the proxy {number}"));
        // nginx takes turns, so each machine is asked.
        for _ in 0..3 {
            let path = format!("/operator/v1/teams/{id}");
            let shown = cluster.send(&proxy.url, &Call::get(&path).with(POSITION, &position));
            assert_eq!(shown.status, 200, "{shown:?}");
            let page = cluster.send(&proxy.url, &Call::get("/console/catalog").with("cookie", &cookies));
            assert!(page.status == 200 && page.text().contains("Git surgery"), "{}", page.text());
        }
    }
}

#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn streams_of_events_are_live_and_end_with_their_copy() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    let follow = Call::get("/operator/v1/events").with("accept", "text/event-stream");
    let mut stream = cluster.open(&replica, &follow).unwrap();
    assert_eq!(stream.status(), 200);
    let (team, _) = create_team(&cluster, cluster.primary_url(), "Seen in the stream");
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while !text.contains(&team) {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "the stream ended: {text}");
        text += &String::from_utf8_lossy(&bytes[..count]);
    }
    let end = thread::spawn(move || while stream.read(&mut bytes).unwrap() > 0 {});
    let killed = Cell::new(None::<Instant>);
    cluster.wait_for("the end of the stream", |cluster| {
        if killed.get().is_none_or(|at| at.elapsed() > BETWEEN_KILLS) {
            cluster.kill_follower(0);
            killed.set(Some(Instant::now()));
        }
        end.is_finished()
    });
    end.join().unwrap();
    assert_eq!(cluster.send(&replica, &Call::get(&format!("/operator/v1/teams/{team}"))).status, 200);
}

/// A replica whose primary was upgraded first is not ready, and answers nothing from a database that it does not know: the primary
/// does.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_of_an_upgraded_primary_is_not_ready() {
    let mut cluster = Cluster::start(1);
    let replica = cluster.replica_url(0);
    let shown = cluster.send(&replica, &Call::get("/operator/v1/teams?limit=1"));
    cluster.set_schema_version(9_999);
    cluster.wait_for("another schema", |cluster| {
        cluster.send(&replica, &Call::get("/readyz")).json()["failed"] == json!(["migrated"])
    });
    assert_eq!(cluster.send(&replica, &Call::get("/readyz")).status, 503);
    let forwarded = cluster.send(&replica, &Call::get("/operator/v1/teams?limit=1"));
    assert_eq!((forwarded.status, &forwarded.body), (200, &shown.body));
    cluster.stop_primary();
    assert_eq!(cluster.send(&replica, &Call::get("/operator/v1/teams?limit=1")).status, 503);
}

/// After a planned promotion, nothing is missing, other replicas follow the new primary, and the former one is refused. Another log
/// of attestations begins, which names the last head of the former.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn promoted_replica_takes_over() {
    let mut cluster = Cluster::start(2);
    let (team, _) = create_team(&cluster, cluster.primary_url(), "Before the promotion");
    let head = cluster.make_head();
    cluster.stop_primary();
    let printed = cluster.promote(0);
    assert!(printed.contains("generation 2 has begun"), "{printed}");
    assert!(printed.contains("no problems found"), "{printed}");
    cluster.start_primary();
    let shown = cluster.send(cluster.primary_url(), &Call::get(&format!("/operator/v1/teams/{team}")));
    assert_eq!(shown.status, 200, "nothing is missing");
    cluster.make_head();
    let logs = cluster.send(cluster.primary_url(), &Call::get("/.well-known/marketplace-log.json")).json();
    assert_eq!(logs["logs"][0]["predecessor"], json!(head));
    let replica = cluster.replica_url(1);
    create_team(&cluster, &replica, "After the promotion");
    cluster.wait_until_equal(&replica);
    assert_equal_answers(&mut cluster, &replica);
    cluster.stop_primary();
    let error = cluster.start_former_primary();
    assert!(error.contains("belongs to generation 2"), "{error}");
    // From then on, commands know it, too.
    let error = cluster.start_former_primary();
    assert!(error.contains("another server was promoted"), "{error}");
}

/// It would continue to answer with its state. The promotion does not wait for it, although it runs.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn former_primary_stops_by_itself() {
    let mut cluster = Cluster::start(1);
    cluster.promote(0);
    assert_eq!(cluster.wait_for_end_of_primary(), Some(0));
    cluster.start_primary();
    create_team(&cluster, cluster.primary_url(), "After the promotion");
}

/// The server learns from the log of Litestream whether an update has failed, and whether it was repeated since.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replica_reads_what_litestream_logs() {
    let mut cluster = Cluster::start(1);
    let (_, position) = create_team(&cluster, cluster.primary_url(), "Logged");
    let shown = Call::get("/operator/v1/teams").with(POSITION, &position);
    let replica = cluster.replica_url(0);
    assert_eq!(cluster.send(&replica, &shown).status, 200);
    let began = std::time::Instant::now();
    while !cluster.logs().contains("follow: applied updates") {
        assert!(began.elapsed().as_secs() < 60, "{}", cluster.logs());
        std::thread::yield_now();
    }
}

/// Everything that a replica has shown exists after the promotion, even if the machine of the primary was lost under load.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
#[allow(clippy::print_stdout)] // How much was lost is of interest.
fn promotion_keeps_what_was_replicated() {
    let mut cluster = Cluster::start(1);
    let acknowledged = if std::env::var_os("THOROUGH").is_some() { 6_000 } else { 200 };
    let created: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        let (cluster, created) = (&cluster, &created);
        for writer in 0..4 {
            scope.spawn(move || {
                for number in 0.. {
                    let body = json!({"name": format!("Team {writer}-{number}"), "roles": ["vendor"]});
                    let call = Call::post("/operator/v1/teams", &body);
                    let answer = cluster.try_send(cluster.primary_url(), &call);
                    let Some(answer) = answer.filter(|answer| answer.status == 201) else { break };
                    created.lock().unwrap().push(answer.json()["id"].as_str().unwrap().to_owned());
                }
            });
        }
        while created.lock().unwrap().len() < acknowledged {
            std::thread::yield_now();
        }
        cluster.kill_primary();
    });
    let created = created.into_inner().unwrap();
    // All data of the replica has come through the store. It answers itself, since the primary is not running.
    let replica = cluster.replica_url(0);
    let shows = |cluster: &Cluster, url: &str, team: &str| {
        cluster.send(url, &Call::get(&format!("/operator/v1/teams/{team}"))).status == 200
    };
    let shown: Vec<&String> = created.iter().filter(|team| shows(&cluster, &replica, team)).collect();
    let began = std::time::Instant::now();
    let printed = cluster.promote(0);
    assert!(printed.contains("no problems found"), "{printed}");
    cluster.start_primary();
    let seconds = began.elapsed().as_secs_f64();
    let url = cluster.primary_url().to_owned();
    for team in &shown {
        assert!(shows(&cluster, &url, team), "{team} was replicated");
    }
    let kept = created.iter().filter(|team| shows(&cluster, &url, team)).count();
    println!("{kept} of {} changes kept, {} replicated before; {seconds:.1} s", created.len(), shown.len());
    assert!(kept >= shown.len() && kept > 0, "{kept}");
}

/// Random changes and reads while processes are killed: nothing that was acknowledged is missing where its position is brought, no
/// answer is a mixture of two states, and in the end all machines answer alike.
#[test]
#[ignore = "needs Litestream, which `.ci/replicas` provides"]
fn replicas_are_consistent_while_processes_are_killed() {
    let mut cluster = Cluster::start(2);
    let mut random = Random::new(7);
    let rounds = if std::env::var_os("THOROUGH").is_some() { 600 } else { 200 };
    let (mut teams, mut kills) = (0, 0);
    for round in 1..=rounds {
        if round % ROUNDS_PER_KILL == 0 {
            cluster.kill_one(kills);
            kills += 1;
        }
        let urls = [cluster.replica_url(0), cluster.replica_url(1)];
        let at = &urls[random.below(2) as usize];
        let name = format!("Team {teams}");
        let body = json!({"name": name, "roles": ["vendor"]});
        let created = cluster.try_send(at, &Call::post("/operator/v1/teams", &body));
        // A change whose response was lost may have been carried out.
        teams += u32::from(created.as_ref().is_some_and(|created| [201, 409].contains(&created.status)));
        let Some(created) = created.filter(|created| created.status == 201) else { continue };
        let id = created.json()["id"].as_str().unwrap().to_owned();
        let position = created.header(POSITION).unwrap();
        for url in &urls {
            let path = format!("/operator/v1/teams/{id}");
            let shown = cluster.try_send(url, &Call::get(&path).with(POSITION, &position));
            let Some(shown) = shown.filter(|shown| shown.status != 503) else { continue };
            assert_eq!(shown.status, 200, "{url} lacks team {teams} after {kills} kills: {shown:?}");
            // The total and the list are of one state.
            let listed = cluster.try_send(url, &Call::get("/operator/v1/teams?limit=100"));
            let Some(listed) = listed.filter(|listed| listed.status != 503) else { continue };
            assert_eq!(listed.status, 200, "{listed:?}");
            assert_consistent(&listed);
        }
    }
    assert!(teams > rounds / 4, "{teams} teams, {kills} kills");
    for index in 0..2 {
        let url = cluster.replica_url(index);
        cluster.wait_until_equal(&url);
        assert_equal_answers(&mut cluster, &url);
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
