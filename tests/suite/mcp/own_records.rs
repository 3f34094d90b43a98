//! Lists of a team's own records, with filters and fields that only agents have: they return what several requests to the
//! REST API return.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    call,
    rest_records::{assert_checks, rest_list, rest_pages, texts, tool_list, values},
};
use crate::{
    contract::cases::{BOTH, BUYER, LOCKED_VENDOR, VENDOR},
    harness::{TestMarket, demo},
};

const UNKNOWN_ID: &str = "00000000-0000-0000-0000-000000000000";

/// Returns the outcome of an asset's latest quality run over REST, and the run; `None` if the asset is of a kind whose runs
/// no operation returns.
async fn rest_outcome(key: &str, asset: &Value) -> Option<(&'static str, Value)> {
    let id = asset["id"].as_str().unwrap();
    let path = match asset["sku"].as_str().unwrap() {
        "codebase" => format!("/v2/codebases/{id}/qc"),
        "raw_data" => format!("/v2/raw-data/{id}/qc"),
        _ => return None,
    };
    let run = demo().get(key, &path).await.ok()["latest_run"].clone();
    let outcome = match run["status"].as_str() {
        None => "none",
        Some("completed") if run["mandatory_passed"] == true => "passed",
        Some("completed") => "failed",
        Some("cancelled") => "cancelled",
        Some("queued" | "running") => "in_progress",
        Some(_) => "error",
    };
    Some((outcome, run))
}

#[tokio::test]
async fn assets_are_filtered_by_their_latest_quality_run() {
    let mut outcomes = BTreeSet::new();
    for key in [VENDOR, BOTH, "mkt_demo_vendor_two", "mkt_demo_both_two"] {
        let assets = rest_pages(key, "/v2/assets", "items").await;
        let arguments = json!({"limit": 100, "fields": ["*"], "max_bytes": 1_000_000});
        let rows = tool_list(key, ("list_assets", "items", arguments)).await;
        assert_eq!(texts(&rows, "/id"), texts(&assets, "/id"));
        for (asset, row) in assets.iter().zip(&rows) {
            let Some((outcome, run)) = rest_outcome(key, asset).await else { continue };
            outcomes.insert(outcome);
            assert_eq!((&row["qc"], &row["qc_run_id"]), (&json!(outcome), &run["id"]), "{}", asset["id"]);
            assert_eq!(row["qc_completed_at"], run["completed_at"]);
            let empty = Vec::new();
            let checks = run["checks"].as_array().unwrap_or(&empty);
            assert_checks(checks, row, ["qc_failed_checks", "qc_errored_checks", "qc_check_statuses"]);
            let basis = run["id"].as_str().unwrap_or("No quality run");
            assert!(row["evidence"].as_str().unwrap().contains(basis), "{row}");
        }
        for outcome in ["passed", "failed", "in_progress", "error", "cancelled", "none"] {
            for (operator, is_wanted) in [("is", true), ("is_not", false)] {
                let filter = format!("qc:{operator}:{outcome}");
                let arguments = json!({"filter": [filter], "fields": ["id"], "limit": 100});
                let found = tool_list(key, ("list_assets", "items", arguments)).await;
                let expected = rows.iter().filter(|row| (row["qc"] == outcome) == is_wanted);
                assert_eq!(texts(&found, "/id"), texts(expected, "/id"), "{key} {filter}");
            }
        }
    }
    assert!(outcomes.len() >= 4, "{outcomes:?}");
    // The grammar of the API stays as it is.
    let refused = demo().get(VENDOR, "/v2/assets?filter=qc:is:failed").await;
    assert_eq!(refused.status, 422);
    let error = call(demo(), VENDOR, "list_assets", json!({"filter": ["qc:is:broken"]})).await.error();
    assert!(error.to_string().contains("in_progress"), "{error}");
}

/// How a run ended says nothing about other data.
#[tokio::test]
async fn run_of_detached_data_has_no_outcome() {
    // A market of its own, since data is detached.
    let market = TestMarket::demo();
    let arguments = json!({"filter": ["qc:is:passed"], "fields": ["id", "sku"], "limit": 100});
    let passed = call(&market, VENDOR, "list_assets", arguments.clone()).await.ok()["items"].clone();
    let mut detached = None;
    for asset in passed.as_array().unwrap() {
        let collection = match asset["sku"].as_str().unwrap() {
            "codebase" => "codebases",
            "raw_data" => "raw-data",
            _ => continue,
        };
        let path = format!("/v2/{collection}/{}/data", asset["id"].as_str().unwrap());
        // The data of listings in review and in the catalog cannot be detached.
        if market.call(VENDOR, "DELETE", &path, &Value::Null).await.status == 204 {
            detached = Some(asset);
            break;
        }
    }
    let detached = detached.expect("an asset whose data can be detached");
    let still_passed = call(&market, VENDOR, "list_assets", arguments).await.ok()["items"].clone();
    assert_eq!(still_passed.as_array().unwrap().len(), passed.as_array().unwrap().len() - 1);
    let arguments = json!({"filter": ["qc:is:none"], "fields": ["id", "qc", "qc_run_id"], "limit": 100});
    let unknown = call(&market, VENDOR, "list_assets", arguments).await.ok()["items"].clone();
    let row = unknown.as_array().unwrap().iter().find(|row| row["id"] == detached["id"]).unwrap();
    assert_eq!((&row["qc"], &row["qc_run_id"]), (&json!("none"), &Value::Null));
}

#[tokio::test]
async fn assets_say_what_they_lack_and_why_they_cannot_be_listed() {
    let (mut reasons, mut lacking) = (BTreeSet::new(), 0);
    for key in [VENDOR, BOTH, "mkt_demo_vendor_two"] {
        let arguments = json!({"limit": 100, "fields": ["*"], "max_bytes": 1_000_000});
        let rows = tool_list(key, ("list_assets", "items", arguments)).await;
        let summaries = rest_pages(key, "/v2/assets", "items").await;
        for (row, summary) in rows.iter().zip(&summaries) {
            for (name, value) in summary.as_object().unwrap() {
                assert_eq!(row[name], *value, "{name} of {}", summary["id"]);
            }
            let reason = row["not_listable_because"].as_str();
            assert_eq!(row["listable"], reason.is_none(), "{row}");
            for missing in row["missing"].as_array().unwrap() {
                assert_eq!(row["stage"], "incomplete", "{row}");
                if let Some(reason) = reason {
                    let is_named = reason.contains(missing.as_str().unwrap());
                    assert!(is_named || reason.contains("retired"), "{reason} lacks {missing}");
                }
            }
            reasons.extend(reason.map(|reason| reason[..6].to_owned()));
        }
        for path in ["/v2/codebases", "/v2/raw-data", "/v2/tasks"] {
            for asset in rest_pages(key, path, "items").await {
                let row = rows.iter().find(|row| row["id"] == asset["id"]).unwrap();
                let of_kind = [&asset["missing"], &asset["price_usd"], &asset["stage"]];
                assert_eq!([&row["missing"], &row["price_usd"], &row["stage"]], of_kind, "{}", asset["id"]);
                lacking += usize::from(asset["missing"] != json!([]));
            }
        }
    }
    assert!(lacking > 3 && !reasons.is_empty(), "{lacking}, {reasons:?}");
}

#[tokio::test]
async fn own_listings_are_filtered_by_review_status() {
    let mut found_any = BTreeSet::new();
    for key in [VENDOR, BOTH, LOCKED_VENDOR] {
        let all = rest_list(key, "/v2/listings?limit=100", "items").await;
        let mut statuses: Vec<String> = values(&all, "/review_status").into_iter().collect();
        found_any.extend(statuses.clone());
        for status in &statuses {
            let arguments =
                json!({"review_status": [status], "limit": 100, "fields": ["id", "review_status", "price"]});
            let rows = tool_list(key, ("list_own_listings", "items", arguments)).await;
            let expected: Vec<&Value> = all.iter().filter(|own| own["review_status"] == **status).collect();
            assert_eq!(texts(&rows, "/id"), texts(expected, "/id"), "{key} {status}");
            for row in rows.iter().take(3) {
                let path = format!("/v2/listings/{}", row["id"].as_str().unwrap());
                assert_eq!(demo().get(key, &path).await.ok()["price"], row["price"]);
            }
        }
        statuses.truncate(2);
        let arguments = json!({"review_status": statuses, "limit": 100, "fields": ["id"]});
        let rows = tool_list(key, ("list_own_listings", "items", arguments)).await;
        let is_any = |own: &&Value| statuses.iter().any(|status| own["review_status"] == **status);
        assert_eq!(texts(&rows, "/id"), texts(all.iter().filter(is_any), "/id"), "{key} {statuses:?}");
    }
    assert!(found_any.len() > 2, "{found_any:?}");
    let refused = call(demo(), VENDOR, "list_own_listings", json!({"review_status": ["perfect"]})).await;
    assert!(refused.error().to_string().contains("review_status"));
}

/// Arguments of a tool, and which records they match.
type FilterCase<'f> = (Value, Box<dyn Fn(&Value) -> bool + 'f>);

#[tokio::test]
async fn purchases_and_offers_are_filtered() {
    for key in [BUYER, BOTH, "mkt_demo_buyer_two"] {
        for (tool, path, list, record, kind) in [
            ("list_purchases", "/v2/listings/browse/purchases", "purchases", "purchase", "kind"),
            ("list_offers", "/v2/listings/browse/offers", "offers", "offer", "status"),
        ] {
            let all = rest_list(key, path, list).await;
            let [id, at, kind_pointer] = [
                format!("/{record}/id"),
                format!("/{record}/created_at"),
                if kind == "kind" {
                    "/purchase/purchase_kind".to_owned()
                } else {
                    "/offer/status".to_owned()
                },
            ];
            let text =
                |record: &Value, pointer: &str| record.pointer(pointer).unwrap().as_str().unwrap().to_owned();
            let listing = text(&all[all.len() / 2], "/listing/id");
            let vendor = text(&all[0], "/listing/team_name");
            let mut times = texts(&all, &at);
            times.sort();
            let (since, until) =
                (times[times.len() / 3][..10].to_owned(), times[2 * times.len() / 3][..10].to_owned());
            let kinds: Vec<String> = values(&all, &kind_pointer).into_iter().collect();
            let is_in_period = |at: &str| at[..10] >= *since && at[..10] <= *until;
            let mut cases: Vec<FilterCase> = vec![
                (json!({}), Box::new(|_| true)),
                (json!({"listing_id": listing}), Box::new(|one| text(one, "/listing/id") == listing)),
                (
                    json!({"vendor": vendor.to_uppercase()}),
                    Box::new(|one| text(one, "/listing/team_name") == vendor),
                ),
                (json!({"since": since, "until": until}), Box::new(|one| is_in_period(&text(one, &at)))),
                (json!({"since": times[1]}), Box::new(|one| text(one, &at) >= times[1])),
                (json!({"until": times[1]}), Box::new(|one| text(one, &at) <= times[1])),
                (
                    json!({"vendor": vendor, "since": since, (kind): [kinds[0]]}),
                    Box::new(|one| {
                        let is_since = text(one, &at)[..10] >= *since;
                        is_since
                            && text(one, "/listing/team_name") == vendor
                            && text(one, &kind_pointer) == kinds[0]
                    }),
                ),
                (json!({"vendor": "No Such Vendor"}), Box::new(|_| false)),
                (json!({"listing_id": UNKNOWN_ID}), Box::new(|_| false)),
            ];
            for one_kind in &kinds {
                let pointer = &kind_pointer;
                cases.push((json!({(kind): one_kind}), Box::new(move |one| text(one, pointer) == *one_kind)));
            }
            for (arguments, is_match) in cases {
                let mut with_limit = arguments.clone();
                with_limit["limit"] = json!(7);
                let found = tool_list(key, (tool, list, with_limit)).await;
                let expected = all.iter().filter(|one| is_match(one));
                assert_eq!(texts(&found, &id), texts(expected, &id), "{key} {tool} {arguments}");
            }
            let refused = call(demo(), key, tool, json!({(kind): ["perfect"]})).await;
            assert!(refused.error().to_string().contains(kinds[0].as_str()), "known values are named");
        }
    }
}
