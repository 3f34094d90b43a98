//! The agent (MCP) server: read-only access to the marketplace for agents, over HTTP and stdio.
//!
//! It contains no marketplace logic. A tool is backed by GET operations: its schemas are derived from their
//! OpenAPI documents, and a call goes through their HTTP endpoint in process. No write operation can be
//! reached.

mod agents;
mod answers;
mod arguments;
mod cleaning;
mod completions;
mod cutting;
mod failures;
mod fields;
mod http;
mod prompts;
mod reads;
mod resources;
mod schemas;
mod server;
pub mod table;
mod team;
mod tools;
mod variants;

use std::sync::Arc;

use poem::{Response, endpoint::BoxEndpoint};
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

pub use cleaning::WRITTEN as WRITTEN_BY_TEAMS;

use crate::{
    market::Market,
    rest::{Side, Site},
};
use agents::{Agents, Keys};

/// Paths of the agent server.
pub const PATHS: [&str; 2] = ["/v2/mcp/", "/v2/mcp"];

/// Returns the whole application: the routes of both APIs and the agent server.
pub fn app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    beside(Site::new(market, base_url), base_url).finish()
}

/// Returns an application that serves the agent server but not the routes of the APIs.
pub fn agents_only(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    beside(Site::new(market, base_url), base_url).guests_only().finish()
}

fn beside(site: Site, base_url: &str) -> Site {
    let entrance = Arc::new(http::Entrance::new(agents(&site, Keys::OfRequests), base_url));
    PATHS.into_iter().fold(site, |site, path| site.with(path, Arc::clone(&entrance)))
}

fn agents(site: &Site, keys: Keys) -> Agents {
    let reads = reads::Reads::of(&[site.document(Side::Vendor), site.document(Side::Buyer)]);
    let toolboxes = tools::Toolboxes::new(&reads);
    Agents { market: site.market().clone(), direct: site.direct(), toolboxes, keys }
}

/// Returns the standard streams of the process, for [`speak`].
pub fn stdio() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static) {
    rmcp::transport::io::stdio_pipes()
}

/// Serves one agent over a pair of streams until it disconnects. `key` is the API key for all of its
/// requests.
pub async fn speak(
    market: Market,
    base_url: &str,
    key: Option<String>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let agents = agents(&Site::new(market, base_url), Keys::OfProcess(key));
    let running = match agents.serve((input, output)).await {
        Ok(running) => running,
        // A client that disconnects before initialization is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(cause) => return Err(cause.to_string()),
    };
    running.waiting().await.map(|_| ()).map_err(|cause| cause.to_string())
}
