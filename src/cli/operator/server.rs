//! A running server whose operator API commands use.

use std::{error::Error as _, time::Duration};

use reqwest::{
    Method, Url,
    blocking::{Body, RequestBuilder},
};
use serde_json::Value;

use super::file_parts::FilePart;
use crate::{
    cli::{CommandError, key_variables, server_url},
    error::ErrorChain,
    http_client, rest,
};

/// The variable with the operator key for `--url`.
const KEY_VARIABLE: &str = "MARKETPLACE_OPERATOR_KEY";

/// Seconds that a server may take to respond. Its own limit is shorter by default.
const RESPONSE_SECONDS: u64 = 120;

/// Bytes per second at which a part of a file must be sent at least.
const MIN_BYTES_PER_SECOND: u64 = 50_000;

/// A running server, and the key for it.
pub struct Server {
    client: reqwest::blocking::Client,
    /// Without a slash at the end, and without the prefix of the API.
    base_url: String,
    key: String,
}

impl Server {
    /// Prepares requests to the server at a URL, with the key from the environment. Warns if the key would be sent
    /// unencrypted to another computer.
    pub fn new(url: &str) -> Result<Server, CommandError> {
        let base_url = server_url::parse(url, KEY_VARIABLE)?;
        let key = key_variables::read(KEY_VARIABLE)?.ok_or_else(|| {
            CommandError::Usage(format!(
                "the variable {KEY_VARIABLE} must contain an operator key of the server; `marketplace operator key` creates \
                 one on its data directory"
            ))
        })?;
        server_url::warn_if_unencrypted(&base_url, "the operator key is");
        let base_url = base_url.as_str().trim_end_matches('/');
        let base_url = base_url.strip_suffix(rest::OPERATOR.prefix).unwrap_or(base_url).to_owned();
        Ok(Server { client: client()?, base_url, key })
    }

    /// Performs a request, and returns its status and the bytes of its response. `path` begins with the prefix of the
    /// API, and may include a query string.
    pub fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, Vec<u8>), CommandError> {
        let method =
            Method::from_bytes(method.as_bytes()).map_err(|cause| CommandError::Other(cause.to_string()))?;
        let request = self.client.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key);
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        send(request, &self.base_url)
    }

    /// Whether the server has an operator API. A response with status 404 says that a record is missing, or all of the API.
    pub fn has_operator_api(&self) -> Result<bool, CommandError> {
        let (status, _) = self.request("GET", &format!("{}/teams?limit=1", rest::OPERATOR.prefix), None)?;
        Ok(status != 404)
    }

    /// Returns the error for a response that is not one of the operator API.
    pub fn unexpected(&self, status: u16) -> CommandError {
        CommandError::Other(format!(
            "{} responded with status {status}, and not as the operator API does; check the URL, and that the server's \
             setting operator.enabled is true",
            self.base_url
        ))
    }
}

/// Sends a part of a file to a URL of an upload, which needs no key. Returns the status and the bytes of the response.
pub fn put_part(
    url: &str,
    headers: &[(String, String)],
    part: FilePart,
) -> Result<(u16, Vec<u8>), CommandError> {
    let length = part.length();
    let timeout = Duration::from_secs(RESPONSE_SECONDS + length / MIN_BYTES_PER_SECOND);
    let request = client()?.put(url).timeout(timeout).body(Body::sized(part, length));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    // The query of the URL is a signature.
    let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    send(request, &host.unwrap_or_default())
}

fn client() -> Result<reqwest::blocking::Client, CommandError> {
    let builder = http_client::blocking().map_err(|cause| CommandError::Other(cause.to_string()))?;
    let client = builder.timeout(Duration::from_secs(RESPONSE_SECONDS)).build();
    client.map_err(|cause| CommandError::Other(ErrorChain(&cause).to_string()))
}

/// Sends a request to `to`, and returns the status and the body of the response.
fn send(request: RequestBuilder, to: &str) -> Result<(u16, Vec<u8>), CommandError> {
    let to_error = |cause: reqwest::Error| failed_request(cause, to);
    let response = request.send().map_err(to_error)?;
    if let Some(problem) = http_client::redirection(response.status().as_u16(), response.headers(), to) {
        return Err(CommandError::Other(problem));
    }
    let status = response.status().as_u16();
    Ok((status, response.bytes().map_err(to_error)?.to_vec()))
}

/// Returns the error for a request without a response.
fn failed_request(cause: reqwest::Error, to: &str) -> CommandError {
    let cause = cause.without_url();
    let root = std::iter::successors(cause.source(), |&cause| cause.source()).last();
    let reason = root.map_or_else(|| cause.to_string(), ToString::to_string);
    CommandError::NoResponse(if cause.is_connect() {
        format!("cannot connect to {to}: {reason}; check the URL, and that the server is running")
    } else if cause.is_timeout() {
        format!("{to} did not respond in time; it may still act, so check what it did before you try again")
    } else {
        format!(
            "{to} did not respond: {reason}; it may have acted, so check what it did before you try again"
        )
    })
}
