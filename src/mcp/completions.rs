//! Completion of IDs: the typed text is matched as an ID prefix against the first IDs, and then as words in
//! titles.

use rmcp::model::{CompleteRequestParams, Reference};
use serde_json::{Value, json};

use super::{agents::Agents, failures::Fault, prompts, resources};
use crate::rest::Caller;

/// Maximum number of suggestions.
pub const MOST: usize = 20;

/// Returns suggestions for an argument; empty if the argument is unknown.
pub async fn complete(agents: &Agents, caller: &Caller, request: &CompleteRequestParams) -> Vec<String> {
    let (name, typed) = (request.argument.name.as_str(), request.argument.value.as_str());
    let found = match (&request.r#ref, name) {
        (Reference::Resource(template), "listing_id") if template.uri == resources::LISTING => {
            listings(agents, caller, typed).await
        }
        (Reference::Prompt(prompt), "listing_ids") if prompt.name == prompts::COMPARE => {
            // Only the last of several IDs is completed.
            let (before, typed) = typed.rfind(',').map_or(("", typed), |comma| typed.split_at(comma + 1));
            let found = listings(agents, caller, typed.trim()).await;
            found.map(|ids| ids.into_iter().map(|id| format!("{before}{id}")).collect())
        }
        (Reference::Prompt(prompt), "asset_id") if prompt.name == prompts::INCOMPLETE => {
            assets(agents, caller, typed).await
        }
        _ => Ok(Vec::new()),
    };
    // A list of suggestions cannot report an error, so a team that may not browse gets an empty one.
    found.unwrap_or_default()
}

/// Suggests listings of the catalog.
async fn listings(agents: &Agents, caller: &Caller, typed: &str) -> Result<Vec<String>, Fault> {
    let browse = |asked: Value| agents.ask(caller, "browse_listings", asked);
    if is_beginning_of_id(typed) {
        let found = browse(json!({"limit": 100, "fields": ["id"]})).await?;
        let ids = beginning_with(&found.value["items"], typed);
        if !ids.is_empty() || typed.is_empty() {
            return Ok(ids);
        }
    }
    let found = browse(json!({"query": typed, "limit": MOST, "fields": ["id"]})).await?;
    Ok(beginning_with(&found.value["items"], ""))
}

/// Suggests assets of the team, incomplete ones first.
async fn assets(agents: &Agents, caller: &Caller, typed: &str) -> Result<Vec<String>, Fault> {
    let mut asked = json!({"sort": "stage", "limit": 200, "fields": ["id"]});
    if is_beginning_of_id(typed) {
        let found = agents.ask(caller, "list_assets", asked.clone()).await?;
        let ids = beginning_with(&found.value["items"], typed);
        if !ids.is_empty() || typed.is_empty() {
            return Ok(ids);
        }
    }
    asked["filter"] = json!([format!("name:contains:{typed}")]);
    let found = agents.ask(caller, "list_assets", asked).await?;
    Ok(beginning_with(&found.value["items"], ""))
}

fn is_beginning_of_id(typed: &str) -> bool {
    typed.len() <= 36 && typed.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn beginning_with(items: &Value, typed: &str) -> Vec<String> {
    let typed = typed.to_ascii_lowercase();
    let ids = items.as_array().into_iter().flatten().filter_map(|item| item["id"].as_str());
    ids.filter(|id| id.starts_with(&typed)).take(MOST).map(str::to_owned).collect()
}
