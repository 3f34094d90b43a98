//! Every operation of both documents: who is let in, what is refused in which order, and answers that are as their
//! schemas say.

use std::collections::BTreeSet;

use poem::http::Method;
use serde_json::json;
use uuid::Uuid;

use super::rows::{BUYER, LOCKED, Needs, OPEN, Row, VENDOR, rows};
use crate::harness::{
    Answer, demo,
    documents::{Document, Operation, documents},
    records::{self, demo_records},
};

/// The operation of a row, as a document has it.
fn operation(row: &Row) -> &'static Operation {
    let found = documents().iter().find_map(|document| document.operation(row.operation));
    found.unwrap_or_else(|| panic!("{} stands in no document", row.operation))
}

/// Demands that an answer is as both documents say, where they have the operation.
fn check(operation: &str, answer: &Answer) {
    for document in documents() {
        if let Some(operation) = document.operation(operation) {
            document.check(operation, answer);
        }
    }
}

/// Asks an operation and demands a status, a code and a body as documented.
async fn refused(row: &Row, path: &str, headers: &[(&str, &str)], status: u16, code: &str) -> Answer {
    let method = Method::from_bytes(operation(row).method.as_bytes()).unwrap();
    let body = (row.body)();
    let mut headers = headers.to_vec();
    let answer = if body.is_null() {
        demo().send(method, path, &headers).await
    } else {
        headers.push(("content-type", "application/json"));
        demo().send_body(method, path, &headers, body.to_string().into_bytes()).await
    };
    let asked = format!("{path} with {headers:?}");
    assert_eq!(answer.status, status, "{asked}: {}", String::from_utf8_lossy(&answer.bytes));
    assert_eq!(answer.code(), code, "{asked}");
    if status != 422 {
        assert_eq!(answer.json()["error"]["request_id"], answer.header("x-request-id"), "{asked}");
    }
    check(row.operation, &answer);
    answer
}

fn bearer(key: &str) -> [(&'static str, String); 1] {
    [("authorization", format!("Bearer {key}"))]
}

async fn refused_to(row: &Row, key: &str, path: &str, status: u16, code: &str) -> Answer {
    let [(name, value)] = bearer(key);
    refused(row, path, &[(name, &value)], status, code).await
}

#[test]
fn every_operation_has_a_row_and_every_row_an_operation() {
    let documented: BTreeSet<String> =
        documents().iter().flat_map(Document::operations).map(|operation| operation.id.clone()).collect();
    let rows: BTreeSet<String> = rows().map(|row| row.operation.to_owned()).collect();
    assert_eq!(documented, rows);
    assert_eq!(super::rows::rows().count(), rows.len(), "an operation has two rows");
}

#[tokio::test]
async fn without_a_key_that_counts_every_operation_answers_401() {
    for row in rows() {
        // Neither a fault of shape nor a thing that is not there shows through.
        for path in [row.path(), format!("{}?zzz=1&limit=0", row.path())] {
            for headers in [
                &[][..],
                &[("authorization", "Bearer mkt_nobody_has_this_key")],
                &[("authorization", "Bearer ")],
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
                // The first header that is sent counts, be it good or bad.
                &[
                    ("authorization", "Bearer mkt_nobody_has_this_key"),
                    ("platform-api-key", VENDOR),
                    ("x-api-key", VENDOR),
                ],
                &[("authorization", "Basic x"), ("x-api-key", VENDOR)],
                &[("platform-api-key", "mkt_nobody_has_this_key"), ("x-api-key", VENDOR)],
            ] {
                let answer = refused(row, &path, headers, 401, "unauthorized").await;
                assert_eq!(answer.header("www-authenticate"), "Bearer", "{path}");
            }
        }
    }
    let query = format!("/v2/listings/browse?api_key={VENDOR}&access_token={VENDOR}");
    refused(Row::of("browse_listings"), &query, &[], 401, "unauthorized").await;
}

#[tokio::test]
async fn each_header_carries_a_key_and_the_first_of_them_counts() {
    for row in rows().filter(|row| operation(row).method == "GET") {
        let (key, path) = (row.happy)().swap_remove(0);
        let token = format!("Bearer {key}");
        let lower = format!("bearer {key}");
        for headers in [
            &[("authorization", token.as_str())][..],
            &[("Authorization", lower.as_str())],
            &[("platform-api-key", key)],
            &[("x-api-key", key)],
            &[("X-API-Key", key)],
            &[
                ("authorization", &token),
                ("platform-api-key", "mkt_bad_bad_bad"),
                ("x-api-key", "mkt_bad_bad_bad"),
            ],
            &[("platform-api-key", key), ("x-api-key", "mkt_bad_bad_bad")],
        ] {
            let answer = demo().send(Method::GET, &path, headers).await;
            assert_eq!(answer.status, 200, "{} with {headers:?}", row.operation);
        }
    }
}

#[tokio::test]
async fn a_team_without_a_role_or_without_the_nda_is_refused() {
    for row in rows() {
        let path = row.path();
        for (key, code) in [
            ("mkt_demo_no_role", "marketplace_role_required"),
            ("mkt_demo_no_nda", "nda_required"),
            ("mkt_demo_buyer_no_nda", "nda_required"),
        ] {
            // A team that does not sell is told so before anything else.
            let code = match row.needs {
                Needs::Vendor if key == "mkt_demo_buyer_no_nda" => "marketplace_role_required",
                Needs::Buyer if key == "mkt_demo_no_nda" => "marketplace_role_required",
                _ => code,
            };
            if row.needs == Needs::Key {
                let answer = demo().get(key, &path).await;
                assert_eq!(answer.status, 200, "{path} with {key}");
                check(row.operation, &answer);
                continue;
            }
            refused_to(row, key, &path, 403, code).await;
            // Credentials come before shape, and shape before existence.
            refused_to(row, key, &format!("{path}?zzz=1&limit=0"), 403, code).await;
            for id in ["not-a-uuid", "00000000-0000-0000-0000-000000000000"] {
                refused_to(row, key, &with_ids(row, id), 403, code).await;
            }
        }
    }
}

/// The path template of a row with something else for its ids.
fn with_ids(row: &Row, id: &str) -> String {
    let filled = operation(row).path.split('/').map(|step| if step.starts_with('{') { id } else { step });
    filled.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn in_front_of_the_gate_only_what_is_open_to_all_is_served() {
    let locked = "listing_browse_locked";
    let own: Vec<_> = {
        let team = demo_records().team_of(LOCKED);
        assert!(demo_records().is_locked(team));
        demo_records().of("listings").iter().filter(|listing| listing["team"] == team).collect()
    };
    let foreign = |listing: &&&serde_json::Value| listing["team"] != own[0]["team"];
    for row in rows() {
        let path = row.path();
        match row.needs {
            Needs::Vendor | Needs::Buyer => {}
            Needs::Key | Needs::Member => check(row.operation, &ok(LOCKED, &path).await),
            Needs::FirstPage => {
                for query in ["", "?limit=5", "?sort=recommended", "?sort=recommended&limit=100"] {
                    check(row.operation, &ok(LOCKED, &format!("{path}{query}")).await);
                }
                for name in
                    operation(row).query.iter().filter(|name| !["limit", "sort"].contains(&name.as_str()))
                {
                    for value in ["", "0", "false", "1", "x"] {
                        refused_to(row, LOCKED, &format!("{path}?{name}={value}"), 403, locked).await;
                    }
                }
                for query in ["sort=recent", "sort=", "zzz=1", "limit=0&query=x", "cursor=abc"] {
                    let answer = refused_to(row, LOCKED, &format!("{path}?{query}"), 403, locked).await;
                    let details = &answer.json()["error"]["details"];
                    assert_eq!(*details, json!({"published_count": 1, "required_count": 3}));
                }
                refused_to(row, LOCKED, &format!("{path}?limit=0"), 422, "greater_than_equal").await;
            }
            Needs::OpenGate => {
                for query in ["", "?sort=recent", "?ids=zzz", "?zzz=1"] {
                    refused_to(row, LOCKED, &format!("{path}{query}"), 403, locked).await;
                }
            }
            Needs::OpenGateOrOwn => {
                for listing in demo_records().of("listings").iter().filter(|listing| foreign(&listing)) {
                    let listing = records::id("listings", listing).to_string();
                    refused_to(row, LOCKED, &with_ids(row, &listing), 403, locked).await;
                }
                refused_to(row, LOCKED, &with_ids(row, &Uuid::nil().to_string()), 403, locked).await;
                refused_to(
                    row,
                    LOCKED,
                    &format!("{}?zzz=1", with_ids(row, &Uuid::nil().to_string())),
                    403,
                    locked,
                )
                .await;
                for listing in &own {
                    let path = with_ids(row, &records::id("listings", listing).to_string());
                    if path.contains("/tasksets/") {
                        refused_to(row, LOCKED, &path, 404, "not_found").await;
                    } else {
                        check(row.operation, &ok(LOCKED, &path).await);
                    }
                }
            }
        }
    }
}

async fn ok(key: &str, path: &str) -> Answer {
    let answer = demo().get(key, path).await;
    assert_eq!(answer.status, 200, "{path} with {key}: {}", String::from_utf8_lossy(&answer.bytes));
    answer
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_with_the_nearest_name() {
    for row in rows() {
        let (query, nearest) = row.misspelt;
        let (name, _) = query.split_once('=').unwrap();
        let (key, _) = (row.happy)().swap_remove(0);
        let answer = refused_to(row, key, &format!("{}?{query}", row.path()), 422, "extra_forbidden").await;
        let problem = &answer.json()["detail"][0];
        assert_eq!(problem["loc"], json!(["query", name]), "{}", row.operation);
        let said = problem["msg"].as_str().unwrap();
        assert!(said.contains(name), "{said}");
        assert!(nearest.is_empty() || said.contains(&format!("did you mean `{nearest}`")), "{said}");
        // Shape comes before existence.
        if row.needs == Needs::OpenGateOrOwn {
            let nowhere = format!("{}?zzz=1", with_ids(row, &Uuid::nil().to_string()));
            refused_to(row, BUYER, &nowhere, 422, "extra_forbidden").await;
        }
    }
}

#[tokio::test]
async fn every_problem_of_a_query_is_told_at_once() {
    let row = Row::of("browse_listings");
    let path = "/v2/listings/browse?limit=101&min_price=-1&sort=best&min_vendor_tier=4&zzz=1&owned=maybe&min_loc=1.5";
    let answer = refused_to(row, BUYER, path, 422, "less_than_equal").await;
    let told: Vec<String> = answer.json()["detail"]
        .as_array()
        .unwrap()
        .iter()
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
    assert_eq!(told, expected);
    refused_to(row, BUYER, "/v2/listings/browse?limit=1&limit=2", 422, "repeated").await;
}

#[tokio::test]
async fn a_malformed_id_in_the_path_is_refused_by_its_name() {
    for row in rows().filter(|row| row.needs == Needs::OpenGateOrOwn) {
        for bad in ["not-a-uuid", "0", "00000000-0000-0000-0000-00000000000g", "%20", "%00", "%FF"] {
            let answer = refused_to(row, BUYER, &with_ids(row, bad), 422, "uuid_parsing").await;
            assert_eq!(answer.json()["detail"][0]["loc"], json!(["path", "listing_id"]));
        }
        if operation(row).path.contains("{taskset_id}") {
            let path = operation(row).path.replace("{listing_id}", &Uuid::nil().to_string());
            let path = path.replace("{taskset_id}", "not-a-uuid");
            let answer = refused_to(row, BUYER, &path, 422, "uuid_parsing").await;
            assert_eq!(answer.json()["detail"][0]["loc"], json!(["path", "taskset_id"]));
        }
    }
}

#[tokio::test]
async fn ids_in_the_paths_of_a_side_are_refused_by_their_names() {
    for row in rows().filter(|row| [Needs::Vendor, Needs::Buyer].contains(&row.needs)) {
        let template = &operation(row).path;
        let names = template.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'));
        // The token of a grant is no id.
        for name in names.filter(|name| *name != "token") {
            let path = template.replace(&format!("{{{name}}}"), "not-a-uuid");
            let path = path.replace("{group_id}", &Uuid::nil().to_string());
            let path = path.replace("{listing_id}", &Uuid::nil().to_string());
            let caller = if row.needs == Needs::Vendor { VENDOR } else { BUYER };
            let path = path.replace("{asset_id}", &Uuid::nil().to_string());
            let answer = refused_to(row, caller, &path, 422, "uuid_parsing").await;
            assert_eq!(answer.json()["detail"][0]["loc"], json!(["path", name]));
        }
    }
}

#[tokio::test]
async fn routes_of_a_side_are_for_that_side() {
    for row in rows() {
        let other = match row.needs {
            Needs::Vendor => BUYER,
            Needs::Buyer => VENDOR,
            _ => continue,
        };
        for path in [row.path(), format!("{}?zzz=1", row.path()), with_ids(row, "not-a-uuid")] {
            refused_to(row, other, &path, 403, "marketplace_role_required").await;
        }
    }
    // Each side's document has its own routes, and not the other's.
    for row in rows() {
        let stands_in: Vec<bool> =
            documents().iter().map(|document| document.operation(row.operation).is_some()).collect();
        let expected = match row.needs {
            Needs::Vendor => [true, false],
            Needs::Buyer => [false, true],
            _ => [true, true],
        };
        assert_eq!(stands_in, expected, "{}", row.operation);
    }
}

#[tokio::test]
async fn what_a_team_may_not_see_is_not_there() {
    for row in rows() {
        for (key, path) in (row.absent)() {
            refused_to(row, key, &path, 404, "not_found").await;
        }
    }
}

#[tokio::test]
async fn happy_answers_are_as_their_schemas_say() {
    for row in rows().filter(|row| operation(row).method == "GET") {
        let asked = (row.happy)();
        assert!(!asked.is_empty(), "{} is never asked", row.operation);
        for (key, path) in asked {
            check(row.operation, &ok(key, &path).await);
        }
    }
}

#[test]
fn the_listings_that_are_asked_for_are_of_every_sort() {
    let seen: Vec<_> = (Row::of("get_listing").happy)();
    let listing_of = |path: &str| {
        let listings = demo_records().of("listings").iter();
        listings
            .clone()
            .find(|listing| path.ends_with(&records::id("listings", listing).to_string()))
            .unwrap()
    };
    let mut sorts = BTreeSet::new();
    for (secret, path) in &seen {
        let (listing, team) = (listing_of(path), demo_records().team_of(secret));
        sorts.extend(demo_records().kinds(listing).into_iter().map(str::to_owned));
        if listing["team"] == team {
            sorts.insert(format!("own {}", records::stage(listing)));
        } else if !records::is_published(listing) {
            sorts.insert("bought and withdrawn".to_owned());
        }
    }
    for sort in [
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
        assert!(sorts.contains(sort), "no listing is {sort}");
    }
    assert!(OPEN.iter().all(|key| !demo_records().is_locked(demo_records().team_of(key))));
}
