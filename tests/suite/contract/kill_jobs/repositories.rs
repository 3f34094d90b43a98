//! Repositories that are being copied, read and checked when the server is killed.

use std::collections::BTreeSet;

use marketplace::{
    domain::{money::Cents, notifications::NotificationType},
    market::Market,
    operations, store,
};
use serde_json::{Value, json};

use super::{CREDITS, KILLS, Site, TEAM};
use crate::harness::{
    git::{Repositories, commit},
    random::Random,
    server::Server,
};

/// Files of the repository: enough for kills to fall into copying, reading and checking.
const FILES: usize = 150;

/// What a quality run costs, as the settings have it.
const PRICE: Cents = Cents(500);

fn ledger() -> Repositories {
    let repositories = Repositories::new();
    let path = repositories.make("acme/ledger");
    let files: Vec<(String, String)> = (0..FILES)
        .map(|number| {
            (format!("src/{number}.rs"), format!("fn f{number}() {{\n    {number};\n}}\n").repeat(50))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    commit(&path, &files, "Begin", &[]);
    commit(&path, &[("README.md", "# Ledger\n\nKeeps accounts.\n")], "Add a README (#1)", &[]);
    repositories
}

/// Links the repository and asks for a quality run of it: the id of the codebase.
fn linked(server: &Server) -> String {
    let body = json!({"title": "Ledger", "exclusivity": "available",
        "data": {"channel": "github", "repo_full_name": "acme/ledger"}});
    let (status, row) = server.call("POST", "/v2/codebases", &body);
    assert_eq!(status, 201, "{row}");
    let id = row["id"].as_str().unwrap().to_owned();
    let (status, run) = server.call("POST", &format!("/v2/codebases/{id}/qc/runs"), &Value::Null);
    assert_eq!((status, &run["run_number"]), (202, &json!(1)), "{run}");
    id
}

#[test]
fn repositories_are_read_and_checked_however_often_the_server_dies() {
    let repositories = ledger();
    let site = Site::new(&repositories.url());
    let mut random = Random(9);
    let (mut taken, mut times_left) = (Vec::new(), 0);
    for _ in 0..KILLS {
        let server = site.server();
        for _ in 0..=random.below(3) {
            taken.push(linked(&server));
        }
        std::thread::sleep(std::time::Duration::from_millis(random.below(300)));
        server.kill();
        times_left += u32::from(site.is_any_left());
    }
    assert!(times_left > 0, "no kill came before all had ended, so nothing was shown");
    let market = site.settled();
    assert_eq!((site.files("work"), site.files("repositories").len()), (Vec::new(), taken.len()));
    charged_and_told_once(&market, taken.len() as i64);
    drop(market);
    let server = site.server();
    assert_eq!(server.call("GET", "/v2/codebases", &Value::Null).1["total"], taken.len());
    for id in taken {
        let row = server.call("GET", &format!("/v2/codebases/{id}"), &Value::Null).1;
        let data = &row["data"];
        assert_eq!(
            (&data["archive_status"], &data["analysis_status"]),
            (&json!("completed"), &json!("completed"))
        );
        assert_eq!((&row["commits"], &row["description"]), (&json!(2), &json!("Keeps accounts.")));
        let run = server.call("GET", &format!("/v2/codebases/{id}/qc"), &Value::Null).1["latest_run"].clone();
        assert_eq!((&run["run_number"], &run["status"]), (&json!(1), &json!("completed")), "{run}");
        let checks: Vec<&Value> =
            run["checks"].as_array().unwrap().iter().map(|check| &check["key"]).collect();
        let keys: BTreeSet<String> = checks.iter().map(ToString::to_string).collect();
        assert_eq!((checks.is_empty(), keys.len()), (false, checks.len()), "each check is written once");
    }
}

/// Each run has cost its price once, and its team was told of its end once.
fn charged_and_told_once(market: &Market, runs: i64) {
    let (credits, told) = market
        .read_blocking(|reader| {
            let team = operations::teams::resolve(reader.rows, TEAM)?.number;
            let told = store::notifications::newest(reader.rows, team, 1_000)?;
            Ok((store::wallet::balances(reader.rows, team, reader.now)?.credits, told))
        })
        .unwrap();
    let ended = told.iter().filter(|told| told.kind == NotificationType::QualityCheckCompleted).count();
    assert_eq!((credits, ended as i64), (Cents(CREDITS.0 - runs * PRICE.0), runs));
}
