//! Invalid request bodies: the response is 422 with the location of each problem, and nothing is stored.

use poem::http::Method;
use serde_json::{Value, json};

use super::seller_market::{SELLER, complete_codebase, empty_market, seller_call, seller_get};

#[tokio::test]
async fn invalid_values_are_rejected_with_their_location() {
    let market = empty_market();
    let long = "x".repeat(201);
    let tags: Vec<&str> = vec!["finance"; 21];
    let columns: serde_json::Map<String, Value> = (0..51).map(|n| (format!("c{n}"), json!(n))).collect();
    for (field, value, kind) in [
        ("title", json!(long), "string_too_long"),
        ("title", json!(""), "string_too_short"),
        ("title", json!("   "), "string_pattern_mismatch"),
        ("title", json!("bell\u{7}"), "string_pattern_mismatch"),
        ("title", json!("two\nlines"), "string_pattern_mismatch"),
        ("title", json!("turned\u{202e}round"), "string_pattern_mismatch"),
        ("title", Value::Null, "string_type"),
        ("title", json!(7), "string_type"),
        ("description", json!("nul\u{0}"), "string_pattern_mismatch"),
        ("description", json!("x".repeat(20_001)), "string_too_long"),
        ("exclusivity", json!("Available"), "enum"),
        ("commits", json!(-1), "greater_than_equal"),
        ("commits", json!(1e300), "less_than_equal"),
        ("commits", json!(9_007_199_254_740_992_u64), "less_than_equal"),
        ("commits", json!(1.5), "int_type"),
        ("commits", json!("7"), "int_type"),
        ("price_usd", json!(-0.01), "greater_than_equal"),
        ("price_usd", json!(1e10), "less_than_equal"),
        ("price_usd", json!(0.001), "multiple_of"),
        ("price_usd", json!("10"), "float_type"),
        ("ci_on_prs", json!("true"), "bool_type"),
        ("history_start", json!("yesterday"), "date_parsing"),
        ("history_end", json!("2015-03-01"), "date_order"),
        ("history_end", json!("9999-12-31"), "date_future"),
        ("domain_tags", json!("finance"), "list_type"),
        ("domain_tags", json!(tags), "too_long"),
        ("extra_columns", json!(columns), "too_long"),
        ("extra_columns", json!([]), "dict_type"),
        ("extra_columns", json!({"c": "x".repeat(70_000)}), "too_long"),
        ("group_id", json!("x"), "uuid_parsing"),
        ("data", json!("github"), "dict_type"),
        ("id", json!("x"), "extra_forbidden"),
        ("stage", json!("complete"), "extra_forbidden"),
        ("locked_fields", json!({}), "extra_forbidden"),
    ] {
        let mut body = complete_codebase();
        body[field] = value;
        let response = seller_call(&market, "POST", "codebases", body).await;
        assert_eq!(response.problems(), [format!("body.{field} {kind}")]);
    }
    // Problems with a column are located at the column.
    let deep = (0..33).fold(json!(1), |inner, _| json!([inner]));
    let long_name = format!("{}…", "c".repeat(60));
    for (columns, name) in [(json!({"c".repeat(1_001): 1}), long_name.as_str()), (json!({"c": deep}), "c")] {
        let mut body = complete_codebase();
        body["extra_columns"] = columns;
        let response = seller_call(&market, "POST", "codebases", body).await;
        assert_eq!(response.problems(), [format!("body.extra_columns.{name} too_long")]);
    }
    let mut body = complete_codebase();
    body["history_start"] = json!("2026-03-02");
    assert_eq!(
        seller_call(&market, "POST", "codebases", body).await.problems(),
        ["body.history_end date_order", "body.history_start date_future"]
    );
    let mut body = complete_codebase();
    body["domain_tags"] = json!(["finance", "no-such-field", "Finance"]);
    assert_eq!(
        seller_call(&market, "POST", "codebases", body.clone()).await.problems(),
        ["body.domain_tags.1 unknown_slug", "body.domain_tags.2 string_pattern_mismatch"]
    );
    body["domain_tags"] = json!(["finance", "no-such-field"]);
    assert_eq!(
        seller_call(&market, "POST", "codebases", body).await.problems(),
        ["body.domain_tags.1 unknown_slug"]
    );
    assert_eq!(seller_get(&market, "codebases").await["total"], 0);
    // The same rules apply to a PATCH and to the row that results from it.
    let row = seller_call(&market, "POST", "codebases", complete_codebase()).await.expect_status(201);
    let path = format!("codebases/{}", row["id"].as_str().unwrap());
    for (body, problem) in [
        (json!({"history_start": "2026-01-01"}), "body.history_end date_order"),
        (json!({"history_end": "2026-03-02"}), "body.history_end date_future"),
        (json!({"commits": -1}), "body.commits greater_than_equal"),
        (json!({"domain_tags": ["nope"]}), "body.domain_tags.0 unknown_slug"),
        (json!([]), "body dict_type"),
    ] {
        assert_eq!(seller_call(&market, "PATCH", &path, body).await.problems(), [problem]);
    }
    assert_eq!(seller_get(&market, &path).await, row);
    // Today is not in the future, at any time of day.
    let today = json!({"history_start": "2026-03-01", "history_end": "2026-03-01"});
    assert_eq!(seller_call(&market, "PATCH", &path, today).await.ok()["history_end"], "2026-03-01");
}

#[tokio::test]
async fn malformed_bodies_are_rejected() {
    let market = empty_market();
    let token = format!("Bearer {SELLER}");
    for (kind, body) in [
        ("application/json", &b""[..]),
        ("application/json", b"{\"title\": "),
        ("application/json", b"\xff\xfe"),
        ("text/plain", b"{}"),
        ("", b"{}"),
        ("application/x-www-form-urlencoded", b"title=x"),
    ] {
        let headers = [("authorization", token.as_str()), ("content-type", kind)];
        let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, body.to_vec()).await;
        assert_eq!(response.expect_error(400), "bad_request", "{kind}");
    }
    let headers = [("authorization", token.as_str()), ("content-type", "application/json; charset=utf-8")];
    let response =
        market.send_body(Method::POST, "/v2/asset-groups", &headers, b"{\"name\": \"Fine\"}".to_vec()).await;
    assert_eq!(response.status, 201);
    let large = vec![b' '; market.market().settings().server.max_body_bytes as usize + 1];
    let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, large).await;
    assert_eq!(response.expect_error(413), "payload_too_large");
}
