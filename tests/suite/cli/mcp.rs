//! `marketplace mcp`: sessions over stdio and HTTP, its flags, and its check.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::Stdio,
};

use serde_json::{Value, json};

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir};
use crate::harness::panics::ProcessLog;

/// Runs `marketplace mcp` with these messages on standard input. Returns the messages that it prints, and
/// stderr.
fn run_mcp_session(
    arguments: &[&str],
    key: Option<&str>,
    directory: &Path,
    messages: &[Value],
) -> (Vec<Value>, String) {
    let mut command = marketplace(&[&["mcp"], arguments].concat(), directory);
    if let Some(key) = key {
        command.env("MARKETPLACE_API_KEY", key);
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    for message in messages {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let lines = String::from_utf8(output.stdout).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), stderr)
}

/// Returns the messages of an MCP session: the initialization, then these calls.
fn mcp_messages(calls: &[(&str, Value)]) -> Vec<Value> {
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let mut messages = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    messages.extend(calls.iter().enumerate().map(|(index, (method, params))| {
        json!({"jsonrpc": "2.0", "id": index + 1, "method": method, "params": params})
    }));
    messages
}

#[test]
fn mcp_over_stdio_works_with_and_without_a_server() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let calls = [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "browse_listings", "arguments": {"limit": 2}})),
        ("tools/call", json!({"name": "get_current_team"})),
    ];
    let (alone, stderr) =
        run_mcp_session(&["--demo"], Some("mkt_demo_buyer"), directory, &mcp_messages(&calls));
    assert_eq!((alone.len(), stderr.as_str()), (4, ""));
    let find = |messages: &[Value], id: usize| {
        messages.iter().find(|message| message["id"] == id).unwrap()["result"].clone()
    };
    assert_eq!(find(&alone, 1)["tools"].as_array().unwrap().len(), 17);
    assert_eq!(find(&alone, 3)["structuredContent"]["roles"], json!(["buyer"]));

    let market = directory.join("market");
    let market = market.to_str().unwrap();
    let server = Server::start(&["--demo", "--data", market], directory);
    let (with_server, _) = run_mcp_session(
        &["--demo", "--data", market],
        Some("mkt_demo_buyer"),
        directory,
        &mcp_messages(&calls),
    );
    let ids = |messages: &[Value]| {
        let items = find(messages, 2)["structuredContent"]["items"].clone();
        items.as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&with_server), ids(&alone));
    assert_eq!(server.terminate(), 0);
    let (after, _) = run_mcp_session(
        &["--demo", "--data", market],
        Some("mkt_demo_buyer"),
        directory,
        &mcp_messages(&calls),
    );
    assert_eq!(ids(&after), ids(&alone));
    // The demo keys only work on the demo market.
    let other = directory.join("other");
    let other = other.to_str().unwrap();
    stdout_of(&run(&["team", "create", "Acme", "--role", "vendor", "--data", other], directory));
    let (code, stderr) = run_failing(&["mcp", "--demo", "--data", other], directory);
    assert_eq!(code, 1);
    assert!(stderr.contains("does not contain the demo market"), "{stderr}");
    // Fixture keys only work where the settings allow them.
    let (_, stderr) =
        run_mcp_session(&["--data", market], Some("mkt_demo_buyer"), directory, &mcp_messages(&[]));
    assert!(stderr.contains("the key in MARKETPLACE_API_KEY is invalid"), "{stderr}");
}

#[test]
fn mcp_without_a_key_names_the_missing_variable() {
    let temp_dir = temp_dir();
    let calls = [("tools/list", json!({})), ("tools/call", json!({"name": "get_current_team"}))];
    let (messages, stderr) = run_mcp_session(&["--demo"], None, temp_dir.path(), &mcp_messages(&calls));
    assert!(stderr.contains("MARKETPLACE_API_KEY is not set"), "{stderr}");
    assert!(messages.iter().any(|message| message["result"]["serverInfo"]["name"] == "marketplace"));
    let refused = messages.iter().filter(|message| message["error"]["message"] == "Unauthorized");
    assert_eq!(refused.count(), 2, "{messages:?}");
    let (code, stderr) = run_failing(&["mcp", "--data", "nowhere"], temp_dir.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("there is no market in nowhere"), "{stderr}");
}

#[test]
fn mcp_flags_select_tools_and_short_text() {
    let temp_dir = temp_dir();
    let calls = [("tools/list", json!({})), ("tools/call", json!({"name": "get_wallet"}))];
    let arguments = ["--demo", "--toolsets", "purchases", "--tools", "get_wallet", "--text", "short"];
    let (messages, stderr) =
        run_mcp_session(&arguments, Some("mkt_demo_buyer"), temp_dir.path(), &mcp_messages(&calls));
    assert_eq!(stderr, "");
    let result = |id: usize| messages.iter().find(|message| message["id"] == id).unwrap()["result"].clone();
    let listed = result(1)["tools"].clone();
    let mut tools: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["get_current_team", "get_spending", "get_wallet", "list_offers", "list_purchases"]);
    assert_eq!(result(2)["content"][0]["text"], "One record; see structuredContent.");
    for (arguments, code, expected) in [
        (
            ["--toolsets", "catalogue"],
            2,
            "--toolsets: agents.toolsets is invalid: unknown variant `catalogue`",
        ),
        (
            ["--tools", "get_walet"],
            2,
            "--tools: agents.tools: There is no tool \"get_walet\". Tools: get_current_team",
        ),
    ] {
        let (actual, stderr) = run_failing(&[&["mcp", "--demo"], &arguments[..]].concat(), temp_dir.path());
        assert_eq!(actual, code, "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn mcp_configurations_start_this_program_and_contain_no_key() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let program = env!("CARGO_BIN_EXE_marketplace");
    for client in ["claude", "cursor", "vscode", "codex"] {
        let mut command = marketplace(&["mcp", "--print-config", client, "--toolsets", "catalog"], directory);
        let output = command.env("MARKETPLACE_API_KEY", "mkt_secret").output().unwrap();
        let (text, notes) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && notes.starts_with("Paste this into "), "{notes}");
        assert!(!text.contains("mkt_secret") && !notes.contains("mkt_secret"), "{text}{notes}");
        let config: Value = match client {
            "codex" => serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap(),
            _ => serde_json::from_str(&text).unwrap(),
        };
        let servers = ["mcpServers", "servers", "mcp_servers"].into_iter().find_map(|key| config.get(key));
        let server = &servers.unwrap()["marketplace"];
        assert_eq!(server["command"], program);
        // The working directory of the client is another one.
        let data = std::path::absolute(directory.join("data")).unwrap();
        let data = data.to_str().unwrap();
        assert_eq!(server["args"], json!(["mcp", "--data", data, "--toolsets", "catalog"]));
    }
    let demo = stdout_of(&run(&["mcp", "--demo", "--print-config", "codex"], directory));
    assert!(demo.contains(r#"args = ["mcp", "--demo"]"#), "{demo}");
    for url in ["https://market.example", "https://market.example/v2/mcp/"] {
        let http = stdout_of(&run(&["mcp", "--print-config", "cursor", "--server", url], directory));
        let http: Value = serde_json::from_str(&http).unwrap();
        assert_eq!(http["mcpServers"]["marketplace"]["url"], "https://market.example/v2/mcp/");
    }
    let flags = ["--toolsets", "catalog,purchases", "--tools", "get_wallet", "--text", "short"];
    let selected = ["mcp", "--print-config", "cursor", "--server", "https://market.example"];
    let http = stdout_of(&run(&[&selected[..], &flags].concat(), directory));
    let query = "?toolsets=catalog,purchases&tools=get_wallet&text=short";
    assert!(http.contains(&format!("\"https://market.example/v2/mcp/{query}\"")), "{http}");
    let (code, stderr) = run_failing(&["mcp", "--print-config", "vscode", "--server", "market"], directory);
    assert!(code == 2 && stderr.contains("must be complete"), "{stderr}");
}

#[test]
fn mcp_check_says_in_plain_words_what_is_wrong() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let check = |arguments: &[&str], key: &str| {
        let mut command = marketplace(&[&["mcp", "--check"], arguments].concat(), directory);
        let output = command.env("MARKETPLACE_API_KEY", key).output().unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap()
        );
        (output.status.code().unwrap(), text)
    };
    let data = directory.join("market");
    let data = data.to_str().unwrap();
    let (code, text) = check(&["--data", data], "x");
    assert!(code == 1 && text.contains("there is no market in"), "{text}");
    let created = stdout_of(&run(&["team", "create", "Nobody", "--data", data, "--json"], directory));
    assert!(created.contains("Nobody"), "{created}");
    stdout_of(&run(&["team", "create", "Seller", "--role", "vendor", "--data", data], directory));
    stdout_of(&run(&["team", "create", "Buyer", "--role", "buyer", "--nda", "--data", data], directory));
    stdout_of(&run(&["team", "create", "Locked", "--role", "vendor", "--nda", "--data", data], directory));
    let key = |team: &str, scope: &str| {
        let create = ["key", "create", team, "--scope", scope, "--data", data, "--json"];
        let created = stdout_of(&run(&create, directory));
        let created: Value = serde_json::from_str(&created).unwrap();
        created["secret"].as_str().or(created["key"].as_str()).unwrap().to_owned()
    };
    let operator =
        stdout_of(&run(&["operator", "key", "create", "check", "--data", data, "--json"], directory));
    let operator: Value = serde_json::from_str(&operator).unwrap();
    let operator = operator["secret"].as_str().or(operator["key"].as_str()).unwrap().to_owned();
    for (key, expected) in [
        (String::new(), "MARKETPLACE_API_KEY is not set"),
        ("mkt_wrong".to_owned(), "does not work on this market"),
        (operator, "is an operator key"),
        (key("Buyer", "console"), "is not for agents: This API key is only for signing in"),
        (key("Nobody", "api"), "has no marketplace role"),
        (key("Seller", "api"), "has not accepted the mutual NDA"),
        (key("Locked", "api"), "has 0 of the 3 published listings"),
    ] {
        let (code, text) = check(&["--data", data], &key);
        assert_eq!(code, 1, "{text}");
        let problems: Vec<&str> = text.lines().filter(|line| line.starts_with("problem: ")).collect();
        assert!(problems.len() == 1 && problems[0].contains(expected), "{text}");
        assert!(key.is_empty() || !text.contains(&key), "{text}");
    }
    let (code, text) = check(&["--data", data], &key("Buyer", "api"));
    assert_eq!(code, 0, "{text}");
    for line in ["get_current_team responds.", "browse_listings responds.", "ok: Its agent sees 17 tools."] {
        assert!(text.contains(line), "{text}");
    }
    let (code, text) = check(&["--demo", "--toolsets", "sales"], "mkt_demo_buyer");
    assert!(code == 1 && text.contains("problem: No tool but get_current_team is selected"), "{text}");
    let (code, text) = check(&["--demo", "--toolsets", "purchases"], "mkt_demo_buyer");
    assert!(code == 0 && text.contains("list_purchases responds."), "{text}");
    let (code, text) = check(&["--demo"], "mkt_demo_vendor");
    assert!(code == 0 && text.contains("list_own_listings responds."), "{text}");
}

#[test]
fn mcp_over_http_serves_no_other_routes() {
    let temp_dir = temp_dir();
    let mut command = marketplace(&["mcp", "--demo", "--http", "0.0.0.0:0"], temp_dir.path());
    let log = ProcessLog::new();
    let mut child = command.stdout(Stdio::piped()).stderr(log.stdio()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").expect("a URL").to_owned();
    let server = Server(child, url.clone(), log);
    assert!(url.starts_with("http://127.0.0.1:"), "{url} can be opened");
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let send = |key: &str| {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        client.post(&url).bearer_auth(key).json(&list).send().unwrap()
    };
    let listed: Value = send("mkt_demo_vendor").json().unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 28);
    assert_eq!(send("wrong").status(), 401);
    let other_url = url.replace("/v2/mcp/", "/v2/domains");
    assert_eq!(client.get(other_url).bearer_auth("mkt_demo_vendor").send().unwrap().status(), 404);
    assert_eq!(server.terminate(), 0);
}
