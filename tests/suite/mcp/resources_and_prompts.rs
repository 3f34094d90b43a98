//! Resources, prompts, and completion of their arguments.

use serde_json::{Value, json};

use super::{call, request, result};
use crate::{
    contract::cases::{BOTH, BUYER, LOCKED_VENDOR, VENDOR},
    harness::{demo, elements},
};

async fn read_resource(key: &str, uri: &str) -> Value {
    let read = result(demo(), key, "resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"].as_array().map(Vec::len), Some(1));
    assert_eq!(read["contents"][0]["uri"], uri);
    read["contents"][0].clone()
}

/// Returns the ID of a listing in the catalog.
async fn any_listing_id() -> String {
    let page = call(demo(), BUYER, "browse_listings", json!({"limit": 1, "fields": ["id"]})).await.ok();
    page["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn guide_taxonomy_and_listings_can_be_read() {
    let listed = result(demo(), BUYER, "resources/list", json!({})).await;
    let uris: Vec<&str> =
        elements(&listed["resources"]).map(|resource| resource["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["marketplace://guide", "marketplace://taxonomy"]);
    let guide = read_resource(BUYER, "marketplace://guide").await;
    assert_eq!(guide["mimeType"], "text/markdown");
    for term in ["browse_listings", "missing", "fields", "next_cursor"] {
        assert!(guide["text"].as_str().unwrap().contains(term), "{term}");
    }
    let taxonomy = read_resource(BUYER, "marketplace://taxonomy").await;
    let taxonomy: Value = serde_json::from_str(taxonomy["text"].as_str().unwrap()).unwrap();
    let domains = demo().get(BUYER, "/v2/domains").await.ok();
    assert_eq!(taxonomy["domains"], domains["domains"]);
    for term in ["inventory_tags", "content_tags", "asset_types", "deprecated_asset_types"] {
        assert!(taxonomy[term].is_array(), "{term}");
    }
    let templates = result(demo(), BUYER, "resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "marketplace://listings/{listing_id}");
    let id = any_listing_id().await;
    let detail = read_resource(BUYER, &format!("marketplace://listings/{id}")).await;
    assert_eq!(detail["mimeType"], "application/json");
    let detail: Value = serde_json::from_str(detail["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        detail,
        call(demo(), BUYER, "get_listing", json!({"listing_id": id, "fields": ["*"]})).await.ok()
    );
}

#[tokio::test]
async fn unknown_resources_are_not_found() {
    let unknown_listing = "marketplace://listings/00000000-0000-0000-0000-000000000000";
    for uri in [
        "marketplace://nothing",
        "file:///etc/passwd",
        unknown_listing,
        "marketplace://listings/purchases",
        "",
    ] {
        let response = request(demo(), BUYER, "resources/read", json!({"uri": uri})).await;
        assert_eq!(response["error"]["code"], -32002, "{uri}: {response}");
        assert_eq!(response["error"]["data"]["uri"], uri);
    }
    let uri = format!("marketplace://listings/{}", any_listing_id().await);
    let response = request(demo(), LOCKED_VENDOR, "resources/read", json!({"uri": uri})).await;
    assert_eq!(response["error"]["data"]["error"]["code"], "listing_browse_locked", "{response}");
}

#[tokio::test]
async fn prompts_contain_their_data() {
    let names = async |key| -> Vec<String> {
        let listed = result(demo(), key, "prompts/list", json!({})).await;
        let prompts = listed["prompts"].as_array().unwrap().clone();
        prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("mkt_demo_no_role").await.is_empty());
    assert_eq!(names(BUYER).await, ["find_data", "compare_listings"]);
    assert_eq!(names(VENDOR).await, ["find_data", "compare_listings", "why_is_my_asset_incomplete"]);
    let prompt = async |key, name: &str, arguments: Value| {
        result(demo(), key, "prompts/get", json!({"name": name, "arguments": arguments})).await
    };
    let find =
        prompt(BUYER, "find_data", json!({"goal": "agents that fix COBOL", "budget_usd": "9000"})).await;
    let text = find["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("agents that fix COBOL") && text.contains("`max_price` 9000"), "{text}");
    assert_eq!(find["messages"][1]["content"]["uri"], "marketplace://taxonomy");
    let number =
        prompt(BUYER, "find_data", json!({"goal": "agents that fix COBOL", "budget_usd": 9000})).await;
    assert_eq!(number, find);

    let page =
        call(demo(), BUYER, "browse_listings", json!({"limit": 2, "fields": ["id", "title"]})).await.ok();
    let ids: Vec<&str> = (0..2).map(|index| page["items"][index]["id"].as_str().unwrap()).collect();
    let compare = prompt(BUYER, "compare_listings", json!({"listing_ids": ids.join(", ")})).await;
    assert_eq!(compare["messages"].as_array().unwrap().len(), 3);
    for index in 0..2 {
        let resource = &compare["messages"][index + 1]["content"]["resource"];
        assert_eq!(resource["uri"], format!("marketplace://listings/{}", ids[index]));
        let facts: Value = serde_json::from_str(resource["text"].as_str().unwrap()).unwrap();
        assert_eq!(facts["listing"]["title"], page["items"][index]["title"]);
        assert!(facts["quality"]["checks"].is_array());
    }

    let arguments = json!({"filter": ["stage:is:incomplete"], "fields": ["id", "missing"]});
    let assets = call(demo(), VENDOR, "list_codebases", arguments).await.ok();
    let asset = &assets["items"][0];
    let why = prompt(VENDOR, "why_is_my_asset_incomplete", json!({"asset_id": asset["id"]})).await;
    let text = why["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("stage \"incomplete\""), "{text}");
    assert!(text.contains(&format!("\"missing\":{}", asset["missing"])), "{text}");
}

#[tokio::test]
async fn prompts_validate_their_arguments() {
    let unknown_listing = "00000000-0000-0000-0000-000000000000";
    for (key, name, arguments, named) in [
        (BUYER, "no_such_prompt", json!({}), "no_such_prompt"),
        (
            BUYER,
            "why_is_my_asset_incomplete",
            json!({"asset_id": unknown_listing}),
            "why_is_my_asset_incomplete",
        ),
        (BUYER, "find_data", json!({}), "`goal`"),
        (BUYER, "find_data", json!({"goal": "x", "budget": "3"}), "budget"),
        (BUYER, "find_data", json!({"goal": "x", "budget_usd": "much"}), "`budget_usd`"),
        (BUYER, "find_data", json!({"goal": "x", "budget_usd": "nan"}), "`budget_usd`"),
        (BUYER, "find_data", json!({"goal": "x", "budget_usd": -1}), "`budget_usd`"),
        (BUYER, "compare_listings", json!({"listing_ids": unknown_listing}), "two to 5"),
        (
            BUYER,
            "compare_listings",
            json!({"listing_ids": format!("{unknown_listing},{unknown_listing}")}),
            "listing",
        ),
        (VENDOR, "why_is_my_asset_incomplete", json!({"asset_id": unknown_listing}), "asset"),
    ] {
        let response =
            request(demo(), key, "prompts/get", json!({"name": name, "arguments": arguments})).await;
        assert_eq!(response["error"]["code"], -32602, "{name}: {response}");
        assert!(response["error"]["message"].as_str().unwrap().contains(named), "{name}: {response}");
    }
}

#[tokio::test]
async fn ids_are_completed_by_prefix_or_title() {
    let complete = async |key, reference: Value, name: &str, typed: &str| -> Vec<String> {
        let params = json!({"ref": reference, "argument": {"name": name, "value": typed}});
        let completed = result(demo(), key, "completion/complete", params).await;
        let values = completed["completion"]["values"].as_array().unwrap().clone();
        values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let template = || json!({"type": "ref/resource", "uri": "marketplace://listings/{listing_id}"});
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    let id = any_listing_id().await;
    let suggested = complete(BUYER, template(), "listing_id", &id[..8]).await;
    assert_eq!(suggested.len(), 1);
    let (suggested_id, title) = suggested[0].split_once(' ').unwrap();
    assert_eq!(suggested_id, id);
    let uri = format!("marketplace://listings/{}", suggested[0].replace(' ', "%20"));
    let read = result(demo(), BUYER, "resources/read", json!({"uri": uri})).await;
    let listing: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert!(listing["title"].as_str().unwrap().replace(',', " ").starts_with(title), "{listing}");
    assert_eq!(complete(BUYER, template(), "listing_id", "").await.len(), 20);
    let found = complete(BUYER, template(), "listing_id", "cobol").await;
    let expected =
        call(demo(), BUYER, "browse_listings", json!({"query": "cobol", "fields": ["id"]})).await.ok();
    let expected: Vec<&Value> = elements(&expected["items"]).map(|item| &item["id"]).collect();
    let id_of = |suggestion: &str| suggestion.split(' ').next().unwrap().to_owned();
    let found_ids: Vec<String> = found.iter().map(|suggestion| id_of(suggestion)).collect();
    assert!(!found.is_empty() && found_ids.iter().eq(expected.iter().map(|id| id.as_str().unwrap())));
    let second = format!("{id},{}", &found[0][..6]);
    let both = complete(BUYER, prompt("compare_listings"), "listing_ids", &second).await;
    assert_eq!(both, [format!("{id},{}", found[0])]);
    let again =
        complete(BUYER, prompt("compare_listings"), "listing_ids", &format!("{id},{}", &id[..8])).await;
    assert!(again.is_empty(), "it is in the list already: {again:?}");
    let assets = complete(BOTH, prompt("why_is_my_asset_incomplete"), "asset_id", "").await;
    let first = call(demo(), BOTH, "get_asset", json!({"asset_id": id_of(&assets[0])})).await.ok();
    assert_eq!(first["stage"], "incomplete");
    let named =
        complete(BOTH, prompt("why_is_my_asset_incomplete"), "asset_id", first["title"].as_str().unwrap())
            .await;
    assert!(named.contains(&assets[0]));
    let hexadecimal = complete(VENDOR, prompt("why_is_my_asset_incomplete"), "asset_id", "bed").await;
    assert!(!hexadecimal.is_empty(), "a word that looks like an ID prefix is also searched for in titles");
    assert!(complete(LOCKED_VENDOR, template(), "listing_id", "cobol").await.is_empty());
    assert!(complete(BUYER, prompt("find_data"), "goal", "x").await.is_empty());
    assert!(complete(BUYER, prompt("nothing"), "id", "").await.is_empty());
    let nothing = json!({"type": "ref/resource", "uri": "marketplace://nothing/{id}"});
    assert!(complete(BUYER, nothing, "id", "").await.is_empty());
}
