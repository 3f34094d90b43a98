//! Small answers: sizes of pages and rows, estimates, and values as models write them.

use marketplace::{config::ContactSettings, rest};
use poem::http::Method;
use serde_json::{Value, json};

use super::{
    call, post,
    rest_records::{LISTS_OF_A_RECORD, rest_details, rest_list, texts, values},
    tools,
};
use crate::{
    catalog::small_market::{published, small_market},
    contract::cases::{BOTH, BUYER, OPERATOR, VENDOR},
    harness::{BASE, demo},
};

/// Maximum size in bytes of a default page of 20 listings.
const MAX_PAGE_BYTES: usize = 8_000;

/// Maximum mean size in bytes of a list's rows with default fields.
const MAX_MEAN_ROW_BYTES: usize = 500;

/// The same of tasks, whose rows have the pass rates of several models and the verdicts of several agents.
const MAX_MEAN_TASK_BYTES: usize = 800;

/// Returns the sets of arguments with which a tool can be called without an ID: one for each value of the argument that
/// chooses an operation.
fn argument_sets_without_ids(tool: &Value) -> Vec<Value> {
    let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
    let properties = &tool["inputSchema"]["properties"];
    match required.as_slice() {
        [] => vec![json!({})],
        [name] => {
            let name = name.as_str().unwrap();
            let choices = properties[name]["enum"].as_array().cloned().unwrap_or_default();
            let needs_no_id = |choice: &Value| !LISTS_OF_A_RECORD.contains(&choice.as_str().unwrap());
            choices.into_iter().filter(needs_no_id).map(|choice| json!({(name): choice})).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the rows of a list; none if the output is a record.
fn rows(output: &Value) -> Option<&Vec<Value>> {
    let is_page = !output["next_offset"].is_null() || output.get("next_offset").is_some();
    if !is_page && output.get("next_cursor").is_none() {
        return None;
    }
    let lists = ["items", "groups", "listings", "purchases", "offers", "sales", "reports", "notifications"];
    let more =
        ["estimations", "domains", "inventory_tags", "content_tags", "languages", "asset_types", "bids"];
    lists.iter().chain(&more).find_map(|name| output[*name].as_array())
}

#[tokio::test]
async fn default_page_of_listings_is_small() {
    for key in [BUYER, VENDOR, BOTH] {
        for arguments in [json!({}), json!({"asset_types": ["codebase"]}), json!({"sort": "recent"})] {
            let page = call(demo(), key, "browse_listings", arguments.clone()).await;
            assert!(page.text.len() <= MAX_PAGE_BYTES, "{key} {arguments}: {} bytes", page.text.len());
            assert_eq!(page.ok()["items"].as_array().unwrap().len(), 20);
        }
    }
}

#[tokio::test]
async fn default_rows_are_small() {
    let mut large = Vec::new();
    for key in [BUYER, VENDOR, BOTH] {
        for tool in tools(demo(), key).await {
            let name = tool["name"].as_str().unwrap();
            for arguments in argument_sets_without_ids(&tool) {
                let output = call(demo(), key, name, arguments.clone()).await.ok();
                let Some(rows) = rows(&output).filter(|rows| !rows.is_empty()) else { continue };
                let bytes: usize = rows.iter().map(|row| row.to_string().len()).sum();
                let max_bytes = if name == "list_tasks" { MAX_MEAN_TASK_BYTES } else { MAX_MEAN_ROW_BYTES };
                if bytes / rows.len() > max_bytes {
                    large.push(format!("{name} {arguments} of {key}: {} bytes", bytes / rows.len()));
                }
            }
        }
    }
    assert!(large.is_empty(), "{large:#?}");
}

#[tokio::test]
async fn estimate_is_the_size_of_the_answer() {
    let mut estimated = 0;
    for key in [BUYER, VENDOR, BOTH] {
        for tool in tools(demo(), key).await {
            let name = tool["name"].as_str().unwrap();
            for arguments in argument_sets_without_ids(&tool) {
                let answer = call(demo(), key, name, arguments.clone()).await;
                let mut asked = arguments.clone();
                asked["estimate"] = json!(true);
                let output = call(demo(), key, name, asked).await;
                assert!(output.text.len() < 1_000, "{name}: {}", output.text);
                let output = output.ok();
                assert_eq!(output.as_object().unwrap().len(), 1, "{name}: {output}");
                let estimate = &output["estimate"];
                let bytes = answer.text.len();
                assert_eq!(estimate["bytes"], bytes, "{key} {name} {arguments}");
                assert_eq!(estimate["tokens"], bytes.div_ceil(4), "{key} {name} {arguments}");
                let answer = answer.ok();
                if let Some(rows) = rows(&answer) {
                    assert_eq!(estimate["rows"], rows.len(), "{key} {name} {arguments}");
                }
                if let Some(total) = answer["total"].as_u64() {
                    assert_eq!(estimate["total"], total, "{key} {name} {arguments}");
                }
                assert_eq!(estimate["cut"], answer["cut"], "{key} {name} {arguments}");
                let mut not_asked = arguments.clone();
                not_asked["estimate"] = json!(false);
                assert_eq!(call(demo(), key, name, not_asked).await.ok(), answer, "{key} {name} {arguments}");
                estimated += 1;
            }
        }
    }
    assert!(estimated > 60, "{estimated} answers were estimated");
    let listing = &rest_list(BUYER, "/v2/listings/browse?limit=1", "items").await[0]["id"];
    let answer = call(demo(), BUYER, "get_listing", json!({"listing_id": listing})).await;
    let arguments = json!({"listing_id": listing, "estimate": "true"});
    let estimate = call(demo(), BUYER, "get_listing", arguments).await.ok();
    assert_eq!(
        (&estimate["estimate"]["rows"], &estimate["estimate"]["bytes"]),
        (&json!(1), &json!(answer.text.len()))
    );
}

#[tokio::test]
async fn long_maps_are_counted_and_whole_when_named() {
    let facets = demo().get(BUYER, "/v2/listings/browse?limit=1").await.ok()["facets"].clone();
    let page = call(demo(), BUYER, "browse_listings", json!({"limit": 1})).await.ok();
    let cut = page["cut"].as_str().unwrap();
    let mut shortened = 0;
    for (name, map) in facets.as_object().unwrap() {
        let count = map.as_object().unwrap().len();
        let Some(shown) = page["facets"][name].as_object() else {
            assert!(["lifecycle_stages", "robotics_formats", "tag_slugs"].contains(&name.as_str()), "{name}");
            continue;
        };
        assert!(shown.iter().all(|(value, number)| map[value] == *number), "{name}");
        if shown.len() < count {
            assert!(cut.contains(&format!("`facets.{name}` {} of {count}", shown.len())), "{cut}");
            shortened += 1;
        }
        let arguments = json!({"limit": 1, "fields": [format!("facets.{name}")]});
        let whole = call(demo(), BUYER, "browse_listings", arguments).await.ok();
        assert_eq!(whole["facets"][name], *map, "{name}");
        assert!(whole["cut"].is_null(), "{whole}");
    }
    assert!(shortened > 2, "{cut}");
    let files: Vec<Value> = (0..30)
        .map(|n| json!({"path": format!("part/{n:02}.bin"), "size_bytes": n, "sha256": "ab".repeat(32)}))
        .collect();
    let market = small_market(&[published("many", 5, &json!({"bundle_files": files}))]);
    let id = marketplace::clock::fixture_record_id("listings", "many").to_string();
    let expected = market.get("mkt_buyer", &format!("/v2/listings/browse/{id}")).await.ok();
    let listing = call(&market, "mkt_buyer", "get_listing", json!({"listing_id": id})).await.ok();
    let summary = json!({
        "entries": 30,
        "size_bytes": 435,
        "folders": [{"path": "part/", "entries": 30, "size_bytes": 435}],
    });
    assert_eq!(listing["bundle_manifest"], summary);
    assert!(listing["cut"].as_str().unwrap().contains("[\"bundle_manifest[0:50]\"]"), "{}", listing["cut"]);
    let ids = json!([id]);
    for (tool, list, arguments) in [
        ("get_listing", "", json!({"listing_id": id})),
        ("get_listings", "listings", json!({"ids": ids})),
        ("browse_listings", "items", json!({})),
    ] {
        for (fields, is_whole) in [("bundle_manifest", false), ("bundle_manifest[0:50]", true), ("*", true)] {
            let mut arguments = arguments.clone();
            arguments["fields"] = json!([fields]);
            let output = call(&market, "mkt_buyer", tool, arguments).await.ok();
            let record = if list.is_empty() { &output } else { &output[list][0] };
            let manifest = if is_whole { &expected["bundle_manifest"] } else { &summary };
            assert_eq!(record["bundle_manifest"], *manifest, "{tool} {fields}");
            assert_eq!(output["cut"].is_null(), is_whole, "{tool} {fields}: {}", output["cut"]);
        }
    }
}

#[tokio::test]
async fn a_star_selects_all_fields() {
    for (key, tool, list, path) in [
        (BUYER, "list_purchases", "purchases", "/v2/listings/browse/purchases"),
        (BUYER, "list_offers", "offers", "/v2/listings/browse/offers"),
        (VENDOR, "list_sales", "sales", "/v2/listings/sales"),
        (VENDOR, "list_earnings", "items", "/v2/wallet/earnings?limit=5"),
        (VENDOR, "list_codebases", "items", "/v2/codebases?limit=5"),
        (VENDOR, "list_assets", "items", "/v2/assets?limit=5"),
        (BOTH, "list_own_listings", "items", "/v2/listings?limit=5"),
        (BUYER, "browse_listings", "items", "/v2/listings/browse?limit=5"),
    ] {
        let expected = rest_list(key, path, list).await;
        for fields in [json!(["*"]), json!("*"), json!("[\"*\"]"), json!(["id", "*"])] {
            let arguments = json!({"limit": 5, "fields": fields});
            let output = call(demo(), key, tool, arguments).await.ok();
            for (row, record) in output[list].as_array().unwrap().iter().zip(&expected) {
                for (name, value) in record.as_object().unwrap() {
                    assert_eq!(row[name], *value, "{tool} {fields} {name}");
                }
            }
            assert_eq!(output[list].as_array().unwrap().len(), expected.len().min(5), "{tool} {fields}");
        }
    }
}

#[tokio::test]
async fn labels_and_cases_mean_slugs() {
    let ids = |arguments: Value| async move {
        let output = call(demo(), BUYER, "browse_listings", arguments).await.ok();
        assert!(output["hint"].is_null(), "{}", output["hint"]);
        let ids = texts(output["items"].as_array().unwrap(), "/id");
        assert!(!ids.is_empty());
        ids
    };
    for (name, written, slugs) in [
        ("languages", json!(["C++"]), json!(["cpp"])),
        ("languages", json!("C#"), json!(["csharp"])),
        ("languages", json!(["JAVA", "Python"]), json!(["java", "python"])),
        ("tags", json!(["Finance"]), json!(["finance"])),
        ("tags", json!("Software Engineering"), json!(["software-engineering"])),
        ("tags", json!("[\"LEGAL\"]"), json!(["legal"])),
        ("asset_types", json!(["Raw data", "CODEBASE"]), json!(["raw_data", "codebase"])),
        ("tag_slugs", json!(["Full History"]), json!(["full-history"])),
        ("file_extensions", json!([".CSV"]), json!(["csv"])),
        ("capabilities", json!(["Terminal"]), json!(["terminal"])),
    ] {
        let found = ids(json!({"limit": 100, "fields": ["id"], (name): written})).await;
        assert_eq!(
            found,
            ids(json!({"limit": 100, "fields": ["id"], (name): slugs})).await,
            "{name} {written}"
        );
    }
}

#[tokio::test]
async fn spending_is_only_of_what_was_paid() {
    let refunded = call(demo(), BOTH, "get_spending", json!({"status": ["refunded"]})).await;
    assert!(!refunded.is_error, "{}", refunded.text);
    for status in ["pending", "cancelled"] {
        let error = call(demo(), BUYER, "get_spending", json!({"status": [status]})).await.error();
        assert!(error["message"].as_str().unwrap().contains("refunded"), "{error}");
    }
}

#[tokio::test]
async fn fields_are_few_even_if_repeated() {
    let arguments = json!({"fields": vec!["id"; 65]});
    let error = call(demo(), BUYER, "browse_listings", arguments).await.error();
    assert!(error["message"].as_str().unwrap().contains("64"), "{error}");
}

#[tokio::test]
async fn operations_of_agents_are_not_served_over_http() {
    let documents: Vec<String> =
        rest::APIS.iter().map(|api| rest::openapi_json(api, BASE, &ContactSettings::default())).collect();
    let listing = rest_list(BUYER, "/v2/listings/browse?limit=1", "items").await[0]["id"].clone();
    let listing = listing.as_str().unwrap();
    let mut paths = vec![
        "/agents".to_owned(),
        "/agents/v1".to_owned(),
        format!("/agents/v1/listings/by-ids?ids={listing}"),
        format!("/agents/v1/listings/{listing}/quality"),
        "//agents/v1/listings".to_owned(),
        "/agents/v1/listings/".to_owned(),
        "/Agents/v1/listings".to_owned(),
        "/%61gents/v1/listings".to_owned(),
        "/v2/../agents/v1/listings".to_owned(),
        "/v2/agents/v1/listings".to_owned(),
    ];
    for name in ["listings", "purchases", "offers", "spending", "earnings-summary", "own-listings", "assets"]
    {
        paths.push(format!("/agents/v1/{name}"));
    }
    for record in ["listings", "own-listings", "assets"] {
        paths.push(format!("/agents/v1/{record}/{listing}/evidence"));
    }
    paths.push("/agents/v1/languages".to_owned());
    let lists = ["purchases", "offers", "own_opportunities", "own_listings", "taxonomy"];
    for name in lists.into_iter().chain(["assets", "sales", "earnings", "qc_reports", "estimations"]) {
        paths.push(format!("/agents/v1/aggregates/list_{name}"));
    }
    paths.push("/agents/v1/aggregates/browse_listings".to_owned());
    for path in &paths {
        for key in [BUYER, VENDOR, BOTH, OPERATOR] {
            let response = demo().get(key, path).await;
            assert_eq!(response.status, 404, "{key} {path}");
            assert!(!String::from_utf8_lossy(&response.bytes).contains("\"items\""), "{key} {path}");
        }
        let key = format!("Bearer {BOTH}");
        for method in [Method::HEAD, Method::POST] {
            let response = demo().send(method.clone(), path, &[("authorization", &key)]).await;
            assert!([404, 405].contains(&response.status), "{method} {path}: {}", response.status);
        }
    }
    for document in &documents {
        let parsed: Value = serde_json::from_str(document).unwrap();
        assert!(parsed["paths"].as_object().unwrap().keys().all(|path| !path.contains("agents")));
        for name in
            ["for_agents", "aggregate_", "get_listings\"", "get_spending", "earnings_summary", "OfAgents"]
        {
            assert!(!document.contains(name), "a document has {name}");
        }
    }
}

#[tokio::test]
async fn options_of_answers_have_one_type() {
    for tool in ["browse_listings", "list_purchases", "get_spending", "get_wallet", "aggregate"] {
        let with = |name: &str, value: &Value| {
            let mut arguments = json!({(name): value});
            if tool == "aggregate" {
                arguments["list"] = json!("browse_listings");
            }
            arguments
        };
        for wrong in [
            json!("many"),
            json!([]),
            json!({}),
            json!(-1),
            json!(4_000.5),
            json!(true),
            json!(0),
            json!(1e300),
        ] {
            let error = call(demo(), BUYER, tool, with("max_bytes", &wrong)).await.error();
            assert_eq!(error["code"], "invalid_arguments", "{tool} {wrong}: {error}");
            assert!(error["message"].as_str().unwrap().contains("`max_bytes`"), "{error}");
        }
        for wrong in [json!("yes"), json!(1), json!(0), json!([true]), json!({})] {
            let error = call(demo(), BUYER, tool, with("estimate", &wrong)).await.error();
            assert_eq!(error["code"], "invalid_arguments", "{tool} {wrong}: {error}");
            assert!(error["message"].as_str().unwrap().contains("`estimate`"), "{error}");
        }
    }
    let refused = call(demo(), BUYER, "get_current_team", json!({"estimate": 1})).await;
    assert!(refused.is_error, "{}", refused.text);
}

#[tokio::test]
async fn huge_arguments_are_refused_or_bounded() {
    let long = "x".repeat(60_000);
    let many: Vec<String> = (0..9_900).map(|n| format!("t{n}")).collect();
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let nested = (0..20).fold(json!(1), |inner, _| json!({"a": inner}));
    let ids = vec!["00000000-0000-0000-0000-000000000000"; 9_900];
    for (key, tool, arguments) in [
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {"query": long}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {"vendor": long}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {"tags": many}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {"tags": [long]}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {(&long[..900]): 1}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": nested})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": {"tags": nested}})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": deep("{\"a\":", "}", 9_000)})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "filters": deep("{\"a\":", "}", 100_000)})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "group_by": many})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "group_by": [long]})),
        (BUYER, "aggregate", json!({"list": "browse_listings", "measure": long})),
        (BUYER, "aggregate", json!({"list": long})),
        (BUYER, "browse_listings", json!({"tags": many})),
        (BUYER, "browse_listings", json!({"tags": deep("[", "]", 20_000)})),
        (BUYER, "browse_listings", json!({"vendor": long})),
        (BUYER, "browse_listings", json!({"cursor": long})),
        (BUYER, "browse_listings", json!({"published_since": long})),
        (BUYER, "browse_listings", json!({"fields": many})),
        (BUYER, "browse_listings", json!({"fields": vec!["id"; 9_900]})),
        (BUYER, "get_listings", json!({"ids": ids})),
        (BUYER, "get_listings", json!({"ids": [long]})),
        (BUYER, "list_purchases", json!({"vendor": long})),
        (BUYER, "list_purchases", json!({"kind": many})),
        (BUYER, "list_offers", json!({"status": vec!["submitted"; 9_900]})),
        (BUYER, "get_spending", json!({"since": long})),
        (VENDOR, "list_assets", json!({"filter": many})),
        (VENDOR, "list_assets", json!({"filter": vec!["qc:is:failed"; 9_900]})),
        (VENDOR, "list_assets", json!({"filter": [format!("name:contains:{long}")]})),
        (VENDOR, "list_own_listings", json!({"review_status": vec!["approved"; 9_900]})),
    ] {
        let called = call(demo(), key, tool, arguments.clone()).await;
        let shown: String = arguments.to_string().chars().take(80).collect();
        let max_bytes = if called.is_error { 4_000 } else { 40_000 };
        assert!(called.text.len() <= max_bytes, "{tool} {shown}: {} bytes", called.text.len());
    }
    // More values, longer names, and deeper nesting are refused before they are read.
    let deeper = (0..40).fold(json!(1), |inner, _| json!({"a": inner}));
    for filters in [json!({"tags": vec!["t"; 10_001]}), json!({("x".repeat(1_001)): 1}), deeper] {
        let arguments = json!({"list": "browse_listings", "filters": filters});
        let params = json!({"name": "aggregate", "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        assert_eq!(post(demo(), BUYER, &body).await.status, 400);
    }
    let vendors = values(&rest_details(BUYER).await, "/team_name").len();
    let groups =
        call(demo(), BUYER, "aggregate", json!({"list": "browse_listings", "group_by": ["vendor"]})).await;
    assert_eq!(groups.ok()["total"], vendors);
}
