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
    let unknown = call(demo(), BUYER, "browse_listings", json!({"page": 2})).await.error();
    assert_eq!(unknown["code"], "unknown_argument", "pages of a cursor have no number: {unknown}");
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
