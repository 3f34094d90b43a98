//! What requests do: which only read, whatever their method is. Replicas answer those, and forward the others.

use poem::{Request, http::Method};

/// Paths of the agent server, whose messages only read.
const AGENT_PATHS: [&str; 2] = ["/v2/mcp", "/v2/mcp/"];

/// What only a primary has: worlds, and files that it made for bundles or that are being uploaded.
const OF_PRIMARY: [&str; 3] = ["/sandbox/", "/w/", "/v2/bundles/"];

/// Whether a request changes nothing, and needs nothing that only the primary has.
pub fn only_reads(request: &Request) -> bool {
    let path = request.uri().path();
    let is_read = match *request.method() {
        Method::GET | Method::HEAD | Method::OPTIONS => true,
        Method::POST => AGENT_PATHS.contains(&path),
        _ => false,
    };
    is_read && !OF_PRIMARY.iter().any(|prefix| path.starts_with(prefix))
}
