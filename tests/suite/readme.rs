//! Runs the commands of the README's tour and compares the responses with the printed ones.
//!
//! Set `README_UPDATE=1` to update the printed responses, shortened in the same way, then review the diff.

use serde_json::{Map, Value, json};

use crate::harness;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

/// Placeholder for omitted parts.
const CUT: &str = "…";

/// A command of the tour and the response printed after it.
struct Step {
    method: &'static str,
    path: String,
    body: Value,
    key: String,
    printed: String,
}

fn steps(readme: &str) -> Vec<Step> {
    let tour = readme.split("## A tour").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks: Vec<&str> = tour.split("```").skip(1).step_by(2).collect();
    let pairs = blocks.windows(2).filter_map(|pair| {
        let command = pair[0].strip_prefix("sh\n")?;
        let printed = pair[1].strip_prefix("json\n")?;
        let path = command.split("$MARKET").nth(1)?.split('"').next()?;
        let body = command.split("-d '").nth(1).and_then(|rest| rest.split('\'').next());
        let body = body.map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
        let method = if body.is_null() { "GET" } else { "POST" };
        let key = command.split("Bearer ").nth(1)?.split('\'').next()?;
        Some(Step { method, body, path: path.to_owned(), key: key.to_owned(), printed: printed.to_owned() })
    });
    pairs.collect()
}

/// Whether a printed value equals the real one, except for omitted parts.
fn matches_abridged(printed: &Value, real: &Value) -> bool {
    match (printed, real) {
        (Value::String(cut), _) if cut == CUT => true,
        (Value::Object(printed), Value::Object(real)) => {
            let is_cut = printed.contains_key(CUT);
            let shown: Vec<_> = printed.iter().filter(|(name, _)| *name != CUT).collect();
            (is_cut || shown.len() == real.len())
                && shown
                    .iter()
                    .all(|(name, value)| real.get(*name).is_some_and(|real| matches_abridged(value, real)))
        }
        (Value::Array(printed), Value::Array(real)) => {
            let is_cut = printed.last().is_some_and(|last| last == CUT);
            let shown = if is_cut { &printed[..printed.len() - 1] } else { printed };
            (if is_cut { shown.len() <= real.len() } else { shown.len() == real.len() })
                && shown.iter().zip(real).all(|(printed, real)| matches_abridged(printed, real))
        }
        _ => printed == real,
    }
}

/// Shortens a response for the README: omits times, cursors, long texts, most fields, and all but the first
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
            let is_whole = WHOLE.contains(&name) || depth > 0 && name == "asset_types";
            let mut shown = Map::new();
            for (field, value) in fields {
                if is_whole || SHOWN.contains(&field.as_str()) {
                    shown.insert(
                        field.clone(),
                        abridge(if is_whole { name } else { field }, value, depth + 1),
                    );
                }
            }
            if shown.len() < fields.len() {
                shown.insert(CUT.to_owned(), Value::from(CUT));
            }
            Value::Object(shown)
        }
        Value::Array(elements) => {
            let maximum = match name {
                "items" => 2,
                "detail" | "missing" => usize::MAX,
                _ => 1,
            };
            let mut shown: Vec<Value> =
                elements.iter().take(maximum).map(|element| abridge(name, element, depth + 1)).collect();
            if elements.len() > maximum {
                shown.push(Value::from(CUT));
            }
            Value::Array(shown)
        }
        Value::String(text) if name == "next_cursor" || text.len() > 120 || is_time(text) => Value::from(CUT),
        other => other.clone(),
    }
}

fn is_time(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T'
}

/// One test for both sections, since each of them may write the file.
#[tokio::test]
async fn readme_matches_real_responses() {
    check_tour().await;
    check_agents_section().await;
}

async fn check_tour() {
    let mut readme = std::fs::read_to_string(PATH).unwrap();
    let is_update = std::env::var_os("README_UPDATE").is_some();
    let steps = steps(&readme);
    let market = harness::TestMarket::demo();
    assert_eq!(steps.len(), 13, "each step of the tour has a command and a response");
    let mut cursor = String::new();
    for step in steps {
        let path = step.path.replace("$NEXT_CURSOR", &cursor);
        let real = market.call(&step.key, step.method, &path, &step.body).await.json();
        if let Some(next) = real["next_cursor"].as_str() {
            next.clone_into(&mut cursor);
        }
        if is_update {
            let shown = serde_json::to_string_pretty(&abridge("", &real, 0)).unwrap();
            readme = readme.replacen(
                &format!("```json\n{}```", step.printed),
                &format!("```json\n{shown}\n```"),
                1,
            );
            continue;
        }
        let printed: Value = serde_json::from_str(&step.printed).unwrap();
        assert!(matches_abridged(&printed, &real), "{path} returns {real:#}");
    }
    if is_update {
        std::fs::write(PATH, readme).unwrap();
    }
}

async fn check_agents_section() {
    let readme = std::fs::read_to_string(PATH).unwrap();
    let section = readme.split("\n## Agents\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks: Vec<(&str, &str)> =
        section.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n')).collect();
    let kinds: Vec<&str> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, ["json", "toml", "json", "sh", "json"]);
    let desktop: Value = serde_json::from_str(blocks[0].1).unwrap();
    let codex: Value = toml::from_str(blocks[1].1).unwrap();
    for server in [&desktop["mcpServers"]["marketplace"], &codex["mcp_servers"]["marketplace"]] {
        assert_eq!((&server["command"], &server["args"]), (&json!("marketplace"), &json!(["mcp", "--demo"])));
        assert_eq!(server["env"], json!({"MARKETPLACE_API_KEY": "mkt_demo_buyer"}));
    }
    let editor: Value = serde_json::from_str(blocks[2].1).unwrap();
    assert!(editor["servers"]["marketplace"]["url"].as_str().unwrap().ends_with("/v2/mcp/"));
    let body = blocks[3].1.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
    let headers = [
        ("host", "127.0.0.1:8080"),
        ("authorization", "Bearer mkt_demo_buyer"),
        ("content-type", "application/json"),
    ];
    let market = harness::demo();
    let answer =
        market.send_body(poem::http::Method::POST, "/v2/mcp/", &headers, body.as_bytes().to_vec()).await;
    let real = answer.ok()["result"]["structuredContent"].clone();
    if std::env::var_os("README_UPDATE").is_some() {
        let printed = format!("```json\n{}\n```", serde_json::to_string_pretty(&hide_cursor(real)).unwrap());
        std::fs::write(PATH, readme.replacen(&format!("```json\n{}```", blocks[4].1), &printed, 1)).unwrap();
        return;
    }
    let printed: Value = serde_json::from_str(blocks[4].1).unwrap();
    assert!(matches_abridged(&printed, &real), "the README prints {printed}, but the response is {real}");
}

/// Replaces the cursor of a response, which differs between markets.
fn hide_cursor(mut answer: Value) -> Value {
    if answer["next_cursor"].is_string() {
        answer["next_cursor"] = Value::from(CUT);
    }
    answer
}
