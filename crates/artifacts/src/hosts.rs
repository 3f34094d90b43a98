//! Git hosts: repository URLs, authentication, and metadata of repositories from their APIs.

use std::{io::Read, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use marketplace_domain::assets::RepositoryChannel;
use marketplace_http_client::{self as http_client, PublicResolver, has_private_ip_host};
use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::{
    git::{Origin, RemoteRepository},
    manifests,
};

/// Maximum number of bytes of a response that are read.
const MAX_RESPONSE_BYTES: u64 = 1 << 20;

/// A Git host and its settings.
#[derive(Clone)]
pub struct GitHost {
    /// Which host this is: GitHub, GitLab or Bitbucket.
    pub channel: RepositoryChannel,
    /// Base URL of the repositories.
    pub url: String,
    /// Base URL of the API. Empty if the API is not to be used.
    pub api_url: String,
    /// Access token for private repositories and for the API.
    pub token: Option<String>,
    /// Whether the host may be in a private network.
    pub may_be_private: bool,
    /// Timeout in seconds while the host sends nothing.
    pub idle_seconds: u32,
}

/// Metadata of a repository from the API of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RepositoryMetadata {
    /// Description of the repository as plain text.
    pub description: Option<String>,
    /// Number of merged pull requests. `None` if the API was not called or did not return it.
    pub merged_prs: Option<u64>,
}

/// The fields of responses that are used. The others are skipped without storing them.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct ApiResponse {
    description: Option<String>,
    total_count: Option<u64>,
    size: Option<u64>,
}

impl ApiResponse {
    /// Parses an object. A list has none of the fields.
    fn parse(body: &[u8]) -> serde_json::Result<ApiResponse> {
        if body.trim_ascii_start().starts_with(b"[") {
            return serde_json::from_slice::<IgnoredAny>(body).map(|_| ApiResponse::default());
        }
        serde_json::from_slice(body)
    }
}

impl GitHost {
    /// Returns the URL and credentials of a repository, given its full name such as `owner/name`.
    pub fn remote_repository(&self, full_name: &str) -> RemoteRepository {
        // Each host expects a different user name with a token.
        let user = match self.channel {
            RepositoryChannel::Github => "x-access-token",
            RepositoryChannel::Gitlab => "oauth2",
            RepositoryChannel::Bitbucket => "x-token-auth",
        };
        let basic_auth = |token: &String| format!("Basic {}", BASE64.encode(format!("{user}:{token}")));
        RemoteRepository {
            address: format!("{}/{full_name}.git", self.url.trim_end_matches('/')),
            authorization: self.token.as_ref().map(basic_auth),
            may_be_private: self.may_be_private,
            origin: Origin::Linked,
        }
    }

    /// Returns two API URLs: of the repository itself, and of a query for the number of its merged pull
    /// requests.
    fn api_urls(&self, full_name: &str) -> [String; 2] {
        let base = self.api_url.trim_end_matches('/');
        match self.channel {
            RepositoryChannel::Github => [
                format!("{base}/repos/{full_name}"),
                format!("{base}/search/issues?q=repo:{full_name}+is:pr+is:merged&per_page=1"),
            ],
            RepositoryChannel::Gitlab => {
                let project = full_name.replace('/', "%2F");
                [
                    format!("{base}/projects/{project}"),
                    format!("{base}/projects/{project}/merge_requests?state=merged&per_page=1"),
                ]
            }
            RepositoryChannel::Bitbucket => [
                format!("{base}/repositories/{full_name}"),
                format!("{base}/repositories/{full_name}/pullrequests?state=MERGED&pagelen=1&fields=size"),
            ],
        }
    }
}

/// Requests metadata of a repository from the API of its host. Anything that fails stays `None`: the
/// repository itself is the main source. `should_continue` is called before each request.
pub fn fetch_metadata(
    host: &GitHost,
    full_name: &str,
    should_continue: &dyn Fn() -> bool,
) -> RepositoryMetadata {
    if host.api_url.is_empty() || !should_continue() {
        return RepositoryMetadata::default();
    }
    let [repository_url, merged_url] = host.api_urls(full_name);
    let description = fetch_or_log(host, &repository_url)
        .and_then(|(_, body)| manifests::sanitize_description(&body.description?));
    // Without a token, rate limits are too low for a second request.
    let merged_prs = host.token.as_ref().filter(|_| should_continue()).and_then(|_| {
        let (total, body) = fetch_or_log(host, &merged_url)?;
        match host.channel {
            RepositoryChannel::Github => body.total_count,
            RepositoryChannel::Gitlab => total,
            RepositoryChannel::Bitbucket => body.size,
        }
    });
    RepositoryMetadata { description, merged_prs }
}

/// Requests a URL of the API. Returns the `X-Total` header and the body, or `None` after logging an error.
fn fetch_or_log(host: &GitHost, url: &str) -> Option<(Option<u64>, ApiResponse)> {
    match fetch_json(host, url) {
        Ok(response) => Some(response),
        Err(cause) => {
            tracing::info!(url, cause = cause.as_ref(), "request to the API of a Git host failed");
            None
        }
    }
}

fn fetch_json(host: &GitHost, url: &str) -> Result<(Option<u64>, ApiResponse), Box<dyn std::error::Error>> {
    let url: url::Url = url.parse()?;
    let idle = Duration::from_secs(host.idle_seconds.into());
    let client = http_client::blocking()?
        .connect_timeout(idle)
        .timeout(idle)
        .user_agent(concat!("marketplace/", env!("CARGO_PKG_VERSION")));
    let client = if host.may_be_private {
        client
    } else if has_private_ip_host(&url) {
        return Err("the address is not public".into());
    } else {
        client.dns_resolver(Arc::new(PublicResolver))
    };
    let mut request = client.build()?.get(url).header("accept", "application/json");
    if let Some(token) = &host.token {
        request = request.bearer_auth(token);
    }
    let response = request.send()?.error_for_status()?;
    let total = response.headers().get("x-total").and_then(|total| total.to_str().ok()?.parse().ok());
    let mut body = Vec::new();
    response.take(MAX_RESPONSE_BYTES).read_to_end(&mut body)?;
    Ok((total, ApiResponse::parse(&body)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_parsed_without_their_other_fields() {
        let many = "[0],".repeat(200_000);
        let body = format!(r#"{{"owner": [{many}0], "description": "A tally", "size": 7}}"#);
        let expected =
            ApiResponse { description: Some("A tally".to_owned()), total_count: None, size: Some(7) };
        assert_eq!(ApiResponse::parse(body.as_bytes()).unwrap(), expected);
        assert_eq!(ApiResponse::parse(b" [{\"size\": 1}]").unwrap(), ApiResponse::default());
        assert!(ApiResponse::parse(b"[{").is_err() && ApiResponse::parse(b"<html>").is_err());
    }
}
