//! Child processes that read uploads: how they end decides the result of the run and its charge, and nothing
//! that they do or reply harms the market.

use std::{cell::Cell, io::Cursor, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
use marketplace::{
    domain::{
        jobs::{FULL_DISK_DELAY_MICROS, MAX_ATTEMPTS, MAX_POSTPONED_MICROS, Queue},
        teams::TeamRowId,
    },
    operations::{self, child_processes::ChildProcesses},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::vendor_api::seller_market::{seller_call, seller_get, seller_post, upload_zip};
use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_of, git::Repositories},
};

/// Credits of the seller, enough for two runs.
const CREDITS: i64 = 12;

/// A program that runs as a child process instead of the real one.
pub struct Program {
    directory: TempDir,
}

impl Program {
    /// Creates a shell script.
    pub fn new(script: &str) -> Program {
        let directory = tempfile::tempdir().unwrap();
        let program = Program { directory };
        std::fs::write(program.path(), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(program.path(), PermissionsExt::from_mode(0o700)).unwrap();
        program
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("program")
    }

    /// Creates a script that replies with these bytes.
    fn replying(reply: &[u8]) -> Program {
        let program = Program::new("cat \"${0%program}reply\"");
        std::fs::write(program.directory.path().join("reply"), reply).unwrap();
        program
    }
}

/// Frames a reply as the protocol demands.
fn framed(reply: &Value) -> Vec<u8> {
    let text = reply.to_string();
    let mut bytes = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(text.into_bytes());
    bytes
}

fn market_with_program(program: PathBuf) -> TestMarket {
    let market = TestMarket::with_program(program, |settings| {
        settings.browse_gate.required_published = 0;
    });
    let credits = json!({"ledger_entries": [{"key": "credits", "team": "seller", "entry_type": "adjustment",
        "amount_usd": CREDITS, "description": "Credit", "created_at": "-P9D"}]});
    small_market::seed_market(&market, &[], &credits);
    market
}

/// Returns such a market with raw data that was not analyzed yet, and the path of the data.
async fn market_with_data(program: PathBuf) -> (TestMarket, String) {
    let market = market_with_program(program);
    let url = upload_zip(&market, "Seller house", &zip_of(&[("a.txt", "text")]));
    let path = create_raw_data(&market, "Scans", &url).await;
    (market, path)
}

/// Creates raw data with an archive and returns its path.
async fn create_raw_data(market: &TestMarket, title: &str, url: &str) -> String {
    let body = json!({"title": title, "data": {"channel": "zip", "url": url}});
    format!("raw-data/{}", seller_post(market, "raw-data", body).await["id"].as_str().unwrap())
}

/// Creates raw data with an archive, starts a run, and executes all jobs. Returns the asset and the run.
async fn check(market: &TestMarket) -> (Value, Value) {
    let url = upload_zip(market, "Seller house", &zip_of(&[("a.txt", "text")]));
    let path = create_raw_data(market, "Scans", &url).await;
    seller_call(market, "POST", &format!("{path}/qc/runs"), Value::Null).await.expect_status(202);
    market.run_background();
    let run = seller_get(market, &format!("{path}/qc")).await["latest_run"].clone();
    (seller_get(market, &path).await, run)
}

async fn credits(market: &TestMarket) -> Value {
    seller_get(market, "wallet").await["credits_balance"].clone()
}

/// Data that makes the child exceed its own limits is a finding: the run is completed, and its charge is
/// kept.
#[tokio::test]
async fn exceeded_limit_is_a_finding() {
    for script in ["kill -XCPU $$", "kill -XFSZ $$", "kill -ABRT $$"] {
        let program = Program::new(script);
        let market = market_with_program(program.path());
        let (asset, run) = check(&market).await;
        assert_eq!(asset["data"]["analysis_status"], "failed", "{script}: {asset}");
        let error = asset["data"]["analysis_error"].as_str().unwrap();
        assert!(error.contains("could not be read within its limits"), "{script}: {error}");
        assert_eq!(
            (&run["status"], &run["mandatory_passed"]),
            (&json!("completed"), &json!(false)),
            "{script}"
        );
        assert_eq!(run["charge_total"], 5.0);
        let check = &run["checks"][0];
        assert_eq!(
            (&check["key"], &check["status"]),
            (&json!("archive_intact"), &json!("failed")),
            "{script}"
        );
        assert!(
            check["message"].as_str().unwrap().contains("could not be read within its limits"),
            "{check}"
        );
        assert_eq!(credits(&market).await, json!("7.00"), "{script}");
    }
}

/// Returns a zip whose list of files needs more than 16 MB of memory.
pub fn zip_of_many_files() -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..30_000 {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(format!("{number:0200}"), options).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A child that needs more memory than it may have ends, which counts as a limit of its data.
#[tokio::test]
async fn memory_of_a_child_is_limited() {
    let market = TestMarket::with_settings(|settings| {
        settings.browse_gate.required_published = 0;
        settings.child_processes.memory_mb = 16;
    });
    small_market::seed_market(&market, &[], &json!({}));
    let url = upload_zip(&market, "Seller house", &zip_of_many_files());
    let large = create_raw_data(&market, "Large", &url).await;
    let url = upload_zip(&market, "Seller house", &zip_of(&[("a.txt", "text")]));
    let small = create_raw_data(&market, "Small", &url).await;
    market.run_background();
    let data = seller_get(&market, &large).await["data"].clone();
    assert!(data["analysis_error"].as_str().unwrap().contains("within its limits"), "{data}");
    assert_eq!(seller_get(&market, &small).await["data"]["analysis_status"], "completed");
}

/// A child that never ends is killed after the time limit, and counts as one that exceeded its limits. So is
/// one that closes its output first.
#[tokio::test]
async fn child_that_never_ends_is_killed() {
    for script in ["exec sleep 1000", "exec >&-; exec sleep 1000", "kill -STOP $$"] {
        let program = Program::new(script);
        let (market, path) = market_with_data(program.path()).await;
        let keep_running = || {
            market.clock().advance(600_000_000);
            true
        };
        operations::background::run_pending(market.market(), &keep_running).unwrap();
        let data = seller_get(&market, &path).await["data"].clone();
        assert!(data["analysis_error"].as_str().unwrap().contains("within its limits"), "{script}: {data}");
    }
}

/// Files that a child leaves in the directory where it indexes a pack never cause a write outside of the copy.
#[tokio::test]
async fn hostile_child_cannot_make_the_server_write_elsewhere() {
    let hash = "0123456789012345678901234567890123456789";
    let scripts = [
        "ln -sfn \"$OUTSIDE\" refs; ln -sfn \"$OUTSIDE\" objects; ln -sfn \"$OUTSIDE\" pack".to_owned(),
        format!("ln -sfn \"$OUTSIDE/target\" pack-{hash}.pack; mkfifo pack-{hash}.idx"),
        format!("mkdir pack-{hash}.pack; echo x > \"pack-{hash}.pack/x\""),
    ];
    for script in scripts {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("target"), "unchanged").unwrap();
        let reply = framed(&json!({"result": {"done": {"objects": 1}}, "cause": null, "unenforced": []}));
        let program = Program::replying(&reply);
        let setup = format!("PATH=/usr/bin:/bin; OUTSIDE={}; {script}", outside.path().display());
        let text = std::fs::read_to_string(program.path()).unwrap();
        std::fs::write(program.path(), text.replace("cat", &format!("{setup}\ncat"))).unwrap();
        let repositories = Repositories::new();
        repositories.create_with_files("acme/ledger", &[("a.rs", "fn a() {}\n")]);
        let market = TestMarket::with_program(program.path(), |settings| {
            settings.repositories.github_url = repositories.url();
        });
        small_market::seed_market(&market, &[], &json!({}));
        let body = json!({"title": "Ledger", "exclusivity": "available",
            "data": {"channel": "github", "repo_full_name": "acme/ledger"}});
        seller_post(&market, "codebases", body).await;
        market.run_background();
        let names: Vec<_> =
            std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["target"], "{script}");
        assert_eq!(std::fs::read_to_string(outside.path().join("target")).unwrap(), "unchanged", "{script}");
    }
}

/// A child that ends in any other way is started once more. Then the run is an error, and its charge is
/// returned.
#[tokio::test]
async fn interrupted_child_is_started_once_more() {
    let count = "echo start >> \"${0%program}starts\"; ";
    let huge_frame = "printf '\\377\\377\\377\\377'";
    let scripts = ["kill -9 $$", "kill -TERM $$", "exit 1", "printf abc", "printf '\\0\\0\\0\\2{}x'", "true"];
    for script in scripts {
        let program = Program::new(&format!("{count}{script}"));
        let market = market_with_program(program.path());
        let (asset, run) = check(&market).await;
        assert_eq!(asset["data"]["analysis_status"], "failed", "{script}");
        assert_eq!((&run["status"], &run["charge_total"]), (&json!("error"), &json!(0.0)), "{script}: {run}");
        assert_eq!(credits(&market).await, json!("12.00"), "{script}");
        let starts = std::fs::read_to_string(program.directory.path().join("starts")).unwrap();
        assert_eq!(starts.lines().count(), 4, "{script}: two starts of each of two jobs");
    }
    // A child that announces too many bytes has exceeded a limit.
    let program = Program::new(huge_frame);
    let market = market_with_program(program.path());
    assert_eq!(check(&market).await.1["status"], "completed");
}

/// A fault of the machine is not the fault of the upload, however often it occurs, unless it lasts for a day.
#[tokio::test]
async fn job_waits_while_no_child_can_be_started() {
    let program = Program::new("exit 1");
    let permit = |mode| std::fs::set_permissions(program.path(), PermissionsExt::from_mode(mode)).unwrap();
    let (market, path) = market_with_data(program.path()).await;
    let status = async || seller_get(&market, &path).await["data"]["analysis_status"].clone();
    permit(0o600);
    for _ in 0..2 * MAX_ATTEMPTS {
        market.run_background();
        assert_ne!(status().await, "failed");
        market.clock().advance(FULL_DISK_DELAY_MICROS);
    }
    permit(0o700);
    market.run_background();
    assert_eq!(status().await, "failed", "the program runs, and ends without a reply");
    permit(0o600);
    let url = upload_zip(&market, "Seller house", &zip_of(&[("b.txt", "text")]));
    let path = create_raw_data(&market, "Later scans", &url).await;
    market.run_background();
    market.clock().advance(MAX_POSTPONED_MICROS);
    for _ in 0..2 * MAX_ATTEMPTS {
        market.run_background();
        market.clock().advance(FULL_DISK_DELAY_MICROS);
    }
    let data = seller_get(&market, &path).await["data"].clone();
    assert_eq!(data["analysis_status"], "failed", "{data}");
}

/// The parent validates a reply like any untrusted input.
#[tokio::test]
async fn invalid_replies_are_refused() {
    let valid = json!({"result": {"done": {
        "listing": {"files": 1, "bytes": 4, "extensions": {}, "root": null, "description": null,
            "structure": {"max_depth": 1, "roots": [{"name": "a.txt", "kind": "file", "children": []}]}},
        "own": {"raw_data": null},
    }}, "cause": null, "unenforced": []});
    let program = Program::replying(&framed(&valid));
    let market = market_with_program(program.path());
    assert_eq!(check(&market).await.0["data"]["analysis_status"], "completed", "the reply is valid");
    let mut deep = json!({"name": "x", "kind": "folder", "children": []});
    for _ in 0..20 {
        deep = json!({"name": "x", "kind": "folder", "children": [deep]});
    }
    let changes: [(&str, Value); 7] = [
        ("/result/done/listing/files", json!(u64::MAX)),
        ("/result/done/listing/description", json!("x".repeat(200_000))),
        ("/result/done/listing/structure/roots/0/name", json!("x".repeat(2_000))),
        ("/result/done/listing/structure/roots/0", deep),
        ("/unenforced", json!(vec!["x"; 11])),
        ("/cause", json!(7)),
        ("/unenforced", json!(vec![""; 1_100_000])),
    ];
    for (pointer, value) in changes {
        let mut reply = valid.clone();
        *reply.pointer_mut(pointer).unwrap() = value;
        let program = Program::replying(&framed(&reply));
        let market = market_with_program(program.path());
        assert_eq!(check(&market).await.0["data"]["analysis_status"], "failed", "{pointer}");
    }
}

/// Detaching the data stops its child, and the canceled run keeps its charge only if it had begun.
#[tokio::test(flavor = "multi_thread")]
async fn detaching_stops_the_child() {
    let program = Program::new("exec sleep 1000");
    let (market, path) = market_with_data(program.path()).await;
    seller_call(&market, "POST", &format!("{path}/qc/runs"), Value::Null).await.expect_status(202);
    let (is_detached, runtime) = (Cell::new(false), tokio::runtime::Handle::current());
    let keep_running = || {
        if !is_detached.replace(true) {
            tokio::task::block_in_place(|| {
                runtime.block_on(async {
                    let detached = seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await;
                    detached.expect_status(204);
                });
            });
        }
        true
    };
    // Returns only because the child is killed.
    operations::background::run_pending(market.market(), &keep_running).unwrap();
    let run = seller_get(&market, &format!("{path}/qc")).await["latest_run"].clone();
    assert_eq!((&run["status"], &run["charge_total"]), (&json!("cancelled"), &json!(0.0)));
    assert_eq!(credits(&market).await, json!("12.00"), "the run had not begun");
}

/// A server that stops ends its children at once. Their jobs are started once more, and then given up.
#[tokio::test]
async fn stopping_the_server_interrupts_the_child() {
    let program = Program::new("exec sleep 1000");
    let (market, path) = market_with_data(program.path()).await;
    for _ in 0..2 {
        let checks = Cell::new(0);
        let keep_running = || {
            checks.set(checks.get() + 1);
            checks.get() < 10
        };
        operations::background::run_pending(market.market(), &keep_running).unwrap();
        assert_eq!(seller_get(&market, &path).await["data"]["analysis_status"], "running");
    }
    market.run_background();
    assert_eq!(seller_get(&market, &path).await["data"]["analysis_status"], "failed");
}

/// A server that stops before a job had its turn does not count as an interruption.
#[tokio::test]
async fn waiting_job_is_not_interrupted() {
    let (market, path) = market_with_data(env!("CARGO_BIN_EXE_marketplace").into()).await;
    let children = ChildProcesses::new(market.market());
    let mut other = children.turns().join(TeamRowId(99));
    assert!(other.wait(Duration::ZERO), "another team has the only turn");
    for _ in 0..3 {
        let job = operations::jobs::claim(market.market(), Queue::Analyses, 0).unwrap().unwrap();
        operations::jobs::run(market.market(), job, &children, &|| false).unwrap();
    }
    drop(other);
    market.run_background();
    assert_eq!(seller_get(&market, &path).await["data"]["analysis_status"], "completed");
}

/// An upload that is attached to thirty rows is read once.
#[tokio::test]
async fn upload_is_read_once() {
    let real = env!("CARGO_BIN_EXE_marketplace");
    let program = Program::new(&format!("echo start >> \"${{0%program}}starts\"; exec {real} \"$@\""));
    let market = market_with_program(program.path());
    let url = upload_zip(&market, "Seller house", &zip_of(&[("README.md", "# A\n\nSome words.\n")]));
    let mut paths = Vec::new();
    for number in 0..30 {
        paths.push(create_raw_data(&market, &format!("Scans {number}"), &url).await);
    }
    market.run_background();
    for path in &paths {
        assert_eq!(seller_get(&market, path).await["description"], "Some words.");
    }
    let starts = std::fs::read_to_string(program.directory.path().join("starts")).unwrap();
    assert_eq!(starts.lines().count(), 1);
}

/// A child cannot use the network, start programs, or reach the server; nor read files where the kernel has
/// Landlock.
#[test]
fn child_is_confined() {
    let market = TestMarket::empty();
    let succeeded = ChildProcesses::new(market.market()).test_confinement().unwrap();
    let files = ["read a file", "list a directory", "write a file", "create a directory"];
    let has_landlock = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok();
    let unexpected: Vec<&String> =
        succeeded.iter().filter(|attempt| has_landlock || !files.contains(&attempt.as_str())).collect();
    assert!(unexpected.is_empty(), "{succeeded:?}");
}
