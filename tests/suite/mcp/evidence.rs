//! Evidence: answers about quality and measurements name their basis.

use serde_json::{Value, json};

use super::{
    call,
    rest_records::{rest_details, rest_list, rest_pages},
};
use crate::{
    contract::cases::{BUYER, OPERATOR, VENDOR},
    harness::{TestMarket, demo},
};

#[tokio::test]
async fn answers_about_quality_name_their_basis() {
    let listings = rest_list(BUYER, "/v2/listings/browse?limit=20", "items").await;
    let listing = &listings[0]["id"];
    let own = rest_list(VENDOR, "/v2/listings?limit=100", "items").await;
    let codebases = rest_pages(VENDOR, "/v2/codebases", "items").await;
    let details = rest_details(BUYER).await;
    let with_tasks =
        details.iter().find(|one| one["tasksets"].as_array().is_some_and(|sets| !sets.is_empty()));
    let taskset =
        with_tasks.map(|one| json!({"listing_id": one["id"], "taskset_id": one["tasksets"][0]["id"]}));
    let taskset = taskset.unwrap();
    let with_data = codebases.iter().find(|codebase| codebase["data"]["analyzed_at"].is_string()).unwrap();
    let raw_data = rest_pages(VENDOR, "/v2/raw-data", "items").await;
    let archive = raw_data.iter().find(|one| one["data"]["analyzed_at"].is_string()).unwrap();
    let tasks = rest_pages(VENDOR, "/v2/tasks", "items").await;
    let with_assets = own.iter().find(|one| !one["assets"].as_array().unwrap().is_empty()).unwrap();
    let analyzed_at = |asset: &Value| asset["data"]["analyzed_at"].as_str().unwrap().to_owned();
    let of_commit = codebases.iter().find(|one| one["data"]["commit_sha"].is_string()).unwrap();
    let commit = of_commit["data"]["commit_sha"].as_str().unwrap().to_owned();
    let task_version = tasks[0]["task"]["task_version_id"].as_str().unwrap().to_owned();
    let now =
        call(demo(), VENDOR, "get_current_team", json!({})).await.ok()["now"].as_str().unwrap().to_owned();
    for (key, tool, arguments, named) in [
        (BUYER, "get_listing_quality", json!({"listing_id": listing}), "Quality run "),
        (BUYER, "get_listing", json!({"listing_id": listing}), "Quality run "),
        (BUYER, "get_listing", json!({"listing_id": listing, "fields": ["evidence"]}), "Quality run "),
        (
            BUYER,
            "aggregate",
            json!({"list": "browse_listings", "group_by": ["certified"]}),
            "matching records",
        ),
        (BUYER, "list_purchases", json!({"fields": ["*"]}), &now),
        (BUYER, "list_offers", json!({"fields": ["*"]}), &now),
        (BUYER, "preview_taskset_tasks", taskset, "graded"),
        (
            BUYER,
            "get_listing_quality",
            json!({"listing_id": listing, "fields": ["certified"]}),
            "Quality run ",
        ),
        (BUYER, "aggregate", json!({"list": "browse_listings", "fields": ["matches"]}), "matching records"),
        (VENDOR, "get_listing_qc", json!({"listing_id": own[0]["id"]}), "uality run"),
        (VENDOR, "get_own_listing", json!({"listing_id": own[0]["id"]}), "uality run"),
        (VENDOR, "list_qc_reports", json!({}), "`run_id`"),
        (VENDOR, "get_asset_qc", json!({"kind": "codebase", "asset_id": with_data["id"]}), "uality run"),
        (
            VENDOR,
            "get_asset",
            json!({"kind": "codebase", "asset_id": with_data["id"]}),
            &analyzed_at(with_data),
        ),
        (VENDOR, "get_asset", json!({"asset_id": of_commit["id"], "fields": ["data"]}), &commit),
        (VENDOR, "get_asset", json!({"asset_id": tasks[0]["id"]}), &task_version),
        (VENDOR, "get_codebase_structure", json!({"asset_id": with_data["id"]}), &analyzed_at(with_data)),
        (VENDOR, "get_raw_data_structure", json!({"asset_id": archive["id"]}), &analyzed_at(archive)),
        (VENDOR, "list_estimations", json!({}), "`completed_at`"),
        (VENDOR, "get_estimation_summary", json!({}), &now),
        (VENDOR, "list_codebases", json!({"fields": ["lines_of_code"]}), "`data.analyzed_at`"),
        (VENDOR, "list_raw_data", json!({"fields": ["data.archive_bytes"]}), "`data.analyzed_at`"),
        (VENDOR, "list_listing_assets", json!({"listing_id": with_assets["id"]}), "`data.analyzed_at`"),
        (VENDOR, "list_tasks", json!({}), "`task.qc_refreshed_at`"),
    ] {
        let output = call(demo(), key, tool, arguments.clone()).await.ok();
        let evidence = output["evidence"].as_str().unwrap_or_default();
        // The other form is for a listing without a run.
        let is_of_none = named.contains("uality run") && evidence == "No quality run has completed.";
        assert!(evidence.contains(named) || is_of_none, "{tool} {arguments} lacks {named}: {output}");
    }
}

#[tokio::test]
async fn archives_are_named_by_their_digests() {
    let raw_data = rest_pages(VENDOR, "/v2/raw-data", "items").await;
    let codebases = rest_pages(VENDOR, "/v2/codebases", "items").await;
    let mut digests = 0;
    for asset in raw_data.iter().chain(&codebases).filter(|asset| asset["data"]["channel"] == "zip") {
        let record = call(demo(), VENDOR, "get_asset", json!({"asset_id": asset["id"]})).await.ok();
        let sentence = record["evidence"].as_str().unwrap();
        if let Some((_, digest)) = sentence.split_once("archive with SHA-256 ") {
            assert!(digest.bytes().take_while(u8::is_ascii_hexdigit).count() == 64, "{sentence}");
            digests += 1;
        }
    }
    assert!(digests > 0, "no asset names the digest of its archive");
}

#[tokio::test]
async fn rows_name_their_basis_if_they_state_quality_or_measurements() {
    // Rows of lists have it by default.
    for (key, tool, list) in [
        (BUYER, "browse_listings", "items"),
        (VENDOR, "list_own_listings", "items"),
        (VENDOR, "list_assets", "items"),
    ] {
        let output = call(demo(), key, tool, json!({})).await.ok();
        for row in output[list].as_array().unwrap() {
            let evidence = row["evidence"].as_str().unwrap_or_default();
            assert!(evidence.contains("Run ") || evidence.contains("No quality run"), "{tool}: {row}");
        }
        assert!(output["evidence"].is_null(), "{tool}: {}", output["evidence"]);
    }
    // So they have it if other fields state quality or measurements.
    for (key, tool, fields) in [
        (BUYER, "browse_listings", json!(["price_per_task"])),
        (BUYER, "browse_listings", json!(["catalog_scale.loc", "title"])),
        (VENDOR, "list_assets", json!(["qc"])),
        (VENDOR, "list_own_listings", json!(["platform_quality_certified"])),
    ] {
        let output = call(demo(), key, tool, json!({"fields": fields})).await.ok();
        for row in output["items"].as_array().unwrap() {
            assert!(row["evidence"].is_string(), "{tool} {fields}: {row}");
        }
    }
    // An answer that states nothing of the kind has none.
    let listing = rest_list(BUYER, "/v2/listings/browse?limit=1", "items").await[0]["id"].clone();
    let codebase = rest_list(VENDOR, "/v2/codebases?limit=1", "items").await[0]["id"].clone();
    for (key, tool, arguments) in [
        (BUYER, "list_purchases", json!({})),
        (BUYER, "get_listing", json!({"listing_id": listing, "fields": ["title", "price"]})),
        (VENDOR, "list_codebases", json!({"fields": ["id", "title"]})),
        (VENDOR, "get_asset", json!({"asset_id": codebase, "fields": ["title"]})),
    ] {
        let output = call(demo(), key, tool, arguments).await.ok();
        assert!(output["evidence"].is_null(), "{tool}: {output}");
    }
}

#[tokio::test]
async fn evidence_of_quality_is_that_of_the_run_over_rest() {
    let listing = rest_list(BUYER, "/v2/listings/browse?limit=1", "items").await[0]["id"].clone();
    let output = call(demo(), BUYER, "get_listings", json!({"ids": [listing]})).await.ok();
    assert!(output["listings"][0]["evidence"].as_str().unwrap().contains(" passed"), "{output}");
    let arguments = json!({"listing_id": listing});
    let quality = call(demo(), BUYER, "get_listing_quality", arguments).await.ok();
    let basis = [&quality["run_id"], &quality["completed_at"]].map(|basis| basis.as_str().unwrap());
    assert!(basis.iter().all(|basis| quality["evidence"].as_str().unwrap().contains(basis)), "{quality}");
    let expected =
        demo().get(BUYER, &format!("/v2/listings/browse/{}/quality", listing.as_str().unwrap())).await;
    for (name, value) in expected.ok().as_object().unwrap() {
        assert_eq!(quality[name], *value, "{name}");
    }
}

#[tokio::test]
async fn evidence_names_why_a_listing_is_certified() {
    let market = TestMarket::demo();
    let fields = json!(["id", "evidence", "platform_quality_certified"]);
    let arguments = json!({"fields": fields, "limit": 100, "lifecycle_stages": ["active"]});
    let own = call(&market, VENDOR, "list_own_listings", arguments).await.ok();
    let find = |is_certified: bool| {
        let items = own["items"].as_array().unwrap();
        let found = items.iter().find(|one| one["platform_quality_certified"] == is_certified);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (certified, other) = (find(true), find(false));
    for (listing, operation, expected) in [
        (&certified, "revoke", "Not certified: changed since its quality run, or revoked. Quality run "),
        (&other, "certify", "Certified "),
    ] {
        let path = format!("/operator/v1/listings/{listing}/{operation}");
        market.call(OPERATOR, "POST", &path, &Value::Null).await.ok();
        let arguments = json!({"listing_id": listing});
        let quality = call(&market, BUYER, "get_listing_quality", arguments).await.ok();
        let listings = call(&market, BUYER, "get_listings", json!({"ids": [listing]})).await.ok();
        let brief = listings["listings"][0]["evidence"].as_str().unwrap();
        let record = call(&market, BUYER, "get_listing", json!({"listing_id": listing})).await.ok();
        assert_eq!(quality["evidence"], record["evidence"]);
        let evidence = quality["evidence"].as_str().unwrap();
        assert_eq!(brief.split("un ").next(), evidence.replace("Quality run ", "Run ").split("un ").next());
        if let Some(run) = quality["run_id"].as_str() {
            assert!(brief.contains(run) && evidence.contains(run), "{brief}");
        }
        assert!(evidence.starts_with(expected), "{evidence}");
        if let Some(at) = quality["certified_at"].as_str() {
            assert!(evidence.contains(&format!("{at} by the operator, not by a quality run")), "{evidence}");
        }
    }
    let of_vendor = call(&market, VENDOR, "get_listing_qc", json!({"listing_id": other})).await.ok();
    let evidence = of_vendor["evidence"].as_str().unwrap();
    assert!(evidence.contains("by the operator, not by a quality run"), "{evidence}");
}
