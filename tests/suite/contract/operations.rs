//! Every operation of all documents: who may call it, in which order errors are reported, and whether
//! responses match their schemas.

use std::collections::BTreeSet;

use marketplace::rest::{APIS, route::Target};
use poem::http::Method;
use serde_json::json;
use uuid::Uuid;

use super::cases::{BUYER, Case, READING_OPERATOR, RequiredAccess, TEAMS_WITH_CATALOG_ACCESS, VENDOR, cases};
use crate::harness::{
    TestResponse, demo,
    documents::documents,
    elements,
    records::{self, demo_records},
};

/// Calls an operation and asserts the status, the error code, and a body that matches the documents.
async fn assert_error(
    row: &Case,
    path: &str,
    headers: &[(&str, &str)],
    status: u16,
    code: &str,
) -> TestResponse {
    let method = Method::from_bytes(row.documented().method.as_bytes()).unwrap();
    let body = row.body();
    let mut headers = headers.to_vec();
    let response = if body.is_null() {
        demo().send(method, path, &headers).await
    } else {
        headers.push(("content-type", "application/json"));
        demo().send_body(method, path, &headers, body.to_string().into_bytes()).await
    };
    let description = format!("{path} with {headers:?}");
    assert_eq!(response.status, status, "{description}: {}", String::from_utf8_lossy(&response.bytes));
    assert_eq!(response.error_code(), code, "{description}");
    if status != 422 {
        assert_eq!(response.json()["error"]["request_id"], response.header("x-request-id"), "{description}");
    }
    row.assert_matches_documents(&response);
    response
}

fn bearer_header(key: &str) -> [(&'static str, String); 1] {
    [("authorization", format!("Bearer {key}"))]
}

async fn assert_error_for(row: &Case, key: &str, path: &str, status: u16, code: &str) -> TestResponse {
    let [(name, value)] = bearer_header(key);
    assert_error(row, path, &[(name, &value)], status, code).await
}

#[test]
fn every_operation_has_exactly_one_case() {
    for (api, document) in APIS.iter().zip(documents()) {
        let documented: BTreeSet<&str> =
            document.operations().iter().map(|operation| operation.id.as_str()).collect();
        let of_api: Vec<&str> = api.routes().iter().map(|route| route.operation).collect();
        let rows: BTreeSet<&str> = of_api.iter().copied().collect();
        assert_eq!(documented, rows, "{}", api.name);
        assert_eq!(of_api.len(), rows.len(), "{} has an operation with more than one row", api.name);
    }
}

#[tokio::test]
async fn every_form_of_an_invalid_key_returns_401() {
    let row = Case::for_operation("browse_listings");
    // Without a key, neither validation errors nor missing resources are reported.
    for path_of_url in [row.path(), format!("{}?zzz=1&limit=0", row.path())] {
        for headers in [
            &[("authorization", "Bearer ")][..],
            &[("authorization", "Bearer")],
            &[("authorization", "Basic bWt0X2RlbW9fdmVuZG9y")],
            &[("authorization", "mkt_demo_vendor")],
            &[("platform-api-key", "mkt_nobody_has_this_key")],
            &[("x-api-key", "mkt_nobody_has_this_key")],
            &[("platform-api-key", "")],
            &[("cookie", "key=mkt_demo_vendor")],
            &[("authorization", "Bearer mkt_demo_expired")],
            &[("x-api-key", "mkt_demo_expired")],
            &[("authorization", "Bearer mkt_demo_revoked")],
            &[("platform-api-key", "mkt_demo_revoked")],
            // Only the first header that is sent counts, even if its key is invalid.
            &[
                ("authorization", "Bearer mkt_nobody_has_this_key"),
                ("platform-api-key", VENDOR),
                ("x-api-key", VENDOR),
            ],
            &[("authorization", "Basic x"), ("x-api-key", VENDOR)],
            &[("platform-api-key", "mkt_nobody_has_this_key"), ("x-api-key", VENDOR)],
        ] {
            assert_error(row, &path_of_url, headers, 401, "unauthorized").await;
        }
    }
    let query = format!("/v2/listings/browse?api_key={VENDOR}&access_token={VENDOR}");
    assert_error(row, &query, &[], 401, "unauthorized").await;
    let lower_case = [("authorization", "bearer mkt_demo_vendor")];
    assert_eq!(demo().send(Method::GET, &row.path(), &lower_case).await.status, 200);
}

#[tokio::test]
async fn team_without_role_or_nda_is_rejected() {
    for row in cases() {
        let path = row.path();
        for (key, code) in [
            ("mkt_demo_no_role", "marketplace_role_required"),
            ("mkt_demo_no_nda", "nda_required"),
            ("mkt_demo_buyer_no_nda", "nda_required"),
        ] {
            // The role of the API is checked before the NDA.
            let code = match row.access {
                RequiredAccess::Vendor if key == "mkt_demo_buyer_no_nda" => "marketplace_role_required",
                RequiredAccess::Buyer if key == "mkt_demo_no_nda" => "marketplace_role_required",
                RequiredAccess::Operator | RequiredAccess::ActingOperator => "operator_required",
                _ => code,
            };
            if row.access == RequiredAccess::ValidKey {
                let response = demo().get(key, &path).await;
                assert_eq!(response.status, 200, "{path} with {key}");
                row.assert_matches_documents(&response);
                continue;
            }
            assert_error_for(row, key, &path, 403, code).await;
            // Access is checked before parameters, and parameters are checked before existence.
            assert_error_for(row, key, &format!("{path}?zzz=1&limit=0"), 403, code).await;
            for id in ["not-a-uuid", "00000000-0000-0000-0000-000000000000"] {
                assert_error_for(row, key, &path_with_ids(row, id), 403, code).await;
            }
        }
    }
}

/// Returns the path template of a row with `id` in place of each parameter.
fn path_with_ids(row: &Case, id: &str) -> String {
    let filled = row.documented().path.split('/').map(|step| if step.starts_with('{') { id } else { step });
    filled.collect::<Vec<_>>().join("/")
}

async fn assert_ok(key: &str, path: &str) -> TestResponse {
    let response = demo().get(key, path).await;
    assert_eq!(response.status, 200, "{path} with {key}: {}", String::from_utf8_lossy(&response.bytes));
    response
}

#[tokio::test]
async fn unknown_query_parameter_is_rejected_with_a_suggestion() {
    for row in cases().filter(|row| !row.is_absent()) {
        let (query, nearest) = row.route.contract.misspelled;
        let (name, _) = query.split_once('=').unwrap();
        let (key, _) = row.first_request();
        let response =
            assert_error_for(row, key, &format!("{}?{query}", row.path()), 422, "extra_forbidden").await;
        let problem = &response.json()["detail"][0];
        assert_eq!(problem["loc"], json!(["query", name]), "{}", row.operation);
        let message = problem["msg"].as_str().unwrap();
        assert!(message.contains(name), "{message}");
        assert!(nearest.is_empty() || message.contains(&format!("did you mean `{nearest}`")), "{message}");
        // Parameters are checked before existence.
        if row.access == RequiredAccess::CatalogAccessOrOwner {
            let path_of_missing = format!("{}?zzz=1", path_with_ids(row, &Uuid::nil().to_string()));
            assert_error_for(row, BUYER, &path_of_missing, 422, "extra_forbidden").await;
        }
    }
}

#[tokio::test]
async fn all_problems_of_a_query_are_reported_together() {
    let row = Case::for_operation("browse_listings");
    let path = "/v2/listings/browse?limit=101&min_price=-1&sort=best&min_vendor_tier=4&zzz=1&owned=maybe&min_loc=1.5";
    let response = assert_error_for(row, BUYER, path, 422, "less_than_equal").await;
    let problems: Vec<String> = elements(&response.json()["detail"])
        .map(|problem| {
            format!("{} {}", problem["loc"][1].as_str().unwrap(), problem["type"].as_str().unwrap())
        })
        .collect();
    let expected = [
        "limit less_than_equal",
        "min_price greater_than_equal",
        "sort enum",
        "min_vendor_tier less_than_equal",
        "zzz extra_forbidden",
        "owned bool_parsing",
        "min_loc int_parsing",
    ];
    assert_eq!(problems, expected);
    assert_error_for(row, BUYER, "/v2/listings/browse?limit=1&limit=2", 422, "repeated").await;
}

#[tokio::test]
async fn malformed_path_id_is_rejected_with_its_location() {
    for row in cases().filter(|row| row.access == RequiredAccess::CatalogAccessOrOwner) {
        for invalid_id in ["not-a-uuid", "0", "00000000-0000-0000-0000-00000000000g", "%20", "%00", "%FF"] {
            let response =
                assert_error_for(row, BUYER, &path_with_ids(row, invalid_id), 422, "uuid_parsing").await;
            assert_eq!(response.json()["detail"][0]["loc"], json!(["path", "listing_id"]));
        }
        if row.documented().path.contains("{taskset_id}") {
            let path = row.documented().path.replace("{listing_id}", &Uuid::nil().to_string());
            let path = path.replace("{taskset_id}", "not-a-uuid");
            let response = assert_error_for(row, BUYER, &path, 422, "uuid_parsing").await;
            assert_eq!(response.json()["detail"][0]["loc"], json!(["path", "taskset_id"]));
        }
    }
}

#[test]
fn documents_have_the_routes_of_their_callers() {
    // The document of an API has the routes of this API and the shared ones, but not those of other APIs.
    for row in cases() {
        for (api, document) in APIS.iter().zip(documents()) {
            let expected = match row.access {
                RequiredAccess::Vendor => api.name == "vendor",
                RequiredAccess::Buyer => api.name == "buyer",
                _ => row.access.key_kind() == api.keys && row.is_of_sandbox() == api.is_sandbox(),
            };
            let documented = document.operation(row.operation).filter(|_| row.access.key_kind() == api.keys);
            assert_eq!(documented.is_some(), expected, "{} in {}", row.operation, api.name);
            assert!(documented.is_none_or(|operation| api.has_path(&operation.path)), "{}", row.operation);
        }
    }
}

#[tokio::test]
async fn resources_hidden_from_a_team_return_404() {
    for row in cases() {
        let is_of_world = [Target::World, Target::WorldRepository].contains(&row.route.contract.target);
        let code = if is_of_world { "world_not_found" } else { "not_found" };
        for (key, path_of_url) in row.not_found_requests() {
            assert_error_for(row, key, &path_of_url, 404, code).await;
        }
    }
}

#[tokio::test]
async fn successful_responses_match_their_schemas() {
    for row in cases().filter(|row| row.documented().method == "GET" && !row.is_absent()) {
        let requests = row.ok_requests();
        assert!(!requests.is_empty(), "{} has no request that succeeds", row.operation);
        for (key, path_of_url) in requests {
            row.assert_matches_documents(&assert_ok(key, &path_of_url).await);
        }
    }
}

#[test]
fn requested_listings_cover_all_kinds_and_stages() {
    let seen: Vec<_> = Case::for_operation("get_listing").ok_requests();
    let listing_of = |path: &str| {
        let listings = demo_records().collection("listings").iter();
        listings
            .clone()
            .find(|listing| path.ends_with(&records::id("listings", listing).to_string()))
            .unwrap()
    };
    let mut categories = BTreeSet::new();
    for (secret, path) in &seen {
        let (listing, team) = (listing_of(path), demo_records().team_of(secret));
        categories.extend(demo_records().asset_kinds(listing).into_iter().map(str::to_owned));
        if listing["team"] == team {
            categories.insert(format!("own {}", records::stage(listing)));
        } else if !records::is_published(listing) {
            categories.insert("bought and withdrawn".to_owned());
        }
    }
    for category in [
        "codebase",
        "raw_data",
        "task",
        "taskset",
        "bundle",
        "environment",
        "robotics_dataset",
        "other",
        "own draft",
        "own review",
        "own ready",
        "own active",
        "own archived",
        "bought and withdrawn",
    ] {
        assert!(categories.contains(category), "no requested listing is: {category}");
    }
    assert!(
        TEAMS_WITH_CATALOG_ACCESS.iter().all(|key| !demo_records().is_locked(demo_records().team_of(key)))
    );
}

#[tokio::test]
async fn operations_that_change_something_require_an_operator_key_that_permits_them() {
    for row in cases().filter(|row| row.access == RequiredAccess::ActingOperator) {
        for path in [row.path(), format!("{}?zzz=1", row.path()), path_with_ids(row, "not-an-id")] {
            assert_error_for(row, READING_OPERATOR, &path, 403, "forbidden").await;
        }
    }
}
