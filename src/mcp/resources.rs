//! Resources that agents and their users can attach to a conversation: the guide, the taxonomy, and listings.

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

/// URI of the guide to the marketplace.
pub const GUIDE: &str = "marketplace://guide";

/// URI of the taxonomy.
pub const TAXONOMY: &str = "marketplace://taxonomy";

/// URI template of a listing.
pub const LISTING: &str = "marketplace://listings/{listing_id}";

/// Prefix of the URI of a listing.
const LISTINGS: &str = "marketplace://listings/";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Returns the fixed resources, which every team has.
pub fn all() -> Vec<Resource> {
    vec![
        Resource::new(GUIDE, "guide")
            .with_title("Guide")
            .with_description("Marketplace terms, and how to use the tools for common tasks.")
            .with_mime_type(MARKDOWN),
        of_words(),
    ]
}

/// Returns the taxonomy resource.
pub fn of_words() -> Resource {
    Resource::new(TAXONOMY, "taxonomy")
        .with_title("Taxonomy")
        .with_description(
            "Domains, inventory tags, content tags and asset types: the slugs that filters take.",
        )
        .with_mime_type(JSON)
}

/// Returns the resources with an ID in their URI.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(LISTING, "listing")
            .with_title("Listing")
            .with_description("A catalog listing in full.")
            .with_mime_type(JSON),
    ]
}

/// Returns the URI of a listing.
pub fn listing(id: &str) -> String {
    format!("{LISTINGS}{id}")
}

/// Returns the contents of the resource at a URI.
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
            let id = id.ok_or_else(|| missing(format!("Unknown resource: {uri}")))?;
            let answer = agents.ask(caller, "get_listing", json!({"listing_id": id})).await;
            let answer = answer.map_err(|fault| match fault.code.as_str() {
                // A URI whose ID is malformed does not exist either.
                "not_found" | "invalid_arguments" => missing(fault.message),
                _ => fault.error(),
            })?;
            Ok(contents(JSON, answer.text))
        }
    }
}

/// Returns the part of the taxonomy that all teams can see.
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
                    // The asset types have a second, unpaged list (deprecated ones), which is the same on
                    // every page.
                    Some(Value::Array(known)) if *name == kind => known.extend(words.iter().cloned()),
                    _ => _ = all.insert(name.clone(), Value::Array(words.clone())),
                }
            }
        }
    }
    Ok(Value::Object(all))
}
