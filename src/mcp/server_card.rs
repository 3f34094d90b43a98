//! The server's description of itself: in the protocol, and in its server card (SEP-2127), which clients and directories read
//! before they connect. A catalog at a well-known address has the address of the card.

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Method, Uri, header},
};
use rmcp::model::{Icon, Implementation, ProtocolVersion};
use serde_json::{Value, json};

use super::http::PATHS;
use crate::{
    error::Error,
    web::{
        ICON_SVG,
        problem::ApiError,
        trusted_sources::{TrustedSources, Untrusted},
    },
};

/// Paths of the server card: the reserved path of the proposal, below the agent server, and the path of earlier versions.
pub const CARD_PATHS: [&str; 2] = ["/v2/mcp/server-card", "/.well-known/mcp/server-card.json"];

/// Path of the catalog with the one server card.
pub const CATALOG_PATH: &str = "/.well-known/mcp/catalog.json";

/// Media type of a server card.
const CARD_TYPE: &str = "application/mcp-server-card+json";

/// Schema of the server card.
const CARD_SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json";

/// The card and the catalog change with the version and the settings of the server, and contain no data.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=3600");

const NAME: &str = "marketplace";
const TITLE: &str = "Data marketplace";
const DESCRIPTION: &str = "Read-only access to the catalog and to a team's own data.";

/// Returns the server's description in the protocol. The icon is a data URL, so it needs no network.
pub fn implementation(website: Option<&str>) -> Implementation {
    let name = Implementation::new(NAME, env!("CARGO_PKG_VERSION"))
        .with_title(TITLE)
        .with_description(DESCRIPTION)
        .with_icons(vec![icon()]);
    match website {
        Some(website) => name.with_website_url(website),
        None => name,
    }
}

fn icon() -> Icon {
    let source = format!("data:image/svg+xml;base64,{}", STANDARD.encode(ICON_SVG.trim()));
    Icon::new(source).with_mime_type("image/svg+xml").with_sizes(vec!["any".to_owned()])
}

/// Returns the server card of a server at this base URL.
fn card(base_url: &str, website: Option<&str>) -> Value {
    let mut card = json!({
        "$schema": CARD_SCHEMA,
        "name": format!("{}/{NAME}", reversed_host(base_url)),
        "version": env!("CARGO_PKG_VERSION"),
        "title": TITLE,
        "description": DESCRIPTION,
        "icons": [icon()],
        "remotes": [{
            "type": "streamable-http",
            "url": format!("{base_url}{}", PATHS[0]),
            "supportedProtocolVersions": ProtocolVersion::KNOWN_VERSIONS,
            "headers": [{
                "name": "Authorization",
                "description": "API key of your team.",
                "isRequired": true,
                "isSecret": true,
                "value": "Bearer {api_key}",
                "variables": {
                    "api_key": {"description": "API key of your team", "isRequired": true, "isSecret": true},
                },
            }],
        }],
    });
    if let Some(website) = website {
        card["websiteUrl"] = json!(website);
    }
    card
}

/// Returns the catalog of a server at this base URL.
fn catalog(base_url: &str) -> Value {
    json!({
        "specVersion": "draft",
        "entries": [{
            "identifier": format!("urn:air:{}:{NAME}", host(base_url)),
            "displayName": TITLE,
            "type": CARD_TYPE,
            "url": format!("{base_url}{}", CARD_PATHS[0]),
        }],
    })
}

/// Returns the domain name of a URL; `localhost` for an address, which has no name.
fn host(url: &str) -> String {
    let uri: Option<Uri> = url.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let is_name = host.contains(|character: char| character.is_ascii_alphabetic()) && !host.starts_with('[');
    if is_name { host.to_ascii_lowercase() } else { "localhost".to_owned() }
}

/// Returns the domain name of a URL with its last part first.
fn reversed_host(url: &str) -> String {
    host(url).rsplit('.').collect::<Vec<_>>().join(".")
}

/// A public document, which is the same for everybody.
pub struct PublicDocument {
    json: String,
    media_type: &'static str,
    sources: TrustedSources,
}

impl PublicDocument {
    /// Creates the endpoint of the server card.
    pub fn card(base_url: &str, website: Option<&str>, sources: TrustedSources) -> PublicDocument {
        PublicDocument { json: card(base_url, website).to_string(), media_type: CARD_TYPE, sources }
    }

    /// Creates the endpoint of the catalog.
    pub fn catalog(base_url: &str, sources: TrustedSources) -> PublicDocument {
        PublicDocument { json: catalog(base_url).to_string(), media_type: "application/json", sources }
    }

    fn respond(&self, request: &Request) -> crate::error::Result<Response> {
        if *request.method() != Method::GET {
            return Err(Error::MethodNotAllowed(vec![Method::GET.to_string()]));
        }
        self.sources.check(request).map_err(Untrusted::into_error)?;
        let response = Response::builder().content_type(self.media_type).header(header::CACHE_CONTROL, CACHE);
        Ok(response.body(self.json.clone()))
    }
}

impl Endpoint for PublicDocument {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.respond(&request).map_err(ApiError)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_reversed_domains() {
        for (url, name, identifier) in [
            (
                "https://Market.example:8443",
                "example.market/marketplace",
                "urn:air:market.example:marketplace",
            ),
            ("http://127.0.0.1:8080", "localhost/marketplace", "urn:air:localhost:marketplace"),
            ("http://[::1]:80/w/a", "localhost/marketplace", "urn:air:localhost:marketplace"),
        ] {
            assert_eq!(card(url, None)["name"], name);
            assert_eq!(catalog(url)["entries"][0]["identifier"], identifier);
        }
    }

    #[test]
    fn card_agrees_with_what_the_server_says_when_it_is_connected() {
        let card = card("https://market.example", Some("https://market.example"));
        let said = serde_json::to_value(implementation(Some("https://market.example"))).unwrap();
        for field in ["version", "title", "description", "icons", "websiteUrl"] {
            assert_eq!(card[field], said[field], "{field}");
        }
        assert!(card["description"].as_str().unwrap().len() <= 100);
    }
}
