//! What is counted of the requests for a question.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::planted::Canary;

/// Bytes of UTF-8 that count as one token.
const BYTES_PER_TOKEN: u64 = 4;

/// Methods that return data. All of them count as calls, so that no method is a free substitute for a tool.
const CALLS: [&str; 4] = ["tools/call", "resources/read", "prompts/get", "completion/complete"];

/// Methods that open a session: they return the tools, the instructions, and other lists.
const OPENING: [&str; 6] = [
    "initialize",
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

/// What was counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// Calls of tools, and other requests for data.
    pub calls: u64,
    /// Bytes of the requests for data.
    pub request_bytes: u64,
    /// Bytes of the answers to them.
    pub answer_bytes: u64,
    /// Tokens that a model reads of these answers: of the text part or of the structured part, whichever is longer, since a
    /// client passes on only one of them.
    pub tokens: u64,
    /// Tokens that a model reads to open sessions.
    pub opening_tokens: u64,
    /// Requests that failed, and tools that returned an error.
    pub errors: u64,
    /// Names of planted texts whose token was in an argument of a call.
    #[serde(skip)]
    pub followed: BTreeSet<&'static str>,
}

impl Counts {
    /// Counts a request and its response with this HTTP status.
    pub fn add(&mut self, request: &[u8], status: u16, response: &[u8], canaries: &[Canary]) {
        let request_json: Value = serde_json::from_slice(request).unwrap_or_default();
        let response_json: Value = serde_json::from_slice(response).unwrap_or_default();
        let messages = request_json.as_array().map_or(std::slice::from_ref(&request_json), Vec::as_slice);
        let has_method = |methods: &[&str]| {
            messages
                .iter()
                .any(|message| message["method"].as_str().is_some_and(|name| methods.contains(&name)))
        };
        let result = &response_json["result"];
        if status >= 400 || response_json["error"].is_object() || result["isError"] == true {
            self.errors += 1;
        }
        if has_method(&OPENING) {
            self.opening_tokens += tokens(opening_bytes(result));
        }
        if has_method(&CALLS) {
            self.calls += messages.len() as u64;
            self.request_bytes += request.len() as u64;
            self.answer_bytes += response.len() as u64;
            self.tokens += tokens(read_bytes(&response_json));
            let arguments: String = messages.iter().map(|message| message["params"].to_string()).collect();
            let seen = canaries.iter().filter(|canary| canary.is_in(&arguments));
            self.followed.extend(seen.map(|canary| canary.name));
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Counts) {
        self.calls += other.calls;
        self.request_bytes += other.request_bytes;
        self.answer_bytes += other.answer_bytes;
        self.tokens += other.tokens;
        self.opening_tokens += other.opening_tokens;
        self.errors += other.errors;
        self.followed.extend(&other.followed);
    }
}

/// Returns the number of tokens of this many bytes, rounded up.
pub const fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

/// Returns the bytes that a model reads of a response with data.
fn read_bytes(response: &Value) -> usize {
    let result = &response["result"];
    let structured = result.get("structuredContent").map_or(0, |value| value.to_string().len());
    let texts = |list: &str, field: &str| -> usize {
        let items = result[list].as_array().into_iter().flatten();
        items.map(|item| item.pointer(field).and_then(Value::as_str).map_or(0, str::len)).sum()
    };
    let text = texts("content", "/text") + texts("contents", "/text") + texts("messages", "/content/text");
    match text.max(structured) {
        // An error of the protocol, or a result without a text: the model reads it as it is.
        0 => response.get("result").or(response.get("error")).map_or(0, |value| value.to_string().len()),
        bytes => bytes,
    }
}

/// Returns the bytes that a model reads in a response that opens a session: instructions, and lists. Output schemas and
/// annotations count, too, since clients pass tools on unchanged.
pub fn opening_bytes(result: &Value) -> usize {
    let instructions = result["instructions"].as_str().map_or(0, str::len);
    let lists = ["tools", "prompts", "resources", "resourceTemplates"];
    let listed: usize =
        lists.iter().filter_map(|name| result.get(name)).map(|list| list.to_string().len()).sum();
    instructions + listed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn count(request: &Value, status: u16, response: &Value) -> Counts {
        let canaries = [Canary { name: "terms", token: "XTOKENX".to_owned() }];
        let mut counts = Counts::default();
        counts.add(request.to_string().as_bytes(), status, response.to_string().as_bytes(), &canaries);
        counts
    }

    #[test]
    fn longer_part_of_an_answer_is_read_once() {
        let request = json!({"method": "tools/call", "params": {"name": "get_wallet", "arguments": {}}});
        let content = json!([{"type": "text", "text": "12345678"}]);
        let counts = count(&request, 200, &json!({"result": {"content": content}}));
        assert_eq!((counts.calls, counts.tokens, counts.errors, counts.opening_tokens), (1, 2, 0, 0));
        let both = json!({"result": {"content": content, "structuredContent": {"a": "12345678"}}});
        assert_eq!(count(&request, 200, &both).tokens, 4);
        assert_eq!(count(&request, 200, &both).answer_bytes, both.to_string().len() as u64);
    }

    #[test]
    fn errors_and_tokens_of_planted_texts_are_counted() {
        let request = json!({"method": "tools/call", "params": {"arguments": {"query": "xtokenx"}}});
        let counts = count(&request, 200, &json!({"result": {"isError": true, "content": []}}));
        assert_eq!((counts.errors, counts.followed.len()), (1, 1));
        assert_eq!(count(&request, 200, &json!({"error": {"code": 1}})).errors, 1);
        assert_eq!(count(&request, 401, &Value::Null).errors, 1);
    }

    #[test]
    fn lists_and_instructions_open_a_session() {
        let listed = json!({"result": {"tools": [1, 2, 3], "instructions": "12345678"}});
        let counts = count(&json!({"method": "tools/list"}), 200, &listed);
        assert_eq!((counts.calls, counts.tokens, counts.opening_tokens), (0, 0, 4));
        let read = json!({"result": {"contents": [{"text": "1234"}]}});
        assert_eq!(count(&json!({"method": "resources/read"}), 200, &read).calls, 1);
    }
}
