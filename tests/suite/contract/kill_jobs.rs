//! A server that is killed while it reads archives: each that it acknowledged is read once after the next start.
//!
//! The test executes itself once more as the server to kill.

use std::{
    io::{BufRead, BufReader, Cursor, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use marketplace::{
    config::Layers,
    domain::{assets::ArtifactStatus, jobs::Lane, time::Timestamp},
    market::Market,
    operations::{self, background, teams::TeamIn},
    rest, store,
};
use poem::{Endpoint, Request, http::Method};
use serde_json::{Value, json};
use uuid::Uuid;
use zip::{ZipWriter, write::SimpleFileOptions};

use super::kill::open_with;
use crate::harness::{BASE, random::Random};

/// Where the server to kill is told its folder.
const FOLDER: &str = "KILL_JOBS_FOLDER";

/// Files in the archive: enough for a kill to fall into the reading.
const FILES: u64 = 2_000;

fn open(folder: &Path) -> Market {
    let mut layers = Layers::new();
    layers.demo().unwrap();
    open_with(&folder.join("market"), layers.settle().unwrap())
}

fn archive(folder: &Path) -> PathBuf {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..FILES {
        writer.start_file(format!("{}/{number}.txt", number % 7), SimpleFileOptions::default()).unwrap();
    }
    let path = folder.join("archive.zip");
    std::fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    path
}

/// A market with a vendor: its key, and the address of an upload.
fn prepare(folder: &Path) -> (String, String) {
    let market = open(folder);
    marketplace::fixtures::prepare(&market).unwrap();
    let team = TeamIn { name: "Seller", is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
    market.write_blocking(|writer| operations::teams::create(writer, &team)).unwrap();
    let (_, key) =
        market.write_blocking(|writer| operations::keys::create(writer, "Seller", "kill", None)).unwrap();
    (key, operations::uploads::put(&market, "Seller", &archive(folder), BASE).unwrap())
}

/// The server to kill: takes archives without end and reads them, and says of each that it was taken.
#[test]
fn reads_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let (key, url) = (std::env::var("KILL_JOBS_KEY").unwrap(), std::env::var("KILL_JOBS_URL").unwrap());
    let market = open(Path::new(&folder));
    let _background = background::Runner::start(&market).unwrap();
    let app = rest::app(market.clone(), BASE);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    loop {
        let body = json!({"title": "Scans", "suffix_title": true, "data": {"channel": "zip", "url": url}});
        let request = Request::builder()
            .method(Method::POST)
            .uri_str("/v2/raw-data")
            .header("x-api-key", &key)
            .content_type("application/json")
            .body(body.to_string());
        let answer = runtime.block_on(async {
            let answer = app.get_response(request).await;
            answer.into_body().into_vec().await.unwrap()
        });
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "done {}", answer["id"].as_str().unwrap()).unwrap();
        out.flush().unwrap();
    }
}

/// Runs the server, kills it right after its `after`th word, and answers all that it said until it was dead.
fn run_and_kill(folder: &Path, (key, url): &(String, String), after: u64) -> Vec<Uuid> {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "contract::kill_jobs::reads_until_it_is_killed", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env("KILL_JOBS_KEY", key)
        .env("KILL_JOBS_URL", url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut taken = Vec::new();
    for line in BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let Some((_, id)) = line.split_once("done ") else { continue };
        taken.push(id.parse().unwrap());
        if taken.len() as u64 == after {
            server.kill().unwrap();
        }
    }
    server.wait().unwrap();
    assert!(taken.len() as u64 >= after, "the server ended by itself");
    taken
}

#[test]
fn archives_are_read_however_often_the_server_dies() {
    let folder = tempfile::tempdir().unwrap();
    let vendor = prepare(folder.path());
    let mut random = Random(5);
    let (mut taken, mut left) = (Vec::new(), 0);
    for _ in 0..5 {
        taken.extend(run_and_kill(folder.path(), &vendor, 1 + random.below(8)));
        let market = open(folder.path());
        left += unread(&market, &taken).len();
    }
    assert!(left > 0, "no kill came before a reading had ended, so nothing was shown");
    let market = open(folder.path());
    // What the last server held is free when the next one begins, as the thread of a server does it.
    market.write_blocking(|writer| store::jobs::free_all(writer.rows)).unwrap();
    background::run_open(&market, &|| true).unwrap();
    assert_eq!(unread(&market, &taken), Vec::<Uuid>::new());
    let never = Timestamp(i64::MAX / 2);
    assert!(
        !market.read_blocking(|reader| store::jobs::is_any_due(reader.rows, Lane::Readings, never)).unwrap()
    );
    let faults = operations::verify::faults(&market).unwrap();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The assets whose archives are not read.
fn unread(market: &Market, assets: &[Uuid]) -> Vec<Uuid> {
    let is_read = |id: &Uuid| {
        let status = market.read_blocking(|reader| {
            let (number, _) = store::assets::find(reader.rows, *id)?.expect("what was acknowledged is there");
            let asset = store::assets::numbered(reader.rows, number)?.expect("an asset of this number");
            Ok(asset.data.expect("linked data").analysis_status)
        });
        status.unwrap() == ArtifactStatus::Completed
    };
    assets.iter().copied().filter(|id| !is_read(id)).collect()
}
