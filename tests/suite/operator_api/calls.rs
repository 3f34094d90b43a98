//! Calls of the operator API on a demo market.

use marketplace::{
    clock::fixture_record_id, config::Settings, domain::events::EventRowId, store, string_enum::StringEnum,
};
use serde_json::{Value, json};

use crate::harness::{TestMarket, TestResponse};

/// Key of an operator of the demo.
const OPERATOR: &str = "mkt_demo_operator";

/// A demo market that an operator calls.
pub struct Calls {
    pub market: TestMarket,
}

impl Calls {
    pub fn new() -> Calls {
        Calls { market: TestMarket::demo() }
    }

    /// Like [`Calls::new`], with changed settings.
    pub fn with_settings(change: impl FnOnce(&mut Settings)) -> Calls {
        Calls { market: TestMarket::demo_with_settings(change) }
    }

    /// Sends a request with a body, `Null` for none. Responses are checked against the document.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> TestResponse {
        self.market.call(OPERATOR, method, &format!("/operator/v1/{path}"), &body).await
    }

    pub async fn get(&self, path: &str) -> Value {
        self.call("GET", path, Value::Null).await.ok()
    }

    pub async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.call("POST", path, body).await
    }

    /// Creates something, and returns it.
    pub async fn create(&self, path: &str, body: Value) -> Value {
        self.post(path, body).await.expect_status(201)
    }

    /// Posts, and returns the state and the allowed operations of the error.
    pub async fn refusal(&self, path: &str) -> Value {
        let response = self.post(path, Value::Null).await;
        assert_eq!(response.expect_error(409), "invalid_transition");
        response.json()["error"]["details"].clone()
    }

    /// Returns the type of the last event.
    pub fn last_event(&self) -> &'static str {
        let market = self.market.market();
        let all = |rows: &store::Reader| store::events::list_after(rows, EventRowId(0), usize::MAX >> 1);
        market.read_blocking(|reader| all(reader.rows)).unwrap().pop().unwrap().event_type.as_str()
    }

    /// Asserts that the last entry of the audit is about this operation and record.
    pub async fn assert_audited(&self, operation: &str, kind: &str, id: &Value) {
        let entry = self.get("audit?limit=1").await["items"][0].clone();
        let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        assert_eq!(entry["operation"], operation);
        assert_eq!(entry["subject"], json!({"kind": kind, "id": id}));
    }
}

/// Returns the ID of a record of the demo.
pub fn id(collection: &str, key: &str) -> String {
    fixture_record_id(collection, key).to_string()
}

/// Returns a field of each item of a list.
pub fn each<'v>(page: &'v Value, field: &str) -> Vec<&'v Value> {
    page["items"].as_array().unwrap().iter().map(|item| &item[field]).collect()
}
