//! What a listing shows to which team: visibility, summaries, details, bundles, deprecations and quality
//! evidence.

use serde_json::{Value, json};

use super::small_market::{BROWSE, keys, listing, published, small_market, small_market_with};
use crate::harness::{
    BASE, demo, elements,
    records::{demo_records, id, is_published},
};

fn detail_path(key: &str) -> String {
    format!("{BROWSE}/{}", marketplace::clock::fixture_record_id("listings", key))
}

fn purchase(key: &str, kind: &str, buyer: &str, status: &str) -> Value {
    let mut record = json!({"key": format!("{key}-{buyer}-{kind}-{status}"), "listing": key, "buyer": buyer, "kind": kind,
        "status": status, "price_usd": 5, "scope": if kind == "sample" { "sample" } else { "all" }, "created_at": "-P3D"});
    if ["completed", "refunded"].contains(&status) {
        record["paid_at"] = json!("-P2D");
    }
    if status == "refunded" {
        record["refunded_at"] = json!("-P1D");
    }
    record
}

const FILE_SHA256: &str = "a791386591d8df971839387b4547fe071d0d17609938a451b640a4cfcbc9e538";

fn listing_with_bundle(key: &str, history: &Value) -> Value {
    let files = json!([{"path": "b/two.csv", "size_bytes": 2, "sha256": FILE_SHA256}, {"path": "a.csv", "size_bytes": 1, "sha256": FILE_SHA256}]);
    published(key, 9, &json!({"bundle_files": files, "history": history}))
}

#[tokio::test]
async fn unpublished_listing_is_visible_to_owner_and_buyers_only() {
    let market = small_market_with(
        &[
            listing_with_bundle("gone", &json!([{"event": "unpublished", "at": "-P1D"}])),
            listing("draft", &json!({})),
        ],
        &json!({"purchases": [
            purchase("gone", "sample", "buyer", "completed"),
            purchase("gone", "full", "other", "refunded"),
            purchase("gone", "sample", "other", "pending"),
        ]}),
    );
    for (key, path, status) in [
        ("mkt_seller", "gone", 200),
        ("mkt_seller", "draft", 200),
        ("mkt_buyer", "gone", 200),
        ("mkt_buyer", "draft", 404),
        // Neither a refunded nor an unpaid purchase gives access.
        ("mkt_other", "gone", 404),
        ("mkt_both", "gone", 404),
    ] {
        for step in ["", "/quality"] {
            assert_eq!(
                market.get(key, &format!("{}{step}", detail_path(path))).await.status,
                status,
                "{key} {path}{step}"
            );
        }
    }
    let page = market.get("mkt_buyer", BROWSE).await.ok();
    assert_eq!(
        (keys(&page).len(), &page["counts"]["all"]),
        (0, &json!(0)),
        "a bought listing does not return to the catalog"
    );
}

/// The vendor and teams that bought from a listing can download its bundle. Until it is prepared, the manifest is what the
/// fixture set states.
#[tokio::test]
async fn bundle_has_links_for_its_vendor_and_its_buyers() {
    let market = small_market_with(
        &[listing_with_bundle("kept", &json!([])), published("a", 9, &json!({}))],
        &json!({"purchases": [purchase("kept", "full", "buyer", "completed"), purchase("kept", "sample", "other", "completed")]}),
    );
    for (key, listing, has_link) in [
        ("mkt_seller", "kept", true),
        ("mkt_buyer", "kept", true),
        ("mkt_other", "kept", true),
        ("mkt_both", "kept", false),
        ("mkt_buyer", "a", false),
    ] {
        let detail = market.get(key, &detail_path(listing)).await.ok();
        let id = marketplace::clock::fixture_record_id("listings", listing);
        assert_eq!(detail["bundle_url"], format!("{BASE}/v2/blobs/bundles/{id}"), "{key} {listing}");
        assert_eq!(detail["bundle_download_url"].is_string(), has_link, "{key} {listing}");
        let manifest = detail["bundle_manifest"].as_object().unwrap();
        assert_eq!(manifest.len(), if listing == "kept" { 2 } else { 0 });
    }
    let own = format!("/v2/listings/{}", marketplace::clock::fixture_record_id("listings", "kept"));
    let detail = market.get("mkt_seller", &own).await.ok();
    assert_eq!(detail["bundle_manifest"]["b/two.csv"], json!({"size_bytes": 2, "sha256": FILE_SHA256}));
}

#[tokio::test]
async fn accepted_bid_is_not_active() {
    let offer = json!({"key": "bid", "listing": "kept", "buyer": "buyer", "amount_usd": 4, "status": "accepted",
        "created_at": "-P5D", "decided_at": "-P3D"});
    let mut purchase_record = purchase("kept", "accepted_bid", "buyer", "completed");
    purchase_record["key"] = json!("bought");
    purchase_record["offer"] = json!("bid");
    purchase_record.as_object_mut().unwrap().remove("price_usd");
    let market = small_market_with(
        &[published("kept", 9, &json!({"accepts_bids": true}))],
        &json!({"offers": [offer], "purchases": [purchase_record]}),
    );
    let detail = market.get("mkt_buyer", &detail_path("kept")).await.ok();
    assert_eq!(detail["active_bid_count"], 0);
}

#[tokio::test]
async fn summary_lists_twelve_assets_and_counts_all() {
    let assets: Vec<Value> = (0..15)
        .map(|number| json!({"key": format!("part-{number}"), "team": "seller", "sku": "raw_data", "title": format!("Part {number}"),
            "created_at": "-P95D", "domain_tags": ["finance"],
            "raw_data": {"file_count": 2, "data": {"channel": "zip", "archive_status": "completed", "analysis_status": "completed",
                "attached_at": "-P80D", "archive_bytes": 10}}}))
        .collect();
    let names: Vec<&Value> = assets.iter().map(|asset| &asset["key"]).collect();
    let market =
        small_market_with(&[published("many", 3, &json!({"assets": names}))], &json!({"assets": assets}));
    let page = market.get("mkt_buyer", BROWSE).await.ok();
    let detail = market.get("mkt_buyer", &detail_path("many")).await.ok();
    for listing in [&page["items"][0], &detail] {
        let parts: Vec<&str> =
            elements(&listing["assets"]).map(|asset| asset["title"].as_str().unwrap()).collect();
        assert_eq!(parts, (0..12).map(|number| format!("Part {number}")).collect::<Vec<_>>());
        assert_eq!(
            listing["assets"][0]["scale"],
            json!({"loc": null, "task_count": null, "zip_size_bytes": 10})
        );
        assert_eq!(
            listing["catalog_scale"],
            json!({"asset_counts": {"raw_data": 15}, "languages": [], "loc": 0, "task_count": 0,
            "zip_file_count": 30, "zip_size_bytes": 150})
        );
        assert_eq!(listing["team_name"], "Seller house");
        assert_eq!(listing["asset_types"], json!(["raw_data"]));
    }
}

#[tokio::test]
async fn deprecated_kinds_are_reported_and_retire_on_time() {
    let other = json!({"key": "box", "team": "seller", "sku": "other", "title": "Box", "created_at": "-P95D", "other": []});
    let kind = json!({"slug": "other", "label": "Others", "is_enabled": false, "listing_kinds": ["boxes"], "deprecation": {
        "deprecated_at": "-P9D", "retires_at": "P1D", "accepts_new_listings": false, "message": "Use raw data."}});
    let market = small_market_with(
        &[published("a", 3, &json!({"assets": ["box"]})), published("b", 2, &json!({}))],
        &json!({"assets": [other], "asset_types": [kind]}),
    );
    let page = market.get("mkt_buyer", &format!("{BROWSE}?sort=recent")).await.ok();
    let (current, old) = (&page["items"][0], &page["items"][1]);
    assert_eq!(
        (&current["carries_retired_sku"], &current["deprecation"]),
        (&json!(false), &json!({"types": [], "retires_at": null}))
    );
    assert_eq!(old["deprecation"], json!({"types": ["other"], "retires_at": "2026-03-02T09:00:00.000Z"}));
    assert_eq!(old["carries_retired_sku"], false);
    assert_eq!(old["assets"][0]["deprecation"]["retired"], false);
    assert_eq!(old["assets"][0]["deprecation"]["message"], "Use raw data.");
    let types = market.get("mkt_buyer", "/v2/asset-types").await.ok();
    let slugs =
        |list: &Value| list.as_array().unwrap().iter().map(|kind| kind["slug"].clone()).collect::<Vec<_>>();
    assert_eq!(slugs(&types["deprecated_asset_types"]), ["other"]);
    assert!(!slugs(&types["asset_types"]).contains(&json!("other")));
    assert_eq!(types["deprecated_asset_types"][0]["listing_kinds"], json!(["boxes"]));
    market.clock().advance(2 * 86_400 * 1_000_000);
    let types = market.get("mkt_buyer", "/v2/asset-types").await.ok();
    assert_eq!(types["deprecated_asset_types"][0]["deprecation"]["retired"], true);
}

#[tokio::test]
async fn quality_evidence_contains_no_vendor_ids() {
    let mut seen = 0;
    for listing in demo_records().collection("listings").iter().filter(|listing| is_published(listing)) {
        let response =
            demo().get("mkt_demo_buyer", &format!("{BROWSE}/{}/quality", id("listings", listing))).await;
        let body = response.ok();
        for check in body["checks"].as_array().unwrap() {
            let names: Vec<&String> = check.as_object().unwrap().keys().collect();
            assert_eq!(
                names,
                ["asset_type", "informational", "key", "kind", "label", "mandatory", "scope", "status"]
            );
            seen += 1;
        }
        let text = String::from_utf8_lossy(&response.bytes).into_owned();
        for asset in crate::harness::records::texts(&listing["assets"]) {
            assert!(
                !text.contains(&marketplace::clock::fixture_record_id("assets", asset).to_string()),
                "{asset}"
            );
        }
        assert_eq!(body["certified"].as_bool().unwrap(), body["certified_at"].is_string());
    }
    assert!(seen > 0, "no listing of the demo market has quality evidence");
}

#[tokio::test]
async fn certification_follows_the_latest_completed_run() {
    let run = |key: &str, day: u32, status: &str, result: &str| {
        let mut run = json!({"key": key, "listing": "a", "status": status, "triggered_by": "team", "started_at": format!("-P{day}D"),
            "checks": [{"check": "archive_intact", "label": "Archive", "kind": "automated", "mandatory": true, "status": result},
                {"check": "env", "label": "Env", "kind": "environment", "status": "failed"}]});
        if status != "running" {
            run["completed_at"] = json!(format!("-P{}DT1H", day - 1));
        }
        run
    };
    let credits = json!({"key": "c", "team": "seller", "entry_type": "adjustment", "amount_usd": 500, "description": "Credits",
        "created_at": "-P90D"});
    let passed = run("r1", 9, "completed", "passed");
    for (more, is_certified) in [
        (vec![], true),
        (vec![run("r2", 6, "error", "error")], true),
        (vec![run("r2", 6, "running", "queued")], true),
        (vec![run("r2", 6, "completed", "failed")], false),
        (vec![run("r2", 6, "completed", "failed"), run("r3", 4, "completed", "passed")], true),
    ] {
        let runs: Vec<Value> = std::iter::once(passed.clone()).chain(more).collect();
        let market = small_market_with(
            &[published("a", 20, &json!({}))],
            &json!({"quality_runs": runs, "ledger_entries": [credits]}),
        );
        let detail = market.get("mkt_buyer", &detail_path("a")).await.ok();
        assert_eq!(detail["platform_quality_certified"], is_certified, "{runs:?}");
        let evidence = market.get("mkt_buyer", &format!("{}/quality", detail_path("a"))).await.ok();
        assert_eq!(evidence["certified"], is_certified, "{runs:?}");
        assert_eq!(
            (&evidence["environment_checks_passed"], &evidence["environment_checks_total"]),
            (&json!(0), &json!(1))
        );
        let page = market.get("mkt_buyer", &format!("{BROWSE}?verified_only=true")).await.ok();
        assert_eq!(keys(&page).len(), usize::from(is_certified), "{runs:?}");
    }
}

#[tokio::test]
async fn amounts_and_times_have_the_documented_format() {
    let market = small_market(&[published(
        "a",
        3,
        &json!({"price_usd": 19.99, "sample_price_usd": 0, "accepts_bids": true,
        "delivery": {"method": "download", "expected_days": 2}, "available_from": "P3D"}),
    )]);
    let detail = market.get("mkt_buyer", &detail_path("a")).await.ok();
    for (name, value) in [
        ("price", json!(19.99)),
        ("currency", json!("USD")),
        ("price_per_task", Value::Null),
        ("sample_available", json!(true)),
        ("sample_price", json!(0.0)),
        ("accepts_bids", json!(true)),
        ("available_from", json!("2026-03-04T09:00:00.000Z")),
        ("published_at", json!("2026-02-26T09:00:00.000Z")),
        ("delivery", json!({"method": "download", "expected_days": 2})),
        ("review_status", json!("approved")),
        ("catalog_status", json!("published")),
        ("archived_at", Value::Null),
        ("vendor_tier", json!(1)),
    ] {
        assert_eq!(detail[name], value, "{name}");
    }
    let wallet = market.get("mkt_buyer", "/v2/wallet").await.ok();
    assert_eq!(
        wallet,
        json!({"credits_balance": "0.00", "currency": "USD",
        "earnings": {"total": "0.00", "pending": "0.00", "available": "0.00"}})
    );
}
