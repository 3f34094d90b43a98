//! Decides which requests only read, regardless of their methods. Replicas answer those, and forward the others.

use poem::{Request, http::Method};

use crate::blobs;

/// Paths of the agent server, whose messages only read.
pub const AGENT_PATHS: [&str; 2] = ["/v2/mcp/", "/v2/mcp"];

/// Prefix of the paths of the web app.
pub const CONSOLE: &str = "/console";

/// What the paths of worlds begin with, before their names.
pub const WORLDS: &str = "/w/";

/// What the paths of the sandbox API begin with.
pub const SANDBOX: &str = "/sandbox/";

/// Paths whose data only a primary has: worlds, prepared files of bundles, uploads in progress, and the present status of
/// attestations, which it signs.
const OF_PRIMARY: [&str; 4] = [SANDBOX, WORLDS, blobs::BUNDLES, ATTESTATIONS];

/// What the paths of attestations begin with.
pub const ATTESTATIONS: &str = "/v2/attestations/";

/// Whether a request changes nothing, and needs no data that only the primary has.
pub fn only_reads(request: &Request) -> bool {
    let path = request.uri().path();
    let is_read = match *request.method() {
        Method::POST => AGENT_PATHS.contains(&path),
        _ => request.method().is_safe(),
    };
    is_read && !OF_PRIMARY.iter().any(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use poem::http::Uri;
    use uuid::Uuid;

    use super::*;
    use crate::blobs;

    #[test]
    fn reads_are_known_by_operation() {
        let bundle = blobs::bundle_path(Uuid::nil());
        for (method, path, expected) in [
            (Method::GET, "/v2/listings/browse", true),
            (Method::HEAD, "/v2/listings/browse", true),
            (Method::POST, "/v2/mcp/", true),
            (Method::GET, "/console/catalog", true),
            (Method::POST, "/v2/codebases", false),
            (Method::DELETE, "/v2/codebases/1", false),
            (Method::GET, bundle.as_str(), false),
            (Method::GET, "/v2/attestations/0/status", false),
            (Method::GET, "/w/checkout/v2/wallet", false),
            (Method::GET, "/sandbox/v1/worlds", false),
        ] {
            let request =
                Request::builder().method(method.clone()).uri(path.parse::<Uri>().unwrap()).finish();
            assert_eq!(only_reads(&request), expected, "{method} {path}");
        }
    }
}
