//! Runs what the documentation shows: the requests and commands of the README, the page "Start", and other pages, in the order in
//! which a reader would, and compares the results with the printed ones.
//!
//! `.ci/update` updates the printed responses that differ, shortened in the same way. The output of commands is updated by
//! hand.

mod abridged;
mod commands;

use serde_json::{Value, json};

use self::abridged::{CUT, abridge, common, matches_abridged};
use crate::harness::{
    self, TestMarket, TestResponse, documents,
    generated::{self, read},
    worlds,
};

const README: &str = "README.md";
const START: &str = "docs/start.md";
const AGENTS: &str = "docs/agents.md";

/// A request, as a `curl` command makes it.
pub struct CurlRequest {
    /// HTTP method.
    pub method: &'static str,
    /// Path with query.
    pub path: String,
    /// Body; `Null` if there is none.
    pub body: Value,
    /// API key.
    pub key: String,
    /// The text of the body, whose fields have an order.
    body_text: String,
}

impl CurlRequest {
    /// Parses a `curl` command with an address below `$MARKET`. Returns `None` for any other text.
    fn parse(command: &str) -> Option<CurlRequest> {
        let path = command.split("\"$MARKET").nth(1)?.split('"').next()?;
        let body_text =
            command.split("-d '").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
        let body = if body_text.is_empty() { Value::Null } else { serde_json::from_str(body_text).unwrap() };
        let is_post = !body.is_null() || command.contains("-X POST ");
        let method = if is_post { "POST" } else { "GET" };
        let key = command.split("Bearer ").nth(1)?.split('\'').next()?;
        Some(CurlRequest {
            method,
            path: path.to_owned(),
            body,
            key: key.to_owned(),
            body_text: body_text.to_owned(),
        })
    }

    /// Sends the request to a market, with the body as it is printed.
    async fn send(&self, market: &TestMarket, cursor: &str) -> TestResponse {
        let path = self.path.replace("$NEXT_CURSOR", cursor);
        let key = format!("Bearer {}", self.key);
        let mut headers = vec![("authorization", key.as_str())];
        if !self.body_text.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        let method = self.method.parse().unwrap();
        let response = market.send_body(method, &path, &headers, self.body_text.clone().into_bytes()).await;
        documents::assert_matches_documents(self.method, worlds::path_in_world(&path), &response);
        response
    }
}

/// Returns the code blocks of a page: the language and the text of each.
fn code_blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

/// Returns the requests of the page "Start", each with the response printed after it.
fn steps(tour: &str) -> Vec<(CurlRequest, &str)> {
    let blocks = code_blocks(tour);
    let pairs = blocks.windows(2).filter(|pair| pair[0].0 == "sh" && pair[1].0 == "json");
    pairs.filter_map(|pair| Some((CurlRequest::parse(pair[0].1)?, pair[1].1))).collect()
}

/// Returns the response in the comment after a command of the README, if there is one.
fn commented_response(command: &str) -> Option<Value> {
    let line = command.lines().find_map(|line| line.strip_prefix("# {"))?;
    Some(serde_json::from_str(&format!("{{{line}")).unwrap())
}

/// Returns the requests of the README, each with the response that a comment after it shows.
fn readme_steps() -> Vec<(CurlRequest, Option<Value>)> {
    let readme = read(README);
    let commands = code_blocks(&readme).into_iter().flat_map(|(_, block)| block.split("curl -s ").skip(1));
    commands.filter_map(|command| Some((CurlRequest::parse(command)?, commented_response(command)))).collect()
}

/// Returns the requests of the README that a world can answer, too, in their order.
pub fn readme_story() -> Vec<CurlRequest> {
    let all = readme_steps().into_iter().map(|(request, _)| request);
    all.filter(|request| !request.path.starts_with("/sandbox/") && !request.path.starts_with("/w/")).collect()
}

/// Sends the requests of the README, and compares their responses with the printed ones.
async fn follow_readme(market: &TestMarket) {
    let steps = readme_steps();
    assert_eq!(steps.len(), 11, "each command of the README is a request");
    assert_eq!(steps.iter().filter(|step| step.1.is_some()).count(), 6, "the sale has six calls");
    for (request, printed) in steps {
        let response = request.send(market, "").await;
        assert!((200..300).contains(&response.status), "{} returns {}", request.path, response.json());
        // What a server does at once.
        market.run_background();
        if let Some(printed) = printed {
            let real = response.json();
            assert!(matches_abridged(&printed, &real), "{} returns {real:#}", request.path);
        }
    }
}

/// Sends the requests of the tour. Returns the responses, with placeholders for the IDs of what they created.
async fn follow_tour(market: &TestMarket, steps: &[(CurlRequest, &str)]) -> Vec<Value> {
    let (mut cursor, mut created_ids, mut responses) = (String::new(), Vec::new(), Vec::new());
    for (request, _) in steps {
        let real = request.send(market, &cursor).await.json();
        if let Some(next) = real["next_cursor"].as_str() {
            next.clone_into(&mut cursor);
        }
        if request.method == "POST" {
            created_ids.extend(real["id"].as_str().map(str::to_owned));
        }
        let text = real.to_string();
        let text = created_ids.iter().fold(text, |text, id| text.replace(id.as_str(), CUT));
        responses.push(serde_json::from_str(&text).unwrap());
    }
    responses
}

/// A reader follows the README, then the tour, on one market; or begins with the tour, on a new one.
#[tokio::test(flavor = "multi_thread")]
async fn readme_and_tour_match_real_responses() {
    let original = read(START);
    let steps = steps(&original);
    assert_eq!(steps.len(), 13, "each step of the tour has a command and a response");
    let (new, continued) = (TestMarket::demo(), TestMarket::demo());
    follow_readme(&continued).await;
    let of_new = follow_tour(&new, &steps).await;
    let of_continued = follow_tour(&continued, &steps).await;
    let mut tour = original.clone();
    for (((request, printed), one), other) in steps.iter().zip(&of_new).zip(&of_continued) {
        let expected: Value = serde_json::from_str(printed).unwrap();
        for (real, when) in [(one, "on a new market"), (other, "after the README")] {
            if matches_abridged(&expected, real) {
                continue;
            }
            assert!(generated::is_update(), "{when}, {} returns {real:#}", request.path);
            let shown = common(&abridge("", one, 0), &abridge("", other, 0));
            tour = with_response(&tour, printed, &shown);
        }
    }
    generated::assert_current(START, tour);
}

#[tokio::test]
async fn agents_page_matches_real_results() {
    let page = read(AGENTS);
    let blocks = code_blocks(&page);
    let languages: Vec<&str> = blocks.iter().map(|(language, _)| *language).take(4).collect();
    assert_eq!(languages, ["json", "sh", "sh", "json"]);
    let desktop: Value = serde_json::from_str(blocks[0].1).unwrap();
    let server = &desktop["mcpServers"]["marketplace"];
    assert_eq!((&server["command"], &server["args"]), (&json!("marketplace"), &json!(["mcp", "--demo"])));
    assert_eq!(server["env"], json!({"MARKETPLACE_API_KEY": "mkt_demo_buyer"}));
    assert!(blocks[1].1.contains("/v2/mcp/ "));
    let body = blocks[2].1.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
    let headers = [
        ("host", "127.0.0.1:8080"),
        ("authorization", "Bearer mkt_demo_buyer"),
        ("content-type", "application/json"),
    ];
    let market = harness::demo();
    let response =
        market.send_body(poem::http::Method::POST, "/v2/mcp/", &headers, body.as_bytes().to_vec()).await;
    let real = response.ok()["result"]["structuredContent"].clone();
    let printed = blocks[3].1;
    if !matches_abridged(&serde_json::from_str(printed).unwrap(), &real) {
        assert!(generated::is_update(), "the page prints {printed}, but the result is {real}");
        generated::assert_current(AGENTS, with_response(&page, printed, &hide_cursor(real)));
    }
}

/// Returns a page with another response in place of a printed one.
fn with_response(page: &str, printed: &str, response: &Value) -> String {
    let text = serde_json::to_string_pretty(response).unwrap();
    page.replacen(&format!("```json\n{printed}```"), &format!("```json\n{text}\n```"), 1)
}

/// Replaces the cursor of a response, which differs between markets.
fn hide_cursor(mut response: Value) -> Value {
    if response["next_cursor"].is_string() {
        response["next_cursor"] = Value::from(CUT);
    }
    response
}
