//! Hints: an unknown value of a filter is not an error, and the answer names the nearest known ones.

use serde_json::{Value, json};

use super::{
    call,
    rest_records::{rest_list, rest_pages},
};
use crate::{
    catalog::small_market::{published, small_market},
    contract::cases::{BOTH, BUYER, LOCKED_VENDOR, OPERATOR, VENDOR},
    harness::{TestMarket, demo},
};

#[tokio::test]
async fn hint_names_only_unknown_values() {
    let known = call(demo(), BUYER, "browse_listings", json!({"languages": ["java"]})).await.ok();
    let mixed = call(demo(), BUYER, "browse_listings", json!({"languages": ["java", "nosuch"]})).await.ok();
    assert_eq!((&mixed["items"], &mixed["counts"]["all"]), (&known["items"], &known["counts"]["all"]));
    let hint = mixed["hint"].as_str().unwrap();
    assert!(hint.contains("nosuch") && !hint.contains("java"), "{hint}");
    let near = call(demo(), BUYER, "browse_listings", json!({"tags": ["finanse", "legal"]})).await.ok();
    let hint = near["hint"].as_str().unwrap();
    assert!(hint.contains("finanse") && hint.contains("finance") && !hint.contains("legal"), "{hint}");
    let unknown = json!({"list": "browse_listings", "filters": {"asset_types": ["codbase", "taskset"]}});
    let counted = call(demo(), BUYER, "aggregate", unknown).await.ok();
    let hint = counted["hint"].as_str().unwrap();
    assert!(hint.contains("codbase") && hint.contains("codebase") && !hint.contains("taskset"), "{hint}");
    let assets = call(demo(), VENDOR, "list_assets", json!({"sku": "codbase"})).await;
    assert!(assets.text.contains("codebase"), "{}", assets.text);
}

#[tokio::test]
async fn unknown_vendor_is_named_with_the_nearest() {
    let known = rest_list(BUYER, "/v2/listings/browse?limit=1", "items").await[0]["team_name"].clone();
    let page = call(demo(), BUYER, "browse_listings", json!({"vendor": known})).await.ok();
    assert!(page["hint"].is_null() && !page["items"].as_array().unwrap().is_empty(), "{page}");
    assert!(page["similar_vendors"].is_null(), "{page}");
    for (tool, arguments) in [
        ("browse_listings", json!({"vendor": "Nobody's Data"})),
        ("list_purchases", json!({"vendor": "Nobody's Data"})),
        ("aggregate", json!({"list": "list_offers", "filters": {"vendor": "Nobody's Data"}})),
    ] {
        let page = call(demo(), BUYER, tool, arguments).await.ok();
        let hint = page["hint"].as_str().unwrap_or_else(|| panic!("{tool}: {page}"));
        assert!(hint.contains("Nobody's Data") && hint.contains("aggregate"), "{hint}");
        assert!(page["similar_vendors"].is_null(), "{page}");
    }
    let mut misspelled = known.as_str().unwrap().to_owned();
    misspelled.pop();
    misspelled.push('q');
    for (tool, arguments) in [
        ("browse_listings", json!({"vendor": misspelled, "fields": ["id"]})),
        ("list_offers", json!({"vendor": misspelled})),
        ("get_spending", json!({"vendor": misspelled})),
    ] {
        let page = call(demo(), BUYER, tool, arguments).await.ok();
        assert!(page["similar_vendors"].as_array().unwrap().contains(&known), "{tool}: {page}");
        // Teams write their names, so the advice does not repeat them, and the notice covers them.
        assert!(!page["hint"].as_str().unwrap().contains(known.as_str().unwrap()), "{page}");
        assert!(page["notice"].as_str().unwrap().contains("similar_vendors"), "{page}");
    }
    let locked = call(demo(), LOCKED_VENDOR, "browse_listings", json!({"vendor": misspelled})).await;
    assert!(!locked.text.contains(known.as_str().unwrap()), "{}", locked.text);
    assert_eq!(locked.error_code(), "listing_browse_locked");
}

#[tokio::test]
async fn only_vendors_of_the_catalog_are_similar() {
    // The team "Both house" has no listings.
    let market = small_market(&[published("one", 5, &json!({}))]);
    let page = call(&market, "mkt_buyer", "browse_listings", json!({"vendor": "Both hous"})).await.ok();
    assert!(page["similar_vendors"].is_null() && page["hint"].is_string(), "{page}");
}

#[tokio::test]
async fn vendor_is_found_by_its_name_as_answers_show_it() {
    let market = TestMarket::demo();
    let teams = market.get(OPERATOR, "/operator/v1/teams?limit=100").await.ok();
    let teams = teams["items"].as_array().unwrap();
    let team = teams.iter().find(|team| team["name"] == "Lumen Codeworks").unwrap();
    let path = format!("/operator/v1/teams/{}", team["id"].as_str().unwrap());
    market.call(OPERATOR, "PATCH", &path, &json!({"name": "Lumen <Codeworks>"})).await.ok();
    let page = call(&market, BUYER, "browse_listings", json!({"fields": ["vendors"]})).await.ok();
    let vendors = page["vendors"].as_array().unwrap();
    let names: Vec<&str> = vendors.iter().map(|vendor| vendor["team_name"].as_str().unwrap()).collect();
    let shown = names.into_iter().find(|name| name.starts_with("Lumen")).unwrap();
    assert_eq!(shown, "Lumen \\<Codeworks>");
    for name in [shown, "Lumen <Codeworks>"] {
        let found = call(&market, BUYER, "browse_listings", json!({"vendor": name})).await.ok();
        assert!(found["hint"].is_null() && !found["items"].as_array().unwrap().is_empty(), "{name}: {found}");
    }
}

#[tokio::test]
async fn unknown_tiers_domains_and_models_are_named() {
    let none = call(demo(), BUYER, "browse_listings", json!({"vendor_tiers": [7, 1]})).await.ok();
    assert!(none["hint"].as_str().unwrap().contains("`vendor_tiers` has no value 7"), "{none}");
    let known = call(demo(), BUYER, "browse_listings", json!({"vendor_tiers": ["1", 3.0]})).await.ok();
    assert!(known["hint"].is_null(), "{known}");
    let page = call(demo(), VENDOR, "list_assets", json!({"filter": ["domain:is:finanse"]})).await.ok();
    assert_eq!(page["total"], 0);
    let hint = page["hint"].as_str().unwrap();
    assert!(hint.contains("`domain` has no value \"finanse\"; nearest: finance"), "{hint}");
    let tasks = call(demo(), VENDOR, "list_tasks", json!({"filter": ["ran_on_model:is:nosuch"]})).await.ok();
    assert!(tasks["hint"].as_str().unwrap().contains("`ran_on_model` has no value"), "{tasks}");
    // Labels are taken in conditions, too.
    for (tool, written, meant) in [
        ("list_assets", "domain:is:Software Engineering", "domain:is:software-engineering"),
        ("list_codebases", "domain:is_not:Finance", "domain:is_not:finance"),
    ] {
        let [written, meant] = [written, meant].map(|filter| json!({"filter": [filter]}));
        let page = call(demo(), VENDOR, tool, written).await.ok();
        assert!(page["hint"].is_null() && page["total"].as_u64() > Some(0), "{tool}: {page}");
        assert_eq!(page, call(demo(), VENDOR, tool, meant).await.ok(), "{tool}");
    }
}

#[tokio::test]
async fn labels_and_other_names_are_taken() {
    for (key, tool, written, meant) in [
        (
            BUYER,
            "browse_listings",
            json!({"asset_types": ["Codebases"]}),
            json!({"asset_types": ["codebase"]}),
        ),
        (
            BUYER,
            "browse_listings",
            json!({"asset_types": "Robotics datasets"}),
            json!({"asset_types": ["robotics_dataset"]}),
        ),
        (
            BUYER,
            "browse_listings",
            json!({"languages": ["golang", "C++"]}),
            json!({"languages": ["go", "cpp"]}),
        ),
        (
            VENDOR,
            "list_assets",
            json!({"filter": ["type:is:Codebases"]}),
            json!({"filter": ["type:is:codebase"]}),
        ),
    ] {
        let found = call(demo(), key, tool, written.clone()).await.ok();
        assert_eq!(found, call(demo(), key, tool, meant).await.ok(), "{tool} {written}");
        assert!(found["hint"].is_null() && !found["items"].as_array().unwrap().is_empty(), "{tool}: {found}");
    }
}

#[tokio::test]
async fn unknown_values_of_a_tool_are_named_where_the_operation_takes_any_text() {
    for kind in ["listing", "project"] {
        let arguments = json!({"kind": kind, "status": "publishd"});
        let found = call(demo(), BUYER, "list_own_opportunities", arguments).await.ok();
        let hint = found["hint"].as_str().unwrap();
        assert!(hint.contains("`status` has no value \"publishd\"; it is one of draft, published"), "{hint}");
    }
    // Closed sets of operations are errors, which name the set.
    let refused = call(demo(), BUYER, "list_offers", json!({"status": ["acepted"]})).await.error();
    assert!(refused.to_string().contains("accepted"), "{refused}");
}

/// Tags of requests for listings are words of buyers, not domains.
#[tokio::test]
async fn tags_of_requests_are_those_of_open_requests() {
    let open = rest_pages(BOTH, "/v2/opportunities", "items").await;
    let tag = open.iter().flat_map(|one| texts_of(&one["metadata"]["tags"])).next().unwrap();
    let found = call(demo(), BOTH, "list_opportunities", json!({"tags": [tag]})).await.ok();
    assert!(found["hint"].is_null() && !found["items"].as_array().unwrap().is_empty(), "{found}");
    let unknown = format!("{tag}x");
    for (tool, arguments) in [
        ("list_opportunities", json!({"tags": [unknown]})),
        ("aggregate", json!({"list": "list_opportunities", "filters": {"tags": [unknown]}})),
    ] {
        let found = call(demo(), BOTH, tool, arguments).await.ok();
        assert!(found["hint"].as_str().unwrap().contains(&format!("nearest: {tag}")), "{tool}: {found}");
    }
}

fn texts_of(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
