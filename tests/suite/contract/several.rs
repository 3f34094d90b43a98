//! Several processes on one folder, as far as one process can play them: a server, commands beside it, and what is left
//! behind by those that ended badly.

use std::{path::Path, sync::Arc};

use marketplace::{
    clock::{Clock, Entropy, record_id},
    config::Layers,
    domain::{listings::Event, time::Timestamp},
    fixtures::{self, Set},
    market::{Market, OpenError, Opening, Purpose},
    mcp, operations, rest,
    store::Durability,
};
use poem::{Body, Endpoint, Request, Response, endpoint::BoxEndpoint};
use serde_json::{Value, json};

use crate::harness::{BASE, NOW};

/// How often a test looks for what another thread does within a moment.
const LOOKS: usize = 100_000;

fn open(folder: &Path, clock: &Arc<Clock>, purpose: Purpose) -> Result<Market, OpenError> {
    let mut layers = Layers::new();
    layers.demo().unwrap();
    let settings = layers.settle().unwrap();
    Market::open(Opening {
        folder: folder.to_owned(),
        settings,
        clock: Arc::clone(clock),
        entropy: Entropy::seeded(3),
        durability: Durability::None,
        purpose,
        renderer: rest::RENDERER,
    })
}

/// A folder with a server on it.
struct Served {
    folder: tempfile::TempDir,
    clock: Arc<Clock>,
    market: Market,
    app: BoxEndpoint<'static, Response>,
}

impl Served {
    fn new() -> Served {
        let (folder, clock) =
            (tempfile::tempdir().unwrap(), Arc::new(Clock::stopped(Timestamp::parse(NOW).unwrap())));
        let market = open(folder.path(), &clock, Purpose::Serve).unwrap();
        fixtures::prepare(&market).unwrap();
        seed(&market, "first", &set());
        Served { app: mcp::app(market.clone(), BASE), folder, clock, market }
    }

    fn command(&self) -> Market {
        open(self.folder.path(), &self.clock, Purpose::Command).unwrap()
    }

    async fn status(&self, key: &str) -> (u16, Value) {
        let request = Request::builder().uri("/v2/listings/browse?sort=recent".parse().unwrap());
        let request = request.header("x-api-key", key).body(Body::empty());
        let (parts, body) = self.app.get_response(request).await.into_parts();
        (parts.status.as_u16(), serde_json::from_slice(&body.into_vec().await.unwrap()).unwrap())
    }

    /// The titles that the server's catalog has.
    async fn titles(&self) -> Vec<String> {
        let (status, page) = self.status("mkt_buyer").await;
        assert_eq!(status, 200, "{page}");
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["title"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Waits until the newest listing of the server's catalog is this one.
    async fn shows(&self, title: &str) {
        for _ in 0..LOOKS {
            if self.titles().await[0] == title {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("the server never showed {title}");
    }

    fn faults(&self) -> Vec<String> {
        operations::verify::faults(&self.market).unwrap()
    }
}

fn seed(market: &Market, name: &str, set: &Value) {
    fixtures::seed(market, &Set::parse(name, &[(format!("{name}.json"), set.to_string())]).unwrap()).unwrap();
}

/// A published listing, with its asset.
fn listing(key: &str, days: u32) -> [Value; 2] {
    let history = json!([
        {"event": "submitted", "at": "-P9D"}, {"event": "approved", "at": "-P8D"}, {"event": "published", "at": format!("-P{days}D")}
    ]);
    [
        json!({"key": key, "team": "seller", "title": key, "description": "About it.", "price_usd": 1, "assets": [key],
            "created_at": "-P10D", "history": history}),
        json!({"key": key, "team": "seller", "sku": "raw_data", "title": key, "created_at": "-P20D", "raw_data": {}}),
    ]
}

fn set() -> Value {
    let team = |key: &str, role: &str| json!({"key": key, "name": key, "roles": [role], "tier": 1, "created_at": "-P30D", "nda_accepted_at": "-P30D"});
    let key = |name: &str| json!({"key": name, "team": "buyer", "name": "tests", "secret": format!("mkt_{name}"), "created_at": "-P20D"});
    let [listing, asset] = listing("one", 5);
    json!({"teams": [team("seller", "vendor"), team("buyer", "buyer")], "keys": [key("buyer"), key("spare")],
        "listings": [listing], "assets": [asset]})
}

fn more(key: &str, days: u32) -> Value {
    let [listing, asset] = listing(key, days);
    json!({"listings": [listing], "assets": [asset]})
}

#[test]
fn a_second_server_is_refused_until_the_first_one_ends() {
    let served = Served::new();
    let refused = open(served.folder.path(), &served.clock, Purpose::Serve).map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::Served(_)), "{refused}");
    assert!(refused.to_string().contains("another `marketplace serve` is running"), "{refused}");
    drop(served.command());
    let Served { folder, clock, market, app } = served;
    drop((market, app));
    let again = open(folder.path(), &clock, Purpose::Serve).unwrap();
    assert!(operations::verify::faults(&again).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_shows_what_a_command_wrote() {
    let served = Served::new();
    assert_eq!(served.titles().await, ["one"]);
    for (name, days) in [("two", 4), ("three", 3)] {
        let command = served.command();
        seed(&command, name, &more(name, days));
        drop(command);
        // The index holds it by now, and the server, which wrote it there, takes it up the moment after.
        served.shows(name).await;
    }
    assert_eq!(served.titles().await, ["three", "two", "one"]);
    assert!(served.faults().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_forgets_a_key_that_a_command_revoked() {
    let served = Served::new();
    assert_eq!(served.status("mkt_spare").await.0, 200);
    let command = served.command();
    command.write_blocking(|writer| operations::keys::revoke(writer, record_id("keys", "spare"))).unwrap();
    let mut looks = 0;
    while served.status("mkt_spare").await.0 == 200 {
        looks += 1;
        assert!(looks < LOOKS, "the server never noticed");
        tokio::task::yield_now().await;
    }
    let (status, body) = served.status("mkt_spare").await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthorized")));
    assert_eq!(served.status("mkt_buyer").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_goes_on_with_an_index_that_a_command_built_anew() {
    let served = Served::new();
    for (round, name) in ["two", "three", "four"].into_iter().enumerate() {
        let count = served.command().reindex(&()).unwrap();
        assert_eq!(count, round as u64 + 1);
        assert_eq!(served.titles().await.len(), round + 1);
        let writer = if round == 1 { served.command() } else { served.market.clone() };
        seed(&writer, name, &more(name, 4 - round as u32));
        // The command may have written the new index before the server took it up, which it does within a moment.
        served.shows(name).await;
        assert!(served.faults().is_empty());
    }
    let count = served.market.reindex(&()).unwrap();
    assert_eq!(count, 4, "a server may do it, too");
    assert_eq!(served.titles().await, ["four", "three", "two", "one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_is_read_at_once() {
    let served = Served::new();
    let id = record_id("listings", "one");
    for round in 0..40 {
        let (event, count) = if round % 2 == 0 { (Event::Unpublished, 0) } else { (Event::Published, 1) };
        let moved = served.market.write(move |writer| operations::listings::transition(writer, id, event));
        moved.await.unwrap();
        assert_eq!(served.titles().await.len(), count, "round {round}");
    }
    let refused = served
        .market
        .write(move |writer| operations::listings::transition(writer, id, Event::Approved))
        .await;
    assert!(refused.is_err());
    assert_eq!(served.titles().await.len(), 1, "a refused write changes nothing");
}

/// Something bad that happens to the index in a folder.
type Harm = fn(&Path);

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn a_lost_or_damaged_index_is_built_anew() {
    let served = Served::new();
    let Served { folder, clock, market, app } = served;
    drop((market, app));
    let index = folder.path().join("index");
    let harms: [(&str, Harm); 7] = [
        ("gone", |index| std::fs::remove_dir_all(index).unwrap()),
        ("unnamed", |index| std::fs::remove_file(index.join("CURRENT")).unwrap()),
        ("misnamed", |index| std::fs::write(index.join("CURRENT"), "../../etc").unwrap()),
        ("named for another", |index| std::fs::write(index.join("CURRENT"), "0".repeat(32)).unwrap()),
        ("no text in the name", |index| std::fs::write(index.join("CURRENT"), [255, 254]).unwrap()),
        ("emptied", |index| {
            files(index)
                .iter()
                .filter(|file| !file.ends_with("CURRENT"))
                .for_each(|file| std::fs::remove_file(file).unwrap());
        }),
        ("cut", |index| {
            for file in files(index).iter().filter(|file| !file.ends_with("CURRENT")) {
                let bytes = std::fs::read(file).unwrap();
                std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
            }
        }),
    ];
    for (what, harm) in harms {
        harm(&index);
        let market =
            open(folder.path(), &clock, Purpose::Serve).unwrap_or_else(|error| panic!("{what}: {error}"));
        let faults = operations::verify::faults(&market).unwrap();
        assert!(faults.is_empty(), "{what}: {faults:?}");
        assert_eq!(market.snapshot().published_by(1) + market.snapshot().published_by(2), 1, "{what}");
    }
}

#[test]
fn a_database_of_a_newer_program_is_refused_and_left_alone() {
    let Served { folder, clock, market, app } = Served::new();
    drop((market, app));
    let path = folder.path().join("market.sqlite");
    let version = |wanted: Option<i64>| {
        let rows = rusqlite::Connection::open(&path).unwrap();
        if let Some(wanted) = wanted {
            rows.pragma_update(None, "user_version", wanted).unwrap();
        }
        rows.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let right = version(None);
    version(Some(9999));
    for purpose in [Purpose::Serve, Purpose::Command] {
        let refused = open(folder.path(), &clock, purpose).map(drop).unwrap_err().to_string();
        assert!(refused.contains("was made by a newer version of marketplace"), "{refused}");
        assert!(refused.contains("market.sqlite"), "{refused}");
    }
    assert_eq!(version(None), 9999);
    version(Some(right));
    drop(open(folder.path(), &clock, Purpose::Serve).unwrap());
    std::fs::write(&path, b"this is no database, whatever its name says").unwrap();
    let refused = open(folder.path(), &clock, Purpose::Serve).map(drop).unwrap_err().to_string();
    assert!(refused.contains("cannot open the database"), "{refused}");
}
