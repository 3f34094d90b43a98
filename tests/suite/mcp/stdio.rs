//! The agent server over streams, on a market that it opens read-only: with and without a server that writes
//! to it.

use marketplace::{
    clock::{Clock, Entropy},
    domain::principals::KeyScope,
    error::ErrorChain,
    market::{Market, OpenError, OpenMode, OpenOptions},
    mcp,
    operations::keys,
    store::Durability,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

use super::{call, post};
use crate::{
    contract::cases::{BUYER, VENDOR},
    harness::{BASE, TestMarket, demo, market_options},
};

/// Opens the market of a test a second time, read-only.
pub fn open_read_only(market: &TestMarket) -> Market {
    Market::open(OpenOptions {
        clock: Arc::new(Clock::stopped(market.market().clock().now())),
        entropy: Entropy::seeded(8),
        durability: Durability::Full,
        mode: OpenMode::ReadOnly,
        ..market_options(market.market().data_dir(), market.market().settings().clone())
    })
    .unwrap()
}

/// A client at the other end of the streams.
pub struct Agent {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: tokio::task::JoinHandle<Result<(), String>>,
}

impl Agent {
    pub fn start(market: Market, key: Option<&str>) -> Agent {
        let (client_end, server_end) = tokio::io::duplex(1 << 20);
        let (server_input, server_output) = tokio::io::split(server_end);
        let key = key.map(str::to_owned);
        let server = tokio::spawn(mcp::serve_agent(market, BASE, key, server_input, server_output));
        let (output, input) = tokio::io::split(client_end);
        Agent { input, output: BufReader::new(output).lines(), server }
    }

    async fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        serde_json::from_str(&self.request_line(method, params).await).unwrap()
    }

    /// Sends a request and returns the line of the response.
    pub async fn request_line(&mut self, method: &str, params: Value) -> String {
        self.send(&json!({"jsonrpc": "2.0", "id": 3, "method": method, "params": params})).await;
        self.output.next_line().await.unwrap().unwrap()
    }

    /// Sends bytes, which need not be a message, and returns the next line of the output.
    async fn send_bytes(&mut self, bytes: &[u8]) -> Value {
        self.input.write_all(bytes).await.unwrap();
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    pub async fn initialize(&mut self) {
        self.initialize_at("2025-11-25").await;
    }

    async fn initialize_at(&mut self, revision: &str) {
        let params = json!({
            "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let initialized = self.request("initialize", params).await;
        assert_eq!(initialized["result"]["protocolVersion"], revision, "{initialized}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(response["result"]["isError"], false, "{response}");
        response["result"]["structuredContent"].clone()
    }

    pub async fn finish(self) {
        drop((self.input, self.output));
        self.server.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn lines_that_are_no_messages_get_json_rpc_errors() {
    let market = TestMarket::demo();
    let mut agent = Agent::start(open_read_only(&market), Some(VENDOR));
    assert_eq!(agent.send_bytes(b"before the first message\n").await["error"]["code"], -32700);
    // The version of the client is missing.
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test"}});
    let invalid = agent.request("initialize", params).await;
    assert_eq!((&invalid["id"], &invalid["error"]["code"]), (&json!(3), &json!(-32602)), "{invalid}");
    assert!(invalid["error"]["message"].as_str().unwrap().contains("`version`"), "{invalid}");
    agent.initialize().await;
    let too_long = format!("{}\n", "x".repeat((1 << 20) + 1));
    for (line, code) in [
        (&b"nonsense\n"[..], -32700),
        (b"{\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffng\"}\n", -32700),
        (b"\r\n7\n", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}\n", -32600),
        (too_long.as_bytes(), -32600),
    ] {
        let response = agent.send_bytes(line).await;
        assert_eq!(
            (&response["jsonrpc"], &response["error"]["code"]),
            (&json!("2.0"), &json!(code)),
            "{response}"
        );
    }
    assert_eq!(agent.request("ping", json!({})).await["result"], json!({}));
    agent.input.write_all(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
    agent.input.shutdown().await.unwrap();
    let last: Value = serde_json::from_str(&agent.output.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], -32700, "{last}");
    assert_eq!(agent.output.next_line().await.unwrap(), None);
    agent.finish().await;
}

#[tokio::test]
async fn batches_are_answered_at_the_revision_that_has_them() {
    let market = TestMarket::demo();
    let mut agent = Agent::start(open_read_only(&market), Some(VENDOR));
    agent.initialize_at("2025-03-26").await;
    let response = agent.send_bytes(format!("{}\n", batch()).as_bytes()).await;
    assert_answers_batch(&response);
    assert_eq!(agent.send_bytes(b"[]\n").await["error"]["code"], -32600);
    assert_eq!(agent.request("ping", json!({})).await["result"], json!({}));
    agent.finish().await;

    let over_http = post(&market, VENDOR, &batch()).await.ok();
    assert_answers_batch(&over_http);
    let notification = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    assert_eq!(post(&market, VENDOR, &notification).await.status, 202);
    let long: Vec<Value> = (0..21).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect();
    let refused = post(&market, VENDOR, &json!(long)).await.expect_status(400);
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}

/// The other requests of a batch are refused once its answers are large.
#[tokio::test]
async fn batches_have_a_limit_on_their_answers() {
    let arguments = json!({"limit": 20, "fields": ["*"], "max_bytes": 1_000_000});
    let call = json!({"name": "browse_listings", "arguments": arguments});
    let request = |id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
    let batch: Vec<Value> = (0..20).map(request).collect();
    let response = post(demo(), BUYER, &json!(batch)).await;
    assert!(response.bytes.len() < 2_100_000, "{} bytes", response.bytes.len());
    let responses = response.ok();
    let refused: Vec<bool> =
        responses.as_array().unwrap().iter().map(|response| response["error"]["code"] == -32600).collect();
    assert!(refused.len() == 20 && !refused[0] && refused[19] && refused.is_sorted(), "{refused:?}");
}

/// Returns a batch of two requests, a notification, and something that is no message.
fn batch() -> Value {
    let call = json!({"name": "get_wallet", "arguments": {}});
    json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "wallet", "method": "tools/call", "params": call},
        {"jsonrpc": "1.0", "id": 3, "method": "ping"},
    ])
}

fn assert_answers_batch(responses: &Value) {
    let find =
        |id: Value| responses.as_array().unwrap().iter().find(|response| response["id"] == id).unwrap();
    assert_eq!(find(json!(1))["result"], json!({}));
    assert_eq!(find(json!("wallet"))["result"]["structuredContent"]["currency"], "USD");
    assert_eq!(find(json!(3))["error"]["code"], -32600);
    assert_eq!(responses.as_array().unwrap().len(), 3, "{responses}");
}

#[tokio::test]
async fn notifications_and_responses_may_come_before_the_first_request() {
    let market = TestMarket::demo();
    let early = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/unknown"}),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
    ];
    let mut agent = Agent::start(open_read_only(&market), Some(VENDOR));
    for message in &early {
        agent.send(message).await;
        assert_eq!(agent.request("ping", json!({})).await["result"], json!({}), "{message}");
    }
    agent.initialize().await;
    agent.call("get_wallet", json!({})).await;
    agent.finish().await;

    let meta = |revision: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    let mut agent = Agent::start(open_read_only(&market), Some(VENDOR));
    for (method, revision) in [("server/discover", "2026-07-28"), ("tools/list", "2999-01-01")] {
        agent.request(method, json!({"_meta": meta(revision)})).await;
        for message in &early {
            agent.send(message).await;
        }
    }
    let listed = agent.request("tools/list", json!({"_meta": meta("2026-07-28")})).await;
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    agent.finish().await;
}

#[tokio::test]
async fn agent_sees_concurrent_writes() {
    let market = TestMarket::demo();
    let mut agent = Agent::start(open_read_only(&market), Some(VENDOR));
    agent.initialize().await;
    for tool in ["get_current_team", "browse_listings", "list_assets", "get_wallet"] {
        let over_http = call(&market, VENDOR, tool, json!({})).await.ok();
        assert_eq!(agent.call(tool, json!({})).await, over_http, "{tool}");
    }
    let body = json!({"title": "Seen at once", "exclusivity": "available"});
    market.call(VENDOR, "POST", "/v2/codebases", &body).await.expect_status(201);
    let found = agent.call("list_codebases", json!({"limit": 1, "fields": ["title"]})).await;
    assert_eq!(found["items"], json!([{"title": "Seen at once"}]));
    market.market().reindex(&()).unwrap();
    assert_eq!(
        agent.call("browse_listings", json!({"limit": 1})).await["items"].as_array().unwrap().len(),
        1
    );
    agent.finish().await;
}

#[tokio::test]
async fn missing_or_revoked_key_fails_at_the_first_call() {
    let market = TestMarket::demo();
    for key in [None, Some("mkt_unknown")] {
        let mut agent = Agent::start(open_read_only(&market), key);
        agent.initialize().await;
        for (method, params) in [("tools/list", json!({})), ("tools/call", json!({"name": "get_wallet"}))] {
            let response = agent.request(method, params).await;
            assert_eq!(response["error"]["message"], "Unauthorized", "{response}");
        }
        agent.finish().await;
    }
    let (id, key) = market
        .write(|writer| {
            let team = marketplace::clock::fixture_record_id("teams", "orchard-evals");
            keys::create(writer, &team.to_string(), "agent", None)
        })
        .unwrap();
    let mut agent = Agent::start(open_read_only(&market), Some(&key));
    agent.initialize().await;
    agent.call("get_current_team", json!({})).await;
    market.write(|writer| keys::revoke(writer, id)).unwrap();
    let response = agent.request("tools/list", json!({})).await;
    assert_eq!(response["error"]["message"], "Unauthorized", "{response}");
    agent.finish().await;
}

#[tokio::test]
async fn operator_key_is_refused_as_over_http() {
    let market = TestMarket::empty();
    let key = market.operator_key("test", KeyScope::All);
    let mut agent = Agent::start(open_read_only(&market), Some(&key));
    agent.initialize().await;
    let response = agent.request("tools/list", json!({})).await;
    assert_eq!(response["error"]["data"]["error"]["code"], "marketplace_role_required", "{response}");
    agent.finish().await;
}

#[tokio::test]
async fn newest_revision_needs_no_initialization() {
    let market = TestMarket::demo();
    let mut agent = Agent::start(open_read_only(&market), Some(BUYER));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = agent.request("server/discover", json!({"_meta": meta})).await;
    assert!(found["result"]["supportedVersions"].is_array(), "{found}");
    let listed = agent.request("tools/list", json!({"_meta": meta})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 17);
    agent.finish().await;
}

#[tokio::test]
async fn read_only_market_cannot_be_written() {
    let market = TestMarket::demo();
    let reader = open_read_only(&market);
    let team = marketplace::clock::fixture_record_id("teams", "orchard-evals").to_string();
    let error = reader.write_blocking(|writer| keys::create(writer, &team, "agent", None)).unwrap_err();
    let error = ErrorChain(&error).to_string();
    assert!(error.contains("cannot use its storage"), "{error}");
    let missing = tempfile::tempdir().unwrap();
    let opening = OpenOptions {
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability: Durability::Full,
        mode: OpenMode::ReadOnly,
        ..market_options(&missing.path().join("none"), market.market().settings().clone())
    };
    assert!(matches!(
        Market::open(opening),
        Err(OpenError::Store(marketplace::store::OpenError::Missing(_)))
    ));
    assert!(!missing.path().join("none").exists());
}
