//! Several processes on one data directory, simulated in one process: a server, commands that run at the same
//! time, and what processes that ended abnormally leave behind.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use marketplace::{
    clock::{Clock, Entropy, fixture_record_id},
    config::SettingsSources,
    domain::{listing_lifecycle::Operation, time::Timestamp},
    fixtures::{self, FixtureSet},
    market::{self, Market, OpenError, OpenMode, OpenOptions, Requester, SOCKET_FILE, Writer},
    mcp, operations,
};
use marketplace_index::{Filters, Index, OLDEST_SCHEMA_VERSION, Scope, Search, Sort, Start};
use poem::{Body, Endpoint, Request, Response, endpoint::BoxEndpoint};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet};

use crate::harness::{
    BASE, NOW,
    backups::files,
    elements, listing_lifecycle, market_options,
    waiting::{poll_until, wait_until},
};

fn open(directory: &Path, clock: &Arc<Clock>, purpose: OpenMode) -> Result<Market, OpenError> {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let settings = sources.resolve().unwrap();
    Market::open(OpenOptions {
        clock: Arc::clone(clock),
        entropy: Entropy::seeded(3),
        mode: purpose,
        ..market_options(directory, settings)
    })
}

/// A data directory with a server on it.
struct ServedMarket {
    directory: tempfile::TempDir,
    clock: Arc<Clock>,
    market: Market,
    app: BoxEndpoint<'static, Response>,
}

impl ServedMarket {
    fn new() -> ServedMarket {
        let (directory, clock) =
            (tempfile::tempdir().unwrap(), Arc::new(Clock::stopped(Timestamp::parse(NOW).unwrap())));
        let market = open(directory.path(), &clock, OpenMode::Serve).unwrap();
        fixtures::seed_taxonomy(&market).unwrap();
        seed(&market, "first", &initial_set());
        ServedMarket { app: mcp::app(market.clone(), BASE), directory, clock, market }
    }

    /// Lets the server follow other processes, as one with this number of connections.
    fn follow_processes(&self, connected: &watch::Sender<usize>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        tasks.spawn(market::follow_processes(self.market.clone(), connected.subscribe()));
        tasks
    }

    fn command(&self) -> Market {
        open(self.directory.path(), &self.clock, OpenMode::Command).unwrap()
    }

    /// Revokes a key by a command.
    fn revoke_key(&self, key: &str) {
        let revoke = |writer: &mut Writer| operations::keys::revoke(writer, fixture_record_id("keys", key));
        self.command().write_blocking(revoke).unwrap();
    }

    async fn browse(&self, key: &str) -> (u16, Value) {
        let request = Request::builder().uri("/v2/listings/browse?sort=recent".parse().unwrap());
        let request = request.header("x-api-key", key).body(Body::empty());
        let (parts, body) = self.app.get_response(request).await.into_parts();
        (parts.status.as_u16(), serde_json::from_slice(&body.into_vec().await.unwrap()).unwrap())
    }

    /// Returns the titles in the server's catalog, newest first.
    async fn titles(&self) -> Vec<String> {
        let (status, page) = self.browse("mkt_buyer").await;
        assert_eq!(status, 200, "{page}");
        elements(&page["items"]).map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the newest listing in the server's catalog has this title.
    async fn wait_until_newest_is(&self, title: &str) {
        poll_until(title, async || self.titles().await[0] == title).await;
    }

    fn inconsistencies(&self) -> Vec<String> {
        operations::verify::find_inconsistencies(&self.market).unwrap()
    }
}

fn seed(market: &Market, name: &str, set: &Value) {
    fixtures::seed(market, &FixtureSet::parse(name, &[(format!("{name}.json"), set.to_string())]).unwrap())
        .unwrap();
}

/// Returns the records of a published listing and of its asset.
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

fn initial_set() -> Value {
    let team = |key: &str, role: &str| json!({"key": key, "name": key, "roles": [role], "tier": 1, "created_at": "-P30D", "nda_accepted_at": "-P30D"});
    let key = |name: &str| json!({"key": name, "team": "buyer", "name": "tests", "secret": format!("mkt_{name}"), "created_at": "-P20D"});
    let [listing, asset] = listing("one", 5);
    json!({"teams": [team("seller", "vendor"), team("buyer", "buyer")], "keys": [key("buyer"), key("spare")],
        "listings": [listing], "assets": [asset]})
}

fn additional_listing(key: &str, days: u32) -> Value {
    let [listing, asset] = listing(key, days);
    json!({"listings": [listing], "assets": [asset]})
}

#[test]
fn second_server_is_rejected_until_the_first_stops() {
    let served = ServedMarket::new();
    let rejection = open(served.directory.path(), &served.clock, OpenMode::Serve).map(drop).unwrap_err();
    assert!(matches!(rejection, OpenError::AlreadyServed(_)), "{rejection}");
    assert!(rejection.to_string().contains("another `marketplace serve` is running"), "{rejection}");
    drop(served.command());
    let ServedMarket { directory, clock, market, app } = served;
    drop((market, app));
    let reopened = open(directory.path(), &clock, OpenMode::Serve).unwrap();
    assert!(operations::verify::find_inconsistencies(&reopened).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn server_shows_listings_written_by_a_command() {
    let served = ServedMarket::new();
    let _following = served.follow_processes(&watch::Sender::default());
    assert_eq!(served.titles().await, ["one"]);
    for (name, days) in [("two", 4), ("three", 3)] {
        let command = served.command();
        seed(&command, name, &additional_listing(name, days));
        drop(command);
        // The server indexes the new rows in the background, so the listing appears with a short delay.
        served.wait_until_newest_is(name).await;
    }
    assert_eq!(served.titles().await, ["three", "two", "one"]);
    assert!(served.inconsistencies().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn server_rejects_a_key_revoked_by_a_command() {
    let served = ServedMarket::new();
    let _following = served.follow_processes(&watch::Sender::default());
    assert_eq!(served.browse("mkt_spare").await.0, 200);
    served.revoke_key("spare");
    poll_until("the end of the key", async || served.browse("mkt_spare").await.0 != 200).await;
    let (status, body) = served.browse("mkt_spare").await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthorized")));
    assert_eq!(served.browse("mkt_buyer").await.0, 200);
}

/// The notification of the command reaches nobody.
#[tokio::test(start_paused = true)]
async fn server_picks_up_changes_from_before_it_listened() {
    let (served, connected) = (ServedMarket::new(), watch::Sender::default());
    assert_eq!(served.browse("mkt_spare").await.0, 200);
    served.revoke_key("spare");
    assert_eq!(served.browse("mkt_spare").await.0, 200);
    let _following = served.follow_processes(&connected);
    assert_eq!(served.browse("mkt_spare").await.0, 401);
}

/// Time passes only while all tasks wait.
#[tokio::test(start_paused = true)]
async fn server_without_a_socket_polls_while_somebody_is_connected() {
    let (served, connected) = (ServedMarket::new(), watch::Sender::default());
    let _following = served.follow_processes(&connected);
    std::fs::remove_file(served.directory.path().join(SOCKET_FILE)).unwrap();
    assert_eq!(served.browse("mkt_spare").await.0, 200);
    served.revoke_key("spare");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(served.browse("mkt_spare").await.0, 200, "nobody is connected");
    connected.send_replace(1);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(served.browse("mkt_spare").await.0, 401, "the server polls when the first client connects");
    assert_eq!(served.browse("mkt_buyer").await.0, 200);
    served.revoke_key("buyer");
    assert_eq!(served.browse("mkt_buyer").await.0, 200);
    tokio::time::sleep(Duration::from_millis(1_001)).await;
    assert_eq!(served.browse("mkt_buyer").await.0, 401, "and then every second");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_switches_to_an_index_rebuilt_by_a_command() {
    let served = ServedMarket::new();
    let _following = served.follow_processes(&watch::Sender::default());
    for (round, name) in ["two", "three", "four"].into_iter().enumerate() {
        let count = served.command().reindex(&()).unwrap();
        assert_eq!(count, round as u64 + 1);
        assert_eq!(served.titles().await.len(), round + 1);
        let writer = if round == 1 { served.command() } else { served.market.clone() };
        seed(&writer, name, &additional_listing(name, 4 - round as u32));
        // The command may write to the new index before the server has switched to it, which takes a moment.
        served.wait_until_newest_is(name).await;
        assert!(served.inconsistencies().is_empty());
    }
    let count = served.market.reindex(&()).unwrap();
    assert_eq!(count, 4, "a running server may rebuild the index, too");
    assert_eq!(served.titles().await, ["four", "three", "two", "one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_are_visible_to_the_next_read() {
    let served = ServedMarket::new();
    let id = fixture_record_id("listings", "one");
    for round in 0..40 {
        let (operation, count) =
            if round % 2 == 0 { (Operation::Unpublish, 0) } else { (Operation::Publish, 1) };
        let moved = served
            .market
            .write(Requester::process(), move |writer| listing_lifecycle::perform(writer, id, operation));
        moved.await.unwrap();
        assert_eq!(served.titles().await.len(), count, "round {round}");
    }
    let rejection = served
        .market
        .write(Requester::process(), move |writer| listing_lifecycle::perform(writer, id, Operation::Approve))
        .await;
    assert!(rejection.is_err());
    assert_eq!(served.titles().await.len(), 1, "a rejected write changes nothing");
}

/// Damages the index in the index directory that it is given.
type Damage = fn(&Path);

#[test]
fn missing_or_damaged_index_is_rebuilt() {
    let served = ServedMarket::new();
    let ServedMarket { directory, clock, market, app } = served;
    drop((market, app));
    let index = directory.path().join("index");
    let damages: [(&str, Damage); 7] = [
        ("index directory missing", |index| std::fs::remove_dir_all(index).unwrap()),
        ("CURRENT missing", |index| std::fs::remove_file(index.join("CURRENT")).unwrap()),
        ("CURRENT has a path", |index| std::fs::write(index.join("CURRENT"), "../../etc").unwrap()),
        ("CURRENT names no index", |index| std::fs::write(index.join("CURRENT"), "0".repeat(32)).unwrap()),
        ("CURRENT is not UTF-8", |index| std::fs::write(index.join("CURRENT"), [255, 254]).unwrap()),
        ("files missing", |index| {
            files(index)
                .iter()
                .filter(|file| !file.ends_with("CURRENT"))
                .for_each(|file| std::fs::remove_file(file).unwrap());
        }),
        ("files truncated", |index| {
            for file in files(index).iter().filter(|file| !file.ends_with("CURRENT")) {
                let bytes = std::fs::read(file).unwrap();
                std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
            }
        }),
    ];
    for (description, damage) in damages {
        damage(&index);
        let market = open(directory.path(), &clock, OpenMode::Serve)
            .unwrap_or_else(|error| panic!("{description}: {error}"));
        let inconsistencies = operations::verify::find_inconsistencies(&market).unwrap();
        assert!(inconsistencies.is_empty(), "{description}: {inconsistencies:?}");
        assert_eq!(market.snapshot().active_count(1) + market.snapshot().active_count(2), 1, "{description}");
    }
}

#[test]
fn index_with_older_schema_is_served_until_a_new_one_is_built() {
    let ServedMarket { directory, clock, market, app } = ServedMarket::new();
    let [mut record, asset] = listing("parts", 1);
    record["title"] = json!("机器人数据");
    seed(&market, "parts", &json!({"listings": [record], "assets": [asset]}));
    let (change, count) = (market.latest_change().unwrap(), market.snapshot().count(Scope::Market));
    drop((market, app));
    // The index as the previous version of the program would have left it.
    let path = directory.path().join("index");
    let name = uuid::Uuid::from_u128(7).simple().to_string();
    Index::create_with_version(&path.join(&name), OLDEST_SCHEMA_VERSION).unwrap();
    std::fs::write(path.join("CURRENT"), &name).unwrap();
    open(directory.path(), &clock, OpenMode::Command).unwrap().update_index(change, &()).unwrap();
    let find = |market: &Market, text: &str| {
        let search = Search { text: text.to_owned(), ..search_all() };
        market.snapshot().search(&search).unwrap().listings.len()
    };
    let reader = open(directory.path(), &clock, OpenMode::ReadOnly).unwrap();
    assert_eq!(
        (find(&reader, "机器人数据"), find(&reader, "数据")),
        (1, 0),
        "the older schema finds whole words"
    );
    let market = open(directory.path(), &clock, OpenMode::Serve).unwrap();
    wait_until("the new index", || {
        assert_eq!(market.snapshot().count(Scope::Market), count, "the catalog must stay complete");
        find(&market, "数据") == 1
    });
    assert_eq!(operations::verify::find_inconsistencies(&market).unwrap(), [""; 0]);
    reader.refresh().unwrap();
    assert_eq!(find(&reader, "数据"), 1);
}

fn search_all() -> Search {
    Search {
        scope: Scope::Market,
        text: String::new(),
        filters: Filters::default(),
        sort: Sort::Recent,
        start: Start::First,
        ordered_as: BTreeMap::new(),
        limit: 100,
        viewer: None,
        totals: false,
    }
}

#[test]
fn database_of_a_newer_version_is_rejected_unchanged() {
    let ServedMarket { directory, clock, market, app } = ServedMarket::new();
    drop((market, app));
    let path = directory.path().join("market.sqlite");
    let version = |expected: Option<i64>| {
        let rows = rusqlite::Connection::open(&path).unwrap();
        if let Some(expected) = expected {
            rows.pragma_update(None, "user_version", expected).unwrap();
        }
        rows.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let right = version(None);
    version(Some(9999));
    for purpose in [OpenMode::Serve, OpenMode::Command] {
        let rejection = open(directory.path(), &clock, purpose).map(drop).unwrap_err().to_string();
        assert!(rejection.contains("was created by a newer version of marketplace"), "{rejection}");
        assert!(rejection.contains("market.sqlite"), "{rejection}");
    }
    assert_eq!(version(None), 9999);
    version(Some(right));
    drop(open(directory.path(), &clock, OpenMode::Serve).unwrap());
    std::fs::write(&path, b"this is not a database, although its name says so").unwrap();
    let rejection = open(directory.path(), &clock, OpenMode::Serve).map(drop).unwrap_err().to_string();
    assert!(rejection.contains("cannot open the database"), "{rejection}");
}
