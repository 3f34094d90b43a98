//! Quality runs of fixture sets: the certifications that they grant, and runs of data that fixtures describe.

use serde_json::{Value, json};

use crate::harness::{TestMarket, demo};

/// Number of codebases and archives of the demo's vendors whose data is real, at least.
const MIN_REAL_DATA: usize = 10;

/// An asset that a fixture attaches after the certifying run ends the certification, like a change through the API,
/// and so does data that is attached later, or during the run.
#[test]
fn changes_after_the_certifying_run_end_the_certification() {
    let listing = |history: Value| {
        json!({"key": "l", "team": "seller", "title": "L", "description": "D", "price_usd": 5, "created_at": "-P20D",
            "assets": ["code"], "history": history})
    };
    let run = |key: &str, started: &str, completed: &str| {
        json!({"key": key, "listing": "l", "status": "completed", "triggered_by": "team", "started_at": started,
            "completed_at": completed, "checks": []})
    };
    let event = |event: &str, at: &str| json!({"event": event, "at": at});
    let first = || run("first", "-P10D", "-P9D");
    let certified = ["certified"];
    let revoked = ["certified", "certification_revoked"];
    let again = ["certified", "certification_revoked", "certified"];
    let data = |attached_at: &str| json!({"channel": "zip", "archive_status": "completed", "analysis_status": "completed", "attached_at": attached_at});
    for (history, runs, attached_at, expected) in [
        (json!([]), json!([first()]), "-P19D", &certified[..]),
        (json!([event("updated", "-P5D")]), json!([first()]), "-P19D", &certified),
        (json!([event("asset_attached", "-P12D")]), json!([first()]), "-P19D", &certified),
        (json!([event("asset_attached", "-P5D")]), json!([first()]), "-P19D", &revoked),
        (json!([event("asset_detached", "-P5D")]), json!([first()]), "-P19D", &revoked),
        // The result of a run applies only to the assets that the listing had when it started.
        (json!([event("asset_attached", "-P9DT12H")]), json!([first()]), "-P19D", &[]),
        (json!([]), json!([first()]), "-P3D", &revoked),
        (
            json!([event("asset_attached", "-P5D")]),
            json!([first(), run("second", "-P3D", "-P2D")]),
            "-P19D",
            &again,
        ),
    ] {
        let market = TestMarket::empty();
        market.seed_json(&json!({
            "teams": [{"key": "seller", "name": "Seller", "roles": ["vendor"], "tier": 1, "created_at": "-P90D"}],
            "ledger_entries": [{"key": "e", "team": "seller", "entry_type": "adjustment", "amount_usd": 50,
                "description": "C", "created_at": "-P90D"}],
            "assets": [{"key": "code", "team": "seller", "sku": "codebase", "title": "C", "created_at": "-P20D",
                "codebase": {"exclusivity": "available", "data": data(attached_at)}}],
            "listings": [listing(history.clone())],
            "quality_runs": runs,
        }));
        let rows = rusqlite::Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
        let sql = "SELECT event FROM listing_history WHERE event LIKE 'certif%' ORDER BY occurred_at, id";
        let mut statement = rows.prepare(sql).unwrap();
        let events: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(events, expected, "{history} {runs} {attached_at}");
        let is_certified: bool =
            rows.query_row("SELECT certified_at IS NOT NULL FROM listings", [], |row| row.get(0)).unwrap();
        assert_eq!(is_certified, expected.last() == Some(&"certified"), "{history} {runs} {attached_at}");
    }
}

/// No quality run of demo data ends because its files are gone: it completes, or is refused before it starts. The data
/// of some codebases and archives is real.
#[tokio::test]
async fn quality_runs_of_the_demo_complete_or_are_refused() {
    let market = TestMarket::demo();
    let (mut started, mut refused) = (Vec::new(), 0);
    for key in
        ["mkt_demo_vendor", "mkt_demo_both", "mkt_demo_both_two", "mkt_demo_vendor_three", "mkt_demo_locked"]
    {
        for collection in ["codebases", "raw-data"] {
            let list = market
                .get(key, &format!("/v2/{collection}?limit=200&filter=channel:is_not:not_linked"))
                .await;
            for row in list.ok()["items"].as_array().unwrap() {
                let path = format!("/v2/{collection}/{}/qc", row["id"].as_str().unwrap());
                let response = market.call(key, "POST", &format!("{path}/runs"), &Value::Null).await;
                if response.status == 202 {
                    started.push((key, path, row["title"].clone()));
                } else {
                    assert_eq!(response.expect_error(409), "data_not_readable", "{}", row["title"]);
                    refused += 1;
                }
            }
        }
    }
    assert!(started.len() >= MIN_REAL_DATA && refused > 0, "{} started, {refused} refused", started.len());
    market.run_background();
    for (key, path, title) in started {
        let run = market.get(key, &path).await.ok()["latest_run"].clone();
        assert_eq!(
            (&run["status"], &run["mandatory_passed"]),
            (&json!("completed"), &json!(true)),
            "{title}: {run:#}"
        );
    }
}

/// In the demo, no certification is older than a change of its listing's assets.
#[test]
fn demo_certifications_cover_the_assets_as_they_are() {
    let rows = rusqlite::Connection::open(demo().market().data_dir().join("market.sqlite")).unwrap();
    let count = |sql: &str| rows.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
    let changed_since = "SELECT count(*) FROM listings l JOIN listing_history h ON h.listing = l.id
         WHERE h.event IN ('asset_attached', 'asset_detached') AND h.occurred_at > l.certified_at";
    assert_eq!(count(changed_since), 0);
    let revoked =
        "SELECT count(DISTINCT h.listing) FROM listing_history h JOIN listings l ON l.id = h.listing
         WHERE h.event = 'certification_revoked' AND l.certified_at IS NULL";
    assert!(count(revoked) > 0, "the demo has a listing whose certification ended");
}
