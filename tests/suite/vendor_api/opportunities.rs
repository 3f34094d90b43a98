//! Opportunities and project opportunities as vendors and buyers see them, and project bids.

use serde_json::{Value, json};

use super::seller_market::{OTHER, SELLER, market_with, seeded_id, seller_call, seller_get, titles};
use crate::{harness::TestMarket, mcp};

fn opportunity(key: &str, title: &str, status: &str, more: &Value) -> Value {
    let mut record = json!({"key": key, "owner": "buyer", "title": title, "description": "D", "status": status,
        "visibility_mode": "all_vendors", "created_at": "-P9D"});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn market() -> TestMarket {
    let metadata = |min: Value, max: Value, unit: &str, tags: Value, overview: &str| json!({"budget_min": min, "budget_max": max, "budget_unit": unit, "tags": tags, "overview": overview});
    market_with(&json!({
        "opportunities": [
            opportunity("a", "\u{c4}gypten", "published", &json!({"deadline": "P9D", "accepted_asset_types": ["codebase"],
                "metadata": metadata(json!(100), json!(900), "total", json!(["maps", "Maps", "old"]), "Scrolls wanted")})),
            opportunity("b", "bridges", "published", &json!({"deadline": "P3D", "accepted_asset_types": ["raw_data", "task"],
                "created_at": "-P8D", "metadata": metadata(json!(5), json!(50), "per_task", json!(["maps"]), "Steel")})),
            opportunity("c", "Cranes", "published", &json!({"created_at": "-P7D"})),
            opportunity("late", "Late", "published", &json!({"deadline": "-P1D"})),
            opportunity("draft", "Draft", "draft", &json!({})),
            opportunity("closed", "Closed", "closed", &json!({"closed_at": "-P1D"})),
            opportunity("cancelled", "Cancelled", "cancelled", &json!({"closed_at": "-P1D"})),
            opportunity("hidden", "Hidden", "published", &json!({"visibility_mode": "all_except", "excluded_teams": ["seller"]})),
        ],
        "project_opportunities": [
            opportunity("p", "Project", "published", &json!({"evaluation_date": "P20D"})),
            opportunity("hidden-project", "H", "published", &json!({"visibility_mode": "all_except", "excluded_teams": ["seller"]})),
        ],
        "project_bids": [
            {"key": "mine", "project_opportunity": "p", "team": "seller", "num_tasks": 30, "status": "submitted", "created_at": "-P2D",
                "vendor_events": [{"at": "-P2D", "event": "submitted"}]},
            {"key": "theirs", "project_opportunity": "p", "team": "both", "num_tasks": 10, "status": "declined", "created_at": "-P1D"},
        ],
    }))
}

/// "Published open opportunities the team can view", with every filter and sort order.
#[tokio::test]
async fn open_opportunities_are_filtered_and_sorted() {
    let market = market();
    for (query, expected) in [
        ("", &["bridges", "\u{c4}gypten", "Cranes"][..]),
        ("sort=deadline", &["bridges", "\u{c4}gypten", "Cranes"]),
        ("sort=recent", &["Cranes", "bridges", "\u{c4}gypten"]),
        ("sort=title", &["bridges", "Cranes", "\u{c4}gypten"]),
        ("sort=budget_low", &["bridges", "\u{c4}gypten", "Cranes"]),
        ("sort=budget_high", &["\u{c4}gypten", "bridges", "Cranes"]),
        ("tags=maps", &["bridges", "\u{c4}gypten"]),
        ("tags=old&tags=nothing", &["\u{c4}gypten"]),
        ("asset_types=task&asset_types=other", &["bridges"]),
        ("asset_types=nonsense", &[]),
        ("max_budget=5", &["bridges"]),
        ("max_budget=99.5", &["bridges"]),
        ("max_budget=100", &["bridges", "\u{c4}gypten"]),
        ("budget_unit=per_task", &["bridges"]),
        ("budget_unit=total&tags=maps", &["\u{c4}gypten"]),
        ("query=\u{e4}GYP", &["\u{c4}gypten"]),
        ("query=agypten", &["\u{c4}gypten"]),
        ("query=a\u{308}gyp", &["\u{c4}gypten"]),
        ("tags=ＯＬＤ", &["\u{c4}gypten"]),
        ("query=scrolls maps", &["\u{c4}gypten"]),
        ("query=buyer house", &["bridges", "\u{c4}gypten", "Cranes"]),
        ("query=scrolls steel", &[]),
        ("query=scrolls, (maps)!", &["\u{c4}gypten"]),
        ("query=buyer-house steel", &["bridges"]),
        ("query=\" ?", &["bridges", "\u{c4}gypten", "Cranes"]),
        ("limit=1&offset=1", &["\u{c4}gypten"]),
        ("offset=2147483647", &[]),
    ] {
        let page = seller_get(&market, &format!("opportunities?{query}")).await;
        assert_eq!(titles(&page), expected, "{query}");
    }
    let page = seller_get(&market, "opportunities?limit=1&max_budget=5").await;
    assert_eq!(
        (&page["counts"], &page["facets"]),
        (&json!({"all": 1}), &json!({"tags": {"maps": 2, "old": 1}}))
    );
    let page = seller_get(&market, "opportunities?query=steel").await;
    assert_eq!(page["facets"], json!({"tags": {"maps": 1}}));
    let other_opportunities =
        market.call(OTHER, "GET", "/v2/opportunities?sort=recent", &Value::Null).await.ok();
    assert_eq!(titles(&other_opportunities).len(), 4, "only the seller is excluded");
    for query in ["sort=best", "budget_unit=hour", "max_budget=-1", "limit=101", "offset=-1", "status=draft"]
    {
        assert_eq!(
            seller_call(&market, "GET", &format!("opportunities?{query}"), Value::Null).await.status,
            422,
            "{query}"
        );
    }
}

/// A tag is counted under its first spelling, as in the facets.
#[tokio::test]
async fn agents_group_opportunities_by_tags_in_all_their_spellings() {
    let spelled = |key: &str, tags: Value| {
        opportunity(key, key, "published", &json!({"metadata": {"tags": tags}, "created_at": "-P8D"}))
    };
    let market = market_with(&json!({"opportunities": [
        spelled("a", json!(["maps", "Maps", "old"])),
        spelled("b", json!(["MAPS"])),
    ]}));
    let facets = seller_get(&market, "opportunities").await["facets"]["tags"].clone();
    let arguments = json!({"list": "list_opportunities", "group_by": ["tag"]});
    let result = mcp::call(&market, SELLER, "aggregate", arguments).await;
    assert!(!result.is_error, "{}", result.text);
    let groups = result.value["groups"].as_array().unwrap().iter();
    let counts =
        groups.map(|group| (group["group"][0].as_str().unwrap().to_owned(), group["records"].clone()));
    assert_eq!(Value::Object(counts.collect()), facets);
    assert_eq!(facets.as_object().unwrap().values().collect::<Vec<_>>(), [2, 1]);
}

/// "Opportunity (published or cancelled)"; excluded teams get 404.
#[tokio::test]
async fn opportunity_is_visible_while_published_or_cancelled() {
    let market = market();
    for (key, status) in [
        ("a", 200),
        ("late", 200),
        ("cancelled", 200),
        ("draft", 404),
        ("closed", 404),
        ("hidden", 404),
        ("p", 404),
    ] {
        let path = format!("opportunities/{}", seeded_id("opportunities", key));
        assert_eq!(seller_call(&market, "GET", &path, Value::Null).await.status, status, "{key}");
    }
    let opportunity =
        seller_get(&market, &format!("opportunities/{}", seeded_id("opportunities", "a"))).await;
    assert_eq!(opportunity["metadata"]["budget_min"], 100.0);
    assert_eq!(
        (&opportunity["owner_team_avatar_url"], &opportunity["closed_at"]),
        (&Value::Null, &Value::Null)
    );
    let project =
        seller_get(&market, &format!("project-opportunities/{}", seeded_id("project_opportunities", "p")))
            .await;
    assert!(project["evaluation_date"].is_string() && project.get("owner_team_avatar_url").is_none());
    let hidden = format!("project-opportunities/{}", seeded_id("project_opportunities", "hidden-project"));
    assert_eq!(seller_call(&market, "GET", &hidden, Value::Null).await.expect_error(404), "not_found");
}

/// A bid and a notification keep their opportunity readable, in every status and for excluded teams.
#[tokio::test]
async fn opportunity_stays_readable_for_teams_with_a_bid_or_notification() {
    let (mut projects, mut opportunities) = (Vec::new(), Vec::new());
    for status in ["draft", "published", "closed", "cancelled"] {
        let mut more = json!({"visibility_mode": "all_except", "excluded_teams": ["seller"]});
        if matches!(status, "closed" | "cancelled") {
            more["closed_at"] = json!("-PT12H");
        }
        for relation in ["notified", "unrelated"] {
            projects.push(opportunity(&format!("{relation}-{status}"), "P", status, &more));
            opportunities.push(opportunity(&format!("{relation}-{status}"), "L", status, &more));
        }
        // A team cannot bid on a draft, nor if it is excluded, but it can be excluded later.
        if status != "draft" {
            let object = more.as_object_mut().unwrap();
            object.retain(|field, _| field == "closed_at");
            projects.push(opportunity(&format!("bid-{status}"), "P", status, &more));
        }
    }
    let keys = |prefix: &str| -> Vec<String> {
        let keys = projects.iter().map(|project| project["key"].as_str().unwrap().to_owned());
        keys.filter(|key| key.starts_with(prefix)).collect()
    };
    let bids = keys("bid").into_iter().map(|key| json!({"key": key, "project_opportunity": key, "team": "seller", "num_tasks": 3, "status": "declined", "created_at": "-P2D"}));
    let notify = |key: String, field: &str| json!({"key": format!("{}-{key}", field.replace('_', "-")), "team": "seller", "type": "opportunity_closed", "title": "T", "message": "M", "created_at": "-P1D", field: key});
    let notifications = keys("notified")
        .into_iter()
        .flat_map(|key| [notify(key.clone(), "opportunity"), notify(key, "project_opportunity")]);
    let exclusions = keys("bid").into_iter().map(|key| {
        json!({"do": "exclude_from_project_opportunity", "at": "-P1D",
        "project_opportunity": key, "teams": ["seller"]})
    });
    let market = market_with(&json!({
        "steps": exclusions.collect::<Vec<Value>>(),
        "project_bids": bids.collect::<Vec<Value>>(), "notifications": notifications.collect::<Vec<Value>>(),
        "project_opportunities": projects, "opportunities": opportunities,
    }));
    for (collection, route) in
        [("project_opportunities", "project-opportunities"), ("opportunities", "opportunities")]
    {
        for (relation, expected) in [("bid", 200), ("notified", 200), ("unrelated", 404)] {
            for status in ["draft", "published", "closed", "cancelled"] {
                if relation == "bid" && (status == "draft" || route == "opportunities") {
                    continue;
                }
                let path = format!("{route}/{}", seeded_id(collection, &format!("{relation}-{status}")));
                let response = seller_call(&market, "GET", &path, Value::Null).await;
                assert_eq!(response.status, expected, "{relation} {status} {route}");
                let other = market.call(OTHER, "GET", &format!("/v2/{path}"), &Value::Null).await;
                let is_visible = matches!(status, "published" | "cancelled");
                assert_eq!(other.status, if is_visible { 200 } else { 404 }, "{relation} {status} {route}");
            }
        }
    }
}

#[tokio::test]
async fn vendor_sees_only_its_own_bids() {
    let market = market();
    let page = seller_get(&market, "project-opportunities/bids/mine").await;
    assert_eq!((&page["total"], &page["limit"], &page["offset"]), (&json!(1), &json!(50), &json!(0)));
    let bid = &page["items"][0];
    assert_eq!((&bid["id"], &bid["num_tasks"]), (&json!(seeded_id("project_bids", "mine")), &json!(30)));
    assert_eq!((&bid["delivery_taskset_names"], bid.get("activity")), (&json!({}), None));
}

/// The bids that a buyer sees include their activity.
#[tokio::test]
async fn buyer_sees_the_bids_on_its_own_projects() {
    let market = market();
    let path = format!("/v2/buyer/project-opportunities/{}/bids", seeded_id("project_opportunities", "p"));
    let page = market.call("mkt_buyer", "GET", &path, &Value::Null).await.ok();
    let ids: Vec<&Value> = page["items"].as_array().unwrap().iter().map(|bid| &bid["id"]).collect();
    assert_eq!(
        ids,
        [&json!(seeded_id("project_bids", "theirs")), &json!(seeded_id("project_bids", "mine"))],
        "newest first"
    );
    assert_eq!(page["items"][1]["activity"]["vendor_events"].as_array().unwrap().len(), 1);
    assert_eq!(market.call("mkt_other", "GET", &path, &Value::Null).await.expect_error(404), "not_found");
    let own = market
        .call("mkt_buyer", "GET", "/v2/buyer/opportunities?status=published&limit=2", &Value::Null)
        .await
        .ok();
    assert_eq!((&own["total"], own["items"].as_array().unwrap().len()), (&json!(5), 2));
    let hidden = format!("/v2/buyer/opportunities/{}", seeded_id("opportunities", "hidden"));
    let hidden = market.call("mkt_buyer", "GET", &hidden, &Value::Null).await.ok();
    assert_eq!(
        (&hidden["visibility_mode"], &hidden["excluded_team_ids"]),
        (&json!("all_except"), &json!([seeded_id("teams", "seller")]))
    );
}
