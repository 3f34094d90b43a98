//! Scripted calls of tools, through the same endpoint as those of agents.

use std::collections::BTreeSet;

use poem::{
    Request,
    http::{Method, Uri},
};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use super::endpoint::GymEndpoint;
use crate::mcp;

/// Maximum number of pages that a script reads of one list.
const MAX_PAGES: usize = 200;

/// Rows of a page that a script requests.
const PAGE_ROWS: u64 = 100;

/// The tools of one question.
pub struct Session<'a> {
    handle: Handle,
    endpoint: &'a GymEndpoint,
    id: &'a str,
    key: &'a str,
}

impl<'a> Session<'a> {
    pub(super) const fn new(
        handle: Handle,
        endpoint: &'a GymEndpoint,
        id: &'a str,
        key: &'a str,
    ) -> Session<'a> {
        Session { handle, endpoint, id, key }
    }

    /// Sends a request of the protocol, and returns its result, or the reason why it failed.
    pub fn request(&self, method: &str, params: &Value) -> Result<Value, String> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = Request::builder()
            .method(Method::POST)
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.key))
            .body(body.to_string());
        let sent = self.endpoint.forward(self.id, request, Uri::from_static(mcp::PATHS[0]));
        let (_, response) = self.handle.block_on(sent).map_err(|error| error.to_string())?;
        let bytes =
            self.handle.block_on(response.into_body().into_bytes()).map_err(|error| error.to_string())?;
        let mut response: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        match response.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(response["error"].to_string()),
        }
    }

    /// Calls a tool, and returns its output, or the text of its error.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let mut result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let text = result["content"][0]["text"].take();
        if result["isError"] == true {
            return Err(format!("{tool}: {}", text.as_str().unwrap_or_default()));
        }
        match result["structuredContent"].take() {
            Value::Null => {
                serde_json::from_str(text.as_str().unwrap_or_default()).map_err(|error| error.to_string())
            }
            value => Ok(value),
        }
    }

    /// Returns all rows of a list, with these fields, page by page.
    pub fn rows(
        &self,
        tool: &str,
        list: &str,
        arguments: &Value,
        fields: &[&str],
    ) -> Result<Vec<Value>, String> {
        let mut arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        arguments.entry("limit").or_insert_with(|| json!(PAGE_ROWS));
        arguments.insert("fields".to_owned(), json!(fields));
        let mut rows = Vec::new();
        for _ in 0..MAX_PAGES {
            let mut page = self.call(tool, &Value::Object(arguments.clone()))?;
            if let Value::Array(found) = page[list].take() {
                rows.extend(found);
            }
            match (&page["next_cursor"], &page["next_offset"]) {
                (Value::String(cursor), _) => arguments.insert("cursor".to_owned(), json!(cursor)),
                (_, Value::Number(offset)) => arguments.insert("offset".to_owned(), json!(offset)),
                _ => return Ok(rows),
            };
        }
        Err(format!("{tool} has more than {MAX_PAGES} pages"))
    }

    /// Returns a text of a record that answers truncate, part by part, as `cut` says.
    pub fn whole_text(&self, tool: &str, arguments: &Value, field: &str) -> Result<String, String> {
        let mut arguments = arguments.clone();
        arguments["fields"] = json!([field]);
        let (mut text, mut requested) = (String::new(), BTreeSet::new());
        loop {
            let output = self.call(tool, &arguments)?;
            text.push_str(output[field].as_str().unwrap_or_default().trim_end_matches('…'));
            let rest = output["cut"].as_str().and_then(|cut| {
                let (_, rest) = cut.split_once("[\"")?;
                Some(rest.split_once("\"]")?.0.to_owned())
            });
            match rest {
                Some(rest) if requested.insert(rest.clone()) => arguments["fields"] = json!([rest]),
                _ => return Ok(text),
            }
        }
    }
}
