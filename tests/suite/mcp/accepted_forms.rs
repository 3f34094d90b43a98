//! Arguments as models write them: other names, and lists as JSON text.

use serde_json::json;

use super::call;
use crate::{
    contract::cases::{BOTH, BUYER},
    harness::demo,
};

#[tokio::test]
async fn other_names_mean_the_arguments_of_the_schema() {
    let listing =
        call(demo(), BUYER, "browse_listings", json!({"limit": 1})).await.ok()["items"][0]["id"].clone();
    for (tool, written, meant) in [
        ("get_listing", json!({"id": listing}), json!({"listing_id": listing})),
        ("browse_listings", json!({"q": "cobol"}), json!({"query": "cobol"})),
        ("browse_listings", json!({"certified": true}), json!({"verified_only": true})),
        ("list_assets", json!({"page": 2, "limit": 5}), json!({"offset": 5, "limit": 5})),
        ("list_assets", json!({"page": 1}), json!({})),
        ("list_assets", json!({"fields": [], "filter": [], "id": "[]"}), json!({})),
        ("browse_listings", json!({"fields": [], "languages": []}), json!({})),
        ("browse_listings", json!({"page": 3, "limit": 7}), json!({"offset": 14, "limit": 7})),
        ("list_assets", json!({"sku": ["codebase"]}), json!({"sku": "codebase"})),
        ("list_assets", json!({"sku": "Raw Data"}), json!({"sku": "raw_data"})),
        ("list_assets", json!({"filter": ["qc:is:Failed"]}), json!({"filter": ["qc:is:failed"]})),
        (
            "list_assets",
            json!({"filter": "channel:is:Not Linked"}),
            json!({"filter": ["channel:is:not_linked"]}),
        ),
        (
            "list_estimations",
            json!({"filter": ["inventory:is:Not-Added"]}),
            json!({"filter": ["inventory:is:not_added"]}),
        ),
        ("get_listings", json!({"id": listing}), json!({"ids": [listing]})),
        ("get_listing", json!({"ids": [listing]}), json!({"listing_id": listing})),
        ("browse_listings", json!({"sort": "Price-Low"}), json!({"sort": "price_low"})),
        ("list_purchases", json!({"status": "Completed"}), json!({"status": "completed"})),
        ("list_purchases", json!({"kind": ["Full", "sample"]}), json!({"kind": ["full", "sample"]})),
        ("list_taxonomy", json!({"kind": "Languages"}), json!({"kind": "languages"})),
        (
            "aggregate",
            json!({"list": "List_Purchases", "group_by": ["Kind"], "measure": "Price", "filters": {"status": "Refunded"}}),
            json!({"list": "list_purchases", "group_by": ["kind"], "measure": "price", "filters": {"status": "refunded"}}),
        ),
    ] {
        let written_result = call(demo(), BOTH, tool, written.clone()).await.ok();
        assert_eq!(written_result, call(demo(), BOTH, tool, meant).await.ok(), "{tool} {written}");
    }
    for (tool, arguments) in [
        ("get_listing", json!({"id": listing, "listing_id": listing})),
        ("list_assets", json!({"page": 0})),
        ("list_assets", json!({"page": "two"})),
    ] {
        let refused = call(demo(), BOTH, tool, arguments.clone()).await;
        assert!(refused.is_error, "{tool} {arguments}");
    }
    let pages = async |arguments: serde_json::Value| {
        let page = call(demo(), BUYER, "browse_listings", arguments).await.ok();
        (page["items"].clone(), page["next_cursor"].clone())
    };
    let (_, cursor) = pages(json!({"limit": 7, "fields": ["id"]})).await;
    let by_cursor = pages(json!({"limit": 7, "fields": ["id"], "cursor": cursor})).await;
    assert_eq!(pages(json!({"limit": 7, "fields": ["id"], "page": 2})).await.0, by_cursor.0);
}

#[tokio::test]
async fn lists_may_be_json_text() {
    let list = json!({"tags": ["finance"], "fields": ["id", "title"]});
    let text = json!({"tags": "[\"finance\"]", "fields": " [\"id\", \"title\"]"});
    let expected = call(demo(), BUYER, "browse_listings", list).await.ok();
    assert!(!expected["items"].as_array().unwrap().is_empty());
    assert_eq!(call(demo(), BUYER, "browse_listings", text).await.ok(), expected);
    for hostile in ["[".repeat(500_000), format!("[{}1]", "1,".repeat(250_000))] {
        let refused =
            call(demo(), BUYER, "browse_listings", json!({"fields": &hostile, "tags": hostile})).await;
        assert!(refused.is_error && refused.text.len() < 2_000, "{}", refused.text);
    }
    let broken = call(demo(), BUYER, "browse_listings", json!({"fields": "[\"id\""})).await;
    assert!(broken.is_error, "{}", broken.text);
}
