//! Quality evidence of a vendor's own listings.

use serde_json::{Value, json};

use super::seller_market::{OTHER, market_with, seeded_id, seller_call, seller_get};
use crate::harness::elements;

fn check(check: &str, kind: &str, asset: Option<&str>, mandatory: bool, status: &str) -> Value {
    json!({"check": check, "label": format!("Label {check}"), "kind": kind, "asset": asset, "mandatory": mandatory, "status": status})
}

fn market() -> crate::harness::TestMarket {
    market_with_asset_runs(&[])
}

/// Returns the market with these runs of the asset `code` as well: `(key, days ago, checks)`.
fn market_with_asset_runs(asset_runs: &[(&str, u32, Value)]) -> crate::harness::TestMarket {
    let run = |key: &str, listing: &str, status: &str, days: u32, checks: Value| {
        json!({"key": key, "listing": listing, "status": status, "triggered_by": "submission",
            "started_at": format!("-P{days}D"), "completed_at": (status != "running").then(|| format!("-P{days}D")), "checks": checks})
    };
    let listing = |key: &str, team: &str, asset: &str| {
        json!({"key": key, "team": team, "title": format!("Listing {key}"), "description": "D", "price_usd": 5,
            "created_at": "-P20D", "assets": [asset]})
    };
    let credit = |team: &str| {
        json!({"key": format!("credit-{team}"), "team": team, "entry_type": "adjustment", "amount_usd": 100,
            "description": "Credit", "created_at": "-P40D"})
    };
    let mut records = json!({
        "ledger_entries": [credit("seller"), credit("both")],
        "assets": [
            {"key": "code", "team": "seller", "sku": "codebase", "title": "Code", "created_at": "-P30D", "codebase": {"exclusivity": "available",
                "data": {"channel": "github", "repo_full_name": "acme/code", "archive_status": "completed", "analysis_status": "completed",
                    "attached_at": "-P29D"}}},
            {"key": "theirs", "team": "both", "sku": "raw_data", "title": "T", "created_at": "-P30D", "raw_data": {}},
        ],
        "listings": [listing("a", "seller", "code"), listing("b", "seller", "code"), listing("x", "both", "theirs")],
        "quality_runs": [
            run("r1", "a", "completed", 9, json!([check("archive_intact", "automated", Some("code"), true, "failed")])),
            run("r2", "a", "completed", 5, json!([
                check("archive_intact", "automated", Some("code"), true, "passed"),
                check("title_fits", "review", None, false, "failed"),
                check("boots", "environment", Some("code"), true, "passed"),
                check("boots_slowly", "environment", Some("code"), false, "failed"),
                check("solvable", "task", Some("code"), false, "passed"),
                check("solvable", "task", Some("code"), false, "failed"),
                check("fair", "task", None, false, "passed"),
            ])),
            run("r3", "b", "running", 3, json!([check("archive_intact", "automated", Some("code"), true, "queued")])),
            run("r4", "x", "completed", 2, json!([])),
        ],
    });
    for (key, days, checks) in asset_runs {
        let at = format!("-P{days}D");
        records["quality_runs"].as_array_mut().unwrap().push(json!({
            "key": key, "asset": "code", "status": "completed", "triggered_by": "team", "started_at": at,
            "completed_at": at, "checks": checks,
        }));
    }
    market_with(&records)
}

#[tokio::test]
async fn listing_qc_shows_the_latest_run_with_its_checks() {
    let market = market();
    let path = format!("listings/{}/qc", seeded_id("listings", "a"));
    let view = seller_get(&market, &path).await;
    assert_eq!(
        (&view["listing_id"], &view["listing_status"]),
        (&json!(seeded_id("listings", "a")), &json!("draft"))
    );
    assert_eq!((&view["platform_quality_certified"], &view["hub_ingest"]), (&json!(true), &json!([])));
    let run = &view["latest_run"];
    assert_eq!(
        (&run["run_number"], &run["status"], &run["mandatory_passed"]),
        (&json!(2), &json!("completed"), &json!(true))
    );
    assert_eq!(run["charge_total"], 5.0);
    let keys = |run: &Value| -> Vec<String> {
        elements(&run["checks"]).map(|check| check["key"].as_str().unwrap().to_owned()).collect()
    };
    // Passed task rows are omitted unless the request asks for all. The summaries always include them.
    assert_eq!(keys(run), ["archive_intact", "title_fits", "boots", "boots_slowly", "solvable"]);
    let all = seller_get(&market, &format!("{path}?task_rows=all")).await["latest_run"].clone();
    assert_eq!(keys(&all).len(), 7);
    assert_eq!(all["task_summaries"], run["task_summaries"]);
    assert_eq!(
        run["task_summaries"],
        json!([
            {"check_key": "solvable", "label": "Label solvable", "listing_asset_id": seeded_id("assets", "code"), "asset_name": "Code",
                "queued": 0, "running": 0, "passed": 1, "failed": 1, "error": 0, "total": 2},
            {"check_key": "fair", "label": "Label fair", "listing_asset_id": null, "asset_name": null,
                "queued": 0, "running": 0, "passed": 1, "failed": 0, "error": 0, "total": 1},
        ])
    );
    let check = &run["checks"][0];
    assert_eq!(
        (&check["scope"], &check["asset_type"], &check["asset_name"]),
        (&json!("asset"), &json!("codebase"), &json!("Code"))
    );
    assert_eq!(
        (&check["asset_reference"], &check["listing_asset_id"]),
        (&json!("acme/code"), &json!(seeded_id("assets", "code")))
    );
    assert_eq!(
        (&run["checks"][1]["scope"], &run["checks"][1]["asset_name"]),
        (&json!("listing"), &Value::Null)
    );
    let never = market
        .call(OTHER, "GET", &format!("/v2/listings/{}/qc", seeded_id("listings", "x")), &Value::Null)
        .await
        .ok();
    assert_eq!(never["latest_run"]["checks"], json!([]));
    assert_eq!(
        seller_call(&market, "GET", &format!("{path}?task_rows=some"), Value::Null).await.problems(),
        ["query.task_rows enum"]
    );
}

#[tokio::test]
async fn qc_reports_list_all_runs_newest_first() {
    let market = market();
    let reports = seller_get(&market, "listings/qc-reports").await;
    assert_eq!(reports["total"], 3);
    let lines: Vec<String> = elements(&reports["reports"])
        .map(|report| {
            format!(
                "{} {} {} {} {}/{}",
                report["listing_title"].as_str().unwrap(),
                report["run_number"],
                report["status"].as_str().unwrap(),
                report["mandatory_passed"],
                report["environment_checks_passed"],
                report["environment_checks_total"]
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "Listing b 1 running false 0/0",
            "Listing a 2 completed true 1/2",
            "Listing a 1 completed false 0/0"
        ]
    );
    let page = seller_get(&market, "listings/qc-reports?limit=1&offset=1").await;
    assert_eq!((&page["reports"][0], &page["total"]), (&reports["reports"][1], &json!(3)));
    for query in ["limit=0", "limit=201", "offset=-1"] {
        assert_eq!(
            seller_call(&market, "GET", &format!("listings/qc-reports?{query}"), Value::Null).await.status,
            422
        );
    }
}

/// "`qc-reports` lists all runs of the team; rows of asset runs have `listing_id` and `listing_title` null."
#[tokio::test]
async fn qc_reports_include_runs_of_assets_with_their_charges() {
    let passed = json!([check("archive_intact", "automated", Some("code"), true, "passed")]);
    let market = market_with_asset_runs(&[("own-1", 4, passed), ("own-2", 1, json!([]))]);
    let reports = seller_get(&market, "listings/qc-reports").await;
    assert_eq!(reports["total"], 5);
    let rows = reports["reports"].as_array().unwrap();
    let run_ids: Vec<&str> = rows.iter().map(|row| row["run_id"].as_str().unwrap()).collect();
    let expected = ["own-2", "r3", "own-1", "r2", "r1"].map(|key| seeded_id("quality_runs", key));
    assert_eq!(run_ids, expected);
    for (row, number) in [(&rows[0], 2), (&rows[2], 1)] {
        assert_eq!((&row["listing_id"], &row["listing_title"]), (&Value::Null, &Value::Null));
        assert_eq!((&row["run_number"], &row["charge_total"]), (&json!(number), &json!(5.0)));
        assert_eq!((&row["status"], &row["mandatory_passed"]), (&json!("completed"), &json!(true)));
    }
    let page = seller_get(&market, "listings/qc-reports?limit=2&offset=2").await;
    assert_eq!(page["reports"], json!([rows[2], rows[3]]));
    // The charges are those in the ledger, from which the credits are computed.
    let charged: f64 = rows.iter().map(|row| row["charge_total"].as_f64().unwrap()).sum();
    let wallet = seller_get(&market, "wallet").await;
    assert_eq!(wallet["credits_balance"], format!("{:.2}", 100.0 - charged));
    let rows = rusqlite::Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    let sql = "SELECT count(*), sum(p.cents) FROM ledger_entries e JOIN ledger_postings p ON p.entry = e.id
         WHERE e.entry_type = 'adjustment' AND e.description LIKE 'Quality checks of%Code%' AND p.account = 'credits'";
    let ledger: (i64, i64) = rows.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(ledger, (2, -1_000));
}

/// "`latest_run` stays the listing's run; the `checks` of an asset with a newer completed run of its own come
/// from that run."
#[tokio::test]
async fn checks_of_an_asset_come_from_its_newer_own_run() {
    let own = |status| json!([check("archive_intact", "automated", Some("code"), true, status)]);
    let path = format!("listings/{}/qc", seeded_id("listings", "a"));
    // The run of the listing was 5 days ago. An older run of the asset changes nothing.
    let plain = seller_get(&market(), &path).await;
    let market = market_with_asset_runs(&[("old", 7, own("failed"))]);
    assert_eq!(seller_get(&market, &path).await, plain);
    // The checks of the newer run take the place of the asset's checks. The run and its verdict stay the
    // listing's.
    let market = market_with_asset_runs(&[("old", 7, own("passed")), ("new", 4, own("failed"))]);
    let view = seller_get(&market, &path).await;
    let (run, plain_run) = (&view["latest_run"], &plain["latest_run"]);
    for field in
        ["id", "run_number", "status", "mandatory_passed", "charge_total", "started_at", "completed_at"]
    {
        assert_eq!(run[field], plain_run[field], "{field}");
    }
    let shown: Vec<(&str, &str)> = elements(&run["checks"])
        .map(|check| (check["key"].as_str().unwrap(), check["status"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("archive_intact", "failed"), ("title_fits", "failed")]);
    assert_ne!(run["checks"][0]["id"], plain_run["checks"][0]["id"]);
    assert_eq!(run["checks"][1], plain_run["checks"][1]);
    // The same asset is on a listing whose run has not completed.
    let unfinished = seller_get(&market, &format!("listings/{}/qc", seeded_id("listings", "b"))).await;
    assert_eq!(unfinished["latest_run"]["checks"][0]["status"], "queued", "its run is newer");
}
