//! The operator API: its resources, its operations, and their entries in the audit and the outbox.

mod assets;
mod bodies;
mod calls;
mod documentation;
mod estimations;
mod grants;
mod jobs;
mod listings;
mod money;
mod named_faults;
mod notifications;
mod offers;
mod opportunities;
mod payments;
mod purchases;
mod quality_runs;
mod races;
mod sales_market;
mod tasksets;
mod taxonomy;
mod uploads;

use marketplace::{
    clock::fixture_record_id,
    domain::{events::EventRowId, time::Timestamp},
    market::Reader,
    store,
    string_enum::StringEnum,
};
use serde_json::{Value, json};

use crate::{
    catalog::small_market::small_market_with,
    harness::{NOW, TestMarket, TestResponse},
};

/// An ID that nothing has.
const UNKNOWN: &str = "00000000-0000-0000-0000-000000000000";

/// A small market, called by an operator.
struct Operator {
    market: TestMarket,
}

impl Operator {
    /// Creates a market with these listings and further records.
    fn new(listings: &[Value], records: Value) -> Operator {
        let mut records = records;
        records["operator_keys"] =
            json!([{"key": "op", "name": "tests", "secret": "mkt_test_operator", "created_at": "-P99D"}]);
        Operator { market: small_market_with(listings, &records) }
    }

    async fn call(&self, method: &str, path: &str, body: &Value) -> TestResponse {
        self.market.call("mkt_test_operator", method, &format!("/operator/v1{path}"), body).await
    }

    /// Returns what a GET request returns.
    async fn get(&self, path: &str) -> Value {
        self.call("GET", path, &Value::Null).await.ok()
    }

    /// Posts a body (`Null` for none), and returns the response.
    async fn post(&self, path: &str, body: Value) -> Value {
        let response = self.call("POST", path, &body).await;
        assert!(response.status < 300, "{path}: {}", response.json());
        response.json()
    }

    /// Posts a body, and returns the status and the code of the error, or the type of the first problem.
    async fn refusal(&self, path: &str, body: Value) -> (u16, String) {
        let response = self.call("POST", path, &body).await;
        let json = response.json();
        let code =
            if json["detail"].is_array() { &json["detail"][0]["type"] } else { &json["error"]["code"] };
        (response.status, code.as_str().unwrap_or_default().to_owned())
    }

    /// Returns one field of each item of a list.
    async fn list(&self, path: &str, field: &str) -> Vec<Value> {
        let page = self.get(path).await;
        assert_eq!(page["next_cursor"], Value::Null, "{path}");
        let items = page["items"].as_array().unwrap();
        assert_eq!(page["total"], items.len(), "{path}");
        items.iter().map(|item| item[field].clone()).collect()
    }

    /// Returns the operations in the audit, oldest first, each with the kind and the ID of its subject.
    async fn audit(&self) -> Vec<(String, String, String)> {
        let page = self.get("/audit?limit=100").await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entry = |entry: &Value| {
            (text(&entry["operation"]), text(&entry["subject"]["kind"]), text(&entry["subject"]["id"]))
        };
        page["items"].as_array().unwrap().iter().rev().map(entry).collect()
    }

    /// Returns the types of the events since the market began.
    fn events(&self) -> Vec<&'static str> {
        let list = |reader: &Reader| store::events::list_after(reader.rows, EventRowId(0), 10_000);
        let started_at = Timestamp::parse(NOW).unwrap();
        let all = self.market.read(list).unwrap().into_iter();
        all.filter(|event| event.occurred_at >= started_at).map(|event| event.event_type.as_str()).collect()
    }
}

/// Returns the ID of a record of a set.
fn id(collection: &str, key: &str) -> String {
    fixture_record_id(collection, key).to_string()
}
