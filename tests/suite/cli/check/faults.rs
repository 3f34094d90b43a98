//! Faults of servers: each makes one operation differ from the interface, and names the rules that must find it.

use serde_json::{Value, json};

use super::proxy::{Answer, Seen};

/// A fault of a server.
pub struct Fault {
    /// Method of the requests that it concerns.
    pub method: &'static str,
    /// The operation that must be reported.
    pub operation: &'static str,
    /// The rules that must report it.
    pub rules: &'static [&'static str],
    /// Whether it concerns a request.
    pub applies_to: fn(&Seen) -> bool,
    /// Changes a response. The number counts the changed responses so far, including this one.
    pub change: fn(&mut Answer, &Seen, usize),
}

/// Returns a fault of the responses to GET requests.
const fn fault(
    operation: &'static str,
    rules: &'static [&'static str],
    applies_to: fn(&Seen) -> bool,
    change: fn(&mut Answer, &Seen, usize),
) -> Fault {
    Fault { method: "GET", operation, rules, applies_to, change }
}

/// Changes the body of a response that has status 200.
fn change_ok(answer: &mut Answer, change: impl FnOnce(&mut Value)) {
    if answer.status == 200 {
        answer.change(change);
    }
}

/// Whether a path is that of one record, below the path of a list.
fn is_record(request: &Seen, list: &str) -> bool {
    request.path().strip_prefix(list).is_some_and(|id| id.len() == 37 && id.starts_with('/'))
}

/// The faults. No two concern the same operation in ways that hide each other.
pub static FAULTS: &[Fault] = &[
    // Schemas.
    fault(
        "get_wallet",
        &["schema.required"],
        |request| request.path() == "/v2/wallet",
        |answer, _, _| change_ok(answer, |body| drop(body.as_object_mut().unwrap().remove("currency"))),
    ),
    fault(
        "list_domains",
        &["schema.unknown_field"],
        |request| request.path() == "/v2/domains",
        |answer, _, _| change_ok(answer, |body| body["domains"][0]["colour"] = json!("red")),
    ),
    fault(
        "list_earnings",
        &["schema.type"],
        |request| request.path() == "/v2/wallet/earnings",
        |answer, _, _| {
            change_ok(answer, |body| {
                for item in body["items"].as_array_mut().unwrap() {
                    item["amount"] = json!(12.5);
                }
            });
        },
    ),
    fault(
        "list_codebases",
        &["schema.enum", "schema.bounds"],
        |request| request.path() == "/v2/codebases",
        |answer, _, _| {
            change_ok(answer, |body| {
                for item in body["items"].as_array_mut().unwrap() {
                    item["exclusivity"] = json!("perhaps");
                }
                body["total"] = json!(-1);
            });
        },
    ),
    fault(
        "list_asset_groups",
        &["schema.format"],
        |request| request.path() == "/v2/asset-groups",
        |answer, _, _| {
            change_ok(answer, |body| body["groups"][0]["created_at"] = json!("2026-03-01T09:00:00+01:00"));
        },
    ),
    // Responses.
    fault(
        "list_content_tags",
        &["response.status", "response.success"],
        |request| request.path() == "/v2/content-tags",
        |answer, _, _| answer.status = if answer.status == 200 { 202 } else { answer.status },
    ),
    fault(
        "list_inventory_tags",
        &["response.content_type"],
        |request| request.path() == "/v2/inventory-tags",
        |answer, _, _| answer.set_header("content-type", "text/plain"),
    ),
    fault(
        "list_languages",
        &["response.json"],
        |request| request.path() == "/v2/codebases/languages",
        |answer, _, _| answer.body.truncate(answer.body.len() / 2),
    ),
    fault(
        "list_notifications",
        &["response.json"],
        |request| request.path() == "/v2/vendor/notifications",
        |answer, _, _| answer.body = "[".repeat(100_000).into_bytes(),
    ),
    fault(
        "list_asset_types",
        &["request_id.echo", "request_id.new"],
        |request| request.path() == "/v2/asset-types",
        |answer, _, _| answer.set_header("x-request-id", ""),
    ),
    fault(
        "get_listing_qc",
        &["response.complete"],
        |request| request.path().starts_with("/v2/listings/") && request.path().ends_with("/qc"),
        |answer, _, _| answer.is_cut = true,
    ),
    fault(
        "get_listing_history",
        &["response.status", "response.content_type"],
        |request| request.path().ends_with("/history"),
        |answer, _, _| {
            answer.status = 302;
            answer.set_header("location", "/elsewhere");
            answer.set_header("content-type", "text/html");
        },
    ),
    fault(
        "list_own_listings",
        &["response.no_server_error", "query.valid"],
        |request| request.path() == "/v2/listings" && request.query() == "sort=price_low",
        |answer, _, _| answer.status = 500,
    ),
    fault(
        "preview_taskset_tasks",
        &["response.complete"],
        |request| request.path().ends_with("/tasks") && request.path().contains("/tasksets/"),
        |answer, _, count| {
            if count == 1 {
                answer.body = vec![b' '; 17 << 20];
            }
        },
    ),
    // Errors.
    fault(
        "get_estimation",
        &["error.request_id"],
        |request| is_record(request, "/v2/estimations"),
        |answer, _, _| {
            if answer.status == 404 {
                answer.change(|body| body["error"]["request_id"] = json!("other"));
            }
        },
    ),
    fault(
        "get_opportunity",
        &["error.code", "schema.enum"],
        |request| is_record(request, "/v2/opportunities"),
        |answer, _, _| {
            if answer.status == 404 {
                answer.change(|body| body["error"]["code"] = json!("\u{1b}[31mmissing\u{202e}"));
            }
        },
    ),
    fault(
        "list_qc_reports",
        &["error.validation"],
        |request| request.path() == "/v2/listings/qc-reports",
        |answer, _, _| {
            if answer.status == 422 {
                answer.change(|body| body["detail"][0]["loc"][0] = json!("params"));
            }
        },
    ),
    // Headers.
    fault(
        "list_sales",
        &["headers.etag"],
        |request| request.path() == "/v2/listings/sales",
        |answer, _, _| answer.status = if answer.status == 304 { 200 } else { answer.status },
    ),
    Fault {
        method: "HEAD",
        operation: "list_purchases",
        rules: &["headers.head"],
        applies_to: |request| request.path() == "/v2/listings/browse/purchases",
        change: |answer, _, _| answer.status = 404,
    },
    fault(
        "get_task_qc_facets",
        &["headers.rate_limit"],
        |request| request.path() == "/v2/tasks/qc-facets",
        |answer, _, _| answer.set_header("ratelimit", "limit=100, remaining=50, reset=50"),
    ),
    fault(
        "get_browse_access",
        &["headers.retry_after"],
        |request| request.path() == "/v2/listings/browse/access",
        |answer, _, count| {
            if count == 2 {
                answer.status = 429;
                answer.set_header("retry-after", "0.0");
            }
        },
    ),
    // Access.
    fault(
        "list_offers",
        &["access.unauthorized"],
        |request| request.path() == "/v2/listings/browse/offers",
        |answer, _, _| answer.set_header("www-authenticate", ""),
    ),
    fault(
        "get_task_qc_refresh",
        &["access.unauthorized", "access.role"],
        |request| request.path() == "/v2/tasks/refresh-qc",
        |answer, _, _| {
            answer.status = 200;
            answer.body = br#"{"refresh": null, "qc_refreshed_at": null}"#.to_vec();
        },
    ),
    fault(
        "get_estimation_summary",
        &["access.role"],
        |request| request.path() == "/v2/estimations/summary",
        |answer, request, _| {
            if answer.status == 403 {
                let key = request.header("authorization").to_owned();
                answer.change(|body| body["error"]["code"] = json!(key));
            }
        },
    ),
    fault(
        "list_asset_groups",
        &["access.key_headers"],
        |request| request.path() == "/v2/asset-groups" && !request.header("platform-api-key").is_empty(),
        |answer, _, _| answer.status = 401,
    ),
    fault(
        "browse_listings",
        &["access.browse_gate"],
        |request| request.target == "/v2/listings/browse",
        |answer, _, _| change_ok(answer, |body| body["locked"] = json!(true)),
    ),
    // Paths and IDs.
    fault(
        "get_asset_group",
        &["path.not_found"],
        |request| is_record(request, "/v2/asset-groups"),
        |answer, _, _| answer.status = if answer.status == 404 { 403 } else { answer.status },
    ),
    fault(
        "get_task",
        &["path.invalid"],
        |request| request.path() == "/v2/tasks/not-a-uuid",
        |answer, _, _| answer.status = 404,
    ),
    fault(
        "get_raw_data",
        &["ids.readable"],
        |request| is_record(request, "/v2/raw-data"),
        |answer, _, _| {
            if answer.status == 200 {
                answer.status = 404;
            }
        },
    ),
    fault(
        "get_codebase",
        &["ids.same"],
        |request| is_record(request, "/v2/codebases"),
        |answer, _, _| change_ok(answer, |body| body["id"] = json!("0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11")),
    ),
    fault(
        "get_upload_parts",
        &["path.method"],
        |request| request.path().ends_with("/parts"),
        |answer, _, _| answer.status = 404,
    ),
    // Queries.
    fault(
        "list_own_project_bids",
        &["query.unknown", "query.invalid", "query.repeated"],
        |request| request.path() == "/v2/project-opportunities/bids/mine",
        |answer, _, _| {
            if answer.status == 422 {
                answer.status = 200;
                answer.body = br#"{"items": [], "total": 0, "limit": 50, "offset": 0}"#.to_vec();
            }
        },
    ),
    fault(
        "list_tasks",
        &["query.filter"],
        |request| request.path() == "/v2/tasks" && request.query().starts_with("stage="),
        |answer, _, _| {
            change_ok(answer, |body| {
                if body["items"][0]["stage"] == "complete" {
                    body["items"][0]["stage"] = json!("incomplete");
                } else if !body["items"][0].is_null() {
                    body["items"][0]["stage"] = json!("complete");
                }
            });
        },
    ),
    fault(
        "list_assets",
        &["query.sort"],
        |request| request.path() == "/v2/assets" && request.query().starts_with("sort=created_at"),
        |answer, _, _| change_ok(answer, |body| body["items"].as_array_mut().unwrap().reverse()),
    ),
    // Pages.
    fault(
        "browse_listings",
        &["pages.end", "pages.cursor", "pages.first"],
        |request| request.path() == "/v2/listings/browse" && request.query().contains("cursor="),
        |answer, request, _| {
            if answer.status == 400 {
                answer.change(|body| body["error"]["code"] = json!("bad_request"));
            }
            let cursor = request.query().split("cursor=").nth(1).unwrap().to_owned();
            change_ok(answer, |body| {
                body["next_cursor"] = json!(cursor);
                body["counts"] = json!({"all": 1, "owned": 0});
            });
        },
    ),
    fault(
        "list_own_opportunities",
        &["pages.once", "pages.limit"],
        |request| request.path() == "/v2/buyer/opportunities",
        |answer, _, _| {
            change_ok(answer, |body| {
                let items = body["items"].as_array_mut().unwrap();
                items.extend(items.first().cloned());
            });
        },
    ),
    fault(
        "list_raw_data",
        &["pages.total"],
        |request| request.path() == "/v2/raw-data",
        |answer, _, _| change_ok(answer, |body| body["total"] = json!(body["total"].as_u64().unwrap() + 1)),
    ),
    fault(
        "list_estimations",
        &["pages.stable"],
        |request| request.path() == "/v2/estimations",
        |answer, _, count| {
            change_ok(answer, |body| {
                let items = body["estimations"].as_array_mut().unwrap();
                let middle = if items.is_empty() { 0 } else { count % items.len() };
                items.rotate_left(middle);
            });
        },
    ),
    fault(
        "get_listings_by_ids",
        &["catalog.by_ids"],
        |request| request.path() == "/v2/listings/browse/by-ids",
        |answer, _, _| change_ok(answer, |body| body["listings"].as_array_mut().unwrap().reverse()),
    ),
    // Documents.
    fault(
        "buyer API",
        &["documents.operations", "documents.content"],
        |request| request.path() == "/buyer/openapi.json",
        |answer, _, _| {
            answer.change(|document| {
                let paths = document["paths"].as_object_mut().unwrap();
                paths.remove("/v2/wallet");
                document["components"]["schemas"]["Notification"]["properties"]["read"]["type"] =
                    json!("string");
            });
        },
    ),
    fault(
        "vendor API",
        &["documents.served"],
        |request| request.path() == "/vendor/docs",
        |answer, _, _| answer.status = 404,
    ),
];
