//! Runs what the documentation shows: the requests and commands of the README, the tour, and the page for
//! agents, and compares the results with the printed ones.
//!
//! Set `TOUR_UPDATE=1` to update the printed responses, shortened in the same way, then review the diff. The
//! output of commands is updated by hand.

use std::process::Command;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::harness;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const TOUR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tour.md");
const AGENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agents.md");

/// Placeholder for omitted parts.
const CUT: &str = "…";

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
}

impl CurlRequest {
    /// Parses a `curl` command with an address below `$MARKET`. Returns `None` for any other text.
    fn parse(command: &str) -> Option<CurlRequest> {
        let path = command.split("\"$MARKET").nth(1)?.split('"').next()?;
        let body = command.split("-d '").nth(1).and_then(|rest| rest.split('\'').next());
        let body = body.map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let is_post = !body.is_null() || command.contains("-X POST ");
        let method = if is_post { "POST" } else { "GET" };
        let key = command.split("Bearer ").nth(1)?.split('\'').next()?;
        Some(CurlRequest { method, path: path.to_owned(), body, key: key.to_owned() })
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn is_update() -> bool {
    std::env::var_os("TOUR_UPDATE").is_some_and(|value| !value.is_empty())
}

/// Returns the code blocks of a page: the language and the text of each.
fn code_blocks(page: &str) -> Vec<(&str, &str)> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect()
}

/// Returns the requests of the tour, each with the response printed after it.
fn steps(tour: &str) -> Vec<(CurlRequest, &str)> {
    let blocks = code_blocks(tour);
    let pairs = blocks.windows(2).filter(|pair| pair[0].0 == "sh" && pair[1].0 == "json");
    pairs.filter_map(|pair| Some((CurlRequest::parse(pair[0].1)?, pair[1].1))).collect()
}

/// Whether a printed value equals the real one, except for omitted parts.
fn matches_abridged(printed: &Value, real: &Value) -> bool {
    match (printed, real) {
        (Value::String(text), _) if text == CUT => true,
        (Value::Object(printed), Value::Object(real)) => {
            let is_abridged = printed.contains_key(CUT);
            let kept_fields: Vec<_> = printed.iter().filter(|(name, _)| *name != CUT).collect();
            (is_abridged || kept_fields.len() == real.len())
                && kept_fields
                    .iter()
                    .all(|(name, value)| real.get(*name).is_some_and(|real| matches_abridged(value, real)))
        }
        (Value::Array(printed), Value::Array(real)) => {
            let is_abridged = printed.last().is_some_and(|last| last == CUT);
            let kept_fields = if is_abridged { &printed[..printed.len() - 1] } else { printed };
            (if is_abridged { kept_fields.len() <= real.len() } else { kept_fields.len() == real.len() })
                && kept_fields.iter().zip(real).all(|(printed, real)| matches_abridged(printed, real))
        }
        _ => printed == real,
    }
}

/// Shortens a response for the tour: omits times, cursors, long texts, most fields, and all but the first
/// elements.
fn abridge(name: &str, real: &Value, depth: usize) -> Value {
    const SHOWN: [&str; 43] = [
        "summary",
        "offset",
        "purchases",
        "purchase",
        "listing",
        "purchase_kind",
        "listing_detail_available",
        "stage",
        "missing",
        "locked_fields",
        "sku",
        "total",
        "items",
        "id",
        "title",
        "team_name",
        "catalog_scale",
        "asset_counts",
        "task_count",
        "limit",
        "counts",
        "all",
        "owned",
        "facets",
        "asset_types",
        "locked",
        "next_cursor",
        "price",
        "price_per_task",
        "sample_price",
        "currency",
        "tasksets",
        "name",
        "certified",
        "checks",
        "environment_checks_passed",
        "environment_checks_total",
        "tasks",
        "task",
        "task_stats",
        "traces",
        "detail",
        "platform_quality_certified",
    ];
    const WHOLE: [&str; 7] =
        ["summary", "counts", "checks", "traces", "detail", "asset_counts", "locked_fields"];
    match real {
        Value::Object(fields) => {
            let keeps_all_fields = WHOLE.contains(&name) || depth > 0 && name == "asset_types";
            let mut abridged = Map::new();
            for (field, value) in fields {
                if keeps_all_fields || SHOWN.contains(&field.as_str()) {
                    abridged.insert(
                        field.clone(),
                        abridge(if keeps_all_fields { name } else { field }, value, depth + 1),
                    );
                }
            }
            if abridged.len() < fields.len() {
                abridged.insert(CUT.to_owned(), Value::from(CUT));
            }
            Value::Object(abridged)
        }
        Value::Array(elements) => {
            let maximum = match name {
                "items" => 2,
                "detail" | "missing" => usize::MAX,
                _ => 1,
            };
            let mut abridged: Vec<Value> =
                elements.iter().take(maximum).map(|element| abridge(name, element, depth + 1)).collect();
            if elements.len() > maximum {
                abridged.push(Value::from(CUT));
            }
            Value::Array(abridged)
        }
        Value::String(text) if name == "next_cursor" || text.len() > 120 || is_time(text) => Value::from(CUT),
        value => value.clone(),
    }
}

fn is_time(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T'
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

/// Returns the requests of the README, in their order.
pub fn readme_story() -> Vec<CurlRequest> {
    readme_steps().into_iter().map(|(request, _)| request).collect()
}

#[tokio::test]
async fn readme_requests_succeed() {
    let market = harness::TestMarket::demo();
    let steps = readme_steps();
    assert_eq!(steps.len(), 9, "each command of the README is a request");
    assert_eq!(steps.iter().filter(|step| step.1.is_some()).count(), 6, "the sale has six calls");
    for (request, printed) in steps {
        let response = market.call(&request.key, request.method, &request.path, &request.body).await;
        assert!((200..300).contains(&response.status), "{} returns {}", request.path, response.json());
        // What a server does at once.
        market.run_background();
        if let Some(printed) = printed {
            let real = response.json();
            assert!(matches_abridged(&printed, &real), "{} returns {real:#}", request.path);
        }
    }
}

#[tokio::test]
async fn tour_matches_real_responses() {
    let mut tour = read(TOUR);
    let market = harness::TestMarket::demo();
    let (mut cursor, mut created_ids) = (String::new(), Vec::new());
    let original = tour.clone();
    let steps = steps(&original);
    assert_eq!(steps.len(), 13, "each step of the tour has a command and a response");
    for (request, printed) in steps {
        let path = request.path.replace("$NEXT_CURSOR", &cursor);
        let real = market.call(&request.key, request.method, &path, &request.body).await.json();
        if let Some(next) = real["next_cursor"].as_str() {
            next.clone_into(&mut cursor);
        }
        if request.method == "POST" {
            created_ids.extend(real["id"].as_str().map(str::to_owned));
        }
        if is_update() {
            let mut text = serde_json::to_string_pretty(&abridge("", &real, 0)).unwrap();
            for id in &created_ids {
                text = text.replace(id.as_str(), CUT);
            }
            tour = tour.replacen(&format!("```json\n{printed}```"), &format!("```json\n{text}\n```"), 1);
            continue;
        }
        let printed: Value = serde_json::from_str(printed).unwrap();
        assert!(matches_abridged(&printed, &real), "{path} returns {real:#}");
    }
    if is_update() {
        std::fs::write(TOUR, tour).unwrap();
    }
}

/// Replaces what differs between runs in the output of a command: IDs, times, keys, and tokens.
fn mask_random_parts(output: &str) -> String {
    let masks = [
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
        (r"mkt_([\w-]{40}|…)", "KEY"),
        (r"(?m)^[\w-]{32}$", "TOKEN"),
    ];
    masks.iter().fold(output.trim_end().to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

#[test]
fn tour_matches_real_command_output() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_marketplace"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let directory = tempfile::tempdir().unwrap();
    let empty_zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    std::fs::write(directory.path().join("scans.zip"), empty_zip).unwrap();
    let tour = read(TOUR);
    let sessions = code_blocks(&tour).into_iter().filter(|(language, _)| *language == "console");
    let steps: Vec<&str> = sessions.flat_map(|(_, session)| session.split("$ ").skip(1)).collect();
    assert_eq!(steps.len(), 7, "each command of the tour has its output");
    for step in steps {
        let (command, printed) = step.split_once('\n').unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(directory.path()).env("PATH", &path);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        let real = String::from_utf8(output.stdout).unwrap();
        assert_eq!(mask_random_parts(printed), mask_random_parts(&real), "{command}");
    }
}

#[tokio::test]
async fn agents_page_matches_real_results() {
    let page = read(AGENTS);
    let blocks = code_blocks(&page);
    let languages: Vec<&str> = blocks.iter().map(|(language, _)| *language).collect();
    assert_eq!(languages, ["json", "toml", "json", "sh", "sh", "json"]);
    let desktop: Value = serde_json::from_str(blocks[0].1).unwrap();
    let codex: Value = toml::from_str(blocks[1].1).unwrap();
    for server in [&desktop["mcpServers"]["marketplace"], &codex["mcp_servers"]["marketplace"]] {
        assert_eq!((&server["command"], &server["args"]), (&json!("marketplace"), &json!(["mcp", "--demo"])));
        assert_eq!(server["env"], json!({"MARKETPLACE_API_KEY": "mkt_demo_buyer"}));
    }
    let editor: Value = serde_json::from_str(blocks[2].1).unwrap();
    assert!(editor["servers"]["marketplace"]["url"].as_str().unwrap().ends_with("/v2/mcp/"));
    assert!(blocks[3].1.contains("/v2/mcp/ "));
    let body = blocks[4].1.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
    let headers = [
        ("host", "127.0.0.1:8080"),
        ("authorization", "Bearer mkt_demo_buyer"),
        ("content-type", "application/json"),
    ];
    let market = harness::demo();
    let response =
        market.send_body(poem::http::Method::POST, "/v2/mcp/", &headers, body.as_bytes().to_vec()).await;
    let real = response.ok()["result"]["structuredContent"].clone();
    let printed = blocks[5].1;
    if is_update() {
        let text = serde_json::to_string_pretty(&hide_cursor(real)).unwrap();
        let updated = page.replacen(&format!("```json\n{printed}```"), &format!("```json\n{text}\n```"), 1);
        std::fs::write(AGENTS, updated).unwrap();
        return;
    }
    let printed: Value = serde_json::from_str(printed).unwrap();
    assert!(matches_abridged(&printed, &real), "the page prints {printed}, but the result is {real}");
}

/// Replaces the cursor of a response, which differs between markets.
fn hide_cursor(mut response: Value) -> Value {
    if response["next_cursor"].is_string() {
        response["next_cursor"] = Value::from(CUT);
    }
    response
}
