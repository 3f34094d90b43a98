//! Own listings of a vendor: filters, details, history, and attached assets.

use serde_json::{Value, json};

use super::seller_market::{
    OTHER, SELLER, complete_codebase, github_link, market_with, seeded_id, seller_call, seller_get,
    seller_post, titles,
};
use crate::{
    catalog::small_market::BROWSE,
    harness::{TestMarket, elements},
};

/// Returns the history events that lead to a lifecycle stage.
fn history_until(stage: &str) -> Value {
    let steps: &[&str] = match stage {
        "draft" => &[],
        "review" => &["submitted"],
        "ready" => &["submitted", "approved"],
        "active" => &["submitted", "approved", "published"],
        _ => &["submitted", "approved", "published", "archived"],
    };
    steps
        .iter()
        .enumerate()
        .map(|(n, event)| json!({"event": event, "at": format!("-P{}D", 8 - n)}))
        .collect()
}

fn listing(key: &str, stage: &str, price: u64, days: u64) -> Value {
    json!({"key": key.to_lowercase(), "team": "seller", "title": key, "description": format!("About {stage} harbours."), "price_usd": price,
        "created_at": format!("-P{days}D"), "assets": ["files"], "history": history_until(stage)})
}

/// Returns a market with the seller's listings at every stage, a listing of another vendor, and some assets.
fn market() -> TestMarket {
    let mut empty = listing("Empty", "draft", 7, 20);
    empty["assets"] = json!([]);
    let mut other = listing("Other", "active", 1000, 12);
    other["team"] = json!("both");
    other["assets"] = json!(["theirs"]);
    let file = |key: &str, team: &str| json!({"key": key, "team": team, "sku": "raw_data", "title": key, "created_at": "-P30D", "domain_tags": ["finance"], "raw_data": {}});
    market_with(&json!({
        "assets": [file("files", "seller"), file("theirs", "both")],
        "listings": [
            listing("Draft", "draft", 10, 11), listing("Review", "review", 20, 12), listing("Ready", "ready", 30, 13),
            listing("Live", "active", 40, 14), listing("Second", "active", 50, 15), listing("Gone", "archived", 60, 16),
            empty, other,
        ],
    }))
}

#[tokio::test]
async fn own_listings_are_filtered_by_view_and_stage() {
    let market = market();
    for (query, expected) in [
        ("", &["Draft", "Review", "Ready", "Live", "Second", "Gone", "Empty"][..]),
        ("workspace_view=all", &["Draft", "Review", "Ready", "Live", "Second", "Gone", "Empty"]),
        ("workspace_view=drafts", &["Draft", "Empty"]),
        ("workspace_view=submitted", &["Review", "Ready"]),
        ("workspace_view=live", &["Live", "Second"]),
        ("workspace_view=archived", &["Gone"]),
        ("lifecycle_stages=ready&lifecycle_stages=archived", &["Ready", "Gone"]),
        ("workspace_view=submitted&lifecycle_stages=ready&lifecycle_stages=draft", &["Ready"]),
        ("workspace_view=live&lifecycle_stages=draft", &[]),
        ("no_assets=true", &["Empty"]),
        ("min_price=30&max_price=50", &["Ready", "Live", "Second"]),
        ("sort=price_high&limit=3", &["Gone", "Second", "Live"]),
        ("sort=price_low&limit=2&offset=2", &["Review", "Ready"]),
        ("query=archived", &["Gone"]),
        ("asset_types=codebase", &[]),
    ] {
        let list = seller_get(&market, &format!("listings?{query}")).await;
        assert_eq!(titles(&list), expected, "{query}");
    }
    for query in
        ["workspace_view=mine", "lifecycle_stages=live", "limit=0", "limit=101", "offset=-1", "owned=true"]
    {
        assert_eq!(
            seller_call(&market, "GET", &format!("listings?{query}"), Value::Null).await.status,
            422,
            "{query}"
        );
    }
}

/// Facets and the summary cover all listings of the team that match `query` and ignore the other filters.
/// `counts` follows the filters.
#[tokio::test]
async fn summary_and_facets_ignore_filters() {
    let market = market();
    for query in ["", "limit=1&offset=3", "workspace_view=archived&max_price=1"] {
        let list = seller_get(&market, &format!("listings?{query}")).await;
        assert_eq!(
            list["summary"],
            json!({"active": 2, "in_review": 1, "drafts": 2, "listed_value": 90.0}),
            "{query}"
        );
        assert_eq!(
            list["facets"]["lifecycle_stages"],
            json!({"draft": 2, "review": 1, "ready": 1, "active": 2, "archived": 1})
        );
    }
    let list = seller_get(&market, "listings?workspace_view=live&limit=1").await;
    assert_eq!(
        (&list["counts"], &list["limit"], &list["offset"]),
        (&json!({"all": 2, "owned": 2}), &json!(1), &json!(0))
    );
    let list = seller_get(&market, "listings?query=\"active harbours\"").await;
    assert_eq!(list["summary"], json!({"active": 2, "in_review": 0, "drafts": 0, "listed_value": 90.0}));
    let list = seller_get(&market, "listings?query=\"active harbours\" second").await;
    assert_eq!(list["summary"]["listed_value"], 50.0);
    assert_eq!(list["counts"]["all"], 1);
    let other_listings = market.call(OTHER, "GET", "/v2/listings", &Value::Null).await.ok();
    assert_eq!(
        (titles(&other_listings), &other_listings["summary"]["listed_value"]),
        (vec!["Other"], &json!(1000.0))
    );
}

/// `team_name` is present on catalog views only.
#[tokio::test]
async fn own_listings_match_the_catalog_without_the_team_name() {
    let market = market();
    let own = seller_get(&market, "listings?workspace_view=live&limit=1").await["items"][0].clone();
    let mut listing = market.get("mkt_buyer", &format!("{BROWSE}?query=live")).await.ok()["items"][0].clone();
    assert_eq!(listing.as_object_mut().unwrap().remove("team_name"), Some(json!("Seller house")));
    assert_eq!(own, listing);
    for key in ["Draft", "Review", "Live", "Gone"] {
        let detail =
            seller_get(&market, &format!("listings/{}", seeded_id("listings", &key.to_lowercase()))).await;
        assert_eq!(detail["title"], key);
        let seen = market
            .get(SELLER, &format!("{BROWSE}/{}", seeded_id("listings", &key.to_lowercase())))
            .await
            .ok();
        assert_eq!(detail, seen);
    }
}

#[tokio::test]
async fn listing_history_is_newest_first() {
    let market = market();
    let events =
        seller_get(&market, &format!("listings/{}/history", seeded_id("listings", "gone"))).await["events"]
            .clone();
    let events_text: Vec<(Value, Value, Value, Value)> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let of = |field: &str| event[field].clone();
            (of("event_type"), of("actor"), of("from_status"), of("to_status"))
        })
        .collect();
    let events_text: Vec<String> = events_text
        .iter()
        .map(|event| format!("{event:?}").replace("String(", "").replace(')', ""))
        .collect();
    assert_eq!(events_text.len(), 5);
    assert!(events_text[0].contains("archived") && events_text[0].contains("active"), "{events_text:?}");
    assert!(
        events_text[4].contains("created")
            && events_text[4].contains("Null")
            && events_text[4].contains("draft"),
        "{events_text:?}"
    );
}

/// Attaching by IDs and by matches, the order of the skip reasons, and the effects on the listing.
#[tokio::test]
async fn assets_are_attached_by_id_and_by_match() {
    let market = market();
    let path = format!("listings/{}/assets", seeded_id("listings", "draft"));
    let mut body = complete_codebase();
    body["data"] = github_link();
    let mut made = Vec::new();
    for title in ["One", "Two", "Three"] {
        body["title"] = json!(title);
        made.push(seller_post(&market, "codebases", body.clone()).await["id"].clone());
    }
    body["title"] = json!("Proposal");
    body.as_object_mut().unwrap().remove("data");
    let proposal = seller_post(&market, "codebases", body).await["id"].clone();
    let done = seller_post(
        &market,
        &path,
        json!({"asset_ids": [made[0], made[0], proposal, seeded_id("assets", "files"), "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11"]}),
    )
    .await;
    assert_eq!((&done["attached"], &done["total"]), (&json!(1), &json!(2)));
    assert_eq!(
        done["skipped"],
        json!([
            {"reason": "not_found", "count": 1},
            {"reason": "already_attached", "count": 1},
            {"reason": "not_listable", "count": 1},
        ])
    );
    let ids: Vec<&Value> = elements(&done["assets"]).map(|asset| &asset["id"]).collect();
    assert_eq!(
        ids,
        [&json!(seeded_id("assets", "files")), &made[0]],
        "assets must be in the order of attaching"
    );
    // All matching assets except the excluded one. An asset that two matches select is counted once.
    let matches = json!({"matches": [
        {"filters": ["type:is:codebase", "stage:is:complete"], "exclude_ids": [made[2]]},
        {"sku": "codebase", "filters": ["name:contains:tw"]},
        {"sku": "no-such-kind"},
        {"deprecated": true},
    ]});
    let done = seller_post(&market, &path, matches).await;
    assert_eq!(
        (&done["attached"], &done["skipped"]),
        (&json!(1), &json!([{"reason": "already_attached", "count": 1}]))
    );
    let listed = seller_get(&market, &format!("assets?listing_id={}", seeded_id("listings", "draft"))).await;
    assert_eq!(listed["total"], 3);
    assert_eq!(seller_get(&market, &path).await["total"], 3);
    let counts =
        seller_get(&market, &format!("listings/{}", seeded_id("listings", "draft"))).await["catalog_scale"]
            .clone();
    assert_eq!(
        (&counts["asset_counts"], &counts["loc"]),
        (&json!({"codebase": 2, "raw_data": 1}), &json!(180_000))
    );
    let events = seller_get(&market, &format!("listings/{}/history", seeded_id("listings", "draft"))).await;
    assert_eq!(events["events"][0]["event_type"], "asset_attached");
    for selection in [json!({}), json!({"asset_ids": [], "matches": []})] {
        let response = seller_call(&market, "POST", &path, selection).await.expect_status(201);
        assert_eq!((&response["attached"], &response["skipped"]), (&json!(0), &json!([])));
    }
    for (body, problem) in [
        (json!({"asset_ids": ["x"]}), "body.asset_ids.0 uuid_parsing"),
        (json!({"matches": [{}, {"filters": ["stage:is:done"]}]}), "body.matches.1.filters.0 value_error"),
        (json!({"matches": [{"skus": "codebase"}]}), "body.matches.0.skus extra_forbidden"),
    ] {
        assert_eq!(seller_call(&market, "POST", &path, body).await.problems(), [problem]);
    }
}

#[tokio::test]
async fn assets_can_change_only_on_draft_and_ready_listings() {
    let market = market();
    for (key, is_open) in
        [("Draft", true), ("Review", false), ("Ready", true), ("Live", false), ("Gone", false)]
    {
        let path = format!("listings/{}/assets", seeded_id("listings", &key.to_lowercase()));
        let asset = format!("{path}/{}", seeded_id("assets", "files"));
        let body = json!({"asset_ids": [seeded_id("assets", "files")]});
        let attach = seller_call(&market, "POST", &path, body).await;
        let detach = seller_call(&market, "DELETE", &asset, Value::Null).await;
        if is_open {
            assert_eq!(
                attach.expect_status(201)["skipped"],
                json!([{"reason": "already_attached", "count": 1}])
            );
            detach.expect_status(204);
            assert_eq!(seller_get(&market, &path).await, json!({"assets": [], "total": 0}));
            assert_eq!(
                seller_call(&market, "DELETE", &asset, Value::Null).await.expect_error(404),
                "not_found"
            );
        } else {
            assert_eq!(attach.expect_error(409), "listing_not_editable", "{key}");
            assert_eq!(detach.expect_error(409), "listing_not_editable", "{key}");
            assert_eq!(seller_get(&market, &path).await["total"], 1);
        }
    }
}
