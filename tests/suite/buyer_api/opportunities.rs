//! A buyer's own opportunities and project opportunities in the demo market.

use serde_json::Value;

use crate::harness::{
    demo, elements,
    records::{self, demo_records},
};

#[tokio::test]
async fn lists_contain_only_own_opportunities() {
    let mut seen = 0;
    for secret in ["mkt_demo_buyer", "mkt_demo_both", "mkt_demo_buyer_two", "mkt_demo_buyer_three"] {
        let team = demo_records().team_of(secret);
        for (collection, path) in
            [("opportunities", "opportunities"), ("project_opportunities", "project-opportunities")]
        {
            let own = demo_records().collection(collection).iter().filter(|record| record["owner"] == team);
            let own: Vec<&Value> = own.collect();
            for status in ["", "draft", "published", "closed", "cancelled", "nonsense"] {
                let query = if status.is_empty() { String::new() } else { format!("&status={status}") };
                let path = format!("/v2/buyer/{path}?limit=100{query}");
                let page = demo().call(secret, "GET", &path, &Value::Null).await.ok();
                let mut ids: Vec<String> = own
                    .iter()
                    .filter(|record| status.is_empty() || record["status"] == status)
                    .map(|record| records::id(collection, record).to_string())
                    .collect();
                let mut found: Vec<String> =
                    elements(&page["items"]).map(|item| item["id"].as_str().unwrap().to_owned()).collect();
                seen += found.len();
                ids.sort();
                found.sort();
                assert_eq!(found, ids, "{secret} {path}");
                assert_eq!(page["total"], ids.len());
            }
        }
    }
    assert!(seen > 20);
}
