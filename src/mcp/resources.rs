//! What agents and their users can attach to a conversation: the guide, the taxonomy, and listings.

use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};

use super::{
    agents::Agents,
    schemas::{MOST, NEXT_OFFSET},
};
use crate::rest::Caller;

/// How the marketplace works.
pub const GUIDE: &str = "marketplace://guide";

/// The words that filters take.
pub const TAXONOMY: &str = "marketplace://taxonomy";

/// A listing.
pub const LISTING: &str = "marketplace://listings/{listing_id}";

/// What the address of a listing begins with.
const LISTINGS: &str = "marketplace://listings/";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// The resources that are there for everybody.
pub fn all() -> Vec<Resource> {
    vec![
        Resource::new(GUIDE, "guide")
            .with_title("Guide")
            .with_description("What the marketplace's words mean, and the usual ways through its tools.")
            .with_mime_type(MARKDOWN),
        of_words(),
    ]
}

/// The words that filters take.
pub fn of_words() -> Resource {
    Resource::new(TAXONOMY, "taxonomy")
        .with_title("Taxonomy")
        .with_description(
            "Domains, inventory tags, content tags and asset types: the slugs that filters take.",
        )
        .with_mime_type(JSON)
}

/// Those that go by ids.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(LISTING, "listing")
            .with_title("Listing")
            .with_description("A listing of the catalog, whole.")
            .with_mime_type(JSON),
    ]
}

/// The address of a listing.
pub fn listing(id: &str) -> String {
    format!("{LISTINGS}{id}")
}

/// What is at an address.
pub async fn read(agents: &Agents, caller: &Caller, uri: &str) -> Result<ResourceContents, ErrorData> {
    let contents = |kind: &str, text: String| ResourceContents::text(text, uri).with_mime_type(kind);
    match uri {
        GUIDE => Ok(contents(MARKDOWN, include_str!("words/guide.md").to_owned())),
        TAXONOMY => Ok(contents(JSON, taxonomy(agents, caller).await?.to_string())),
        _ => {
            let missing = |message: String| {
                let data = json!({"uri": uri, "known": [GUIDE, TAXONOMY, LISTING]});
                ErrorData::resource_not_found(message, Some(data))
            };
            let id = uri.strip_prefix(LISTINGS);
            let id = id.ok_or_else(|| missing(format!("There is no resource {uri}.")))?;
            let answer = agents.ask(caller, "get_listing", json!({"listing_id": id})).await;
            let answer = answer.map_err(|fault| match fault.code.as_str() {
                // An address that is no id names nothing.
                "not_found" | "invalid_arguments" => missing(fault.message),
                _ => fault.error(),
            })?;
            Ok(contents(JSON, answer.text))
        }
    }
}

/// Every word of the taxonomy that all teams know.
async fn taxonomy(agents: &Agents, caller: &Caller) -> Result<Value, ErrorData> {
    let mut all: Map<String, Value> = Map::new();
    for kind in ["domains", "inventory_tags", "content_tags", "asset_types"] {
        let mut offset = json!(0);
        while !offset.is_null() {
            let asked = json!({"kind": kind, "limit": MOST, "offset": offset});
            let answer = agents.ask(caller, "list_taxonomy", asked).await.map_err(|fault| fault.error())?;
            offset = answer.value[NEXT_OFFSET].clone();
            for (name, words) in answer.value.as_object().into_iter().flatten() {
                let Value::Array(words) = words else { continue };
                match all.get_mut(name) {
                    // Of the two lists of asset types only one has pages.
                    Some(Value::Array(known)) if *name == kind => known.extend(words.iter().cloned()),
                    _ => _ = all.insert(name.clone(), Value::Array(words.clone())),
                }
            }
        }
    }
    Ok(Value::Object(all))
}
