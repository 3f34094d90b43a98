//! Completion of IDs: the typed text is matched as an ID prefix against the first IDs, and then as words in titles. A
//! suggestion is an ID with the title of its record; the title is ignored where the ID is used.

use rmcp::model::{CompleteRequestParams, Reference};
use serde_json::{Value, json};

use super::{agent_server::AgentServer, error::ToolError, prompts, resources, suggested_ids::ids_in};
use crate::web::in_process::Caller;

/// Maximum number of suggestions.
pub const MAX_SUGGESTIONS: usize = 20;

/// Maximum number of characters of a title in a suggestion.
const MAX_TITLE_CHARACTERS: usize = 80;

/// Maximum number of bytes of a text to complete, which each suggestion can repeat.
const MAX_PREFIX_BYTES: usize = 1_000;

/// Returns suggestions for an argument; empty if the argument is unknown.
pub async fn complete(agents: &AgentServer, caller: &Caller, request: &CompleteRequestParams) -> Vec<String> {
    let (name, prefix) = (request.argument.name.as_str(), request.argument.value.as_str());
    if prefix.len() > MAX_PREFIX_BYTES {
        return Vec::new();
    }
    let found = match (&request.r#ref, name) {
        (Reference::Resource(template), "listing_id") if template.uri == resources::LISTING_TEMPLATE => {
            suggest_listings(agents, caller, prefix).await
        }
        (Reference::Prompt(prompt), "listing_ids") if prompt.name == prompts::COMPARE_LISTINGS => {
            // Only the last of several IDs is completed.
            let (before, prefix) = prefix.rfind(',').map_or(("", prefix), |comma| prefix.split_at(comma + 1));
            let stated = ids_in(before);
            let is_new = |suggestion: &String| {
                let id = suggestion.split(' ').next().unwrap_or_default();
                !stated.iter().any(|stated| stated.eq_ignore_ascii_case(id))
            };
            let found = suggest_listings(agents, caller, prefix.trim()).await;
            found.map(|ids| ids.into_iter().filter(is_new).map(|id| format!("{before}{id}")).collect())
        }
        (Reference::Prompt(prompt), "asset_id") if prompt.name == prompts::WHY_INCOMPLETE => {
            suggest_assets(agents, caller, prefix).await
        }
        _ => Ok(Vec::new()),
    };
    // A list of suggestions cannot report an error, so a team that may not browse gets an empty one.
    found.unwrap_or_default()
}

/// Suggests listings of the catalog.
async fn suggest_listings(
    agents: &AgentServer,
    caller: &Caller,
    prefix: &str,
) -> Result<Vec<String>, ToolError> {
    let browse = |arguments: Value| agents.run_tool_by_name(caller, "browse_listings", arguments);
    if is_id_prefix(prefix) {
        let found = browse(json!({"limit": 100, "fields": ["id", "title"]})).await?;
        let ids = suggestions(&found.value["items"], prefix);
        if !ids.is_empty() || prefix.is_empty() {
            return Ok(ids);
        }
    }
    let found = browse(json!({"query": prefix, "limit": MAX_SUGGESTIONS, "fields": ["id", "title"]})).await?;
    Ok(suggestions(&found.value["items"], ""))
}

/// Suggests assets of the team, incomplete ones first.
async fn suggest_assets(
    agents: &AgentServer,
    caller: &Caller,
    prefix: &str,
) -> Result<Vec<String>, ToolError> {
    let mut arguments = json!({"sort": "stage", "limit": 200, "fields": ["id", "title"]});
    if is_id_prefix(prefix) {
        let found = agents.run_tool_by_name(caller, "list_assets", arguments.clone()).await?;
        let ids = suggestions(&found.value["items"], prefix);
        if !ids.is_empty() || prefix.is_empty() {
            return Ok(ids);
        }
    }
    arguments["filter"] = json!([format!("name:contains:{prefix}")]);
    let found = agents.run_tool_by_name(caller, "list_assets", arguments).await?;
    Ok(suggestions(&found.value["items"], ""))
}

fn is_id_prefix(prefix: &str) -> bool {
    prefix.len() <= 36 && prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns the IDs that begin with a prefix, each with a title.
fn suggestions(items: &Value, prefix: &str) -> Vec<String> {
    let prefix = prefix.to_ascii_lowercase();
    let with_title = |item: &Value| {
        let (id, title) = (item["id"].as_str()?, item["title"].as_str().unwrap_or_default());
        // A comma separates IDs.
        let title = title.replace(", ", " - ").replace(',', "");
        let title: String = title.chars().take(MAX_TITLE_CHARACTERS).collect();
        id.starts_with(&prefix).then(|| format!("{id} {title}").trim_end().to_owned())
    };
    items.as_array().into_iter().flatten().filter_map(with_title).take(MAX_SUGGESTIONS).collect()
}
