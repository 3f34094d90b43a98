//! Repositories that are being copied, analyzed and checked when the server is killed.

use std::collections::BTreeSet;

use marketplace::{
    domain::{money::Cents, notifications::NotificationType},
    market::Market,
    operations, store,
};
use serde_json::{Value, json};

use super::{CREDITS, KILLS, KilledMarket, TEAM};
use crate::harness::{
    git::{Repositories, commit},
    random::Random,
    server::Server,
};

/// Number of files in the repository, large enough that kills interrupt copying, analysis and checks.
const FILES: usize = 150;

/// Price of a quality run in the default settings.
const PRICE: Cents = Cents(500);

fn create_ledger_repository() -> Repositories {
    let repositories = Repositories::new();
    let path = repositories.create("acme/ledger");
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

/// Creates a codebase with the repository, starts a quality run for it, and returns the ID of the codebase.
fn link_and_check(server: &Server) -> String {
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
fn repository_jobs_finish_once_despite_server_kills() {
    let repositories = create_ledger_repository();
    let killed_market = KilledMarket::new(&repositories.url());
    let mut random = Random::new(9);
    let (mut codebase_ids, mut interrupted_rounds) = (Vec::new(), 0);
    for _ in 0..KILLS {
        let server = killed_market.server();
        for _ in 0..=random.below(3) {
            codebase_ids.push(link_and_check(&server));
        }
        std::thread::sleep(std::time::Duration::from_millis(random.below(300)));
        server.kill();
        interrupted_rounds += u32::from(killed_market.has_pending_jobs());
        killed_market.finish_jobs();
    }
    assert!(interrupted_rounds > 0, "no kill interrupted a job, so the test proves nothing");
    let market = killed_market.finish_jobs();
    assert_eq!(
        (killed_market.blob_names("work"), killed_market.blob_names("repositories").len()),
        (Vec::new(), codebase_ids.len())
    );
    assert_charged_and_notified_once(&market, codebase_ids.len() as i64);
    drop(market);
    let server = killed_market.server();
    assert_eq!(server.call("GET", "/v2/codebases", &Value::Null).1["total"], codebase_ids.len());
    for id in codebase_ids {
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
        assert_eq!((checks.is_empty(), keys.len()), (false, checks.len()), "each check is stored once");
    }
}

/// Asserts that each run was charged once, and that the team has one notification per finished run.
fn assert_charged_and_notified_once(market: &Market, runs: i64) {
    let (credits, notifications) = market
        .read_blocking(|reader| {
            let team = operations::teams::resolve(reader.rows, TEAM)?.row_id;
            let notifications = store::notifications::list_newest(reader.rows, team, 1_000)?;
            Ok((store::wallet::balances(reader.rows, team)?.credits, notifications))
        })
        .unwrap();
    let finished = notifications
        .iter()
        .filter(|notifications| notifications.kind == NotificationType::QualityCheckCompleted)
        .count();
    assert_eq!((credits, finished as i64), (Cents(CREDITS.0 - runs * PRICE.0), runs));
}
