//! Resources that agents and their users can attach to a conversation: the guide, the taxonomy, and listings.

use rmcp::{
    ErrorData,
    model::{Resource, ResourceContents, ResourceTemplate},
};
use serde_json::{Map, Value, json};

use super::{
    agent_server::AgentServer,
    error::ToolErrorCode,
    schemas::{MAX_LIMIT, NEXT_OFFSET},
};
use crate::{
    error::{Code, excerpt},
    web::in_process::Caller,
};

/// URI of the guide to the marketplace.
pub const GUIDE: &str = "marketplace://guide";

/// URI of the taxonomy.
pub const TAXONOMY: &str = "marketplace://taxonomy";

/// URI template of a listing.
pub const LISTING_TEMPLATE: &str = "marketplace://listings/{listing_id}";

/// Prefix of the URI of a listing.
const LISTING_PREFIX: &str = "marketplace://listings/";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Returns the fixed resources, which every team has.
pub fn fixed_resources() -> Vec<Resource> {
    vec![
        Resource::new(GUIDE, "guide")
            .with_title("Guide")
            .with_description("Marketplace terms, and how to use the tools for common tasks.")
            .with_mime_type(MARKDOWN),
        taxonomy_resource(),
    ]
}

/// Returns the taxonomy resource.
pub fn taxonomy_resource() -> Resource {
    Resource::new(TAXONOMY, "taxonomy")
        .with_title("Taxonomy")
        .with_description(
            "Domains, inventory tags, content tags and asset types: the slugs that filters take.",
        )
        .with_mime_type(JSON)
}

/// Returns the resources with an ID in their URI.
pub fn resource_templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(LISTING_TEMPLATE, "listing")
            .with_title("Listing")
            .with_description("A catalog listing in full.")
            .with_mime_type(JSON),
    ]
}

/// Returns the URI of a listing.
pub fn listing_uri(id: &str) -> String {
    format!("{LISTING_PREFIX}{id}")
}

/// Returns the contents of the resource at a URI.
pub async fn read_resource(
    agents: &AgentServer,
    caller: &Caller,
    uri: &str,
) -> Result<ResourceContents, ErrorData> {
    let contents = |kind: &str, text: String| ResourceContents::text(text, uri).with_mime_type(kind);
    match uri {
        GUIDE => Ok(contents(MARKDOWN, include_str!("text/guide.md").to_owned())),
        TAXONOMY => Ok(contents(JSON, load_taxonomy(agents, caller).await?.to_string())),
        _ => {
            let not_found = |message: String| {
                let data = json!({"uri": excerpt(uri), "known": [GUIDE, TAXONOMY, LISTING_TEMPLATE]});
                ErrorData::resource_not_found(message, Some(data))
            };
            let id = uri.strip_prefix(LISTING_PREFIX);
            let id = id.ok_or_else(|| not_found(format!("Unknown resource: {}", excerpt(uri))))?;
            // A client can have inserted a suggestion, which has the title after the ID.
            let id = id.split(['%', '+', ' ']).next().unwrap_or_default();
            let arguments = json!({"listing_id": id, "fields": ["*"]});
            let output = agents.run_tool_by_name(caller, "get_listing", arguments).await;
            let output = output.map_err(|error| match error.code {
                // A URI whose ID is malformed does not exist either.
                ToolErrorCode::Api(Code::NotFound) | ToolErrorCode::InvalidArguments => {
                    not_found(error.message)
                }
                _ => error.into(),
            })?;
            Ok(contents(JSON, output.text))
        }
    }
}

/// Returns the part of the taxonomy that all teams can see.
async fn load_taxonomy(agents: &AgentServer, caller: &Caller) -> Result<Value, ErrorData> {
    let mut taxonomy: Map<String, Value> = Map::new();
    for kind in ["domains", "inventory_tags", "content_tags", "asset_types"] {
        let mut offset = json!(0);
        while !offset.is_null() {
            let arguments = json!({"kind": kind, "limit": MAX_LIMIT, "offset": offset});
            let output = agents.run_tool_by_name(caller, "list_taxonomy", arguments).await?;
            offset = output.value[NEXT_OFFSET].clone();
            for (name, values) in output.value.as_object().into_iter().flatten() {
                let Value::Array(values) = values else { continue };
                match taxonomy.get_mut(name) {
                    // The asset types have a second, unpaged list (deprecated ones), which is the same on
                    // every page.
                    Some(Value::Array(existing)) if *name == kind => existing.extend(values.iter().cloned()),
                    _ => _ = taxonomy.insert(name.clone(), Value::Array(values.clone())),
                }
            }
        }
    }
    Ok(Value::Object(taxonomy))
}
