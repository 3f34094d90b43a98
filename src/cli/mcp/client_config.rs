//! `marketplace mcp --print-config`: the configuration of a client, to paste. It never contains the key.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::mcp::KEY_VARIABLE;

/// Name of the server in configurations.
const NAME: &str = "marketplace";

/// Clients whose configuration can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Desktop and Claude Code.
    Claude,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Codex.
    Codex,
}

/// How a client reaches the agent server.
#[derive(Clone, Debug)]
pub enum Access {
    /// It starts this program with these arguments.
    Process {
        /// Path of the program.
        program: PathBuf,
        /// Arguments.
        arguments: Vec<String>,
    },
    /// It sends requests to this URL.
    Http(String),
}

/// A configuration, and what a person has to know to use it.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// What to paste.
    pub text: String,
    /// The file that it belongs to, and where the key comes from.
    pub notes: Vec<String>,
}

/// Returns the configuration of a client.
pub fn config(client: Client, access: &Access) -> ClientConfig {
    let from_environment =
        format!("The key is read from the environment variable {KEY_VARIABLE} of the client.");
    match client {
        Client::Claude => {
            let (key, note) = match access {
                Access::Process { .. } => (
                    "YOUR_API_KEY".to_owned(),
                    format!(
                        "Replace YOUR_API_KEY with an API key of your team; in .mcp.json, ${{{KEY_VARIABLE}}} takes it from the \
                         environment."
                    ),
                ),
                Access::Http(_) => (format!("${{{KEY_VARIABLE}}}"), from_environment),
            };
            let file = match access {
                Access::Process { .. } => {
                    "claude_desktop_config.json of Claude Desktop, or .mcp.json of Claude Code"
                }
                Access::Http(_) => ".mcp.json of Claude Code",
            };
            let server = json_server(access, &key, Some("http"));
            ClientConfig {
                text: pretty(&json!({"mcpServers": {NAME: server}})),
                notes: vec![format!("Paste this into {file}."), note],
            }
        }
        Client::Cursor => {
            let server = json_server(access, &format!("${{env:{KEY_VARIABLE}}}"), None);
            ClientConfig {
                text: pretty(&json!({"mcpServers": {NAME: server}})),
                notes: vec![
                    "Paste this into .cursor/mcp.json or ~/.cursor/mcp.json.".to_owned(),
                    from_environment,
                ],
            }
        }
        Client::Vscode => {
            let mut server = json_server(access, "${input:marketplace-key}", Some("http"));
            server.entry("type").or_insert(json!("stdio"));
            let input = json!({
                "type": "promptString", "id": "marketplace-key", "description": "API key of your team", "password": true,
            });
            ClientConfig {
                text: pretty(&json!({"inputs": [input], "servers": {NAME: server}})),
                notes: vec![
                    "Paste this into .vscode/mcp.json.".to_owned(),
                    "VS Code asks for the key when it starts the server, and stores it.".to_owned(),
                ],
            }
        }
        Client::Codex => ClientConfig {
            text: codex(access),
            notes: vec!["Paste this into ~/.codex/config.toml.".to_owned(), from_environment],
        },
    }
}

/// Returns the entry of a server in a JSON configuration, with `key` as the placeholder of the API key. `http_type` is the type of an
/// entry with a URL, for clients that require it.
fn json_server(access: &Access, key: &str, http_type: Option<&str>) -> Map<String, Value> {
    let mut entry = Map::new();
    match access {
        Access::Process { program, arguments } => {
            entry.insert("command".to_owned(), json!(program.display().to_string()));
            entry.insert("args".to_owned(), json!(arguments));
            entry.insert("env".to_owned(), json!({KEY_VARIABLE: key}));
        }
        Access::Http(url) => {
            entry.extend(http_type.map(|kind| ("type".to_owned(), json!(kind))));
            entry.insert("url".to_owned(), json!(url));
            entry.insert("headers".to_owned(), json!({"Authorization": format!("Bearer {key}")}));
        }
    }
    entry
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value serializes to JSON")
}

/// Returns the entry of a server in the configuration of Codex.
fn codex(access: &Access) -> String {
    let text = |text: &str| toml::Value::from(text);
    let fields = match access {
        Access::Process { program, arguments } => vec![
            ("command", text(&program.display().to_string())),
            ("args", toml::Value::Array(arguments.iter().map(|argument| text(argument)).collect())),
            ("env_vars", toml::Value::Array(vec![text(KEY_VARIABLE)])),
        ],
        Access::Http(url) => vec![("url", text(url)), ("bearer_token_env_var", text(KEY_VARIABLE))],
    };
    let lines: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("[mcp_servers.{NAME}]\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses() -> [Access; 2] {
        let arguments = ["mcp", "--data", "/my \"data\""].map(str::to_owned).to_vec();
        [
            Access::Process { program: "/usr/bin/marketplace".into(), arguments },
            Access::Http("https://market.example/v2/mcp/".to_owned()),
        ]
    }

    #[test]
    fn configurations_have_the_form_of_their_clients() {
        let [process, http] = accesses();
        let json = |client, access| -> Value { serde_json::from_str(&config(client, access).text).unwrap() };
        let claude = json(Client::Claude, &process);
        let server = &claude["mcpServers"]["marketplace"];
        assert_eq!(server["command"], "/usr/bin/marketplace");
        assert_eq!(server["args"], json!(["mcp", "--data", "/my \"data\""]));
        assert_eq!(server["env"], json!({"MARKETPLACE_API_KEY": "YOUR_API_KEY"}));
        let claude = json(Client::Claude, &http);
        assert_eq!(
            claude["mcpServers"]["marketplace"],
            json!({"type": "http", "url": "https://market.example/v2/mcp/",
                "headers": {"Authorization": "Bearer ${MARKETPLACE_API_KEY}"}})
        );
        let cursor = json(Client::Cursor, &process);
        assert_eq!(
            cursor["mcpServers"]["marketplace"]["env"],
            json!({"MARKETPLACE_API_KEY": "${env:MARKETPLACE_API_KEY}"})
        );
        let vscode = json(Client::Vscode, &process);
        assert_eq!(vscode["inputs"][0]["id"], "marketplace-key");
        assert_eq!(vscode["servers"]["marketplace"]["type"], "stdio");
        let vscode = json(Client::Vscode, &http);
        assert_eq!(
            vscode["servers"]["marketplace"]["headers"]["Authorization"],
            "Bearer ${input:marketplace-key}"
        );
        let codex = |access| -> toml::Table { config(Client::Codex, access).text.parse().unwrap() };
        let server = codex(&process)["mcp_servers"]["marketplace"].clone();
        assert_eq!(server["args"][2].as_str(), Some("/my \"data\""));
        assert_eq!(server["env_vars"][0].as_str(), Some("MARKETPLACE_API_KEY"));
        let server = codex(&http)["mcp_servers"]["marketplace"].clone();
        assert_eq!(server["bearer_token_env_var"].as_str(), Some("MARKETPLACE_API_KEY"));
    }
}
