//! Codebases: stages, missing and locked fields, changes, batches, and deletion.

use serde_json::{Value, json};

use super::seller_market::{
    complete_codebase, empty_market, github_link, market_with, seeded_id, seller_call, seller_get,
    seller_patch, seller_post,
};
use crate::harness::codebases::COMPLETING_FIELDS;

fn path(row: &Value) -> String {
    format!("codebases/{}", row["id"].as_str().unwrap())
}

/// Codebase rule 1, and asset stage rule 1.
#[tokio::test]
async fn only_title_and_exclusivity_are_required_to_create() {
    let market = empty_market();
    let row = seller_post(&market, "codebases", json!({"title": "Bare", "exclusivity": "unavailable"})).await;
    assert_eq!((&row["stage"], &row["sku"]), (&json!("incomplete"), &json!("codebase")));
    assert_eq!(row["missing"], json!(COMPLETING_FIELDS));
    for field in ["description", "commits", "data", "history_start", "price_usd", "ci_on_prs"] {
        assert_eq!(row[field], Value::Null, "{field}");
    }
    let response = seller_call(&market, "POST", "codebases", json!({})).await;
    assert_eq!(response.problems(), ["body.title missing", "body.exclusivity missing"]);
}

/// The table of asset stages (incomplete, proposed, and complete) for PATCH, attaching, and detaching. Also
/// asset stage rule 5: data completes an asset even before it is copied and analyzed.
#[tokio::test]
async fn stage_depends_on_metadata_and_data() {
    let market = empty_market();
    let mut bare = complete_codebase();
    bare.as_object_mut().unwrap().remove("price_usd");
    let row = seller_post(&market, "codebases", bare).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("incomplete"), &json!(["price_usd"])));
    // PATCH with complete metadata and no data: proposed.
    let row = seller_patch(&market, &path(&row), json!({"price_usd": 10})).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("proposed"), &json!([])));
    // Attaching data: complete. Archiving and analysis follow in the background.
    let data = seller_post(&market, &format!("{}/data", path(&row)), github_link()).await;
    assert_eq!((&data["archive_status"], &data["analysis_status"]), (&json!("pending"), &json!("pending")));
    assert_eq!((&data["channel"], &data["asset_id"]), (&json!("github"), &row["id"]));
    let row = seller_get(&market, &path(&row)).await;
    assert_eq!((&row["stage"], &row["data"]), (&json!("complete"), &data));
    // Clearing a required field: incomplete, even with linked data.
    let row = seller_patch(&market, &path(&row), json!({"commits": null})).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("incomplete"), &json!(["commits"])));
    seller_patch(&market, &path(&row), json!({"commits": 7})).await;
    // Detaching recomputes the stage.
    seller_call(&market, "DELETE", &format!("{}/data", path(&row)), Value::Null).await.expect_status(204);
    let row = seller_get(&market, &path(&row)).await;
    assert_eq!((&row["stage"], &row["data"]), (&json!("proposed"), &Value::Null));
    for (query, total) in [("stage=proposed", 1), ("stage=complete", 0), ("stage=incomplete", 0)] {
        assert_eq!(seller_get(&market, &format!("codebases?{query}")).await["total"], total, "{query}");
    }
}

#[tokio::test]
async fn description_of_which_nothing_can_be_seen_is_missing() {
    let market = empty_market();
    let created = seller_post(&market, "codebases", complete_codebase()).await;
    assert_eq!(created["stage"], "proposed");
    for description in [" ", "\u{200b}", "\u{3164}\u{ad}"] {
        let row = seller_patch(&market, &path(&created), json!({"description": description})).await;
        assert_eq!(
            (&row["stage"], &row["missing"]),
            (&json!("incomplete"), &json!(["description"])),
            "{description:?}"
        );
    }
}

#[tokio::test]
async fn codebase_can_be_created_with_linked_data() {
    let market = empty_market();
    let mut body = complete_codebase();
    body["data"] = github_link();
    let row = seller_post(&market, "codebases", body.clone()).await;
    assert_eq!((&row["stage"], &row["data"]["channel"]), (&json!("complete"), &json!("github")));
    let rejection = seller_call(&market, "POST", &format!("{}/data", path(&row)), github_link()).await;
    assert_eq!(rejection.expect_error(409), "data_attached");
    for (data, problem) in [
        (json!({"channel": "zip", "repo_full_name": "a/b"}), "body.data.channel enum"),
        (
            json!({"channel": "github", "repo_full_name": "ledger"}),
            "body.data.repo_full_name string_pattern_mismatch",
        ),
        (
            json!({"channel": "github", "repo_full_name": "acme/led/ger"}),
            "body.data.repo_full_name value_error",
        ),
        (json!({"channel": "github"}), "body.data.repo_full_name missing"),
        (json!({"channel": "github", "repo_full_name": "a/b", "url": "x"}), "body.data.url extra_forbidden"),
    ] {
        body["data"] = data;
        assert_eq!(seller_call(&market, "POST", "codebases", body.clone()).await.problems(), [problem]);
    }
    assert_eq!(seller_get(&market, "codebases").await["total"], 1);
    // The same if the repository is linked later. Only GitLab has subgroups.
    body.as_object_mut().unwrap().remove("data");
    body["title"] = json!("Linked later");
    let row = seller_post(&market, "codebases", body).await;
    let link = |channel: &str| json!({"channel": channel, "repo_full_name": "acme/led/ger"});
    for channel in ["github", "bitbucket"] {
        let rejection = seller_call(&market, "POST", &format!("{}/data", path(&row)), link(channel)).await;
        assert_eq!(rejection.problems(), ["body.repo_full_name value_error"], "{channel}");
    }
    seller_post(&market, &format!("{}/data", path(&row)), link("gitlab")).await;
}

/// "PATCH changes only supplied fields; nullable fields clear with null, arrays with [] and maps with {}."
#[tokio::test]
async fn patch_distinguishes_absent_null_and_value() {
    let market = empty_market();
    let mut body = complete_codebase();
    body["extra_columns"] = json!({"team": "core", "rating": 4});
    let created = seller_post(&market, "codebases", body).await;
    assert_eq!(seller_patch(&market, &path(&created), json!({})).await, created);
    let row = seller_patch(&market, &path(&created), json!({"extra_columns": {"rating": 5}})).await;
    assert_eq!(row["extra_columns"], json!({"rating": 5}), "the whole map is replaced");
    let row = seller_patch(
        &market,
        &path(&created),
        json!({"description": null, "domain_tags": [], "extra_columns": {}, "exclusivity": null, "ci_on_prs": false}),
    )
    .await;
    assert_eq!(
        (&row["description"], &row["domain_tags"], &row["extra_columns"]),
        (&Value::Null, &json!([]), &json!({}))
    );
    assert_eq!(
        (&row["exclusivity"], &row["ci_on_prs"], &row["commits"]),
        (&Value::Null, &json!(false), &json!(4000))
    );
    assert_eq!(row["missing"], json!(["exclusivity", "description", "domain_tags"]));
    for body in [json!({"domain_tags": null}), json!({"extra_columns": null})] {
        assert_eq!(seller_call(&market, "PATCH", &path(&created), body).await.status, 422);
    }
    let rejection = seller_call(&market, "PATCH", &path(&created), json!({"title": "Other"})).await;
    assert_eq!(rejection.problems(), ["body.title extra_forbidden"]);
}

/// Codebase rule 3: fields sent with an API key are locked by `api`. Fields from the analysis of linked data
/// are locked by the channel and cannot be changed until the data is detached.
#[tokio::test]
async fn locked_fields_name_their_source() {
    let data = json!({"channel": "gitlab", "repo_full_name": "acme/read", "archive_status": "completed",
        "analysis_status": "completed", "attached_at": "-P5D", "analyzed_at": "-P4D", "archive_bytes": 9000});
    let market = market_with(&json!({"assets": [{
        "key": "read", "team": "seller", "sku": "codebase", "title": "Read", "created_at": "-P9D",
        "codebase": {"exclusivity": "available", "commits": 77, "lines_of_code": 500, "data": data},
    }]}));
    let path = format!("codebases/{}", seeded_id("assets", "read"));
    let read_fields = json!({"commits": "gitlab", "lines_of_code": "gitlab"});
    assert_eq!(seller_get(&market, &path).await["locked_fields"], read_fields);
    let rejection =
        seller_call(&market, "PATCH", &path, json!({"commits": 78, "lines_of_code": null, "merged_prs": 3}))
            .await;
    assert_eq!(rejection.problems(), ["body.commits field_locked", "body.lines_of_code field_locked"]);
    let row = seller_patch(&market, &path, json!({"merged_prs": 3, "description": "By hand."})).await;
    assert_eq!(
        row["locked_fields"],
        json!({"commits": "gitlab", "lines_of_code": "gitlab", "merged_prs": "api", "description": "api"})
    );
    // The API can change and clear the fields that it set.
    let row = seller_patch(&market, &path, json!({"merged_prs": 4, "description": null})).await;
    assert_eq!((&row["merged_prs"], &row["locked_fields"]["merged_prs"]), (&json!(4), &json!("api")));
    assert_eq!(row["locked_fields"].get("description"), None);
    seller_call(&market, "DELETE", &format!("{path}/data"), Value::Null).await.expect_status(204);
    let row = seller_get(&market, &path).await;
    // The data has replaced no values, so nothing that was read from it is left.
    assert_eq!((&row["locked_fields"], &row["merged_prs"]), (&json!({"merged_prs": "api"}), &json!(4)));
    assert_eq!((&row["commits"], &row["lines_of_code"]), (&Value::Null, &Value::Null));
    assert_eq!(seller_patch(&market, &path, json!({"commits": 78})).await["commits"], 78);
}

/// "Atomic and metadata-only: all rows are created or none."
#[tokio::test]
async fn batch_creation_is_atomic() {
    let market = empty_market();
    let row = |n: usize| json!({"title": format!("Row {n}"), "exclusivity": "available"});
    let rows: Vec<Value> = (0..500).map(row).collect();
    let created = seller_post(&market, "codebases/batch", json!({"items": rows})).await;
    let items = created["items"].as_array().unwrap();
    assert_eq!(items.len(), 500);
    assert!(items.iter().enumerate().all(|(n, item)| item["title"] == format!("Row {n}")));
    assert_eq!(seller_get(&market, &path(&items[321])).await, items[321]);
    assert_eq!(
        seller_get(&market, "codebases?limit=1").await["items"][0]["title"],
        "Row 499",
        "a later row must be newer"
    );

    let mut invalid_rows = rows.clone();
    invalid_rows[17]["title"] = json!("x".repeat(201));
    invalid_rows[18]["data"] = github_link();
    invalid_rows[20] = json!(7);
    let response = seller_call(&market, "POST", "codebases/batch", json!({"items": invalid_rows})).await;
    assert_eq!(
        response.problems(),
        [
            "body.items.17.title string_too_long",
            "body.items.18.data extra_forbidden",
            "body.items.20 dict_type"
        ]
    );
    assert_eq!(response.json()["detail"][0]["loc"], json!(["body", "items", 17, "title"]));
    let mut invalid_rows = rows.clone();
    invalid_rows[3]["domain_tags"] = json!(["finance", "no-such-field"]);
    invalid_rows[499]["history_start"] = json!("2026-03-02");
    invalid_rows[499]["group_id"] = json!("6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11");
    let response = seller_call(&market, "POST", "codebases/batch", json!({"items": invalid_rows})).await;
    assert_eq!(
        response.problems(),
        [
            "body.items.3.domain_tags.1 unknown_slug",
            "body.items.499.group_id unknown_reference",
            "body.items.499.history_start date_future"
        ]
    );
    let rows: Vec<Value> = (0..501).map(row).collect();
    assert_eq!(
        seller_call(&market, "POST", "codebases/batch", json!({"items": rows})).await.problems(),
        ["body.items too_long"]
    );
    assert_eq!(
        seller_call(&market, "POST", "codebases/batch", json!({"items": []})).await.problems(),
        ["body.items too_short"]
    );
    assert_eq!(seller_get(&market, "codebases").await["total"], 500, "a rejected batch must not insert rows");
}

/// Asset stage rule 6: data must be detached before a codebase can be deleted. A deleted codebase is never
/// shown again, but its row is kept for history.
#[tokio::test]
async fn deleted_codebase_is_hidden_but_its_row_is_kept() {
    let market = empty_market();
    let mut body = complete_codebase();
    body["data"] = github_link();
    let row = seller_post(&market, "codebases", body).await;
    assert_eq!(
        seller_call(&market, "DELETE", &path(&row), Value::Null).await.expect_error(409),
        "data_attached"
    );
    seller_call(&market, "DELETE", &format!("{}/data", path(&row)), Value::Null).await.expect_status(204);
    let rejection = seller_call(&market, "DELETE", &format!("{}/data", path(&row)), Value::Null).await;
    assert_eq!(rejection.expect_error(409), "data_not_attached");
    seller_call(&market, "DELETE", &path(&row), Value::Null).await.expect_status(204);
    for (method, path, body) in [
        ("GET", path(&row), Value::Null),
        ("PATCH", path(&row), json!({"commits": 1})),
        ("DELETE", path(&row), Value::Null),
        ("POST", format!("{}/data", path(&row)), github_link()),
        ("GET", format!("assets/{}", row["id"].as_str().unwrap()), Value::Null),
    ] {
        assert_eq!(
            seller_call(&market, method, &path, body).await.expect_error(404),
            "not_found",
            "{method} {path}"
        );
    }
    for list in ["assets", "codebases", "assets/window"] {
        assert_eq!(seller_get(&market, list).await["total"], 0, "{list}");
    }
    let last_row_id =
        market.read(|reader| marketplace::store::inventory::last_asset_row_id(reader.rows)).unwrap();
    assert_eq!(last_row_id.0, 1, "deleting must not remove the row");
}

#[tokio::test]
async fn languages_come_from_the_taxonomy() {
    let market = empty_market();
    let languages = seller_get(&market, "codebases/languages").await["languages"].clone();
    let rust = languages.as_array().unwrap().iter().find(|language| language["slug"] == "rust").unwrap();
    assert_eq!(rust["name"], "Rust");
}
