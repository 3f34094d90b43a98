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
    for (key, tool, arguments) in [
        (BUYER, "get_listing_quality", json!({"listing_id": listing})),
        (BUYER, "browse_listings", json!({})),
        (BUYER, "get_listing", json!({"listing_id": listing})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "group_by": ["certified"]})),
        (VENDOR, "get_listing_qc", json!({"listing_id": own[0]["id"]})),
        (VENDOR, "get_own_listing", json!({"listing_id": own[0]["id"]})),
        (VENDOR, "list_own_listings", json!({})),
        (VENDOR, "list_qc_reports", json!({})),
        (VENDOR, "list_assets", json!({})),
        (VENDOR, "get_asset_qc", json!({"kind": "codebase", "asset_id": with_data["id"]})),
        (VENDOR, "get_asset", json!({"kind": "codebase", "asset_id": with_data["id"]})),
        (VENDOR, "get_codebase_structure", json!({"asset_id": with_data["id"]})),
        (VENDOR, "list_estimations", json!({})),
        (VENDOR, "list_codebases", json!({"fields": ["lines_of_code"]})),
        (VENDOR, "list_raw_data", json!({"fields": ["data.archive_bytes"]})),
        (BUYER, "preview_taskset_tasks", taskset.clone()),
        (BUYER, "browse_listings", json!({"fields": ["platform_quality_certified"]})),
        (
            VENDOR,
            "get_own_listing",
            json!({"listing_id": own[0]["id"], "fields": ["platform_quality_certified"]}),
        ),
    ] {
        let output = call(demo(), key, tool, arguments).await.ok();
        assert!(output["evidence"].as_str().is_some_and(|text| !text.is_empty()), "{tool}: {output}");
    }
    let output = call(demo(), BUYER, "get_listings", json!({"ids": [listing]})).await.ok();
    assert!(output["listings"][0]["evidence"].as_str().unwrap().contains("checks passed"), "{output}");
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
        assert_eq!(quality["evidence"], listings["listings"][0]["evidence"]);
        let evidence = quality["evidence"].as_str().unwrap();
        assert!(evidence.starts_with(expected), "{evidence}");
        if let Some(at) = quality["certified_at"].as_str() {
            assert!(evidence.contains(&format!("{at} by the operator, not by a quality run")), "{evidence}");
        }
    }
    let of_vendor = call(&market, VENDOR, "get_listing_qc", json!({"listing_id": other})).await.ok();
    let evidence = of_vendor["evidence"].as_str().unwrap();
    assert!(evidence.contains("certified nevertheless"), "{evidence}");
}
