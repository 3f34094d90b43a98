//! Tests of the agent server over HTTP and over streams.

mod accepted_forms;
mod access;
mod aggregated_lists;
mod errors;
mod evidence;
mod hidden_text;
mod hints;
mod money_summaries;
mod no_web_app;
mod own_records;
mod parity;
mod protocol;
mod related_data;
mod request_options;
mod resources_and_prompts;
mod rest_records;
mod server_card;
mod small_answers;
mod stdio;
mod sums;
mod team_text;
mod tool_list;
mod truncation;

use marketplace::{
    config::ContactSettings,
    rest::{self, route::DeclaredRoute},
};
use poem::http::Method;
use serde_json::{Value, json};

use crate::harness::{BASE, TestMarket, TestResponse, demo};

/// Path of the agent server.
const PATH: &str = "/v2/mcp/";

/// Fields that a tool adds to the response of its operation.
const ADDED_FIELDS: [&str; 5] = ["next_offset", "notice", "hint", "cut", "evidence"];

/// The result of a tool call.
#[derive(Debug)]
pub struct ToolResult {
    pub value: Value,
    pub text: String,
    pub is_error: bool,
}

impl ToolResult {
    /// Returns the output; panics if the call failed.
    fn ok(self) -> Value {
        assert!(!self.is_error, "{}", self.text);
        assert_eq!(serde_json::from_str::<Value>(&self.text).unwrap(), self.value);
        self.value
    }

    /// Returns the error code; panics if the call succeeded.
    fn error_code(self) -> String {
        self.error()["code"].as_str().unwrap().to_owned()
    }

    /// Returns the error; panics if the call succeeded.
    fn error(self) -> Value {
        assert!(self.is_error, "{}", self.text);
        let parsed: Value = serde_json::from_str(&self.text).unwrap();
        let error = parsed["error"].clone();
        for key in ["code", "message", "next_step"] {
            assert!(error[key].as_str().is_some_and(|text| !text.is_empty()), "{error}");
        }
        error
    }
}

/// Posts a body with an API key.
pub async fn post(market: &TestMarket, key: &str, body: &Value) -> TestResponse {
    post_to(market, PATH, key, body).await
}

/// Posts a body with an API key to a path.
async fn post_to(market: &TestMarket, path: &str, key: &str, body: &Value) -> TestResponse {
    let key = format!("Bearer {key}");
    let headers = [
        ("host", "market.test"),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("authorization", key.as_str()),
    ];
    market.send_body(Method::POST, path, &headers, body.to_string().into_bytes()).await
}

/// Calls a protocol method and returns the whole response message.
async fn request(market: &TestMarket, key: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let response = post(market, key, &body).await.ok();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(7)), "{response}");
    response
}

/// Calls a protocol method and returns its result; panics if it failed.
async fn result(market: &TestMarket, key: &str, method: &str, params: Value) -> Value {
    let response = request(market, key, method, params).await;
    assert!(response["error"].is_null(), "{response}");
    response["result"].clone()
}

/// Calls a tool.
pub async fn call(market: &TestMarket, key: &str, tool: &str, arguments: Value) -> ToolResult {
    let result = result(market, key, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    ToolResult {
        value: result["structuredContent"].clone(),
        text: result["content"][0]["text"].as_str().unwrap().to_owned(),
        is_error: result["isError"] == true,
    }
}

/// Opens a session of the older protocol revisions. Returns what the server says of itself.
async fn initialize(key: &str) -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    result(demo(), key, "initialize", params).await
}

/// Returns the tools that a key can see.
async fn tools(market: &TestMarket, key: &str) -> Vec<Value> {
    let listed = result(market, key, "tools/list", json!({})).await;
    listed["tools"].as_array().unwrap().clone()
}

/// Returns all tools that a key can call, with full output schemas.
async fn tools_with_full_schemas(market: &TestMarket, key: &str) -> Vec<Value> {
    tools_at(market, key, "/v2/mcp/?schemas=full&toolsets=all").await
}

/// Returns all tools that a key can call, also those that are only listed if they are selected.
async fn all_tools(market: &TestMarket, key: &str) -> Vec<Value> {
    tools_at(market, key, "/v2/mcp/?toolsets=all").await
}

async fn tools_at(market: &TestMarket, key: &str, path: &str) -> Vec<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {}});
    let listed = post_to(market, path, key, &body).await.ok();
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// Returns the names of tools.
fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Returns every route that can have a tool: those of the APIs, and those that only agents call.
fn routes() -> Vec<DeclaredRoute> {
    [rest::IN_PROCESS.routes(), rest::routes()].concat()
}

/// Returns the OpenAPI documents of both APIs, and that of the operations that only agents call.
fn documents() -> [Value; 3] {
    [&rest::VENDOR, &rest::BUYER, &rest::IN_PROCESS]
        .map(|api| serde_json::from_str(&rest::openapi_json(api, BASE, &ContactSettings::default())).unwrap())
}
