//! The agent (MCP) server: read-only access to the marketplace for agents, over HTTP and stdio.
//!
//! It contains no marketplace logic. A tool is backed by GET operations: its schemas are derived from their
//! OpenAPI documents, and a call goes through their HTTP endpoint in process. No write operation can be
//! reached.

mod agent_server;
mod arguments;
mod completions;
mod current_team;
mod error;
mod field_paths;
mod handler;
mod http;
mod large_pages;
mod off_workers;
mod openapi;
mod output;
mod prompts;
mod request_scan;
mod resources;
mod sanitize;
mod schemas;
mod shaped_characters;
pub mod table;
mod tools;
mod truncate;
mod variants;

use std::sync::Arc;

use poem::{Response, endpoint::BoxEndpoint};
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

pub use sanitize::TEAM_TEXT_FIELDS as WRITTEN_BY_TEAMS;

use crate::{market::Market, rest::AppBuilder};
use agent_server::{AgentServer, KeySource};

/// Paths of the agent server.
pub const PATHS: [&str; 2] = ["/v2/mcp/", "/v2/mcp"];

/// Returns the whole application: the routes of all APIs and the agent server.
pub fn app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    with_agent_server(AppBuilder::new(market, base_url), base_url).build()
}

/// Like [`app`], with the keys of the demo market in the pages for people.
pub fn demo_app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    with_agent_server(AppBuilder::new(market, base_url).with_demo_keys(), base_url).build()
}

/// Returns an application that serves the agent server but not the routes of the APIs.
pub fn agent_app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    with_agent_server(AppBuilder::new(market, base_url), base_url).without_routes().build()
}

/// Adds the agent server to an application, with the tools that its routes declare.
pub fn with_agent_server(builder: AppBuilder, base_url: &str) -> AppBuilder {
    let endpoint = Arc::new(http::AgentEndpoint::new(new_server(&builder, KeySource::Request), base_url));
    PATHS.into_iter().fold(builder, |builder, path| builder.mount(path, Arc::clone(&endpoint)))
}

fn new_server(builder: &AppBuilder, key_source: KeySource) -> AgentServer {
    let operations = openapi::GetOperations::from_documents(&builder.documents());
    let tool_sets = tools::ToolSets::new(&builder.routes(), &operations);
    AgentServer {
        market: builder.market().clone(),
        direct: builder.in_process_routes(),
        tool_sets,
        key_source,
    }
}

/// Returns the standard streams of the process, for [`serve_agent`].
pub fn stdio_streams() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static)
{
    rmcp::transport::io::stdio_pipes()
}

/// Serves one agent over a pair of streams until it disconnects. `key` is the API key for all of its
/// requests.
pub async fn serve_agent(
    market: Market,
    base_url: &str,
    key: Option<String>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let agents = new_server(&AppBuilder::new(market, base_url), KeySource::Process(key));
    let running = match agents.serve((input, output)).await {
        Ok(running) => running,
        // A client that disconnects before initialization is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(cause) => return Err(cause.to_string()),
    };
    running.waiting().await.map(|_| ()).map_err(|cause| cause.to_string())
}
